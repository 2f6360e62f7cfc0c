"""Asks of the session era, answered by the tap: what passes on both wires, and what is recorded."""

from __future__ import annotations

import asyncio
import json

from mcp_tap.core.model import Call
from tests.asking import answering
from tests.rig import LAST_CHUNK, SSE_HEAD, chunk, event, ok, post, tapped

SCRIPT = """
version = 1

[[answer]]
name = "the day"
match = { field = "day" }
content = { day = "tue" }
"""
SESSION = b"Mcp-Session-Id: s-1"
LINES = (
    b"Accept: application/json, text/event-stream",
    b"MCP-Protocol-Version: 2025-11-25",
    b"Authorization: Bearer abc",
    b"X-Team: blue",
)
ACCEPTED = b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"


def rpc(method, number=1, **params):
    body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return json.dumps(body).encode()


def note(method, **params):
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode()


def hello(capabilities=None, number=0):
    return rpc(
        "initialize",
        number,
        protocolVersion="2025-11-25",
        capabilities=capabilities or {},
        clientInfo={"name": "tester", "version": "1"},
    )


def welcome(number=0):
    info = {"name": "billing", "version": "1"}
    result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
    return ok(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode(), SESSION)


def book(number=7, **arguments):
    return rpc("tools/call", number, name="book", arguments=arguments)


def day(number="ask-1", message="Which day?"):
    schema = {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]}
    return rpc("elicitation/create", number, mode="form", message=message, requestedSchema=schema)


def result(number=7, text="done"):
    content = [{"type": "text", "text": text}]
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": {"content": content}}).encode()


class Server:
    """Welcomes, and plays a `story` for what else comes; answers to its asks wake it up."""

    def __init__(self, story, *, accept=ACCEPTED):
        self.story = story
        self.accept = accept
        self.got = []
        self.answers = asyncio.Queue()

    @property
    def hello(self):
        return self.got[0]

    async def __call__(self, wire):
        while True:
            message = await wire.message()
            self.got.append(message)
            if message.start.startswith(b"GET"):
                await self.story(wire, message, self)
                continue
            value = message.json
            if value.get("method") == "initialize":
                await wire.send(welcome(value["id"]))
            elif "method" in value and "id" in value:
                await self.story(wire, message, self)
            else:
                await wire.send(self.accept)
                if "method" not in value:
                    self.answers.put_nowait(message)

    async def answer(self):
        async with asyncio.timeout(5):
            return await self.answers.get()


async def one_ask(wire, message, server):
    await wire.send(SSE_HEAD, chunk(event(note("notifications/message", level="info", data="a"))))
    await wire.send(chunk(event(day())))
    answer = await server.answer()
    text = json.dumps(answer.json.get("result") or answer.json["error"])
    await wire.send(chunk(event(result(message.json["id"], text))), LAST_CHUNK)


async def opened(rig, capabilities=None):
    """Begin a session."""
    response = await rig.ask(post(hello(capabilities), *LINES))
    assert response.get(b"mcp-session-id") == b"s-1"
    await rig.ask(post(note("notifications/initialized"), *LINES, SESSION))


def said(response):
    """The messages of a stream."""
    return [
        json.loads(line[6:]) for line in response.body.splitlines() if line.startswith(b"data: ")
    ]


def text(response):
    return json.loads(said(response)[-1]["result"]["content"][0]["text"])


def calls(rig):
    return [c for c in rig.view.calls.values() if c.method == "tools/call"]


async def test_a_pushed_ask_is_answered_and_not_shown_to_its_client(tmp_path):
    server = Server(one_ask)
    async with tapped(server, tmp_path, answering=answering(SCRIPT)) as rig:
        await opened(rig)
        response = await rig.ask(post(book(), *LINES, SESSION))
        await rig.stop()
        assert server.hello.json["params"]["capabilities"] == {"elicitation": {"form": {}}}
        assert [m.get("method") for m in said(response)] == ["notifications/message", None]
        assert text(response) == {"action": "accept", "content": {"day": "tue"}}
        answer = server.got[-1]
        assert answer.json["id"] == "ask-1"
        assert answer.get(b"mcp-session-id") == b"s-1"
        assert answer.get(b"mcp-protocol-version") == b"2025-11-25"
        assert answer.get(b"authorization") == b"Bearer abc"
        assert answer.get(b"x-team") == b"blue"
        assert answer.get(b"content-type") == b"application/json"
        (call,) = calls(rig)
        assert isinstance(call, Call)
        (ask,) = [a for r in call.rounds for a in r.asks]
        assert (ask.answered_by, ask.entry, ask.action, ask.pushed) == (
            "tap",
            "the day",
            "accept",
            True,
        )
        assert call.outcome == "ok"
        assert [r.by_tap for r in call.rounds] == [False, True]
        (mine,) = [m for m in rig.messages() if m.sender == "tap" and b"ask-1" in m.payload()]
        assert mine.leg == "upstream"
        assert mine.exchange != call.rounds[0].exchange
        (asked,) = [m for m in rig.messages() if b"elicitation/create" in m.payload()]
        assert (asked.leg, asked.sender) == ("upstream", "server")
