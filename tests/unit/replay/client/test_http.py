"""An HTTP server, spoken to: headers, streams, sessions, and what is no response."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from aiohttp import web

from mcp_tap.bridge.heads import Tools
from mcp_tap.replay.client import http
from mcp_tap.replay.client.http import HttpPeer
from mcp_tap.replay.client.peers import TooBig, Unreachable
from tests.bounds import BOUND, until
from tests.bridges import META, NEW, OLD, Posted
from tests.resending import message

NOTE = b'data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n'
DONE = b'data: {"jsonrpc":"2.0","id":1,"result":{"ok":true}}\n\n'
TOOL = {
    "name": "where",
    "inputSchema": {
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    },
}


@contextlib.asynccontextmanager
async def serving(answer):
    """Run a server that gives these answers, and a peer of it; give that and what came."""
    posted: list[Posted] = []

    async def handle(request):
        posted.append(Posted(request, await request.read()))
        return await answer(posted[-1])

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    tools = Tools()
    peer = HttpPeer(f"http://127.0.0.1:{runner.addresses[0][1]}/mcp", tools)
    try:
        async with asyncio.timeout(BOUND):
            yield peer, posted, tools
    finally:
        await peer.close()
        await runner.cleanup()


def ask(method="tools/call", **params):
    whole = {"_meta": META, **params}
    return message({"jsonrpc": "2.0", "id": 1, "method": method, "params": whole})


async def test_headers_repeat_what_a_stateless_request_says():
    async def answer(posted):
        return posted.result(ok=True)

    async with serving(answer) as (peer, posted, tools):
        tools.learn(message({"jsonrpc": "2.0", "id": 1, "result": {"tools": [TOOL]}}))
        reply = await peer.ask(ask(name="where", arguments={"region": "zürich"}), pytest.fail)
    assert reply.said.result == {"ok": True}
    head = posted[0].headers
    assert (head["MCP-Protocol-Version"], head["Mcp-Method"], head["Mcp-Name"]) == (
        NEW, "tools/call", "where",
    )  # fmt: skip
    assert head["Mcp-Param-Region"] == "=?base64?esO8cmljaA==?="
    assert "Mcp-Session-Id" not in head


async def test_what_a_stream_brings_before_the_response_is_heard():
    async def answer(posted):
        return await posted.stream(NOTE, NOTE, DONE)

    heard = []
    async with serving(answer) as (peer, *_):
        reply = await peer.ask(ask("x"), heard.append)
    assert reply.said.result == {"ok": True}
    assert [said.method for said in heard] == ["notifications/message"] * 2


async def test_a_session_has_its_id_in_each_message_and_is_deleted_at_the_end():
    async def answer(posted):
        if posted.rpc == "initialize":
            response = posted.result(protocolVersion=OLD)
            response.headers["Mcp-Session-Id"] = "s-1"
            return response
        if posted.method == "GET":
            return await posted.stream(NOTE, holds=True)
        return posted.result() if posted.body and "id" in posted.said else web.Response(status=202)

    heard = []
    async with serving(answer) as (peer, posted, _):
        begin = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
        await peer.ask(message(begin), pytest.fail)
        note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        await peer.tell(message(note))
        await peer.listen(heard.append)
        await until(lambda: heard)
        await peer.close()
    assert [p.method for p in posted] == ["POST", "POST", "GET", "DELETE"]
    assert "Mcp-Session-Id" not in posted[0].headers
    for later in posted[1:]:
        assert later.headers["Mcp-Session-Id"] == "s-1"
        assert later.headers["MCP-Protocol-Version"] == OLD


async def test_a_stream_that_ends_early_is_taken_up_where_it_ended():
    async def answer(posted):
        if posted.method == "GET":
            assert posted.headers["Last-Event-ID"] == "7"
            return await posted.stream(DONE)
        return await posted.stream(b"retry: 1\nid: 7\ndata: \n\n")

    async with serving(answer) as (peer, posted, _):
        old = {"jsonrpc": "2.0", "id": 1, "method": "x"}
        reply = await peer.ask(message(old), pytest.fail)
    assert reply.said.result == {"ok": True}
    assert [p.method for p in posted[:2]] == ["POST", "GET"]


@pytest.mark.parametrize(
    ("status", "words"), [(500, "the server answered HTTP 500"), (307, "HTTP 307")]
)
async def test_what_is_no_message_is_told_and_no_redirect_followed(status, words):
    async def answer(posted):
        return web.Response(status=status, headers={"Location": "/elsewhere"}, text="oops")

    async with serving(answer) as (peer, posted, _):
        reply = await peer.ask(ask("x"), pytest.fail)
    assert reply.said is None
    assert words in reply.why
    assert "oops" in reply.why
    assert len(posted) == 1


async def test_an_error_of_another_protocol_is_no_response():
    async def answer(posted):
        return web.json_response({"error": "invalid_token"}, status=401)

    async with serving(answer) as (peer, *_):
        reply = await peer.ask(ask("x"), pytest.fail)
    assert reply.said is None
    assert "HTTP 401" in reply.why


async def test_a_stream_that_ends_without_a_response_says_so():
    async def answer(posted):
        return await posted.stream(NOTE)

    async with serving(answer) as (peer, *_):
        reply = await peer.ask(ask("x"), lambda _: None)
    assert reply.said is None
    assert "without a response" in reply.why


async def test_what_the_tap_answers_in_the_place_of_a_server_means_there_is_none():
    async def answer(posted):
        response = posted.error(502, -32603)
        response.headers["Mcp-Tap-Error"] = "upstream-down"
        return response

    async with serving(answer) as (peer, *_):
        with pytest.raises(Unreachable):
            await peer.ask(ask("x"), pytest.fail)


async def test_a_request_whose_caller_leaves_is_left_by_its_connection():
    left = asyncio.Event()

    async def answer(posted):
        try:
            await asyncio.sleep(5)
        finally:
            left.set()

    async with serving(answer) as (peer, posted, _):
        task = asyncio.get_running_loop().create_task(peer.ask(ask("x"), pytest.fail))
        await until(lambda: posted)
        task.cancel()
        await left.wait()


async def endless(posted, kind, *pieces):
    """Answer with these pieces, the last of them over and over."""
    response = web.StreamResponse(headers={"Content-Type": kind})
    await response.prepare(posted.request)
    for piece in pieces[:-1]:
        await response.write(piece)
    with contextlib.suppress(ConnectionError):
        while True:
            await response.write(pieces[-1])


@pytest.mark.parametrize(
    ("kind", "pieces"),
    [
        ("application/json", [b'{"jsonrpc":"2.0","id":1,"result":{"text":"', b"x" * 4096]),
        ("text/event-stream", [NOTE, b'data: {"jsonrpc":"2.0","id":1,"x":"', b"x" * 4096]),
        ("text/event-stream", [NOTE, b"data: x\n" * 512]),
        ("text/html", [b"x" * 4096]),
    ],
)
async def test_an_answer_without_end_is_given_up_as_too_big(kind, pieces, monkeypatch):
    monkeypatch.setattr(http, "MOST_ANSWER", 1 << 20)

    async def answer(posted):
        await endless(posted, kind, *pieces)

    heard = []
    async with serving(answer) as (peer, *_):
        with pytest.raises(TooBig, match="too big to compare"):
            await peer.ask(ask("x"), heard.append)
    assert len(heard) == pieces.count(NOTE)


async def test_many_events_that_are_no_answer_may_be_large_together(monkeypatch):
    monkeypatch.setattr(http, "MOST_ANSWER", 1 << 20)
    note = b'data: {"jsonrpc":"2.0","method":"x","params":"%s"}\n\n' % (b"x" * (100 << 10))

    async def answer(posted):
        return await posted.stream(*[note] * 15, DONE)

    async with serving(answer) as (peer, *_):
        reply = await peer.ask(ask("x"), lambda _: None)
    assert reply.said.result == {"ok": True}


async def test_what_answers_a_notification_without_end_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(http, "MOST_ANSWER", 1 << 20)

    async def answer(posted):
        await endless(posted, "text/plain", b"x" * 4096)

    async with serving(answer) as (peer, *_):
        await peer.tell(message({"jsonrpc": "2.0", "method": "notifications/x", "params": {}}))
