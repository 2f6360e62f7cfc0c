"""The client gets its result in the way it was begun."""

from __future__ import annotations

import json

import pytest

from tests.asking import Server, answering, asks_day, call, day, done, ends, request, streamed
from tests.rig import ok, tapped


@pytest.mark.parametrize("number", [0, -1, "a b", "caf\u00e9 \u65e5", 2**70, 1.5])
async def test_ids_come_back_as_the_client_wrote_them(tmp_path, number):
    async with tapped(Server(day, done), tmp_path, answering=answering()) as rig:
        response = await rig.ask(call(number=number))
        assert response.json["id"] == number
        assert json.dumps(number).encode() in response.body


async def test_a_client_of_http_1_0_gets_a_stream_without_chunks(tmp_path):
    server = Server(streamed(asks_day), streamed(ends))
    old = call().replace(b"HTTP/1.1", b"HTTP/1.0")
    async with tapped(server, tmp_path, answering=answering()) as rig:
        response = await rig.ask(old)
        assert response.get(b"transfer-encoding") is None
        assert response.body.count(b"data: ") == 1


async def test_a_client_that_wants_to_close_is_closed(tmp_path):
    async with tapped(Server(day, done), tmp_path, answering=answering()) as rig:
        wire = await rig.client()
        head, _, body = call().partition(b"\r\n\r\n")
        await wire.send(head, b"\r\nConnection: close\r\n\r\n", body)
        assert (await wire.message()).json["id"] == 7
        assert await wire.end()


async def test_a_result_that_names_its_id_twice_is_not_passed_on(tmp_path):
    def twice(number):
        token = json.dumps(number).encode()
        return ok(b'{"id":%b,"result":{},"id":%b}' % (token, token))

    async with tapped(Server(day, twice), tmp_path, answering=answering()) as rig:
        response = await rig.ask(call())
        assert response.get(b"mcp-tap-error") == b"cannot-pass-on"
        assert response.json["id"] == 7


async def test_a_page_in_the_place_of_a_result_is_told_on_a_stream(tmp_path):
    page = b"HTTP/1.1 502 Bad\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\noops"
    server = Server(streamed(asks_day), lambda _: page)
    async with tapped(server, tmp_path, answering=answering()) as rig:
        response = await rig.ask(call())
        last = json.loads(response.body.strip().rpartition(b"data: ")[2])
        assert "status 502" in last["error"]["message"]


async def test_the_connection_is_kept_for_the_next_request(tmp_path):
    server = Server(streamed(asks_day), streamed(ends), done)
    async with tapped(server, tmp_path, answering=answering()) as rig:
        wire = await rig.client()
        await wire.send(call())
        assert (await wire.message()).whole
        await wire.send(call(request(8)))
        assert (await wire.message()).json["id"] == 8
