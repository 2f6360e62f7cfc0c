"""Exchanges whose stream asks, or whose response opens a session, in all their forms."""

from __future__ import annotations

import asyncio
import json
import zlib

import pytest

from mcp_tap.proxy.answering import eras
from tests.asking import answering
from tests.bounds import BOUND
from tests.pushing import (
    ACCEPTED,
    LINE_END,
    LINES,
    SCRIPT,
    SESSION,
    book,
    day,
    hello,
    note,
    result,
    said,
    welcome,
)
from tests.rig import LAST_CHUNK, SSE_HEAD, always, chunk, event, get, post, tapped


async def test_a_session_with_an_endpoint_of_its_own_is_answered_there(tmp_path):
    """The transport of 2024-11-05: one stream for all that a server says."""
    place, told, answers = b"/messages?session=1", asyncio.Queue(), asyncio.Queue()

    async def server(wire):
        message = await wire.message()
        if message.start.startswith(b"GET"):
            await wire.send(SSE_HEAD, chunk(b"event: endpoint\ndata: " + place + b"\n\n"))
            while True:
                await wire.send(chunk(event(await told.get())))
        assert message.start == b"POST " + place + b" HTTP/1.1"
        await wire.send(b"HTTP/1.1 202 Accepted\r\nContent-Length: 8\r\n\r\nAccepted")
        value = message.json
        if value.get("method") == "initialize":
            assert value["params"]["capabilities"] == {"elicitation": {"form": {}}}
            told.put_nowait(welcome(value["id"]).partition(b"\r\n\r\n")[2])
        elif value.get("method") == "tools/call":
            told.put_nowait(day())
        elif "result" in value:
            answers.put_nowait(value)
            told.put_nowait(result(7, json.dumps(value["result"])))

    script = SCRIPT.replace('field = "day"', 'server = "billing", tool = "book"')
    async with tapped(server, tmp_path, path="/sse", answering=answering(script)) as rig:
        stream = await rig.client()
        await stream.send(get(b"/sse", b"Accept: text/event-stream"))
        await stream.until(place)
        await rig.ask(post(hello(), target=place))
        await stream.until(b"serverInfo")
        await rig.ask(post(book(), target=place))
        heard = await stream.until(b"content")
        assert b"elicitation/create" not in heard
        heard += await stream.until(LINE_END)
        assert b"tue" in heard
        assert answers.get_nowait()["id"] == "ask-1"


async def served(wire, answer, reply, begin=welcome):
    """Play a server whose every stream is written by `reply`."""
    while True:
        message = await wire.message()
        value = message.json
        if value.get("method") == "tools/call":
            await reply(wire, value["id"])
        elif "result" in value:
            answer.set()
            await wire.send(ACCEPTED)
        else:
            assert value["params"]["capabilities"] == {"elicitation": {"form": {}}}
            await wire.send(begin(value["id"]))


async def test_an_ask_in_an_encoded_stream_is_taken_out_of_it(tmp_path):
    answer = asyncio.Event()
    head = SSE_HEAD.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n")

    async def reply(wire, number):
        packer = zlib.compressobj(wbits=31)

        def packed(body):
            return chunk(packer.compress(event(body)) + packer.flush(zlib.Z_SYNC_FLUSH))

        await wire.send(head, packed(note("notifications/message", level="info", data="a")))
        await wire.send(packed(day()))
        await asyncio.wait_for(answer.wait(), BOUND)
        await wire.send(packed(result(number)), chunk(packer.flush()), LAST_CHUNK)

    async with tapped(
        lambda wire: served(wire, answer, reply), tmp_path, answering=answering(SCRIPT)
    ) as rig:
        await rig.ask(post(hello(), *LINES))
        response = await rig.ask(post(book(), *LINES, SESSION))
        assert response.get(b"content-encoding") is None
        assert [m.get("method") for m in said(response)] == ["notifications/message", None]


