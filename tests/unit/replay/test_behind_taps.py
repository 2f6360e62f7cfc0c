"""Two taps, the front one answers: `behind` makes of its run what the other one recorded."""

from __future__ import annotations

import json

import aiohttp
import pytest

from mcp_tap.answers.book import Book
from mcp_tap.answers.reading import load
from mcp_tap.capture.reader import open_path
from mcp_tap.core.records import Closed, HttpRequest, HttpResponse, Message
from mcp_tap.demo.client import DemoClient
from mcp_tap.demo.server import DemoServer
from mcp_tap.proxy.answering.answering import Answering
from mcp_tap.proxy.run import HttpRun
from mcp_tap.proxy.settings import TapSettings
from mcp_tap.replay.behind import behind
from tests.rig import Looker

SCRIPT = """
[[answer]]
match = { key = "confirm" }
content = { proceed = true, strategy = "blue-green" }
[[answer]]
match = { key = "window" }
content = { start = "tonight", minutes = 30 }
"""


def seen(records):
    """What passed, exchange by exchange, without the proofs and the times of it."""
    found = {}
    for record in records:
        if isinstance(record, HttpRequest):
            said = ("request", record.method, record.path, headers(record))
        elif isinstance(record, HttpResponse):
            said = ("response", record.status, headers(record))
        elif isinstance(record, Message):
            said = (record.sender, json.loads(record.payload()))
        elif isinstance(record, Closed):
            said = ("closed", record.how)
        else:
            continue
        found.setdefault(record.exchange, []).append(said)
    return sorted(found.values(), key=str)


def headers(record):
    return sorted((n.lower(), v) for n, v in record.headers if n.lower() != "host")


@pytest.mark.parametrize("advertise", [None, frozenset({"sampling"})])
async def test_it_is_what_a_tap_behind_recorded(tmp_path, advertise):
    server = DemoServer()
    await server.start()
    back = HttpRun(
        TapSettings(upstream=server.url, port=0), capture=tmp_path / "back.jsonl", view=Looker()
    )
    await back.start()
    front = HttpRun(
        TapSettings(upstream=back.url, port=0, headers=[("X-Team", "desk")]),
        capture=tmp_path / "front.jsonl",
        view=Looker(),
        answering=Answering(Book([load(SCRIPT, "a.toml")], env={}, advertise=advertise)),
    )
    await front.start()
    try:
        async with aiohttp.ClientSession() as session:
            client = DemoClient(session, front.url, lambda *_: {"action": "cancel"}, pause=0)
            await client.discover()
            await client.call("deploy", {"service": "billing"})
            await client.call("build", {"target": "billing"}, progress=True)
            await client.call("reserve", {})
    finally:
        await front.stop()
        await back.stop()
        await server.stop()
    made = list(behind(open_path(tmp_path / "front.jsonl")))
    assert [record.seq for record in made] == list(range(len(made)))
    assert seen(made) == seen(open_path(tmp_path / "back.jsonl"))
    assert len(seen(made)) >= 6
