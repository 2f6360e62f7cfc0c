"""Makes what rules make at first use before there is one.

Lists of words become patterns, schemas become validators, and libraries are loaded, when a rule
first needs them: that takes a tenth of a second, which the first form of a run would be charged
with.  So a short conversation that nobody had is judged first, one that goes where that happens.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from mcp_tap.core import spec
from mcp_tap.core.records import (
    AnyRecord,
    Closed,
    Digest,
    Header,
    HttpRequest,
    HttpResponse,
    Message,
)
from mcp_tap.core.wire import carrier
from mcp_tap.pipeline.spine import Pipeline

_WORDS: Final = (
    "Do not enter your password, please; type in the one-time code, your card number, CVV and "
    "verification code. Bitte geben Sie Ihr Passwort nicht ein. 请输入密码。"
    "Part of the PIN: the last 4"
)
_FORM: Final = {
    "method": "elicitation/create",
    "params": {
        "mode": "form",
        "message": _WORDS,
        "requestedSchema": {
            "type": "object",
            "properties": {
                "code": {"type": "string", "title": _WORDS, "description": _WORDS},
                "mail": {"type": "string", "format": "email", "pattern": "^.+$", "title": "Mail"},
                "count": {"type": "integer", "minimum": 1, "default": 2},
            },
            "required": ["code"],
        },
    },
}
_LINK: Final = {
    "method": "elicitation/create",
    "params": {
        "mode": "url",
        "message": _WORDS,
        "url": "https://bücher.example/?token=abc&response_type=code&client_id=1",
    },
}
_META: Final = {
    spec.META_VERSION: "2026-07-28",
    spec.META_CLIENT: {"name": "nobody", "version": "0"},
    spec.CLIENT_CAPABILITIES: {"elicitation": {"form": {}, "url": {}}},
}
_SCHEMA: Final = {
    "type": "object",
    "properties": {"n": {"type": "integer", "x-mcp-header": "N"}, "m": {"$ref": "#/$defs/m"}},
    "$defs": {"m": {"type": "string", "pattern": "^a+$"}},
}
_ANSWERS: Final = {
    "form": {"action": "accept", "content": {"code": "x", "mail": "a@example.com", "count": 0}},
    "link": {"action": "accept"},
}
_OUT: Final = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
_TOOL: Final = {"name": "t", "inputSchema": _SCHEMA, "outputSchema": _OUT}
_TALK: Final[tuple[tuple[str, dict[str, Any], dict[str, Any]], ...]] = (
    ("server/discover", {}, {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}),
    ("tools/list", {}, {"tools": [_TOOL], "ttlMs": 0, "cacheScope": "public"}),
    (
        "tools/call",
        {"name": "t", "arguments": {"n": 1}},
        {
            "resultType": spec.INPUT_REQUIRED,
            "inputRequests": {"form": _FORM, "link": _LINK},
            "requestState": "eyJhIjogMX0=",
        },
    ),
    (
        "tools/call",
        {
            "name": "t",
            "arguments": {"n": 1},
            "inputResponses": _ANSWERS,
            "requestState": "eyJhIjogMX0=",
        },
        {"content": [{"type": "text", "text": "t"}], "structuredContent": {"n": "1"}},
    ),
    ("resources/read", {"uri": "file:///x"}, {"contents": [{"uri": "file:///x", "text": "t"}]}),
)
"""Method, parameters and result of each exchange."""


@cache
def warm() -> None:
    """Make everything; the second time in a process it does nothing."""
    for transport in ("http", "stdio"):
        pipeline = Pipeline()
        for record in _records(http=transport == "http"):
            pipeline.feed(record)
        pipeline.finish()


def _records(*, http: bool) -> Iterator[AnyRecord]:
    yield Header(
        seq=0,
        t=0.0,
        format=1,
        tool="mcp-tap",
        run="warm",
        started="2026-07-28T00:00:00Z",
        transport="http" if http else "stdio",
        upstream="https://example.com/mcp" if http else "server",
    )
    for number, (method, params, result) in enumerate(_TALK, 1):
        given = {**params, "_meta": _META}
        asked = {"jsonrpc": "2.0", "id": number, "method": method, "params": given}
        said = {"jsonrpc": "2.0", "id": number, "result": {"resultType": "complete", **result}}
        if http:
            yield from _exchange(number, asked, said)
        else:
            yield _message(10 * number, None, "client", asked)
            yield _message(10 * number + 1, None, "server", said)


def _exchange(number: int, asked: Any, said: Any) -> Iterator[AnyRecord]:
    seq, t = 10 * number, float(number)
    name = asked["params"].get("name", asked["params"].get("uri", ""))
    yield HttpRequest(
        seq=seq,
        t=t,
        exchange=number,
        conn=1,
        peer="127.0.0.1",
        method="POST",
        path="/mcp",
        headers=[
            ("Host", "example.com"),
            ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", asked["method"]),
            ("Mcp-Name", name),
            ("Mcp-Param-N", "1"),
        ],
    )
    yield _message(seq + 1, number, "client", asked)
    kind = [("Content-Type", "application/json")]
    yield HttpResponse(seq=seq + 2, t=t, exchange=number, status=200, headers=kind)
    yield _message(seq + 3, number, "server", said)
    nothing = Digest(bytes=0, sha256="")
    yield Closed(
        seq=seq + 4, t=t, exchange=number, how="complete", request=nothing, response=nothing
    )


def _message(seq: int, exchange: int | None, sender: Any, value: Any) -> Message:
    fields, _ = carrier(json.dumps(value).encode())
    return Message(seq=seq, t=float(seq), exchange=exchange, sender=sender, **fields)
