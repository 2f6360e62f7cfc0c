"""Connections on both sides: kept, closed, pipelined, old, early."""

from __future__ import annotations

import asyncio

import pytest

from mcp_tap.net import upstream as upstream_module
from mcp_tap.proxy import listener
from tests.bounds import until
from tests.handlers import early, held, once, to_method
from tests.rig import (
    HOST,
    LAST_CHUNK,
    PING,
    PONG,
    SSE_HEAD,
    chunk,
    event,
    get,
    ok,
    pong,
    post,
    tapped,
)


async def test_both_connections_serve_many_exchanges(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        client = await rig.client()
        for _ in range(20):
            await client.send(post())
            assert (await client.message()).body == PONG
        assert len(rig.upstream.connections) == 1
        await rig.stop()
        assert {r.conn for r in rig.requests()} == {1}
        assert [c.exchange for c in rig.closed()] == list(range(1, 21))


async def test_a_client_that_asks_for_close_gets_it_and_the_upstream_stays(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        for _ in range(2):
            client = await rig.client()
            await client.send(post(PING, b"Connection: close"))
            answer = await client.message()
            assert answer.get(b"connection") == b"close"
            assert await client.end()
        assert len(rig.upstream.connections) == 1


async def test_an_upstream_that_closes_leaves_the_client_its_connection(tmp_path):
    async with tapped(once(ok(PONG, b"Connection: close")), tmp_path) as rig:
        client = await rig.client()
        for _ in range(3):
            await client.send(post())
            answer = await client.message()
            assert (answer.body, answer.get(b"connection")) == (PONG, None)
        assert len(rig.upstream.connections) == 3


async def test_an_idle_upstream_connection_is_not_used_past_its_time(tmp_path, monkeypatch):
    monkeypatch.setattr(upstream_module, "IDLE", 0.0)
    async with tapped(pong, tmp_path) as rig:
        client = await rig.client()
        for _ in range(3):
            await client.send(post())
            await client.message()
        assert len(rig.upstream.connections) == 3


async def test_idle_upstream_connections_are_closed_in_time(tmp_path, monkeypatch):
    monkeypatch.setattr(upstream_module, "IDLE", 0.05)
    ended = []

    async def handler(wire):
        await wire.message()
        await wire.send(ok())
        ended.append(await wire.end())

    async with tapped(handler, tmp_path) as rig:
        await rig.ask(post())
        await until(lambda: ended == [True])


async def test_a_pooled_connection_that_dies_is_an_error_and_never_a_second_send(tmp_path):
    async def handler(wire):
        await wire.message()
        await wire.send(ok())
        await wire.message()  # the second request is read, and dies with the connection

    async with tapped(handler, tmp_path) as rig:
        client = await rig.client()
        await client.send(post())
        assert (await client.message()).status == 200
        await client.send(post())
        assert await client.rest() == b""  # closed without an answer, as the upstream did
        assert rig.upstream.received == post() * 2
        assert len(rig.upstream.connections) == 1
        assert (await rig.ask(post())).status == 200
        await rig.stop()
        assert [c.how for c in rig.closed()] == ["complete", "upstream_cut", "complete"]


async def test_an_upstream_connection_that_saw_an_end_is_not_used_again(tmp_path):
    async with tapped(once(ok()), tmp_path) as rig:
        client = await rig.client()
        for n in range(1, 4):
            await client.send(post())
            assert (await client.message()).status == 200
            await until(lambda: rig.run._tap.pool._idle == [])
            assert len(rig.upstream.connections) == n


async def test_pipelined_requests_are_answered_in_order(tmp_path):
    count = 50
    bodies = [b'{"jsonrpc":"2.0","id":%d,"method":"ping"}' % n for n in range(count)]
    async with tapped(pong, tmp_path) as rig:
        client = await rig.client()
        await client.send(*[post(body) for body in bodies])
        for n in range(count):
            assert (await client.message()).json["id"] == n
        await rig.stop()
        assert [m.payload() for m in rig.messages() if m.sender == "client"] == bodies
        assert [c.how for c in rig.closed()] == ["complete"] * count


async def test_pipelined_requests_wait_for_the_one_before(tmp_path):
    release = asyncio.Event()
    async with tapped(held(release, b"slow"), tmp_path) as rig:
        client = await rig.client()
        await client.send(get(b"/slow"), post(target=b"/fast"))
        await until(lambda: rig.upstream.received)
        assert rig.upstream.received == get(b"/slow")
        release.set()
        assert b"/slow" in (await client.message()).body
        assert b"/fast" in (await client.message()).body


async def test_a_pipelined_request_refused_waits_for_its_turn(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        client = await rig.client()
        await client.send(post(), b"GET / HTTP/1.1\r\nHost: evil\r\n\r\n", post(), b"garbage\r\n")
        assert [(await client.message()).status for _ in range(4)] == [200, 403, 200, 400]
        assert await client.end()


async def test_an_early_answer_passes_before_the_body_is_complete(tmp_path):
    async with tapped(early(ok(b"{}", status=b"413 Payload Too Large")), tmp_path) as rig:
        client = await rig.client()
        await client.send(post(length=False, body=b"").removesuffix(b"\r\n"))
        await client.send(b"Content-Length: 3000000\r\n\r\n", b"x" * 1000)
        assert (await client.message()).status == 413
        for _ in range(30):  # it goes on sending, as many clients do, and then asks again
            await client.send(b"x" * 100_000)
        await client.close()
        await rig.stop()
        assert [r.status for r in rig.responses()] == [413]
        assert rig.closed()[0].how == "complete"


async def test_a_client_may_finish_its_body_after_an_early_answer_and_ask_again(tmp_path):
    async def handler(wire):
        head = await wire.head()
        await wire.send(
            ok(b"{}", status=b"413 Payload Too Large" if b"/a" in head.start else b"200 OK")
        )
        await wire.rest()

    async with tapped(handler, tmp_path) as rig:
        client = await rig.client()
        await client.send(b"POST /a HTTP/1.1\r\n" + HOST + b"Content-Length: 10\r\n\r\n01234")
        assert (await client.message()).status == 413
        await client.send(b"56789", get(b"/b"))
        assert (await client.message()).status == 200
        assert len(rig.upstream.connections) == 2


async def test_an_early_answer_is_not_taken_from_a_client_that_reads_it_slowly(tmp_path):
    large = b'{"jsonrpc":"2.0","id":1,"result":"%b"}' % bytes([65] * (8 << 20))

    async with tapped(early(ok(large)), tmp_path) as rig:
        client = await rig.client()
        await client.send(b"POST / HTTP/1.1\r\n" + HOST + b"Connection: close\r\n")
        await client.send(b"Content-Length: 1000000\r\n\r\n")
        await client.head()
        for _ in range(len(large) >> 16):
            await client.send(b"more")
            await client.exactly(1 << 16)
            await asyncio.sleep(listener.LINGER / 100)
        assert await client.rest() == large[len(large) & ~0xFFFF :]


async def test_expect_100_continue_is_answered_by_the_tap_and_not_sent_up(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        client = await rig.client()
        await client.send(post(PING, b"Expect: 100-continue").removesuffix(PING))
        assert (await client.message()).status == 100
        await client.send(PING)
        assert (await client.message()).body == PONG
        assert rig.upstream.received == post()


async def test_no_100_continue_comes_before_the_answer_of_an_earlier_request(tmp_path):
    release = asyncio.Event()
    async with tapped(held(release, b"GET"), tmp_path) as rig:
        client = await rig.client()
        await client.send(get(), post(PING, b"expect: 100-Continue").removesuffix(PING))
        await until(lambda: rig.upstream.received)
        release.set()
        assert (await client.message()).body.startswith(b"GET ")
        assert (await client.message()).status == 100
        await client.send(PING)
        assert (await client.message()).body.startswith(b"POST ")


async def test_an_interim_response_passes_and_the_final_one_follows(tmp_path):
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"

    async with tapped(once(b"HTTP/1.1 100 Continue\r\n\r\n", hints, ok()), tmp_path) as rig:
        client = await rig.client()
        await client.send(post())
        assert (await client.message()).status == 103
        assert (await client.message()).body == PONG
        assert client.received == hints + ok()
        await rig.stop()
        assert [r.status for r in rig.responses()] == [100, 103, 200]
        assert rig.closed()[0].how == "complete"


async def test_a_client_of_http_1_0_gets_its_body_without_chunks_up_to_the_close(tmp_path):
    async with tapped(once(SSE_HEAD, chunk(event(PONG)), LAST_CHUNK), tmp_path) as rig:
        client = await rig.client()
        await client.send(b"POST /mcp HTTP/1.0\r\n" + HOST + b"Content-Length: 40\r\n\r\n" + PING)
        answer = await client.message()
        assert answer.get(b"transfer-encoding") is None
        assert answer.body == event(PONG)
        assert client.ended
        await rig.stop()
        assert rig.requests()[0].version == "1.0"
        assert rig.closed()[0].how == "complete"


async def test_a_client_of_http_1_0_is_not_left_to_wait_for_an_end(tmp_path):
    """Where it asked to keep the connection and is not told so, it reads up to the close."""
    async with tapped(pong, tmp_path) as rig:
        client = await rig.client()
        await client.send(b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n" + HOST + b"\r\n")
        assert (await client.message()).status == 200
        assert await client.end()


async def test_a_client_of_http_1_0_gets_no_interim_response(tmp_path):
    async with tapped(once(b"HTTP/1.1 103 Early Hints\r\n\r\n", ok()), tmp_path) as rig:
        client = await rig.client()
        await client.send(
            b"POST / HTTP/1.0\r\nExpect: 100-continue\r\n" + HOST + b"Content-Length: 2\r\n\r\n{}"
        )
        assert (await client.message()).status == 200


async def test_a_request_of_http_1_0_without_host_passes_as_such(tmp_path):
    """With another version in its line it would break the rules of that version."""
    async with tapped(pong, tmp_path) as rig:
        assert (await rig.ask(b"GET /mcp HTTP/1.0\r\n\r\n")).status == 200
        assert rig.upstream.received == b"GET /mcp HTTP/1.0\r\n\r\n"


async def test_a_response_of_http_1_0_passes_to_a_client_of_1_1(tmp_path):
    async with tapped(
        once(b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nup to the end"), tmp_path
    ) as rig:
        answer = await rig.ask(get())
        assert answer.body == b"up to the end"
        assert answer.get(b"connection") == b"close"
        await rig.stop()
        assert rig.responses()[0].version == "1.0"
        assert rig.closed()[0].how == "complete"


@pytest.mark.parametrize("coding", [b"", b"Transfer-Encoding: gzip\r\n"])
async def test_a_body_that_ends_with_the_connection_does_so_for_the_client(tmp_path, coding):
    async def handler(wire):
        await wire.message()
        await wire.send(b"HTTP/1.1 200 OK\r\n" + coding + b"\r\nsome")
        await wire.send(b" text")

    async with tapped(handler, tmp_path) as rig:
        client = await rig.client()
        await client.send(get())
        head = await client.head()
        assert head.get(b"connection") == b"close"
        assert await client.rest() == b"some text"
        await rig.stop()
        assert rig.closed()[0].how == "complete"


@pytest.mark.parametrize("framing", [b"Content-Length: 40", b"Transfer-Encoding: chunked"])
async def test_a_head_request_gets_the_head_alone_and_the_connection_stays(tmp_path, framing):
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + framing + b"\r\n\r\n"
    async with tapped(to_method(b"HEAD", head), tmp_path) as rig:
        client = await rig.client()
        await client.send(get(method=b"HEAD"))
        await client.message(no_body=True)
        await client.send(post())
        assert (await client.message()).body == PONG
        assert client.received == head + ok()
        await rig.stop()
        assert [c.how for c in rig.closed()] == ["complete"] * 2


@pytest.mark.parametrize("status", [b"204 No Content", b"304 Not Modified"])
@pytest.mark.parametrize(
    "framing", [b"", b"Content-Length: 40\r\n", b"Transfer-Encoding: chunked\r\n"]
)
async def test_statuses_without_a_body_leave_both_connections_usable(tmp_path, status, framing):
    head = b"HTTP/1.1 " + status + b"\r\n" + framing + b"\r\n"
    async with tapped(to_method(b"GET", head), tmp_path) as rig:
        client = await rig.client()
        for _ in range(2):
            await client.send(get())
            await client.message()
            await client.send(post())
            assert (await client.message()).body == PONG
        assert client.received == (head + ok()) * 2
        assert len(rig.upstream.connections) == 1


async def test_150_open_streams_leave_room_for_a_call(tmp_path):
    async def handler(wire):
        while True:
            request = await wire.message()
            if request.start.startswith(b"GET"):
                await wire.send(SSE_HEAD, chunk(b": here\r\n\r\n"))
                await wire.end()
                return
            await wire.send(ok())

    async with tapped(handler, tmp_path) as rig:
        streams = [await rig.client() for _ in range(150)]
        for stream in streams:
            await stream.send(get())
        for stream in streams:
            await stream.until(b": here\r\n\r\n")
        assert (await rig.ask(post())).body == PONG
        assert len(rig.upstream.connections) == 151
