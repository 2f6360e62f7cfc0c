"""A scripted conversation over HTTP, fed to a pipeline record by record.

`Talk` numbers records and exchanges and lets a hundredth of a second pass with each record, so that
a test reads as what the peers did: `n = talk.post(...)`, `talk.reply(n, ...)`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from msgspec import Raw

from mcp_tap.core.model import Call, Exchange
from mcp_tap.core.records import (
    AnyRecord,
    Closed,
    Digest,
    Header,
    HttpRequest,
    HttpResponse,
    Mask,
    Message,
    Sse,
)
from mcp_tap.pipeline import Pipeline

NOTHING = Digest(bytes=0, sha256="")
STATELESS = "2026-07-28"
SESSION = "2025-11-25"
FORM = {"method": "elicitation/create", "params": {"mode": "form", "message": "Which?"}}


def packed(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


class Talk:
    def __init__(self, **options: Any) -> None:
        self.pipeline = Pipeline(judging=False, **options)
        self.seq = 0
        self.t = 0.0
        self.exchanges = 0
        self.bodies: dict[int, Any] = {}
        self.calls: dict[int, Call] = {}
        self.loose: dict[int, Exchange] = {}
        self.last: list[Call | Exchange] = []

    def feed(self, kind: Any, **facts: Any) -> None:
        self.seq += 1
        self.t = round(self.t + 0.01, 6)
        self.take(kind(seq=self.seq, t=self.t, **facts))

    def take(self, record: AnyRecord) -> None:
        self.last = list(self.pipeline.feed(record))
        for change in self.last:
            if isinstance(change, Call):
                self.calls[change.number] = change
            else:
                self.loose[change.number] = change

    def header(self, **facts: Any) -> None:
        known = {
            "format": 1,
            "tool": "t",
            "run": "r",
            "started": "2026-07-28T12:00:00Z",
            "transport": "http",
            "upstream": "http://localhost:3000/mcp",
        }
        self.feed(Header, **{**known, **facts})

    def open(
        self,
        verb: str = "POST",
        headers: dict[str, str] | None = None,
        *,
        path: str = "/mcp",
        peer: str = "127.0.0.1",
        masked: list[Mask] | None = None,
    ) -> int:
        self.exchanges += 1
        self.feed(
            HttpRequest,
            exchange=self.exchanges,
            conn=self.exchanges,
            peer=peer,
            method=verb,
            path=path,
            headers=list((headers or {}).items()),
            masked=masked or [],
        )
        return self.exchanges

    def say(self, exchange: int | None, sender: str, value: Any, **facts: Any) -> None:
        body = value if isinstance(value, Raw) else Raw(packed(value))
        self.feed(Message, exchange=exchange, sender=sender, body=body, **facts)

    def post(self, value: Any, headers: dict[str, str] | None = None, **options: Any) -> int:
        """Send a message in a POST of its own."""
        exchange = self.open("POST", headers, **options)
        self.bodies[exchange] = value
        self.say(exchange, "client", value)
        return exchange

    def head(self, exchange: int, status: int = 200, **headers: str) -> None:
        fields = [(n.replace("_", "-"), v) for n, v in headers.items()]
        self.feed(HttpResponse, exchange=exchange, status=status, headers=fields)

    def event(self, exchange: int, value: Any, event_id: str | None = None) -> None:
        self.say(exchange, "server", value, sse=Sse(id=event_id))

    def close(self, exchange: int, how: str = "complete", **facts: Any) -> None:
        self.feed(Closed, exchange=exchange, how=how, request=NOTHING, response=NOTHING, **facts)

    def reply(self, exchange: int, value: Any, status: int = 200, **facts: Any) -> None:
        """Answer an exchange with a JSON body and close it; adds the id of its request."""
        self.head(exchange, status, Content_Type="application/json")
        value = {"jsonrpc": "2.0", "id": self.bodies[exchange].get("id"), **value}
        self.say(exchange, "server", value)
        self.close(exchange, **facts)

    def result(self, exchange: int, **result: Any) -> None:
        self.reply(exchange, {"result": {"resultType": "complete", **result}})

    def ask(self, exchange: int, *keys: str, state: Any = None) -> None:
        result: dict[str, Any] = {"resultType": "input_required"}
        if keys:
            result["inputRequests"] = dict.fromkeys(keys, FORM)
        if state is not None:
            result["requestState"] = state
        self.reply(exchange, {"result": result})

    def session(self, session_id: str = "s1", client: str = "old") -> None:
        """Open a session of the session era."""
        n = self.post(
            {
                "jsonrpc": "2.0",
                "id": 0,
                "method": "initialize",
                "params": {
                    "protocolVersion": SESSION,
                    "clientInfo": {"name": client, "version": "1"},
                },
            }
        )
        self.head(n, Mcp_Session_Id=session_id)
        result = {"protocolVersion": SESSION, "serverInfo": {"name": "srv", "version": "1"}}
        self.say(n, "server", {"jsonrpc": "2.0", "id": 0, "result": result})
        self.close(n)

    def broken_off(self, request_id: Any = 1, event_id: str = "1", how: str = "complete") -> Call:
        """Open a session and begin a call in it, whose stream breaks off behind an event."""
        self.session()
        n = self.post(old_call(request_id), in_session())
        self.head(n, Content_Type="text/event-stream")
        self.event(n, {"jsonrpc": "2.0", "method": "notifications/message"}, event_id)
        self.close(n, how)
        return self.calls[n]

    def the_call(self) -> Call:
        (call,) = self.calls.values()
        return call


def calls_in(records: Iterable[AnyRecord]) -> list[Call]:
    """Give the calls of a conversation that was recorded."""
    talk = Talk()
    for record in records:
        talk.take(record)
    return list(talk.calls.values())


def call(
    request_id: Any = 1,
    name: str = "book",
    *,
    method: str = "tools/call",
    client: str = "sdk",
    **params: Any,
) -> dict[str, Any]:
    """Make a request of the stateless era."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientInfo": {"name": client, "version": "1"},
    }
    key = {"resources/read": "uri", "tasks/get": "taskId", "tasks/update": "taskId"}
    target = {key.get(method, "name"): name}
    return {
        "jsonrpc": "2.0",
        "id": request_id,
        "method": method,
        "params": {**target, "_meta": meta, **params},
    }


def accept(*keys: str) -> dict[str, Any]:
    return {key: {"action": "accept", "content": {}} for key in keys}


def old_call(request_id: Any = 1, name: str = "book", **params: Any) -> dict[str, Any]:
    """Make a request of the session era."""
    return {
        "jsonrpc": "2.0",
        "id": request_id,
        "method": "tools/call",
        "params": {"name": name, "arguments": {}, **params},
    }


def in_session(session_id: str = "s1", **more: str) -> dict[str, str]:
    return {"Mcp-Session-Id": session_id, "MCP-Protocol-Version": SESSION, **more}


def pushed(request_id: Any = 1, method: str = "elicitation/create", **params: Any) -> Any:
    """Make a request a server sends."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def done(request_id: Any = 1, **result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "result": {"content": [], **result}}


def shape(one: Call) -> list[str]:
    """Draw the rounds of a call: asked `?`, waiting `_`, final `*`, failed `x`, running `=`."""
    found = []
    for r in one.rounds:
        if r.fault is not None:
            found.append("x")
        elif r.asks or r.result_type == "input_required":
            waiting = one.outcome == "waiting" and r is one.rounds[-1]
            found.append("_" if waiting else "?")
        else:
            found.append("*" if r.end is not None else "=")
    return found
