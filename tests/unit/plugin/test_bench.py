"""Taps without pytest around them; with it they are shown by tests/unit/test_pytest_plugin*.py."""

from __future__ import annotations

import asyncio

import aiohttp
import pytest

from mcp_tap.demo.client import DemoClient
from mcp_tap.errors import ConfigError, UsageError
from mcp_tap.plugin.bench import Bench, Wanted
from tests.plugged import demo_app


@pytest.fixture
def bench():
    made = Bench()
    yield made
    made.close()


@pytest.fixture
def wanted(tmp_path):
    app = demo_app()
    scratches = iter(range(1000))

    def scratch():
        path = tmp_path / str(next(scratches))
        path.mkdir()
        return path

    def make(**more):
        given = {"name": "test_it.py::test_it", "tables": [], "folder": tmp_path}
        return Wanted(**given | more, server=lambda: app, scratch=scratch)

    return make


def build(url):
    async def play():
        async with aiohttp.ClientSession() as session:
            await DemoClient(session, url, None).call("build", {"target": "x"})

    asyncio.run(play())


def test_several_taps_stand_beside_each_other(bench, wanted):
    one, other = bench.begin(wanted()), bench.begin(wanted())
    build(one.tap.url)
    assert len(one.tap.calls) == 1
    assert len(other.tap.calls) == 0
    assert one.verdict() == other.verdict() == ""
    assert one.end() == other.end() == ""


def test_captures_of_failed_tests_stay_and_others_go(bench, wanted):
    failed, passed = bench.begin(wanted()), bench.begin(wanted())
    build(failed.tap.url)
    passed.passed = True
    failed.end()
    passed.end()
    assert failed.kept is not None
    assert failed.kept.stat().st_size
    assert passed.kept is None
    assert not passed.tap.capture.parent.exists()


def test_what_passed_can_be_looked_at_when_the_tap_has_stopped(bench, wanted):
    running = bench.begin(wanted())
    build(running.tap.url)
    running.end()
    assert [call.tool for call in running.tap.calls] == ["build"]
    assert "tools/call" in running.section()
    assert running.section() == ""


def test_a_tap_that_cannot_begin_leaves_nothing_behind(bench, wanted):
    with pytest.raises(UsageError):
        bench.begin(wanted(tables=[{"redact": "nonsense"}]))
    with pytest.raises(ConfigError):
        bench.begin(wanted(tables=[{"nonsense": 1}]))
    assert bench.begin(wanted()).end() == ""
