"""Who takes nothing makes the other side wait; the tap itself holds little."""

from __future__ import annotations

import asyncio
import socket
from hashlib import sha256

from tests.bounds import BOUND, until
from tests.rig import HOST, always, chunk, get, ok, tapped

PIECE = bytes(range(256)) * 256
PIECES = 800
TOTAL = len(PIECE) * PIECES
HELD = 1 << 20
"""Bytes the tap may hold of one exchange."""


class Counter:
    """Counts what was handed to a socket, and tells when it goes no further."""

    def __init__(self) -> None:
        self.sent = 0

    async def stalled(self) -> int:
        """Wait until nothing has moved for a while."""
        quiet, before = 0, -1
        async with asyncio.timeout(BOUND):
            while quiet < 20:
                await asyncio.sleep(0.005)
                quiet = quiet + 1 if before == self.sent > 0 else 0
                before = self.sent
        return self.sent


async def pour(wire, counter: Counter, *, chunked: bool = False) -> None:
    for _ in range(PIECES):
        wire._writer.write(chunk(PIECE) if chunked else PIECE)
        await wire._writer.drain()
        counter.sent += len(PIECE)


async def drink(wire) -> str:
    total, size = sha256(), 0
    while size < TOTAL:
        data = await wire.read()
        assert data
        size += len(data)
        total.update(data)
    return total.hexdigest()


def small(wire) -> None:
    wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 10)


async def test_a_client_that_does_not_read_makes_the_upstream_wait(tmp_path):
    counter = Counter()

    async def handler(wire):
        await wire.message()
        await wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % TOTAL)
        await pour(wire, counter)

    async with tapped(handler, tmp_path, keep=False) as rig:
        client = await rig.client(keep=False)
        client._reader._transport.pause_reading()
        small(client)
        await client.send(get())
        assert await counter.stalled() < TOTAL // 2
        (connection,) = rig.run._tap.clients
        assert connection._transport.get_write_buffer_size() < HELD
        client._reader._transport.resume_reading()
        await client.head()
        assert await drink(client) == sha256(PIECE * PIECES).hexdigest()
        await rig.stop()
        assert rig.closed()[0].response.bytes == TOTAL


async def test_an_upstream_that_does_not_read_makes_the_client_wait(tmp_path):
    counter = Counter()
    release = asyncio.Event()
    digests = []

    async def handler(wire):
        wire._reader._transport.pause_reading()
        small(wire)
        await release.wait()
        wire._reader._transport.resume_reading()
        await wire.head()
        digests.append(await drink(wire))
        await wire.send(ok())

    async with tapped(handler, tmp_path, keep=False) as rig:
        client = await rig.client(keep=False)
        await client.send(b"POST / HTTP/1.1\r\n", HOST, b"Content-Length: %d\r\n\r\n" % TOTAL)
        pouring = asyncio.ensure_future(pour(client, counter))
        assert await counter.stalled() < TOTAL // 2
        (connection,) = rig.run._tap.clients
        upstream = connection._exchanges[0]._upstream
        assert upstream._transport.get_write_buffer_size() < HELD
        release.set()
        await pouring
        assert (await client.message()).status == 200
        assert digests == [sha256(PIECE * PIECES).hexdigest()]


async def test_an_upstream_that_is_slow_to_accept_makes_the_client_wait(tmp_path, monkeypatch):
    """While the connection is being made, only so much of the body is taken."""
    loop = asyncio.get_running_loop()
    real = loop.create_connection
    counter, release = Counter(), asyncio.Event()
    digests = []

    async def slow(*args, **kwargs):
        await release.wait()
        return await real(*args, **kwargs)

    async def handler(wire):
        await wire.head()
        digests.append(await drink(wire))
        await wire.send(ok())

    async with tapped(handler, tmp_path, keep=False) as rig:
        client = await rig.client(keep=False)
        monkeypatch.setattr(loop, "create_connection", slow)
        await client.send(b"POST / HTTP/1.1\r\n", HOST, b"Content-Length: %d\r\n\r\n" % TOTAL)
        pouring = asyncio.ensure_future(pour(client, counter))
        assert await counter.stalled() < TOTAL // 2
        (connection,) = rig.run._tap.clients
        assert connection._exchanges[0]._waiting_size < HELD
        release.set()
        await pouring
        assert (await client.message()).status == 200
        assert digests == [sha256(PIECE * PIECES).hexdigest()]


async def test_pipelined_answers_wait_for_a_client_that_does_not_read(tmp_path):
    body = PIECE * 2  # one read brings it whole, so that it is over before anyone can pause
    count = 200

    async with tapped(always(ok(body)), tmp_path, keep=False) as rig:
        client = await rig.client(keep=False)
        client._reader._transport.pause_reading()
        small(client)
        await client.send(get() * count)
        await until(lambda: rig.run.exchanges)
        (connection,) = rig.run._tap.clients
        counter = Counter()

        async def watch():
            while True:
                counter.sent = rig.run.records
                await asyncio.sleep(0.002)

        watching = asyncio.ensure_future(watch())
        await counter.stalled()
        watching.cancel()
        assert connection._transport.get_write_buffer_size() < HELD
        client._reader._transport.resume_reading()
        for _ in range(count):
            assert (await client.message()).body == body


async def test_an_answer_to_a_client_that_does_not_read_its_own_upload_does_not_lock(tmp_path):
    """An echo of a large body: both directions are full at once, and drain."""

    async def handler(wire):
        await wire.head()
        await wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % TOTAL)
        left = TOTAL
        while left:
            data = await wire.read()
            await wire.send(data)
            left -= len(data)

    async with tapped(handler, tmp_path, keep=False) as rig:
        client = await rig.client(keep=False)
        await client.send(b"POST / HTTP/1.1\r\n", HOST, b"Content-Length: %d\r\n\r\n" % TOTAL)
        pouring = asyncio.ensure_future(pour(client, Counter()))
        await client.head()
        assert await drink(client) == sha256(PIECE * PIECES).hexdigest()
        await pouring
