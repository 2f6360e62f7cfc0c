"""Requests that no client began: sent once, recorded once, told once."""

from __future__ import annotations

import asyncio
import gzip

import pytest

from mcp_tap.core.records import Message
from mcp_tap.net.heads import HeadReader, RequestLine
from mcp_tap.proxy.answering.own import OwnRequest
from mcp_tap.proxy.answering.records import Records
from tests.asking import answering
from tests.bounds import BOUND
from tests.rig import LAST_CHUNK, SSE_HEAD, chunk, event, ok, tapped

BODY = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
REPLY = b'{"jsonrpc":"2.0","id":1,"result":{"ok":true}}'
GZIP_HEAD = SSE_HEAD.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n")


class Asks(OwnRequest):
    """Notes what it is told."""

    def __init__(self, rig, *lines, most=1 << 10):
        tap = rig.run._tap
        tap.now()
        fields = [(b"Host", b"h"), *(lines or [(b"Content-Length", b"%d" % len(BODY))])]
        head = HeadReader().read(RequestLine(b"POST", b"/mcp", "1.1"), fields)
        self.told = []
        self.ended = asyncio.Event()
        super().__init__(tap, Records(tap.recording), "127.0.0.1", head, BODY, (), most)

    def _event(self, block):
        self.told.append(block)

    def _whole(self, raw, text):
        self.told.append(text)
        self._end("complete", None)

    def _lost(self, how, code, why):
        self.told.append(code)
        super()._lost(how, code, why)

    def _end(self, how, why):
        super()._end(how, why)
        self.ended.set()

    async def all(self):
        async with asyncio.timeout(BOUND):
            await self.ended.wait()
        return self.told


class Server:
    """Says the same to each request, and hangs up."""

    def __init__(self, *parts):
        self.parts = parts
        self.got = []

    async def __call__(self, wire):
        self.got.append(await wire.message())
        await wire.send(*self.parts)


@pytest.mark.parametrize(
    ("parts", "told", "how"),
    [
        ((ok(REPLY),), [REPLY], "complete"),
        ((ok(gzip.compress(REPLY), b"Content-Encoding: gzip"),), [REPLY], "complete"),
        ((SSE_HEAD, chunk(event(REPLY)), LAST_CHUNK), [event(REPLY)], "complete"),
        ((GZIP_HEAD, chunk(gzip.compress(event(REPLY))), LAST_CHUNK), [event(REPLY)], "complete"),
        ((ok(b"x" * 2000),), ["answer-too-large"], "tap_failed"),
        ((GZIP_HEAD, chunk(b"no gzip")), ["answer-too-large"], "tap_failed"),
        ((), ["upstream-lost"], "upstream_cut"),
        ((ok(REPLY)[:-3],), ["upstream-lost"], "upstream_cut"),
    ],
    ids=["json", "coded", "stream", "coded stream", "large", "no gzip", "nothing", "cut"],
)
async def test_what_comes_back_is_told_and_recorded_once(tmp_path, parts, told, how):
    server = Server(*parts)
    async with tapped(server, tmp_path, answering=answering()) as rig:
        assert await Asks(rig).all() == told
        await rig.stop()
        assert [c.how for c in rig.closed()] == [how]
        assert [m.body for m in server.got] == [BODY]


async def test_it_is_framed_as_its_head_says(tmp_path):
    server = Server(ok(REPLY))
    async with tapped(server, tmp_path, answering=answering()) as rig:
        assert await Asks(rig, (b"Transfer-Encoding", b"chunked")).all() == [REPLY]
        assert [m.body for m in server.got] == [BODY]


async def test_nothing_is_sent_for_what_ended_before(tmp_path):
    server = Server(ok(REPLY))
    async with tapped(server, tmp_path, answering=answering()) as rig:
        dropped = Asks(rig)
        dropped._end("client_gone", None)
        assert await Asks(rig).all() == [REPLY]
        assert dropped.told == []
        assert len(server.got) == 1


async def test_a_server_that_is_down_is_told(tmp_path):
    async with tapped(Server(), tmp_path, up=False, answering=answering()) as rig:
        assert await Asks(rig).all() == ["upstream-down"]
        await rig.stop()
        (closed,) = rig.closed()
        assert (closed.how, closed.sent) == ("upstream_down", None)


async def test_an_event_that_was_cut_is_recorded_as_far_as_it_came(tmp_path):
    stream = SSE_HEAD + chunk(event(REPLY) + event(REPLY)[:-9])
    async with tapped(Server(stream), tmp_path, answering=answering()) as rig:
        assert await Asks(rig).all() == [event(REPLY), "upstream-lost"]
        await rig.stop()
        (closed,) = rig.closed()
        assert closed.response.bytes == 2 * len(event(REPLY)) - 9
        assert sum(m.sender == "server" for m in rig.of(1, Message)) == 1
