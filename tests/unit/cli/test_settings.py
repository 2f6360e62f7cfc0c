from __future__ import annotations

import click
import pytest

from mcp_tap.cli import main
from mcp_tap.cli.common import FILE, TapCommand, TapOption, option
from mcp_tap.cli.settings import Commands, setting
from mcp_tap.config import NOT_FROM_PROJECTS


@click.group()
def root():
    pass


@root.command("serve", cls=TapCommand)
@option("-p", "--port", "number", type=int)
def serve(number):
    pass


@root.command("plain")
@click.option("--x")
def plain(x):
    pass


def test_keys_are_long_options_and_the_shared_ones_are_among_them():
    with root.make_context("mcp-tap", ["serve"]) as ctx:
        known = Commands(ctx)
        assert sorted(known.commands()) == ["plain", "serve"]
        assert sorted(known.options("serve")) == [
            "ascii",
            "color",
            "debug",
            "json",
            "port",
            "quiet",
            "verbose",
        ]
        assert known.options("serve")["port"].param == "number"
        assert known.options("plain") == {}
        assert known.options("nothing") == {}


def test_command_that_stands_alone_is_its_own_table():
    with serve.make_context("serve", []) as ctx:
        assert Commands(ctx).commands() == ["serve"]
        assert "port" in Commands(ctx).options("serve")


@pytest.mark.parametrize(
    ("args", "shape", "path", "adds_up"),
    [
        ({"is_flag": True}, "flag", False, False),
        ({"count": True}, "count", False, False),
        ({"multiple": True, "adds_up": True}, "many", False, True),
        ({"type": FILE}, "one", True, False),
        ({}, "one", False, False),
    ],
)
def test_shape_of_a_setting_is_that_of_the_option(args, shape, path, adds_up):
    made = setting(TapOption(["--thing"], **args))
    assert (made.key, made.shape, made.path, made.adds_up) == ("thing", shape, path, adds_up)


def test_what_a_project_may_not_set_names_options_that_exist_or_will():
    with main.group.make_context("mcp-tap", ["list"]) as ctx:
        known = Commands(ctx)
        every = {key for command in known.commands() for key in known.options(command)}
    assert set(NOT_FROM_PROJECTS) - every == {"script"}
