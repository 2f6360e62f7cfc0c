"""The options of commands that connect to a server at a URL."""

from __future__ import annotations

import click
import pytest

from mcp_tap.cli import http, replay_client, stdio
from mcp_tap.cli.common import TapCommand
from mcp_tap.cli.connecting import OF_A_URL, connecting_options, refuse
from mcp_tap.errors import UsageError


def parsed(*words):
    def command(**options):
        return options

    add = connecting_options("Server", sends="Send this", of="the server")
    return click.command("some", cls=TapCommand)(add(command)).main([*words], standalone_mode=False)


def test_nothing_is_sent_along_and_certificates_are_checked_unless_asked_for():
    assert parsed() == {"header": (), "insecure": False, "cacert": None}


def test_headers_add_up_in_their_order(tmp_path):
    (tmp_path / "ca.pem").touch()
    given = parsed("-H", "A: 1", "--header", "A:2", "--cacert", f"{tmp_path}/ca.pem", "--insecure")
    assert given["header"] == (("A", "1"), ("A", "2"))
    assert (given["insecure"], given["cacert"]) == (True, f"{tmp_path}/ca.pem")


@pytest.mark.parametrize("words", [["-H", "no colon"], ["--cacert", "none.pem"]])
def test_what_cannot_be_sent_or_trusted_is_refused(words):
    with pytest.raises(UsageError):
        parsed(*words)


@pytest.mark.parametrize("command", [http.command, stdio.command, replay_client.command])
def test_every_command_that_takes_a_url_of_a_server_has_them_together(command):
    names = [param.name for param in command.params]
    at = names.index("header")
    assert names[at : at + 3] == ["header", "insecure", "cacert"]
    assert command.params[at].secret


def test_an_option_about_what_is_not_there_is_refused_by_its_name():
    given = {"header": (), "insecure": False, "cacert": None, "ready_file": None}
    ctx = click.Context(click.Command("some"))
    refuse(ctx, given, [*given], "a URL, and there is none", help="--to URL")
    with pytest.raises(UsageError) as raised:
        refuse(ctx, {**given, "ready_file": "x"}, [*given], "HTTP, and there is none", help="")
    assert raised.value.what == "--ready-file is about HTTP, and there is none"
    for name in OF_A_URL:
        with pytest.raises(UsageError):
            refuse(ctx, {**given, name: "x"}, OF_A_URL, "a URL", help="")


def test_a_setting_about_what_is_not_there_is_left_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MCP_TAP_SOME_INSECURE", "1")
    monkeypatch.setenv("MCP_TAP_SOME_HEADER", "A: 1")
    given = {}

    @click.command("some", cls=TapCommand)
    @connecting_options("Server", sends="Send this", of="the server")
    @click.pass_context
    def some(ctx, **options):
        assert (options["header"], options["insecure"]) == ((("A", "1"),), True)
        refuse(ctx, options, OF_A_URL, "a URL, and there is none", help="")
        given.update(options)

    some.main([], standalone_mode=False, auto_envvar_prefix="MCP_TAP_SOME")
    assert given == {"header": (), "insecure": False, "cacert": None}
