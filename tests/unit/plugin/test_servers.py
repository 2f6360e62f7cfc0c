"""Reading values of `tap_server`; how they run is in test_pytest_plugin_servers.py."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from aiohttp import web

from mcp_tap.errors import ConfigError, UsageError
from mcp_tap.plugin.servers import Hosted, Process, Remote, Servers, Stdio, server_of

URL = "http://127.0.0.1:1/mcp"


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (URL, Remote),
        ({"url": URL}, Remote),
        (["server", Path("x")], Stdio),
        (("server",), Stdio),
        ({"url": URL, "command": ["x"], "wait": 3}, Process),
        ({"app": lambda scope: None, "path": "/x"}, Hosted),
        (lambda scope: None, Hosted),
        (web.Application(), Hosted),
    ],
)
def test_each_kind_is_known(thread, value, kind):
    assert type(server_of(value, thread)) is kind


@pytest.mark.parametrize(
    "value", [None, 3, "server", [], [3], {}, {"command": ["x"]}, {"url": URL, "x": 1}]
)
def test_what_is_no_server_is_refused(thread, value):
    with pytest.raises(ConfigError) as error:
        server_of(value, thread)
    assert error.value.help


def test_a_url_that_is_none_is_told(thread):
    with pytest.raises(UsageError):
        Servers(thread).of("http://")


def test_commands_are_recorded_without_the_folders_of_this_machine(thread, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = [sys.executable, str(tmp_path / "a" / "server.py"), "/etc/x", "-v"]
    assert server_of(command, thread).command == ["python", "a/server.py", "/etc/x", "-v"]


def test_a_value_has_one_server_until_it_is_stopped(thread):
    servers, url = Servers(thread), URL
    first = servers.of(url)
    assert servers.of(url) is first
    servers.stop(url)
    assert servers.of(url) is not first
    servers.close()
    servers.stop(url)


def test_a_server_that_ended_is_started_again(thread):
    servers, url = Servers(thread), URL
    first = servers.of(url)
    first.ended = "exited with code 1"
    assert servers.of(url) is not first
