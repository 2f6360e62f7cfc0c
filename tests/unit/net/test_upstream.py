"""Connections to the upstream: parsed part by part, pooled while fresh, never silently bad."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from mcp_tap.net import upstream as module
from mcp_tap.net.target import parse_target
from mcp_tap.net.upstream import UpstreamPool
from tests.bounds import BOUND, until
from tests.handlers import once
from tests.rig import Upstream, always, get, ok


class Sink:
    """Keeps the parts of a response in the order in which they came."""

    def __init__(self, *, sent: bool = True) -> None:
        self.parts: list = []
        self.sent = sent
        self.done = asyncio.Event()

    @property
    def body(self) -> bytes:
        return b"".join(p[1] for p in self.parts if p[0] == "data")

    def heads(self) -> list:
        return [p[1:] for p in self.parts if p[0] == "head"]

    def upstream_head(self, head, *, to_eof) -> None:
        self.parts.append(("head", *head.line, to_eof))

    def upstream_whole(self, head, body) -> bool:
        self.upstream_head(head, to_eof=False)
        self.upstream_data(body)
        return self.upstream_end()

    def upstream_data(self, data) -> None:
        if data:
            self.parts.append(("data", data))

    def upstream_flush(self) -> None:
        pass

    def upstream_end(self) -> bool:
        self.parts.append(("end",))
        self.done.set()
        return self.sent

    def upstream_lost(self, why, loss) -> None:
        self.parts.append(("lost", why, loss))
        self.done.set()

    def upstream_writable(self, *, writable) -> None:
        self.parts.append(("writable", writable))


@contextlib.asynccontextmanager
async def pooled(handler):
    upstream = Upstream(handler)
    await upstream.start()
    pool = UpstreamPool(parse_target(f"http://127.0.0.1:{upstream.port}/"), None)
    try:
        yield pool, upstream
    finally:
        pool.close()
        await upstream.stop()
    assert upstream.errors == []


async def ask(pool, connection=None, *, no_body=False, request=None, **sink) -> tuple:
    answer = Sink(**sink)
    connection = connection or pool.take() or await pool.connect()
    connection.begin(answer, no_body=no_body)
    connection.write(request or get())
    async with asyncio.timeout(BOUND):
        await answer.done.wait()
    return answer, connection


async def test_a_response_comes_in_parts():
    async with pooled(always(ok(b"{}"))) as (pool, _):
        answer, _ = await ask(pool)
        assert answer.parts == [("head", 200, b"OK", "1.1", False), ("data", b"{}"), ("end",)]


async def test_a_connection_whose_exchange_ended_well_is_given_again():
    async with pooled(always(ok())) as (pool, upstream):
        _, first = await ask(pool)
        for _ in range(5):
            answer, again = await ask(pool)
            assert again is first
            assert answer.body == ok().partition(b"\r\n\r\n")[2]
        assert len(upstream.connections) == 1


@pytest.mark.parametrize("line", [b"Connection: close", b"connection: Close"])
async def test_a_connection_the_upstream_closes_is_not_given_again(line):
    async with pooled(always(ok(b"{}", line))) as (pool, _):
        await ask(pool)
        assert pool.take() is None


async def test_a_connection_is_not_given_again_while_its_request_is_still_going_up():
    async with pooled(always(ok())) as (pool, _):
        await ask(pool, sent=False)
        assert pool.take() is None


async def test_a_connection_is_not_given_again_while_its_request_is_unread(monkeypatch):
    """Who came next would wait behind it; and one that stays unread is not held open for it."""
    monkeypatch.setattr(module, "IDLE", 0.01)
    left = asyncio.Event()

    async def handler(wire):
        await wire.until(b"\r\n\r\n")
        await wire.send(ok())
        await left.wait()

    async with pooled(handler) as (pool, _):
        _, connection = await ask(pool, request=get() + bytes(32 << 20))
        assert pool.take() is None
        await until(lambda: connection._transport.get_write_buffer_size() == 0)
        left.set()


async def test_the_freshest_connection_is_given_first_and_stale_ones_never(monkeypatch):
    async with pooled(always(ok())) as (pool, _):
        one, two = await pool.connect(), await pool.connect()
        pool.put_back(one)
        pool.put_back(two)
        assert pool.take() is two
        pool.put_back(two)
        two.idle_since -= module.IDLE
        one.idle_since -= module.IDLE
        assert pool.take() is None
        assert two.closed


async def test_stale_connections_are_closed_while_nobody_asks(monkeypatch):
    monkeypatch.setattr(module, "IDLE", 0.02)
    async with pooled(always(ok())) as (pool, _):
        _, connection = await ask(pool)
        await until(lambda: connection.closed)
        assert pool._idle == []


async def test_a_connection_that_saw_its_end_while_idle_is_forgotten():
    async with pooled(once(ok())) as (pool, _):
        _, connection = await ask(pool)
        await until(lambda: connection.closed)
        assert pool.take() is None


async def test_an_interim_response_is_no_end():
    async with pooled(always(b"HTTP/1.1 103 Hints\r\nA: b\r\n\r\n" + ok(b"{}"))) as (pool, _):
        answer, _ = await ask(pool)
        assert [h[0] for h in answer.heads()] == [103, 200]
        assert answer.parts[-1] == ("end",)
        again, _ = await ask(pool)
        assert [h[0] for h in again.heads()] == [103, 200]


async def test_a_body_of_an_interim_response_is_no_part_of_the_answer():
    wrong = b"HTTP/1.1 150 Odd\r\nContent-Length: 2\r\n\r\nno"
    async with pooled(always(wrong + ok(b"yes"))) as (pool, _):
        answer, _ = await ask(pool)
        assert [head[0] for head in answer.heads()] == [150, 200]
        assert answer.body == b"yes"


async def test_a_head_request_ends_with_the_head():
    async with pooled(always(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n")) as (pool, _):
        answer, connection = await ask(pool, no_body=True)
        assert answer.parts[-1] == ("end",)
        assert connection.closed


@pytest.mark.parametrize(
    ("answer", "body", "end"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\nall of it", b"all of it", ("end",)),
        (b"HTTP/1.0 200 OK\r\n\r\n", b"", ("end",)),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nabc", b"abc", ("end",)),
    ],
)
async def test_a_body_without_framing_ends_with_the_connection(answer, body, end):
    async with pooled(once(answer)) as (pool, _):
        got, _ = await ask(pool)
        assert got.heads()[0][-1] is True
        assert (got.body, got.parts[-1]) == (body, end)


@pytest.mark.parametrize(
    ("answer", "words", "loss"),
    [
        (b"", "without an answer", "cut"),
        (b"HTTP/1.1 200 OK\r\nContent-Le", "without an answer", "cut"),
        (b"HTTP/1.1 103 Hints\r\n\r\n", "without an answer", "cut"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", "in the middle", "cut"),
        (b"HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n", "status is 99", "garbled"),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
            "in the middle",
            "cut",
        ),
        (b"nonsense\r\n\r\n", "no HTTP/1.1", "garbled"),
        (b"HTTP/1.1 200 OK\r\nA\x01: b\r\n\r\n", "no HTTP/1.1", "garbled"),
        (
            b"HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
            "unasked",
            "garbled",
        ),
        (b"HTTP/1.1 200 OK\r\n" + b"A: %b\r\n" % (b"x" * 50_000) * 30, "1 MiB", "garbled"),
    ],
)
async def test_what_breaks_off_or_is_no_answer_is_lost_with_a_reason(answer, words, loss):
    async with pooled(once(answer)) as (pool, _):
        got, connection = await ask(pool)
        kind, why, flag = got.parts[-1]
        assert (kind, flag) == ("lost", loss)
        assert words in why
        assert connection.closed
        assert sum(p[0] == "lost" for p in got.parts) == 1


async def test_speaking_unasked_ends_a_connection():
    async def handler(wire):
        await wire.send(ok())
        await wire.rest()

    async with pooled(handler) as (pool, _):
        connection = await pool.connect()
        pool.put_back(connection)
        await until(lambda: connection.closed)
        assert pool.take() is None


@pytest.mark.parametrize("extra", [ok(b"stolen"), b"HTTP/1.1 200 OK\r\n", b"HTTP", b"junk"])
@pytest.mark.parametrize("before", [0, 1, 2])
async def test_bytes_after_an_answer_end_its_connection(extra, before):
    async def handler(wire):
        for _ in range(before):
            await wire.message()
            await wire.send(ok())
        await wire.message()
        await wire.send(ok() + extra)
        await wire.rest()

    async with pooled(handler) as (pool, _):
        for _ in range(before + 1):
            answer, connection = await ask(pool)
            assert answer.parts[-1] == ("end",)
        await until(lambda: connection.closed)
        assert pool.take() is None


async def test_an_aborted_connection_says_nothing_more():
    release = asyncio.Event()

    async def handler(wire):
        await wire.message()
        await release.wait()
        await wire.send(ok())

    async with pooled(handler) as (pool, _):
        answer = Sink()
        connection = await pool.connect()
        connection.begin(answer, no_body=False)
        connection.write(get())
        connection.abort()
        connection.write(b"more")
        connection.pause()
        connection.resume()
        release.set()
        await until(connection._transport.is_closing)
        assert answer.parts == []


async def test_a_closed_port_is_an_os_error():
    upstream = Upstream(always(ok()))
    await upstream.start()
    await upstream.stop()
    pool = UpstreamPool(parse_target(f"http://127.0.0.1:{upstream.port}/"), None)
    with pytest.raises(OSError, match=r"\d"):
        await pool.connect()


@pytest.mark.parametrize("split", [False, True])
async def test_who_fails_at_the_end_of_a_response_is_told_of_it(split):
    class Fails(Sink):
        def upstream_end(self):
            raise ZeroDivisionError("oops")

    response = ok()

    async def handler(wire):
        for _ in range(2):
            await wire.message()
            await wire.send(response[:-3] if split else response)
            await wire.send(response[-3:] if split else b"")

    async with pooled(handler) as (pool, _):
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        connection = await pool.connect()
        for sink in (Sink(), Fails()):  # a head that was seen before is read another way
            connection.begin(sink, no_body=False)
            connection.write(get())
            async with asyncio.timeout(BOUND):
                await sink.done.wait()
        assert sink.parts[-1] == ("lost", "a fault of mcp-tap: ZeroDivisionError: oops", "ours")
