"""Calls that their client cancelled, where servers ask on the stream of the session."""

from __future__ import annotations

import asyncio
import json

import pytest

from mcp_tap.proxy.answering.session import Called, Session
from tests.asking import answering
from tests.bounds import BOUND
from tests.pushing import LINES, SCRIPT, SESSION, Server, book, day, opened, result, rpc
from tests.rig import SSE_HEAD, chunk, event, get, ok, post, tapped


def calling(number, request_id):
    message = {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": {"name": "x"}}
    return Called(number, json.dumps(message).encode())


def cancelling(request_id, method="notifications/cancelled"):
    note = {"jsonrpc": "2.0", "method": method, "params": {"requestId": request_id}}
    return json.dumps(note).encode()


@pytest.mark.parametrize("request_id", [7, "7", "seven"])
def test_a_call_that_was_cancelled_is_not_under_way_although_its_stream_is_open(request_id):
    session = Session(key="s")
    left, wanted = calling(1, request_id), calling(2, 8)
    session.begin(left)
    session.begin(wanted)
    assert session.only() is None
    session.cancelled(cancelling(request_id))
    assert session.only() is wanted
    assert session.answered(request_id) is left


@pytest.mark.parametrize(
    "body",
    [
        cancelling("7"),
        cancelling(9),
        cancelling(7, "notifications/progress"),
        b'{"method":"notifications/cancelled","params":{}}',
        b'{"method":"notifications/cancelled","params":{"requestId":',
        b'["cancelled"]',
        b"",
    ],
)
def test_what_cancels_another_call_or_nothing_leaves_a_call_under_way(body):
    session = Session(key="s")
    session.begin(calling(1, 7))
    session.cancelled(body)
    assert session.only() is session.calls[1]


async def test_an_ask_after_a_cancelled_call_is_for_the_call_that_is_under_way(tmp_path):
    listening, left, asked = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def story(wire, message, server):
        if message.start.startswith(b"GET"):
            await wire.send(SSE_HEAD)
            listening.set()
            await asyncio.wait_for(asked.wait(), BOUND)
            await wire.send(chunk(event(day())))
            await wire.rest()
        elif message.json["params"]["name"] == "linger":
            await wire.send(SSE_HEAD)
            left.set()
            await wire.rest()
        else:
            asked.set()
            answer = await server.answer()
            await wire.send(ok(result(message.json["id"], json.dumps(answer.json["result"]))))

    script = SCRIPT.replace('field = "day"', 'tool = "book"')
    async with tapped(Server(story), tmp_path, answering=answering(script)) as rig:
        await opened(rig)
        stream, lingering = await rig.client(), await rig.client()
        await stream.send(get(b"/mcp", b"Accept: text/event-stream", SESSION))
        await asyncio.wait_for(listening.wait(), BOUND)
        await lingering.send(post(rpc("tools/call", 6, name="linger"), *LINES, SESSION))
        await asyncio.wait_for(left.wait(), BOUND)
        await rig.ask(post(cancelling(6), *LINES, SESSION))
        response = await rig.ask(post(book(), *LINES, SESSION))
        assert b"tue" in response.body
        await rig.stop()
