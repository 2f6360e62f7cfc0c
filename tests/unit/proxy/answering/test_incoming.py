"""Requests are held until they are whole, and only where they may be answered for."""

from __future__ import annotations

import asyncio

from mcp_tap.core import spec
from mcp_tap.proxy.answering import incoming
from tests.asking import Server, answering, call, day, done, request
from tests.rig import PING, always, chunk, get, ok, post, tapped


async def test_a_request_goes_up_when_it_is_whole(tmp_path):
    server = Server(day, done)
    whole = call()
    async with tapped(server, tmp_path, answering=answering()) as rig:
        wire = await rig.client()
        for i in range(0, len(whole), 100):
            await wire.send(whole[i : i + 100])
            await asyncio.sleep(0)
        assert (await wire.message()).json["id"] == 7
    assert server.got[0].json["params"]["_meta"][spec.CLIENT_CAPABILITIES]


async def test_one_that_grows_too_large_goes_on_as_it_comes(tmp_path, monkeypatch):
    monkeypatch.setattr(incoming, "MOST_REQUEST", 1000)
    body = request(arguments={"x": "y" * 3000})
    head = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    server = Server(done)
    async with tapped(server, tmp_path, answering=answering()) as rig:
        wire = await rig.client()
        await wire.send(head, chunk(body[:900]))
        await wire.send(chunk(body[900:2000]), chunk(body[2000:]), b"0\r\n\r\n")
        assert (await wire.message()).json["id"] == 7
    assert server.got[0].body == body


async def test_a_client_that_expects_to_be_asked_on_is(tmp_path):
    head, _, body = call().partition(b"\r\n\r\n")
    server = Server(day, done)
    async with tapped(server, tmp_path, answering=answering()) as rig:
        wire = await rig.client()
        await wire.send(head, b"\r\nExpect: 100-continue\r\n\r\n")
        assert (await wire.message()).status == 100
        await wire.send(body)
        assert (await wire.message()).json["id"] == 7
    assert server.got[1].get(b"expect") is None


async def test_a_request_that_is_framed_wrongly_is_refused(tmp_path):
    head = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    async with tapped(always(ok()), tmp_path, answering=answering()) as rig:
        wire = await rig.client()
        await wire.send(head, chunk(b'{"id":1'), b"zz\r\n")
        assert (await wire.message()).status == 400
        await rig.stop()
        assert rig.upstream.connections == []


async def test_a_coded_request_passes_as_it_is(tmp_path):
    async with tapped(always(ok()), tmp_path, answering=answering()) as rig:
        await rig.ask(post(PING, b"Content-Encoding: gzip"))
        assert PING in rig.upstream.received


async def test_what_is_no_post_passes(tmp_path):
    async with tapped(always(ok()), tmp_path, answering=answering()) as rig:
        assert (await rig.ask(get())).status == 200


async def test_headers_of_the_user_go_with_every_repeat(tmp_path):
    server = Server(day, done)
    more = {"headers": [("X-Key", "abc")]}
    async with tapped(server, tmp_path, answering=answering(), **more) as rig:
        await rig.ask(call())
    assert [m.get(b"x-key") for m in server.got] == [b"abc", b"abc"]
