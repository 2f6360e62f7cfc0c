"""The options of commands that listen for clients."""

from __future__ import annotations

import click
import pytest

from mcp_tap.cli import listening
from mcp_tap.cli.common import TapCommand
from mcp_tap.cli.main import run
from mcp_tap.errors import UsageError


@pytest.fixture
def parsed():
    """Parse words with the options of a listener."""

    def parse(*words):
        def command(**options):
            return options

        for each in (
            listening.listen,
            listening.ready_file,
            listening.allow_host,
            listening.allow_origin,
            listening.view,
        ):
            command = each(command)
        made = click.command("some", cls=TapCommand)(command)
        return made.main([*words], standalone_mode=False)

    return parse


def test_by_default_a_known_port_of_this_machine_is_listened_on(parsed):
    assert parsed() == {
        "listen": ("127.0.0.1", 7777),
        "ready_file": None,
        "allow_host": (),
        "allow_origin": (),
        "view": None,
    }


@pytest.mark.parametrize(
    ("word", "place"),
    [("0", ("127.0.0.1", 0)), ("0.0.0.0:80", ("0.0.0.0", 80)), ("[::1]:5", ("::1", 5))],
)
def test_a_port_alone_stays_on_this_machine(parsed, word, place):
    assert parsed("-l", word)["listen"] == place


@pytest.mark.parametrize("words", [["-l", "65536"], ["-l", "here"], ["--view", "lane"]])
def test_what_cannot_be_meant_is_refused(parsed, words):
    with pytest.raises(UsageError):
        parsed(*words)


def test_who_may_connect_adds_up(parsed):
    given = parsed("--allow-host", "a", "--allow-host", "b", "--allow-origin", "*")
    assert (given["allow_host"], given["allow_origin"]) == (("a", "b"), ("*",))


@pytest.mark.parametrize("command", [["http"], ["replay", "server"]])
def test_every_command_that_listens_has_them(command, capsys):
    assert run([*command, "--help"]) == 0
    shown = capsys.readouterr().out
    for name in ("--listen", "--ready-file", "--allow-host", "--allow-origin", "--view"):
        assert name in shown
