"""Records of small runs, as the proxy would write them: for commands that read captures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from msgspec import Raw

from mcp_tap.core.records import (
    AnyRecord,
    Closed,
    Digest,
    Footer,
    HttpRequest,
    HttpResponse,
    Message,
    encode,
)
from tests import captures

META = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "demo-client", "version": "1.0"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
    }
}
STATE = "a-state-that-nobody-may-see"


class Traffic:
    """Adds exchanges to a run, a tenth of a second each."""

    def __init__(self, **header: Any) -> None:
        self.records: list[AnyRecord] = [captures.header(**header)]
        self.t = 0.0
        self.exchange = 0

    def put(self, make: Any, **fields: Any) -> None:
        self.t = round(self.t + 0.02, 3)
        self.records.append(make(seq=len(self.records), t=self.t, **fields))

    def post(self, request: Any, answer: Any | None, status: int = 200) -> None:
        """One POST, answered with JSON, or without a body where `answer` is None."""
        self.exchange += 1
        n, headers = self.exchange, [("content-type", "application/json")]
        self.put(
            HttpRequest, exchange=n, conn=1, peer="127.0.0.1", method="POST", path="/mcp",
            headers=[*headers, *_mirrored(request)],
        )  # fmt: skip
        data = request if isinstance(request, bytes) else json.dumps(request).encode()
        self.put(Message, exchange=n, sender="client", body=Raw(data))
        self.put(HttpResponse, exchange=n, status=status, headers=headers)
        if answer is not None:
            body = Raw(json.dumps(answer).encode())
            self.put(Message, exchange=n, sender="server", body=body)
        none = Digest(bytes=0, sha256="0" * 64)
        self.put(Closed, exchange=n, how="complete", request=none, response=none)

    def call(self, name: str, result: Any, **params: Any) -> None:
        """One tools/call and what came of it."""
        number = self.exchange + 1
        whole = {"name": name, "arguments": {}, **params, **META}
        request = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": whole}
        key = "error" if "code" in result else "result"
        self.post(request, {"jsonrpc": "2.0", "id": number, key: result})

    def write(self, path: Path, *, clean: bool = True) -> Path:
        if clean:
            self.put(Footer, exchanges=self.exchange)
        path.write_bytes(b"".join(encode(record) + b"\n" for record in self.records))
        return path


def _mirrored(request: Any) -> list[tuple[str, str]]:
    """Write the headers that repeat what a request says."""
    found = [
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
    ]
    if isinstance(request, dict) and "id" in request:
        found.append(("mcp-method", request["method"]))
        if "name" in request.get("params", {}):
            found.append(("mcp-name", request["params"]["name"]))
    return found


SERVER = {"io.modelcontextprotocol/serverInfo": {"name": "billing", "version": "1"}}


def done(text: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {"resultType": "complete", "content": content, "_meta": SERVER}


def asks(key: str, message: str, state: str = STATE) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}}
    params = {"mode": "form", "message": message, "requestedSchema": schema}
    return {
        "_meta": SERVER,
        "resultType": "input_required",
        "inputRequests": {key: {"method": "elicitation/create", "params": params}},
        "requestState": state,
    }


def story(**header: Any) -> Traffic:
    """A plain call, a call of two rounds, a failed one, a notification, and one that waits."""
    traffic = Traffic(label="billing", **header)
    traffic.call("search", done("4 results"))
    traffic.call("deploy", asks("confirm", "Разрешить? \x1b[2J"), arguments={"to": "prod"})
    traffic.call(
        "deploy",
        done("shipped"),
        arguments={"to": "prod"},
        inputResponses={"confirm": {"action": "accept", "content": {"ok": True}}},
        requestState=STATE,
    )
    traffic.call("exprt", {"code": -32602, "message": "Unknown tool: exprt"})
    traffic.post(
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {**META, "requestId": 3}},
        None,
        202,
    )
    traffic.call("book", asks("seat", "Which seat?"))
    return traffic
