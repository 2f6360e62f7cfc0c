"""Event streams pass event by event, and end as the upstream ends them."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from mcp_tap.core.records import Body, Message, Noise
from tests.bounds import until
from tests.handlers import once, staying
from tests.rig import LAST_CHUNK, PONG, SSE_HEAD, chunk, event, get, ok, post, tapped

SSE_OPEN = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
NOTE = b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}'


async def test_each_event_passes_before_the_next_one_exists(tmp_path):
    seen = asyncio.Event()

    async def handler(wire):
        await wire.message()
        await wire.send(SSE_HEAD)
        for n in range(20):
            seen.clear()
            await wire.send(chunk(event(b"%d" % n)))
            await seen.wait()
        await wire.send(LAST_CHUNK)

    async with tapped(handler, tmp_path) as rig:
        client = await rig.client()
        await client.send(post())
        await client.head()
        for n in range(20):
            assert await client.until(b"\r\n\r\n\r\n") == chunk(event(b"%d" % n))
            seen.set()
        assert await client.exactly(5) == LAST_CHUNK


async def test_the_head_of_a_stream_passes_before_any_event(tmp_path):
    seen = asyncio.Event()

    async def handler(wire):
        await wire.message()
        await wire.send(SSE_HEAD)
        await seen.wait()
        await wire.send(LAST_CHUNK)

    async with tapped(handler, tmp_path) as rig:
        client = await rig.client()
        await client.send(get())
        assert (await client.head()).head == SSE_HEAD
        seen.set()
        assert await client.exactly(5) == LAST_CHUNK


async def test_each_event_is_one_message_with_its_fields(tmp_path):
    async def handler(wire):
        await wire.message()
        await wire.send(
            SSE_HEAD,
            chunk(b"id: 1\r\ndata: \r\nretry: 100\r\n\r\n"),
            chunk(b": ping - 2026\r\n\r\n"),
            chunk(b"id: 2\r\nevent: message\r\ndata: " + NOTE + b"\r\n\r\n"),
            chunk(event(PONG)),
            LAST_CHUNK,
        )

    async with tapped(handler, tmp_path) as rig:
        await rig.ask(post())
        await rig.stop()
        priming, ping, note, answer = [
            r for r in rig.records(Message, Noise) if r.sender == "server"
        ]
        assert (type(priming), priming.payload(), priming.sse.id) == (Noise, b"", "1")
        assert priming.sse.retry == "100"
        assert (type(ping), ping.payload()) == (Noise, b"ping - 2026")
        assert (note.payload(), note.sse.id, note.sse.event) == (NOTE, "2", "message")
        assert (answer.payload(), answer.sse.id) == (PONG, None)
        assert rig.closed()[0].how == "complete"


async def test_a_stream_with_a_content_length_passes_and_is_parsed(tmp_path):
    """One SDK sends an event stream with a length when the answer is known already."""
    body = b"event: message\ndata: " + PONG + b"\n\n"
    answer = SSE_OPEN + b"Content-Length: %d\r\n\r\n%b" % (len(body), body)

    async with tapped(once(answer), tmp_path) as rig:
        assert await rig.raw(post()) == answer
        await rig.stop()
        assert [m.payload() for m in rig.messages()][-1] == PONG


async def test_the_time_of_a_message_is_when_it_came(tmp_path):
    seen = asyncio.Event()

    async def handler(wire):
        await wire.message()
        await wire.send(SSE_HEAD, chunk(event(NOTE)))
        await seen.wait()
        await wire.send(chunk(event(PONG)), LAST_CHUNK)

    async with tapped(handler, tmp_path) as rig:
        client = await rig.client()
        await client.send(post())
        await client.until(NOTE)
        between = rig.run._tap.now()
        seen.set()
        await client.until(LAST_CHUNK)
        await rig.stop()
        note, answer = [m for m in rig.messages() if m.sender == "server"]
        assert note.t < between < answer.t


@contextlib.asynccontextmanager
async def cut_off(folder, answer, *, seen, end):
    """Send an answer, and end the connection in this way once the client has seen so much of it."""

    async def handler(wire):
        await wire.message()
        await wire.send(answer)
        await until(lambda: seen in client.received)
        wire.reset() if end == "reset" else await wire.close()

    async with tapped(handler, folder) as rig:
        client = await rig.client()
        yield rig, client


@pytest.mark.parametrize("end", ["close", "reset"])
async def test_a_chunked_stream_the_upstream_cuts_is_cut_for_the_client(tmp_path, end):
    stream = SSE_HEAD + chunk(event(NOTE)) + chunk(b"event: message\r\ndata: {half")
    async with cut_off(tmp_path, stream, seen=b"half", end=end) as (rig, client):
        await client.send(post())
        answer = await client.message()
        assert not answer.whole
        assert answer.body.endswith(b"{half")
        assert LAST_CHUNK not in client.received
        await rig.stop()
        (closed,) = rig.closed()
        assert closed.how == "upstream_cut"
        assert "in the middle of its answer" in closed.why
        (cut,) = rig.records(Body)
        assert (cut.truncated, cut.payload()) == (True, b"{half")


@pytest.mark.parametrize("end", ["close", "reset"])
async def test_a_body_of_known_length_the_upstream_cuts_is_cut_for_the_client(tmp_path, end):
    half = ok(b"x" * 100).removesuffix(b"x" * 50)
    async with cut_off(tmp_path, half, seen=b"x", end=end) as (rig, client):
        await client.send(post())
        answer = await client.message()
        assert not answer.whole
        assert client.ended
        await rig.stop()
        assert rig.closed()[0].how == "upstream_cut"
        assert rig.closed()[0].response.bytes == 50


async def test_a_reset_in_a_body_that_ends_with_the_connection_is_no_clean_end(tmp_path):
    some = b"HTTP/1.1 200 OK\r\n\r\nsome"
    async with cut_off(tmp_path, some, seen=b"some", end="reset") as (rig, client):
        await client.send(get())
        await client.head()
        assert await client.rest() == b"some"
        assert client.was_reset
        await rig.stop()
        assert rig.closed()[0].how == "upstream_cut"


@pytest.mark.parametrize("end", ["close", "garbage"])
async def test_a_cut_stream_is_no_clean_end_for_a_client_of_http_1_0(tmp_path, end):
    """It gets no chunks, so only a reset tells it."""

    async def handler(wire):
        await wire.message()
        await wire.send(SSE_HEAD, chunk(event(NOTE)))
        await until(lambda: event(NOTE) in client.received)
        if end == "garbage":
            await wire.send(b"no chunk")

    async with tapped(handler, tmp_path) as rig:
        client = await rig.client()
        await client.send(get().replace(b"HTTP/1.1", b"HTTP/1.0"))
        await client.head()
        assert await client.rest() == event(NOTE)
        assert client.was_reset


async def test_a_body_without_an_end_of_its_own_is_cut_when_the_tap_stops(tmp_path):
    async with tapped(staying(b"HTTP/1.1 200 OK\r\n\r\nsome"), tmp_path) as rig:
        client = await rig.client()
        await client.send(get())
        await client.until(b"some")
        await rig.run.stop()
        assert await client.end()
        assert client.was_reset


async def test_events_of_a_cut_stream_are_all_there_before_the_cut(tmp_path):
    """The cut must not overtake what the upstream sent before it."""
    count = 300

    async def handler(wire):
        await wire.message()
        await wire.send(SSE_HEAD, *[chunk(event(b"%d" % n)) for n in range(count)])
        await wire.close()

    async with tapped(handler, tmp_path) as rig:
        client = await rig.client()
        await client.send(post())
        answer = await client.message()
        assert not answer.whole
        assert answer.body == b"".join(event(b"%d" % n) for n in range(count))
