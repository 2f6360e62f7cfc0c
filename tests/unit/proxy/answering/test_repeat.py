"""The tap's own request and what may come back."""

from __future__ import annotations

import gzip

from mcp_tap.core.records import HttpResponse
from mcp_tap.proxy.answering import repeat
from tests.asking import Server, answering, asks_day, call, day, done, ends, result, streamed
from tests.rig import LAST_CHUNK, SSE_HEAD, chunk, ok, tapped


async def test_interim_responses_are_recorded_and_not_passed_on(tmp_path):
    def hints(number):
        return b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + done(number)

    async with tapped(Server(day, hints), tmp_path, answering=answering()) as rig:
        wire = await rig.client()
        await wire.send(call())
        assert (await wire.message()).status == 200
        await rig.stop()
        assert [h.status for h in rig.of(2, HttpResponse)] == [103, 200]


async def test_an_answer_too_large_to_be_held_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(repeat, "MOST", 1 << 20)
    server = Server(day, lambda n: ok(result(n, "x" * (2 << 20))))
    async with tapped(server, tmp_path, answering=answering()) as rig:
        response = await rig.ask(call())
        assert response.get(b"mcp-tap-error") == b"answer-too-large"


async def test_one_larger_than_an_ask_may_be_is_passed_on(tmp_path):
    server = Server(day, lambda n: ok(result(n, "x" * (5 << 20))))
    async with tapped(server, tmp_path, answering=answering()) as rig:
        assert (await rig.ask(call())).json["id"] == 7


async def test_a_stream_that_lies_about_its_coding_is_told(tmp_path):
    head = SSE_HEAD.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n")
    server = Server(day, lambda _: head + chunk(b"no gzip") + LAST_CHUNK)
    async with tapped(server, tmp_path, answering=answering()) as rig:
        response = await rig.ask(call())
        assert b"Content-Encoding says" in response.body


async def test_a_coded_body_that_cannot_be_read_is_told_where_it_may_hold_an_id(tmp_path):
    odd = ok(b"odd", b"Content-Encoding: rot13")
    async with tapped(Server(day, lambda _: odd), tmp_path, answering=answering()) as rig:
        response = await rig.ask(call())
        assert response.get(b"mcp-tap-error") == b"cannot-pass-on"


async def test_a_coded_page_that_cannot_be_read_passes(tmp_path):
    odd = ok(b"odd", b"Content-Encoding: rot13").replace(b"application/json", b"text/html")
    async with tapped(Server(day, lambda _: odd), tmp_path, answering=answering()) as rig:
        assert (await rig.ask(call())).body == b"odd"


async def test_a_coded_stream_after_a_plain_one_is_decoded(tmp_path):
    def coded(number):
        head = SSE_HEAD.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n")
        return head + chunk(gzip.compress(ends(number))) + LAST_CHUNK

    server = Server(streamed(asks_day), coded)
    async with tapped(server, tmp_path, answering=answering()) as rig:
        assert b'"id": 7' in (await rig.ask(call())).body


async def test_an_event_too_large_to_be_held_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(repeat, "MOST", 1000)

    def large(number):
        told = ends(number).replace(b"done", b"x" * 5000)
        return SSE_HEAD + chunk(told[:3000]) + chunk(told[3000:]) + LAST_CHUNK

    async with tapped(Server(day, large), tmp_path, answering=answering()) as rig:
        response = await rig.ask(call())
        assert b"answer-too-large" in response.body
        assert b"xxx" not in response.body


async def test_a_stream_in_no_known_coding_is_told(tmp_path):
    head = SSE_HEAD.replace(b"\r\n\r\n", b"\r\nContent-Encoding: rot13\r\n\r\n")
    server = Server(day, lambda _: head + chunk(b"qngn: {}\n\n") + LAST_CHUNK)
    async with tapped(server, tmp_path, answering=answering()) as rig:
        response = await rig.ask(call())
        assert (response.status, response.get(b"mcp-tap-error")) == (502, b"cannot-pass-on")
        assert "rot13" in response.json["error"]["message"]
