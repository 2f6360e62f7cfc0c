"""Exchanges of a tool `ship`, recorded, and what hears a replay of them."""

from __future__ import annotations

import json
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from mcp_tap.core.records import Mask, Message, encode
from mcp_tap.replay.index import Index
from mcp_tap.replay.keys import key_of, params_of, target_of
from mcp_tap.replay.server.matching import Given
from mcp_tap.testing import records_of

UPSTREAM = "http://localhost:3000/mcp"
ASK = {
    "sure": {
        "method": "elicitation/create",
        "params": {
            "mode": "form",
            "message": "Sure?",
            "requestedSchema": {"type": "object", "properties": {"yes": {"type": "boolean"}}},
        },
    }
}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
}

OPEN = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"roots": {}},
        "clientInfo": {"name": "c", "version": "1"},
    },
}
"""How a session is opened, and what the server says to it."""
OPENED = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s"}}


def request(number: Any = 1, *, arguments: Any = None, meta: Any = None, **params: Any):
    """A tools/call of `ship`."""
    given = {"name": "ship", "arguments": arguments or {"n": 1}, **params}
    body = {"jsonrpc": "2.0", "id": number, "method": "tools/call"}
    return {**body, "params": {**given, "_meta": {**META, **(meta or {})}}}


def complete(number: Any, text: str):
    result = {"resultType": "complete", "content": [{"type": "text", "text": text}]}
    return {"jsonrpc": "2.0", "id": number, "result": result}


def asking(number: Any, state: str | None, asks: Any = None):
    result = {"resultType": "input_required", "inputRequests": asks or ASK}
    if state is not None:
        result["requestState"] = state
    return {"jsonrpc": "2.0", "id": number, "result": result}


def answered(action: str, **more: Any):
    return {"inputResponses": {"sure": {"action": action, **more}}}


def exchange(body: Any, reply: Any, status: int = 200):
    headers = {"Content-Type": "application/json", "MCP-Protocol-Version": "2026-07-28"}
    return {
        "request": {"headers": headers, "body": body},
        "response": {
            "status": status,
            "headers": {"Content-Type": "application/json", "Date": "then", "X-Kept": "yes"},
            "body": reply,
        },
    }


def given(body: Any) -> Given:
    """Give what a replay makes of a request that comes."""
    answers = params_of(body).get("inputResponses")
    return Given(key_of(body), body, (body["method"], target_of(body)), answers)


class Heard:
    """An outlet that keeps what it is told."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.messages: list[Any] = []
        self.over = ""

    def head(self, status, reason, headers):
        self.status, self.headers = status, dict(headers)

    def message(self, data, sse):
        self.messages.append(json.loads(data))

    def other(self, data, sse, *, comment):
        pass

    def flush(self):
        pass

    def end(self):
        self.over = "end"

    def cut(self):
        self.over = "cut"

    @property
    def only(self):
        assert len(self.messages) == 1
        return self.messages[0]

    @property
    def text(self):
        return self.only["result"]["content"][0]["text"]

    @property
    def state(self):
        return self.only["result"]["requestState"]


def rounds(number: int, state: str, action: str, text: str, **more: Any):
    """The two exchanges of one call."""
    retry = request(number + 1, requestState=state, **answered(action, **more))
    return (
        exchange(request(number), asking(number, state)),
        exchange(retry, complete(number + 1, text)),
    )


def streamed(body: Any, *messages: Any, **response: Any):
    """An exchange whose response is a stream of events."""
    headers = {"Content-Type": "text/event-stream"}
    made = exchange(body, None)
    made["response"] = {"status": 200, "headers": headers, "sse": messages, **response}
    return made


def index_of(path: Any, *exchanges: Any, edit: Any = None, **case: Any) -> Index:
    """Write a capture of exchanges, or of the `lines` of a stdio server, and read it.

    `edit` is handed each record first.
    """
    given = {"exchanges": exchanges, "upstream": UPSTREAM} if exchanges else {}
    records = (record for record, _ in records_of({**given, **case}))
    edited = records if edit is None else map(edit, records)
    path.write_bytes(b"".join(encode(record) + b"\n" for record in edited))
    return Index.of([str(path)])


def masking(record: Any) -> Any:
    """Note of each message of a client that an argument of it was masked."""
    if not isinstance(record, Message) or record.sender != "client":
        return record
    at = "/body/params/arguments/n"
    mask = Mask(at=at, length=3, shape="opaque", tag="0123456789abcdef")
    return replace(record, masked=[mask])


def cutting(record: Any) -> Any:
    """Record no more than a part of each message of a client."""
    if not isinstance(record, Message) or record.sender != "client":
        return record
    whole = record.payload()
    return replace(record, body=UNSET, text=whole[:20].decode(), truncated=True, size=len(whole))


def never(delay: float, call: Any) -> Any:
    raise AssertionError("nothing waits")
