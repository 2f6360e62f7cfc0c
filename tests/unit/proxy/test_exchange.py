"""One exchange: what is kept of it, what it waits for, and when it answers itself."""

from __future__ import annotations

import asyncio

import pytest

from mcp_tap.proxy.exchange import KEPT_FOR_REPLY, WAITING_BODY
from tests.bounds import until
from tests.handlers import early
from tests.rig import HOST, LAST_CHUNK, PONG, chunk, get, ok, pong, post, tapped


def call(size: int) -> bytes:
    return b'{"jsonrpc":"2.0","id":5,"method":"m","params":"' + b"x" * size + b'"}'


async def test_a_chunked_request_stays_chunked(tmp_path):
    async def handler(wire):
        request = await wire.message()
        assert request.get(b"content-length") is None
        assert request.body == b"hello world"
        await wire.send(ok())

    async with tapped(handler, tmp_path) as rig:
        head = b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n"
        sent = head + chunk(b"hello ") + chunk(b"world") + LAST_CHUNK
        assert (await rig.ask(sent)).body == PONG


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_that_waits_for_its_connection_is_sent_whole_and_once(
    tmp_path, chunked, monkeypatch
):
    loop = asyncio.get_running_loop()
    real, release = loop.create_connection, asyncio.Event()
    body = call(2 * WAITING_BODY)

    async def slow(*args, **kwargs):
        await release.wait()
        return await real(*args, **kwargs)

    async def handler(wire):
        assert (await wire.message()).body == body
        await wire.send(ok())

    async with tapped(handler, tmp_path) as rig:
        client = await rig.client()
        monkeypatch.setattr(loop, "create_connection", slow)
        if chunked:
            head = b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n"
            await client.send(head, chunk(body[:100]), chunk(body[100:]), LAST_CHUNK)
        else:
            await client.send(post(body))
        await until(lambda: rig.run.exchanges)
        release.set()
        assert (await client.message()).body == PONG


@pytest.mark.parametrize(("size", "carries"), [(1000, True), (KEPT_FOR_REPLY + 1000, False)])
async def test_the_taps_own_error_carries_the_id_of_a_request_that_is_not_too_large(
    tmp_path, size, carries
):
    async with tapped(pong, tmp_path, up=False) as rig:
        answer = await rig.ask(post(call(size)))
        assert answer.status == 502
        assert (b'"id":5' in answer.body) is carries


async def test_the_wait_for_a_new_connection_is_the_taps_and_told(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        client = await rig.client()
        for _ in range(2):
            await client.send(post())
            await client.message()
        await rig.stop()
        first, second = rig.closed()
        assert first.held > 0
        assert second.held == 0


async def test_a_request_that_is_refused_reaches_no_upstream_and_is_read_to_its_end(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        client = await rig.client()
        refused = post(call(100)).replace(b"127.0.0.1", b"evil.host")
        for byte in (refused[:50], refused[50:120], refused[120:]):
            await client.send(byte)
        assert (await client.message()).json["id"] == 5
        await client.send(post())
        assert (await client.message()).status == 200
        assert rig.upstream.received == post()
        await rig.stop()
        refused_, passed = rig.closed()
        assert (refused_.how, refused_.sent) == ("refused", None)
        assert (passed.how, passed.sent is not None) == ("complete", True)


async def test_a_request_in_pieces_answered_whole_is_recorded_in_order(tmp_path):
    """The answer comes in one piece, before the request is complete."""

    async def handler(wire):
        await wire.message()
        await wire.send(ok())
        await wire.head()
        await wire.send(ok())
        await wire.rest()

    async with tapped(handler, tmp_path) as rig:
        client = await rig.client()
        await client.send(post())
        await client.message()
        await client.send(post(call(50))[:-20])
        assert (await client.message()).body == PONG
        await client.send(post(call(50))[-20:], get())
        await until(lambda: rig.run.exchanges == 3)
        await rig.stop()
        kinds = [type(r).__name__ for r in rig.of(2)]
        assert kinds == ["HttpRequest", "HttpResponse", "Body", "Message", "Closed"]
        assert rig.of(2)[-1].how == "complete"


async def test_an_upstream_connection_is_not_kept_while_its_request_was_incomplete(tmp_path):
    async with tapped(early(ok()), tmp_path) as rig:
        client = await rig.client()
        await client.send(post()[:-5])
        assert (await client.message()).status == 200
        assert rig.run._tap.pool._idle == []
