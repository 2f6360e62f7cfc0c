"""A client that leaves cancels: the upstream connection ends at once, and the record says so."""

from __future__ import annotations

import asyncio

import pytest

from tests.bounds import BOUND, until
from tests.handlers import held, staying
from tests.rig import LAST_CHUNK, PONG, SSE_HEAD, chunk, event, get, post, tapped


class Ended:
    """Waits for the upstream's end of a connection to see the tap's."""

    def __init__(self) -> None:
        self.seen = asyncio.Event()

    async def of(self, wire) -> None:
        await wire.rest()
        self.seen.set()

    async def wait(self) -> None:
        async with asyncio.timeout(BOUND):
            await self.seen.wait()


@pytest.mark.parametrize("how", ["close", "reset", "half-close"])
@pytest.mark.parametrize("stage", ["headers", "stream", "body"])
async def test_the_upstream_connection_ends_at_once(tmp_path, how, stage):
    ended = Ended()

    async def handler(wire):
        await wire.head()
        if stage == "stream":
            await wire.send(SSE_HEAD, chunk(b": here\r\n\r\n"))
        await ended.of(wire)

    async with tapped(handler, tmp_path) as rig:
        client = await rig.client()
        if stage == "body":
            await client.send(b"POST / HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 99\r\n\r\npart")
        else:
            await client.send(get())
        await until(lambda: rig.upstream.received)
        if stage == "stream":
            await client.until(b": here\r\n\r\n")
        if how == "close":
            await client.close()
        elif how == "reset":
            client.reset()
        else:
            client.finish()
        await ended.wait()
        await rig.stop()
        (closed,) = rig.closed()
        assert closed.how == "client_gone"
        assert closed.request.bytes == (4 if stage == "body" else 0)
        assert closed.why is None


async def test_a_client_that_leaves_while_its_upstream_connection_is_made_is_gone(
    tmp_path, monkeypatch
):
    loop = asyncio.get_running_loop()
    real = loop.create_connection

    async def slow(*args, **kwargs):
        await until(lambda: not rig.run._tap.clients)
        return await real(*args, **kwargs)

    async with tapped(lambda wire: wire.rest(), tmp_path) as rig:
        client = await rig.client()
        monkeypatch.setattr(loop, "create_connection", slow)
        await client.send(get())
        await until(lambda: rig.run.exchanges)
        await client.close()
        await until(lambda: not rig.run._tap.clients)
        await rig.stop()
        assert rig.closed()[0].how == "client_gone"
        assert rig.upstream.received == b""


async def test_pipelined_requests_of_a_client_that_left_are_all_gone(tmp_path):
    ended = Ended()

    async def handler(wire):
        await wire.message()
        await ended.of(wire)

    async with tapped(handler, tmp_path) as rig:
        client = await rig.client()
        await client.send(get(), get(), get())
        await until(lambda: rig.run.exchanges == 3)
        await client.close()
        await ended.wait()
        await rig.stop()
        assert [c.how for c in rig.closed()] == ["client_gone"] * 3
        assert rig.upstream.received == get()


async def test_leaving_after_the_final_message_does_not_make_the_call_cancelled(tmp_path):
    """Clients close the stream when they have what they asked for."""
    ended = Ended()
    call = b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"}}'

    async def handler(wire):
        await wire.message()
        await wire.send(SSE_HEAD, chunk(event(PONG)))
        await ended.of(wire)

    async with tapped(handler, tmp_path) as rig:
        client = await rig.client()
        await client.send(post(call))
        await client.until(PONG)
        await client.close()
        await ended.wait()
        await rig.stop()
        (seen,) = rig.view.calls.values()
        assert seen.outcome == "ok"
        assert rig.closed()[0].how == "client_gone"


async def test_leaving_before_the_answer_makes_the_call_cancelled(tmp_path):
    ended = Ended()
    call = b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"}}'

    async def handler(wire):
        await wire.message()
        await ended.of(wire)

    async with tapped(handler, tmp_path) as rig:
        client = await rig.client()
        await client.send(post(call))
        await until(lambda: rig.upstream.received.endswith(call))
        await client.close()
        await ended.wait()
        await rig.stop()
        (seen,) = rig.view.calls.values()
        assert seen.outcome == "cancelled"


async def test_leaving_after_a_complete_response_is_complete(tmp_path):
    async with tapped(staying(SSE_HEAD, chunk(event(PONG)), LAST_CHUNK), tmp_path) as rig:
        client = await rig.client()
        await client.send(post())
        await client.until(LAST_CHUNK)
        client.reset()
        await until(lambda: not rig.run._tap.clients)
        await rig.stop()
        assert rig.closed()[0].how == "complete"


async def test_one_client_that_leaves_takes_no_other_with_it(tmp_path):
    release = asyncio.Event()
    async with tapped(held(release), tmp_path) as rig:
        first, second = await rig.client(), await rig.client()
        await first.send(post())
        await second.send(post())
        await until(lambda: len(rig.upstream.received) == 2 * len(post()))
        await first.close()
        await until(lambda: len(rig.run._tap.clients) == 1)
        release.set()
        assert (await second.message()).status == 200


async def test_connecting_and_leaving_without_a_word_leaves_nothing(tmp_path):
    async with tapped(lambda wire: wire.rest(), tmp_path) as rig:
        for _ in range(3):
            await (await rig.client()).close()
        await until(lambda: not rig.run._tap.clients)
        await rig.stop()
        assert rig.closed() == []
