"""Applications that do not start; those that do are in test_pytest_plugin_servers.py."""

from __future__ import annotations

import sys

import pytest
from aiohttp import web

from mcp_tap.errors import UpstreamError
from mcp_tap.plugin.apps import App


async def fails(scope, receive, send):
    await receive()
    await send({"type": "lifespan.startup.failed", "message": "no database"})


async def quiet(scope, receive, send):
    raise AssertionError("never called")


def test_an_asgi_application_that_fails_to_start_is_an_error():
    with pytest.raises(UpstreamError) as error:
        App(fails).start()
    assert error.value.code == "upstream-ended"


def test_without_uvicorn_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(UpstreamError) as error:
        App(quiet).start()
    assert error.value.help == "pip install uvicorn"


def test_an_aiohttp_application_that_fails_to_start_is_an_error():
    async def broken(app):
        raise OSError("no database")

    app = web.Application()
    app.on_startup.append(broken)
    with pytest.raises(OSError, match="no database"):
        App(app).start()


def test_one_that_never_started_can_be_stopped():
    App(quiet).stop()
