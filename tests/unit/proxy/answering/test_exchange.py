"""Responses are held no longer than it takes to know that they do not ask."""

from __future__ import annotations

import asyncio
import json

import pytest

from mcp_tap.core.records import HttpResponse, Message
from tests.asking import Server, answering, asks_day, call, day, done, progress, result
from tests.bounds import until
from tests.handlers import once
from tests.rig import LAST_CHUNK, SSE_HEAD, chunk, ok, tapped


async def test_a_chunked_response_passes_whole(tmp_path):
    body = result(7, "sm\u00f8rrebr\u00f8d")
    parts = chunk(body[:20]) + chunk(body[20:]) + LAST_CHUNK
    head = (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    async with tapped(Server(lambda _: head + parts), tmp_path, answering=answering()) as rig:
        assert (await rig.ask(call())).body == body


async def test_a_chunked_ask_is_answered(tmp_path):
    def chunked(number):
        body = day(number).partition(b"\r\n\r\n")[2]
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked"
        return head + b"\r\n\r\n" + chunk(body[:50]) + chunk(body[50:]) + LAST_CHUNK

    async with tapped(Server(chunked, done), tmp_path, answering=answering()) as rig:
        assert (await rig.ask(call())).json == json.loads(result(7))


async def test_an_ask_that_ends_with_its_connection_is_answered(tmp_path):
    turns = iter((day, done))

    async def server(wire):
        number = (await wire.message()).json["id"]
        body = next(turns)(number).partition(b"\r\n\r\n")[2]
        await wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", body)

    async with tapped(server, tmp_path, answering=answering()) as rig:
        assert (await rig.ask(call())).json == json.loads(result(7))


async def test_a_response_cut_in_its_body_is_cut_for_the_client(tmp_path):
    async with tapped(once(done(7)[:-9]), tmp_path, answering=answering()) as rig:
        wire = await rig.client()
        await wire.send(call())
        assert await wire.rest() == done(7)[:-9]
        await rig.stop()
        assert [c.how for c in rig.closed()] == ["upstream_cut"]
        assert rig.of(1, HttpResponse)[0].status == 200


async def test_an_event_that_is_cut_is_cut_for_the_client(tmp_path):
    stream = SSE_HEAD + chunk(progress(1)) + chunk(progress(2)[:-9])

    async with tapped(once(stream), tmp_path, answering=answering()) as rig:
        wire = await rig.client()
        await wire.send(call())
        assert await wire.rest() == stream
        await rig.stop()
        (closed,) = rig.closed()
        assert closed.response.bytes == len(progress(1) + progress(2)[:-9])


async def test_what_had_come_when_the_tap_stopped_is_recorded(tmp_path):
    sent = []

    async def server(wire):
        await wire.message()
        await wire.send(done(7)[:-9])
        sent.append(1)
        await wire.end()

    async with tapped(server, tmp_path, answering=answering()) as rig:
        wire = await rig.client()
        await wire.send(call())
        await until(lambda: sent)
        await asyncio.sleep(0.05)
        await rig.stop()
        assert [c.how for c in rig.closed()] == ["shutdown"]
        assert rig.of(1, HttpResponse)[0].status == 200


async def test_a_response_in_no_known_coding_passes(tmp_path):
    odd = ok(b"%%%", b"Content-Encoding: rot13")
    async with tapped(Server(lambda _: odd), tmp_path, answering=answering()) as rig:
        assert (await rig.ask(call())).body == b"%%%"
        await rig.stop()
        assert [d.verdict for d in rig.decisions()] == ["not-examined"]


async def test_a_response_that_is_not_what_its_coding_says_passes(tmp_path):
    odd = ok(b"no gzip at all", b"Content-Encoding: gzip")
    async with tapped(Server(lambda _: odd), tmp_path, answering=answering()) as rig:
        assert (await rig.ask(call())).body == b"no gzip at all"


async def test_a_request_whose_id_is_null_is_not_answered_for(tmp_path):
    async with tapped(Server(day), tmp_path, answering=answering()) as rig:
        response = await rig.ask(call(number=None))
        assert response.json["result"]["resultType"] == "input_required"
        await rig.stop()
        assert [m.leg for m in rig.of(1, Message) if m.sender == "server"] == [None]


SIZED_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n"


def sized(number):
    body = asks_day(number) + progress(1)
    return SIZED_HEAD % len(body) + body


def in_one_piece(number):
    return SSE_HEAD + chunk(asks_day(number) + progress(1)) + chunk(progress(2)) + LAST_CHUNK


@pytest.mark.parametrize("asks", [sized, in_one_piece])
async def test_what_comes_behind_an_ask_that_failed_does_not_reach_the_client(tmp_path, asks):
    helper = answering("version = 1", unmatched="fail")
    async with tapped(Server(asks, asks, done), tmp_path, answering=helper) as rig:
        wire = await rig.client()
        for number in (7, 8):  # the second comes with a head that was seen before
            await wire.send(call(number=number))
            response = await wire.message()
            assert b"no-answer" in response.body
            assert b"notifications/progress" not in response.body
        await wire.send(call(number=9))
        assert (await wire.message()).json == json.loads(result(9))
        await rig.stop()
        assert [(c.exchange, c.how) for c in rig.closed()] == [
            (1, "refused"),
            (2, "refused"),
            (3, "complete"),
        ]
