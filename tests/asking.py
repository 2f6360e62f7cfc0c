"""Servers that ask, scripts that answer, and a client that can do nothing of it."""

from __future__ import annotations

import json

from mcp_tap.answers.book import Book
from mcp_tap.answers.reading import load
from mcp_tap.core import spec
from mcp_tap.proxy.answering.answering import Answering
from tests.rig import LAST_CHUNK, SSE_HEAD, chunk, event, ok, post

SCRIPT = """
version = 1

[[answer]]
name = "the day"
match = { key = "day" }
content = { day = "tue" }

[[answer]]
name = "the seat"
match = { key = "seat" }
content = { seat = "4A" }
"""
STATE = r'"st\u00e4te/1=="'


def answering(script=SCRIPT, *, env=None, unmatched=None, advertise=None, **more):
    book = Book([load(script, "a.toml")], env=env or {}, unmatched=unmatched, advertise=advertise)
    return Answering(book, **more)


def request(number=7, *, tool="book", capabilities=None, **params):
    meta = {
        spec.META_VERSION: "2026-07-28",
        spec.META_CLIENT: {"name": "tester", "version": "1"},
        spec.CLIENT_CAPABILITIES: capabilities or {},
    }
    params = {"name": tool, "arguments": {"guests": 2}, "_meta": meta, **params}
    body = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
    return json.dumps(body, separators=(", ", " : ")).encode()


def call(body=None, **more):
    lines = [
        b"Accept: application/json, text/event-stream",
        b"MCP-Protocol-Version: 2026-07-28",
        b"Mcp-Method: tools/call",
        b"Mcp-Name: book",
    ]
    return post(body or request(**more), *lines)


def form(key, **properties):
    schema = {"type": "object", "properties": properties}
    params = {"mode": "form", "message": f"Which {key}?", "requestedSchema": schema}
    return {"method": "elicitation/create", "params": params}


def asks(number, state=STATE, **requests):
    said = f'"resultType":"input_required","requestState":{state}'
    result = f'{{{said},"inputRequests":{json.dumps(requests)}}}'
    return f'{{"result":{result},"jsonrpc":"2.0","id":{json.dumps(number)}}}'.encode()


def result(number, text="done"):
    content = [{"type": "text", "text": text}]
    body = {"result": {"resultType": "complete", "content": content}, "jsonrpc": "2.0"}
    return json.dumps(body | {"id": number}).encode()


class Server:
    """Answers a call's rounds in turn: `turns` maps the number of the round to a response."""

    def __init__(self, *turns):
        self.turns = turns
        self.got = []

    async def __call__(self, wire):
        while True:
            message = await wire.message()
            self.got.append(message)
            turn = self.turns[len(self.got) - 1]
            await wire.send(turn(message.json["id"]))


def day(number):
    return ok(asks(number, day=form("day", day={"type": "string"})))


def seat(number):
    return ok(asks(number, state='"two"', seat=form("seat", seat={"type": "string"})))


def done(number):
    return ok(result(number))


def streamed(*parts, end=LAST_CHUNK):
    """Write a response that is a stream; a part is made of the id of the request."""

    def turn(number):
        events = [part(number) if callable(part) else part for part in parts]
        return SSE_HEAD + b"".join(chunk(each) for each in events) + end

    return turn


def progress(step):
    params = {"progressToken": "p1", "progress": step}
    body = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
    return event(json.dumps(body).encode())


def asks_day(number):
    return event(asks(number, day=form("day", day={"type": "string"})))


def asks_seat(number):
    return event(asks(number, state='"two"', seat=form("seat", seat={"type": "string"})))


def ends(number):
    return event(result(number))
