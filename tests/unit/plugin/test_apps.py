"""Applications that do not start; those that do are in test_pytest_plugin_servers.py."""

from __future__ import annotations

import asyncio
import sys

import pytest
from aiohttp import web

from mcp_tap.errors import UpstreamError
from mcp_tap.plugin import apps
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


async def waits(scope, receive, send):
    await asyncio.Event().wait()


def waiting():
    app = web.Application()

    async def wait(_):
        await asyncio.Event().wait()

    app.on_startup.append(wait)
    return app


@pytest.mark.parametrize("app", [waits, waiting()])
def test_one_whose_start_up_never_ends_is_given_up_with_words(app, monkeypatch):
    monkeypatch.setattr(apps, "WITHIN", 0.05)
    monkeypatch.setattr(apps, "STOP", 0.05)
    with pytest.raises(UpstreamError) as error:
        App(app).start()
    assert error.value.code == "upstream-not-ready"


def test_one_that_never_started_can_be_stopped():
    App(quiet).stop()
