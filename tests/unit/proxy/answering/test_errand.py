"""A request of the tap's own whose response no client gets."""

from __future__ import annotations

import asyncio
import gzip

import pytest

from mcp_tap.net.heads import HeadReader, RequestLine
from mcp_tap.proxy.answering import errand
from mcp_tap.proxy.answering.errand import Errand, errand_head
from mcp_tap.proxy.answering.records import Records
from tests.asking import answering
from tests.bounds import BOUND
from tests.rig import SSE_HEAD, chunk, event, ok, tapped

BODY = b'{"jsonrpc":"2.0","id":1,"result":{}}'
REPLY = b'{"jsonrpc":"2.0","id":1,"result":{"ok":true}}'
GZIP_HEAD = SSE_HEAD.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n")


def answers(response):
    async def server(wire):
        message = await wire.message()
        assert message.body == BODY
        await wire.send(response)
        await wire.rest()

    return server


async def hangs_up(wire):
    await wire.message()


async def sent(rig, *, drop=False):
    """Send one, and give what came of it."""
    tap = rig.run._tap
    head = HeadReader().read(RequestLine(b"GET", b"/mcp", "1.0"), [(b"Last-Event-ID", b"1")])
    told = asyncio.get_running_loop().create_future()
    records = Records(tap.recording)
    head = errand_head(tap, head, len(BODY), [(b"X-More", b"1")])
    tap.now()
    found = Errand(
        tap, records, "127.0.0.1", head, BODY, told.set_result, rig.run._answering.errands
    )
    if drop:
        found.drop("shutdown", "the tap stopped")
        return None
    return await asyncio.wait_for(told, BOUND)


@pytest.mark.parametrize(
    ("response", "status", "message", "taken"),
    [
        (b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", 202, None, True),
        (ok(REPLY), 200, REPLY, True),
        (SSE_HEAD + chunk(event(REPLY)), 200, REPLY, True),
        (GZIP_HEAD + chunk(gzip.compress(event(REPLY))), 200, REPLY, True),
        (ok(b"what?", status=b"400 Bad Request"), 400, None, False),
        (b"HTTP/1.1 103 Early Hints\r\n\r\n" + ok(REPLY), 200, REPLY, True),
    ],
    ids=["accepted", "json", "stream", "coded stream", "refused", "hints"],
)
async def test_what_comes_back_is_told(tmp_path, response, status, message, taken):
    async with tapped(answers(response), tmp_path, answering=answering()) as rig:
        outcome = await sent(rig)
        assert (outcome.status, outcome.message, outcome.taken) == (status, message, taken)
        assert outcome.sent
        await rig.stop()
        assert len(rig.closed()) == 1


async def test_a_server_that_hangs_up_may_have_it(tmp_path):
    async with tapped(hangs_up, tmp_path, answering=answering()) as rig:
        outcome = await sent(rig)
        assert (outcome.status, outcome.sent, outcome.taken) == (None, True, False)
        assert "closed the connection" in outcome.why


async def test_a_server_that_is_down_has_not_got_it(tmp_path):
    async with tapped(hangs_up, tmp_path, up=False, answering=answering()) as rig:
        outcome = await sent(rig)
        assert (outcome.status, outcome.sent) == (None, False)
        assert "no answer from" in outcome.why


async def test_a_server_that_says_nothing_is_not_waited_for_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(errand, "WITHIN", 0.05)
    async with tapped(answers(b""), tmp_path, answering=answering()) as rig:
        outcome = await sent(rig)
        assert not outcome.taken
        assert "within" in outcome.why
        await rig.stop()
        (closed,) = rig.closed()
        assert closed.how == "timeout"


async def test_what_is_dropped_is_recorded_and_told_to_nobody(tmp_path):
    async with tapped(hangs_up, tmp_path, answering=answering()) as rig:
        await sent(rig, drop=True)
        await rig.stop()
        (closed,) = rig.closed()
        assert (closed.how, closed.why) == ("shutdown", "the tap stopped")


async def test_its_head_is_that_of_the_request_but_for_what_is_its_own(tmp_path):
    async with tapped(hangs_up, tmp_path, answering=answering()) as rig:
        fields = [
            (b"Host", b"h"),
            (b"accept", b"text/event-stream"),
            (b"Last-Event-ID", b"4"),
            (b"Transfer-Encoding", b"chunked"),
            (b"X-Team", b"blue"),
            (b"Mcp-Method", b"tools/call"),
        ]
        head = HeadReader().read(RequestLine(b"GET", b"/mcp?x", "1.0"), fields)
        found = errand_head(rig.run._tap, head, 5, [(b"Mcp-Name", b"n")], b"/other")
        assert found.line == (b"POST", b"/other", "1.1")
        assert found.headers == [
            (b"Host", b"h"),
            (b"X-Team", b"blue"),
            (b"Accept", b"application/json, text/event-stream"),
            (b"Content-Type", b"application/json"),
            (b"Content-Length", b"5"),
            (b"Mcp-Name", b"n"),
        ]
