"""Rounds answered by the tap: what passes on both wires, and what is recorded of it."""

from __future__ import annotations

import asyncio
import json

from mcp_tap.answers.book import Book
from mcp_tap.answers.reading import load
from mcp_tap.core import spec
from mcp_tap.core.model import Call
from mcp_tap.proxy.answering.answering import Answering
from tests.rig import ok, post, tapped

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
    token = json.dumps(number)
    return (
        '{"result":{"resultType":"input_required","requestState":%s,"inputRequests":%s},'
        '"jsonrpc":"2.0","id":%s}' % (state, json.dumps(requests), token)
    ).encode()


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


async def test_a_client_that_declares_nothing_completes_two_rounds(tmp_path):
    server = Server(day, seat, done)
    async with tapped(server, tmp_path, answering=answering()) as rig:
        response = await rig.ask(call())
        await rig.stop()
        assert response.status == 200
        assert response.json == json.loads(result(7))
        first, second, third = (m.json for m in server.got)
        assert first["id"] == 7
        assert len({first["id"], second["id"], third["id"]}) == 3
        declared = first["params"]["_meta"][spec.CLIENT_CAPABILITIES]
        assert declared == {"elicitation": {"form": {}}}
        assert STATE.encode() in server.got[1].body
        assert second["params"]["inputResponses"] == {
            "day": {"action": "accept", "content": {"day": "tue"}}
        }
        assert third["params"]["requestState"] == "two"
        assert third["params"]["inputResponses"]["seat"]["content"] == {"seat": "4A"}
        (found,) = rig.view.calls.values()
        assert isinstance(found, Call)
        assert found.outcome == "ok"
        assert [r.by_tap for r in found.rounds] == [False, True, True]
        assert [a.answered_by for r in found.rounds for a in r.asks] == ["tap", "tap"]
        assert [a.entry for r in found.rounds for a in r.asks] == ["the day", "the seat"]
        assert [r.link for r in found.rounds] == ["none", "state", "state"]
