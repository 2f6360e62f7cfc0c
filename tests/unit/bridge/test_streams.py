from __future__ import annotations

import asyncio

from mcp_tap.bridge import streams
from mcp_tap.bridge.streams import Part, Stream


async def test_parts_come_in_order_and_nothing_follows_the_end():
    stream = Stream()
    stream.put(b"a")
    stream.end(Part(b"b", last=True))
    stream.put(b"c")
    assert [await stream.next(1), await stream.next(1)] == [Part(b"a"), Part(b"b", last=True)]
    assert await stream.next(0.001) is None


async def test_who_waits_gets_what_comes():
    stream = Stream()
    waiting = asyncio.ensure_future(stream.next(5))
    await asyncio.sleep(0)
    stream.put(b"a")
    assert await waiting == Part(b"a")


async def test_a_stream_nobody_reads_is_broken_off(monkeypatch):
    monkeypatch.setattr(streams, "MOST_WAITING", 10)
    stream = Stream()
    stream.put(b"12345678")
    assert not stream.overrun
    stream.put(b"123")
    assert stream.overrun
    assert await stream.next(1) == Part(None, last=True)


async def test_one_message_may_be_larger_than_what_may_wait(monkeypatch):
    monkeypatch.setattr(streams, "MOST_WAITING", 1)
    stream = Stream()
    stream.put(b"123")
    assert await stream.next(1) == Part(b"123")
    assert not stream.overrun


async def test_what_is_dropped_is_forgotten():
    stream = Stream()
    stream.put(b"a")
    stream.drop()
    stream.put(b"b")
    assert await stream.next(0.001) is None
