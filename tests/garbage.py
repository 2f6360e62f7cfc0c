"""Traffic of every shape: the messages of all example cases, with something wrong in most.

Deterministic for a seed, and cheap: a soak feeds a million of these.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from mcp_tap.core.records import (
    AnyRecord,
    Body,
    Closed,
    Digest,
    HttpRequest,
    HttpResponse,
    Message,
    Noise,
    Sse,
)
from mcp_tap.core.wire import carrier
from tests.captures import header

EXAMPLES = Path(__file__).parent.parent / "mcp_tap" / "rules" / "examples"
NOTHING = Digest(bytes=0, sha256="")
ODD: list[Any] = [
    None, True, False, 0, -1, 1.5, 1e308, 10**30, "", " ", "\u202e", "x" * 300, [], {}, [[]], [{}],
    {"": None}, ["a", 1, None], {"type": []}, {"method": 5}, "http://[", "=?base64?%%%?=", "file://",
    "\ud83d", "mcp-tap:0123456789abcdef", "2026-07-28", "input_required", "1e400", {"action": 1},
    {"type": "object", "properties": {"p": {"type": "array", "items": {"$ref": "#"}}}},
]  # fmt: skip
KEYS = [
    "_meta", "params", "result", "inputRequests", "inputResponses", "requestState", "resultType",
    "requestedSchema", "properties", "required", "enum", "oneOf", "anyOf", "items", "tools", "name",
    "uri", "url", "mode", "action", "content", "cursor", "nextCursor", "taskId", "status", "id",
    "method", "error", "code", "data", "progressToken", "level", "structuredContent", "type",
]  # fmt: skip
VERBS = ["POST"] * 40 + ["GET", "DELETE", "OPTIONS", "PUT"]
STATUSES = [200] * 20 + [202, 204, 400, 401, 404, 405, 500, 502]
HOWS = ["complete"] * 20 + ["client_gone", "upstream_cut", "upstream_down", "shutdown", "timeout"]


def examples() -> list[str]:
    """Give the example cases as they are written, each one line of JSON."""
    files = sorted(EXAMPLES.glob("*.jsonl"))
    return [line for path in files for line in path.read_text("utf-8").splitlines()]


def corpus() -> list[tuple[str, list[tuple[str, str]], Any]]:
    """Give sender, headers and body of every message of the example cases."""
    found = []
    for line in examples():
        for exchange in json.loads(line).get("exchanges", ()):
            request, response = exchange["request"], exchange["response"] or {}
            headers = list(request.get("headers", {}).items())
            if "body" in request:
                found.append(("client", headers, request["body"]))
            headers = list(response.get("headers", {}).items())
            bodies = (response.get("body"), *response.get("sse", ()))
            found += [("server", headers, body) for body in bodies if body is not None]
    return found


def places(case: dict[str, Any]) -> list[tuple[Any, Any]]:
    """List where in the bodies of a case a value stands: what holds each, and under which key."""
    found: list[tuple[Any, Any]] = []
    for exchange in case.get("exchanges", ()):
        request, response = exchange["request"], exchange["response"] or {}
        found += [(side, "body") for side in (request, response) if "body" in side]
        found += [(response["sse"], at) for at in range(len(response.get("sse", ())))]
    for holder, key in found:  # grows on the way
        value = holder[key]
        if isinstance(value, dict | list):
            keys = range(len(value)) if isinstance(value, list) else value
            found += [(value, key) for key in keys]
    return found


def spoilt(random: Random, value: Any, depth: int = 0) -> Any:
    """Copy a JSON value, with an odd one in some place."""
    if depth > 8 or random.random() < 0.06:
        return random.choice(ODD)
    if isinstance(value, dict):
        out = {}
        for key, member in value.items():
            chance = random.random()
            if chance < 0.03:
                continue
            name = random.choice(KEYS) if chance < 0.06 else key
            out[name] = spoilt(random, member, depth + 1) if chance < 0.5 else member
        if random.random() < 0.05:
            out[random.choice(KEYS)] = random.choice(ODD)
        return out
    if isinstance(value, list):
        return [spoilt(random, member, depth + 1) for member in value[:20]]
    return random.choice(ODD) if random.random() < 0.1 else value


class Traffic:
    """Records of a run in which anything may happen."""

    def __init__(self, seed: int, *, transport: str = "http") -> None:
        self.random = Random(seed)
        self.transport = transport
        self.messages = 0
        self._seq = 0
        self._t = 0.0
        self._exchange = 0
        self._open: list[int] = []
        known = corpus()
        self._sides = {
            side: [(headers, body) for sender, headers, body in known if sender == side]
            for side in ("client", "server")
        }

    def __iter__(self) -> Iterator[AnyRecord]:
        upstream = "https://mcp.example.com/mcp" if self.transport == "http" else "server --stdio"
        yield header(transport=self.transport, upstream=upstream)
        while True:
            yield from self._line() if self.transport == "stdio" else self._http()

    def _next(self) -> dict[str, Any]:
        self._seq += 1
        self._t = round(self._t + self.random.choice((0.0, 0.001, 0.05, 0.05, 2.0)), 6)
        return {"seq": self._seq, "t": self._t}

    def _http(self) -> Iterator[AnyRecord]:
        random = self.random
        if self._open and random.random() < 0.6:
            number = random.choice(self._open)
            if random.random() < 0.4:
                self._open.remove(number)
                how = random.choice(HOWS)
                yield Closed(
                    **self._next(), exchange=number, how=how, request=NOTHING, response=NOTHING
                )  # type: ignore[arg-type]
                return
            headers, body = random.choice(self._sides["server"])
            if random.random() < 0.7:
                yield HttpResponse(
                    **self._next(),
                    exchange=number,
                    status=random.choice(STATUSES),
                    headers=self._headers(headers),
                )
            yield self._payload("server", number, body)
            return
        self._exchange += 1
        headers, body = random.choice(self._sides["client"])
        yield HttpRequest(
            **self._next(),
            exchange=self._exchange,
            conn=random.randrange(1, 5),
            peer=random.choice(("127.0.0.1", "::1")),
            method=random.choice(VERBS),
            path=random.choice(("/mcp", "/mcp", "/mcp", "/mcp?token=abc", "/other", "/connect")),
            headers=self._headers(headers),
        )
        self._open.append(self._exchange)
        if len(self._open) > 50:
            self._open.pop(0)  # never heard of again
        if random.random() < 0.95:
            yield self._payload("client", self._exchange, body)

    def _headers(self, headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
        random = self.random
        if random.random() < 0.7:
            return headers
        out = [(name, value) for name, value in headers if random.random() > 0.1]
        name, value = random.choice(headers) if headers else ("Accept", "*/*")
        out.append((name.lower(), random.choice((value, "", "é", "=?base64?!!?=", value[::-1]))))
        return out

    def _payload(self, sender: str, exchange: int | None, body: Any) -> AnyRecord:
        random = self.random
        self.messages += 1
        if random.random() < 0.7:
            body = spoilt(random, body)
        raw = json.dumps(body).encode(errors="surrogatepass")
        if random.random() < 0.03:
            raw = raw[: random.randrange(len(raw) + 1)]
        fields, _ = carrier(raw)
        sse = None
        if exchange is not None and sender == "server" and random.random() < 0.3:
            sse = Sse(id=random.choice((None, "1")), event=random.choice((None, "message")))
        kind = Body if random.random() < 0.03 and exchange is not None else Message
        return kind(**self._next(), sender=sender, exchange=exchange, sse=sse, **fields)  # type: ignore[arg-type]

    def _line(self) -> Iterator[AnyRecord]:
        random = self.random
        sender = random.choice(("client", "server"))
        if random.random() < 0.03:
            self.messages += 1
            text = random.choice(("Listening...", "{", '{"jsonrpc":', "}", "[1", "", "  "))
            yield Noise(**self._next(), sender=sender, text=text)  # type: ignore[arg-type]
            return
        _, body = random.choice(self._sides[sender])
        yield self._payload(sender, None, body)
