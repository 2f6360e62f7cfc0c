"""Servers of the session era that push asks, and a client that can do nothing of it."""

from __future__ import annotations

import asyncio
import json

from tests.asking import answering
from tests.bounds import BOUND
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
LINE_END = b"\r\n\r\n"
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
        async with asyncio.timeout(BOUND):
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


def streams(*told):
    """A story that pushes asks one after the other and tells at last what was answered."""

    async def story(wire, message, server):
        await wire.send(SSE_HEAD)
        answers = []
        for ask in told:
            await wire.send(chunk(event(ask)))
            answer = (await server.answer()).json
            answers.append(answer.get("result") or answer["error"])
        text = json.dumps(answers)
        await wire.send(chunk(event(result(message.json["id"], text))), LAST_CHUNK)

    return story


async def play(tmp_path, *asks, capabilities=None, script=SCRIPT, client=None, **options):
    """Play a call with these asks; give what was said on both sides."""
    server, chosen = Server(streams(*asks)), answering(script, **options)
    async with tapped(server, tmp_path, answering=chosen) as rig:
        await opened(rig, capabilities)
        if client is None:
            response = await rig.ask(post(book(), *LINES, SESSION))
        else:
            response = await client(rig)
        await rig.stop()
        return rig, server, chosen, said(response)


class Person:
    """Decides as a test says, when it says so."""

    def __init__(self, decided=None):
        self.decided = decided
        self.asked = asyncio.Event()
        self.go = asyncio.Event()
        self.cancelled = False

    async def __call__(self, asks, unmatched):
        self.asked.set()
        try:
            await asyncio.wait_for(self.go.wait(), BOUND)
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return self.decided(asks, unmatched)


def who(number=5):
    return rpc("elicitation/create", number, message="Who?", requestedSchema={"type": "object"})