async def test_an_ask_is_found_however_its_stream_is_cut(tmp_path):
    answer = asyncio.Event()

    async def reply(wire, number):
        await wire.send(SSE_HEAD)
        stream = event(note("notifications/message", level="info", data="a")) + event(day())
        for at in range(0, len(stream), 7):
            await wire.send(chunk(stream[at : at + 7]))
            await asyncio.sleep(0)
        await asyncio.wait_for(answer.wait(), BOUND)
        rest = event(result(number))
        await wire.send(chunk(rest[:20]), chunk(rest[20:]), LAST_CHUNK)

    async with tapped(
        lambda wire: served(wire, answer, reply), tmp_path, answering=answering(SCRIPT)
    ) as rig:
        await rig.ask(post(hello(), *LINES))
        response = await rig.ask(post(book(), *LINES, SESSION))
        assert [m.get("method") for m in said(response)] == ["notifications/message", None]


@pytest.mark.parametrize("streams", [False, True])
async def test_a_session_is_learned_from_whatever_initialize_is_answered_with(tmp_path, streams):
    answer = asyncio.Event()
    script = SCRIPT.replace('field = "day"', 'server = "billing"')

    async def reply(wire, number):
        await wire.send(SSE_HEAD, chunk(event(day())))
        await asyncio.wait_for(answer.wait(), BOUND)
        await wire.send(chunk(event(result(number))), LAST_CHUNK)

    def begin(number):
        whole = welcome(number)
        if not streams:
            return whole
        head = SSE_HEAD.replace(b"\r\n\r\n", b"\r\nMcp-Session-Id: s-1\r\n\r\n")
        return head + chunk(event(whole.partition(b"\r\n\r\n")[2])) + LAST_CHUNK

    async def server(wire):
        await served(wire, answer, reply, begin)

    async with tapped(server, tmp_path, answering=answering(script)) as rig:
        wire = await rig.client()
        body = hello()
        lines = [*LINES, b"Transfer-Encoding: chunked"]
        await wire.send(post(b"", *lines, length=False), chunk(body[:30]), chunk(body[30:]))
        await wire.send(LAST_CHUNK)
        assert (await wire.message()).get(b"mcp-session-id") == b"s-1"
        await wire.send(post(book(), *LINES, SESSION))
        assert b'"id": 7' in (await wire.message()).body
        await rig.stop()
        (edited,) = [m for m in rig.messages() if m.sender == "tap" and m.replaces]
        assert edited.leg == "upstream"


async def test_what_initialize_brings_is_not_kept_beyond_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(eras, "MOST_RESPONSE", 100)
    body = welcome().partition(b"\r\n\r\n")[2]
    head = (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )

    async def server(wire):
        await wire.message()
        await wire.send(head, chunk(body[:150]))
        await wire.send(chunk(body[150:]), LAST_CHUNK)

    helper = answering(SCRIPT)
    async with tapped(server, tmp_path, answering=helper) as rig:
        assert (await rig.ask(post(hello(), *LINES))).body == body
        assert helper.server is None


async def test_what_is_passed_on_in_a_session_is_what_came(tmp_path):
    sent = b": hi\r\n\r\nid: 7\r\nevent: message\r\ndata: " + result() + b"\r\n\r\nretry: 5\n\n"

    async with tapped(
        always(SSE_HEAD + chunk(sent) + LAST_CHUNK), tmp_path, answering=answering(SCRIPT)
    ) as rig:
        for request in (post(book(), *LINES, SESSION), get(b"/mcp", SESSION)):
            assert (await rig.ask(request)).body == sent


async def test_a_session_whose_beginning_was_not_seen_can_be_answered(tmp_path):
    answer = asyncio.Event()

    async def reply(wire, number):
        await wire.send(SSE_HEAD, chunk(event(day())))
        await asyncio.wait_for(answer.wait(), BOUND)
        await wire.send(chunk(event(result(number))), LAST_CHUNK)

    async with tapped(
        lambda wire: served(wire, answer, reply), tmp_path, answering=answering(SCRIPT)
    ) as rig:
        response = await rig.ask(post(book(), *LINES, SESSION))
        assert [m.get("id") for m in said(response)] == [7]
