"""A client's connection: what is read, when reading stops, and how it ends."""

from __future__ import annotations

import asyncio

import pytest

from mcp_tap.proxy import listener as module
from tests.bounds import until
from tests.handlers import held
from tests.rig import HOST, PING, PONG, chunk, get, ok, pong, post, tapped

BIG = b"POST / HTTP/1.1\r\nHost: evil\r\nContent-Length: 900000000\r\n\r\n" + b"x" * (1 << 20)


def connection_of(rig):
    (connection,) = rig.run._tap.clients
    return connection


async def test_connections_are_numbered_and_peers_named(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        for _ in range(3):
            await rig.ask(post())
        await rig.stop()
        assert [r.conn for r in rig.requests()] == [1, 2, 3]
        assert {r.peer for r in rig.requests()} == {"127.0.0.1"}


async def test_reading_stops_while_too_many_requests_wait(tmp_path):
    release = asyncio.Event()
    async with tapped(held(release), tmp_path) as rig:
        client = await rig.client()
        await client.send(get() * 18)
        await until(lambda: rig.run.exchanges == 18)
        assert connection_of(rig)._paused_for == {"pipeline"}
        await client.send(get() * 100)
        release.set()
        for _ in range(118):
            assert (await client.message()).status == 200
        assert connection_of(rig)._paused_for == set()


async def test_a_client_that_still_sends_has_time_to_read_its_answer_and_no_more(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(module, "LINGER", 0.05)
    async with tapped(pong, tmp_path) as rig:
        client = await rig.client()
        await client.send(BIG)
        assert (await client.message()).status == 403
        await until(lambda: not rig.run._tap.clients)


async def test_nothing_after_an_early_answer_is_taken_for_a_request(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        client = await rig.client()
        await client.send(BIG)
        assert (await client.message()).status == 403
        await client.send(post())
        assert await client.end()
        assert rig.upstream.received == b""
        await rig.stop()
        assert len(rig.requests()) == 1


async def test_a_connection_that_comes_while_the_tap_stops_is_not_served(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        rig.run._tap.stopping = True
        client = await rig.client()
        assert await client.end()
        assert rig.run.exchanges == 0


SHORT = [post(b'{"id":%d,"method":"m"}' % n) for n in (1, 22, 333, 4444)]


async def test_heads_seen_before_take_the_short_way_with_the_same_outcome(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        client = await rig.client()
        for request in SHORT:
            await client.send(request)
            assert (await client.message()).status == 200
        assert rig.upstream.received == b"".join(SHORT)
        assert rig.run._tap.whole.find(SHORT[0]) is not None
        assert rig.run._tap.pool.whole.find(ok()) is not None
        await rig.stop()
        bodies = [m.payload() for m in rig.messages() if m.sender == "client"]
        assert bodies == [r.partition(b"\r\n\r\n")[2] for r in SHORT]
        lengths = [dict(r.headers)["Content-Length"] for r in rig.requests()]
        assert lengths == [str(len(b)) for b in bodies]


@pytest.mark.parametrize("before", [0, 1, 3])
@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (post() + post(), 200),
        (post()[:-1], None),
        (post(PING, b"Connection: close"), 200),
        (post().replace(b"127.0.0.1", b"evil.host"), 403),
        (post().replace(b"HTTP/1.1", b"HTTP/1.0"), 200),
        (post().replace(b"Content-Length: 40", b"Content-Length: 40\r\nContent-Length: 40"), 400),
        (post(length=False).replace(PING, b"") [:-2] + b"Transfer-Encoding: chunked\r\n\r\n"
         + chunk(PING) + b"0\r\n\r\n", 200),
        (b"\r\n" + post(), 200),
        (b"garbage" + post(), 400),
    ],
)  # fmt: skip
async def test_known_heads_change_nothing_for_others(tmp_path, before, request_, status):
    async with tapped(pong, tmp_path) as rig:
        client = await rig.client()
        for _ in range(before):
            await client.send(post())
            assert (await client.message()).body == PONG
        await client.send(request_)
        if status is None:
            await client.send(request_[-1:])
        else:
            assert (await client.message()).status == status
        await client.close()
        await until(lambda: not rig.run._tap.clients)


async def test_a_body_that_looks_like_a_known_request_stays_a_body(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        client = await rig.client()
        await client.send(post())
        await client.message()
        inner = post()
        for _ in range(3):
            head = b"POST /outer HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % (len(inner))
            await client.send(head)
            await until(lambda: len(connection_of(rig)._exchanges) == 1)
            await client.send(inner)
            assert (await client.message()).status == 200
        await rig.stop()
        assert [r.path for r in rig.requests()] == ["/mcp"] + ["/outer"] * 3


async def test_a_refused_body_that_looks_like_a_known_request_is_not_one(tmp_path):
    """The early answer ends the exchange while its body still comes."""
    offer = b"Connection: Upgrade\r\nUpgrade: h2c\r\n"

    async def handler(wire):
        while True:
            head = await wire.head()
            if b"/outer" in head.start:
                await wire.send(ok(b"{}", status=b"413 Too Large"))
                await wire.rest()
            await wire.exactly(len(PING))
            await wire.send(ok())

    for more in (b"", offer):
        async with tapped(handler, tmp_path / str(len(more))) as rig:
            client = await rig.client()
            await client.send(post())
            await client.message()
            inner = post()
            await client.send(
                b"POST /outer HTTP/1.1\r\n" + HOST + more
                + b"Content-Length: %d\r\n\r\n" % (2 * len(inner))
            )  # fmt: skip
            assert (await client.message()).status == 413
            await client.send(inner)
            await until(lambda: not connection_of(rig)._exchanges)
            await client.send(inner)
            await client.send(post())
            assert (await client.message()).body == PONG
            await rig.stop()
            assert [r.path for r in rig.requests()] == ["/mcp", "/outer", "/mcp"]
