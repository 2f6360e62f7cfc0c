from __future__ import annotations

import json
import os

import click
import pytest
from click.core import ParameterSource

from mcp_tap.bridge import VARIABLE
from mcp_tap.cli.remote import command_for
from mcp_tap.errors import UsageError

TYPED = click.Context(click.Command("stdio"))
"""Of a command all whose options stand on the command line, as far as it knows."""
NONE = {"to": None, "header": (), "insecure": False, "cacert": None}


@pytest.fixture(autouse=True)
def variable(monkeypatch):
    """Leave no variable behind."""
    monkeypatch.setenv(VARIABLE, "")


def test_a_command_is_what_is_started():
    assert command_for(TYPED, ["a", "b"], {**NONE}) == ["a", "b"]


def test_a_command_is_the_server_whatever_a_setting_says_of_a_url():
    ctx = click.Context(click.Command("stdio"))
    for name in NONE:
        ctx.set_parameter_source(name, ParameterSource.ENVIRONMENT)
    options = {"to": "http://x/", "header": (("A", "b"),), "insecure": True, "cacert": "x"}
    assert command_for(ctx, ["a"], options) == ["a"]
    assert options == NONE


def test_a_url_is_told_to_the_bridge_where_others_do_not_read_it():
    options = NONE | {"to": "http://x/mcp", "header": (("Authorization", "Bearer s3cret"),)}
    command = command_for(TYPED, None, options)
    assert command[1:] == ["-P", "-m", "mcp_tap.bridge"]
    assert json.loads(os.environ[VARIABLE]) == {
        "url": "http://x/mcp",
        "headers": [["Authorization", "Bearer s3cret"]],
        "insecure": False,
        "cacert": None,
    }


@pytest.mark.parametrize(
    ("line", "options", "words"),
    [
        (None, {}, "there is no command to run"),
        ([], {}, "nothing stands after --"),
        (["a"], {"to": "http://x"}, "two servers"),
        (None, {"to": "x"}, "x is no upstream URL"),
        (None, {"to": "https://x", "cacert": "/no/such"}, "cannot use /no/such as a CA file"),
        (["a"], {"header": (("A", "b"),)}, "--header is about a URL"),
        (["a"], {"insecure": True}, "--insecure is about a URL"),
        (["a"], {"cacert": "x"}, "--cacert is about a URL"),
    ],
)
def test_what_names_no_server_or_two_is_refused(line, options, words):
    with pytest.raises(UsageError, match=words):
        command_for(TYPED, line, NONE | options)
