"""A project that uses the pytest plugin, in a folder of its own, with its tests run in process."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from aiohttp import web

# What is imported within a run that pytester makes is forgotten after it, and takes long.
from mcp_tap import pytest_plugin
from mcp_tap.demo.server import DemoServer

CONFTEST = '''
import asyncio
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from mcp_tap.demo.client import DemoClient
from mcp_tap.demo.server import DemoServer

SERVED = Path(__file__).parent / "served.txt"


@pytest.fixture(scope="session")
def tap_server():
    """The demo's server, which notes what reaches it."""

    async def note(request):
        with SERVED.open("a") as file:
            print(request.headers["Mcp-Method"], file=file)
        return await DemoServer._post(server, request)

    server = DemoServer()
    app = web.Application()
    app.router.add_post("/mcp", note)
    return app


@pytest.fixture
def call():
    """Call a tool, and answer as told, or walk away."""

    def call(url, tool, arguments=None, **answers):
        async def play():
            async with aiohttp.ClientSession() as session:
                person = lambda tool, key, ask: answers.get(key, {"action": "cancel"})
                client = DemoClient(session, url, person, pause=0)
                result = await client.call(tool, {"service": "billing"} | (arguments or {}))
                return result["content"][0]["text"]

        return asyncio.run(play())

    return call


@pytest.fixture
def yes():
    """Answers of somebody who deploys."""
    return {
        "confirm": {"action": "accept", "content": {"proceed": True, "strategy": "blue-green"}},
        "window": {"action": "accept", "content": {"start": "tonight", "minutes": 30}},
    }
'''


def demo_app() -> web.Application:
    """The demo's server, as an application."""
    app = web.Application()
    app.router.add_post("/mcp", DemoServer()._post)
    return app


class Project:
    """A folder with tests, and how they ended."""

    def __init__(self, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pytester = pytester
        self.path = pytester.path
        # It is the same whether the plugin is installed, or these are just its files.
        monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        pytester.makeini("[pytest]\naddopts = -W error --strict-markers\n")
        pytester.makeconftest(CONFTEST)

    def write(self, text: str, name: str = "test_it") -> None:
        self.pytester.makepyfile(**{name: text})
        shutil.rmtree(self.path / "__pycache__", ignore_errors=True)

    def conftest(self, text: str) -> None:
        """Add to its conftest."""
        self.pytester.makeconftest(CONFTEST + text)

    def run(self, *words: str) -> pytest.RunResult:
        return self.pytester.runpytest_inprocess(*words, plugins=[pytest_plugin])

    def ends(self, *words: str, **outcomes: int) -> str:
        """Run it, and see how its tests end; give what was printed."""
        result = self.run(*words)
        result.assert_outcomes(**outcomes)
        return result.stdout.str()

    @property
    def served(self) -> list[str]:
        """Methods that reached the server so far."""
        path = self.path / "served.txt"
        return path.read_text().split() if path.exists() else []

    def capture(self, name: str, module: str = "test_it") -> Path:
        return self.path / "captures" / module / f"{name}.jsonl"
