"""OTLP/JSON traces: a trace a call, in it a span for each round, in that one for its HTTP exchange.

Rules of this file:

- Attributes are those of the semantic conventions for MCP, HTTP and errors (all of MCP's are in
  development: https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/); what they have no name for
  is `mcp_tap.*`.
- Ids are made from the run and the numbers in it: the same capture gives the same spans.
- No body, argument, answer or `requestState` is in it: traces go to many.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import urlsplit

import msgspec

from mcp_tap.core.clock import read
from mcp_tap.core.model import Call, Exchange, Round
from mcp_tap.core.records import AnyRecord, Header, Message
from mcp_tap.core.text import json_safe
from mcp_tap.core.wire import value_of
from mcp_tap.exporting.dialogue import Dialogue, dialogues

Attributes: TypeAlias = dict[str, str | int | float | None]

_INTERNAL: Final = 1
_CLIENT: Final = 3
"""Kinds of spans (`SpanKind`)."""
_PARENT: Final = re.compile(
    r"[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}"
)
"""`traceparent` of W3C Trace Context."""
_ERROR: Final = 2
"""Status of a span that failed (`StatusCode`)."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def otlp_document(
    header: Header, found: Iterable[tuple[Call | Exchange, list[AnyRecord]]], version: str
) -> Iterator[bytes]:
    """Write calls and exchanges, with their records, as OTLP/JSON `TracesData`; in pieces.

    Args:
        header: of the run.
        found: each once.
        version: of mcp-tap.
    """
    spans = _Spans(header)
    resource: Attributes = {
        "service.name": header.label or "mcp-tap",
        "mcp_tap.run": header.run,
        "mcp_tap.upstream": header.upstream,
    }
    scope = {"name": "mcp-tap", "version": version}
    yield b'{"resourceSpans":[{"resource":'
    yield _json({"attributes": _attributes(resource)})
    yield b',"scopeSpans":[{"scope":' + _json(scope) + b',"spans":['
    comma = b"\n"
    for each, records in found:
        for span in spans.of(each, records):
            yield comma + _json(span)
            comma = b",\n"
    yield b"\n]}]}]}\n"


class _Spans:
    """Makes the spans of one run."""

    def __init__(self, header: Header) -> None:
        self._run = f"{header.run}\n{header.started}"
        self._start = int(((read(header.started) or _EPOCH) - _EPOCH).total_seconds() * 1e6) * 1000
        self._http = header.transport == "http"
        self._server: Attributes = {"network.transport": "tcp" if self._http else "pipe"}
        if self._http:
            self._server |= _address(header.upstream)
        self._now = 0.0

    def of(self, found: Call | Exchange, records: list[AnyRecord]) -> Iterator[dict[str, Any]]:
        self._now = max([self._now, *(record.t for record in records)])
        talks = {dialogue.number: dialogue for dialogue in dialogues(records)}
        kind = "call" if isinstance(found, Call) else "exchange"
        trace = self._id(32, kind, found.number)
        if isinstance(found, Exchange):
            talk = talks.get(found.number)
            if self._http and talk is not None and talk.request is not None:
                yield self._exchange(trace, "", talk, found)
            return
        root = self._id(16, trace, "call")
        yield self._call(trace, root, found, records)
        for round_ in found.rounds:
            parent = self._id(16, trace, "round", round_.number)
            yield self._round(trace, root, parent, found, round_)
            talk = talks.pop(round_.exchange, None)
            if talk is not None and talk.request is not None:
                yield self._exchange(trace, parent, talk, found)
        for talk in talks.values():
            if talk.request is not None:
                yield self._exchange(trace, root, talk, found)

    def _call(self, trace: str, span: str, call: Call, records: list[AnyRecord]) -> dict[str, Any]:
        attributes = _named(call) | {
            "mcp.protocol.version": call.version,
            "mcp.session.id": call.identity.session,
            "mcp_tap.call": call.number,
            "mcp_tap.outcome": call.outcome,
            "mcp_tap.rounds": len(call.rounds) + call.dropped,
            "mcp_tap.server_ms": round(call.server_s * 1000, 3),
            "mcp_tap.client_ms": round(call.client_s * 1000, 3),
            "mcp_tap.tap_ms": round(call.tap_s * 1000, 3),
            "user_agent.original": call.identity.user_agent,
            "mcp_tap.client": call.client,
            "mcp_tap.server": call.server,
            **self._server,
            **_error(call.rounds[-1] if call.rounds else None, call.outcome),
        }
        events = [
            self._event(
                finding.t,
                "mcp_tap.finding",
                {
                    "mcp_tap.rule": finding.rule,
                    "mcp_tap.severity": finding.severity,
                    "mcp_tap.blame": finding.blame,
                    "mcp_tap.round": finding.round,
                    "mcp_tap.message": finding.message,
                },
            )
            for finding in call.findings
        ]
        made = self._span(trace, span, "", _title(call), _INTERNAL, call.t, call.end, attributes)
        made["events"] = events
        parents = (
            _parent(value_of(record))
            for record in records
            if isinstance(record, Message) and record.sender == "client"
        )
        made["links"] = [
            {"traceId": parent[0], "spanId": parent[1]}
            for parent in dict.fromkeys(parents)
            if parent is not None
        ]
        return _with_status(made, call.fault.message if call.fault else call.why)

    def _round(
        self, trace: str, parent: str, span: str, call: Call, round_: Round
    ) -> dict[str, Any]:
        attributes = _named(call) | {
            "jsonrpc.request.id": _request_id(round_.request_id),
            "mcp.protocol.version": call.version,
            "mcp.session.id": call.identity.session,
            "mcp_tap.round": round_.number,
            "mcp_tap.link": round_.link,
            "mcp_tap.result_type": round_.result_type,
            "mcp_tap.state_echo": round_.echo,
            "mcp_tap.by": "tap" if round_.by_tap else "client",
            **self._server,
            **_error(round_, call.outcome if round_ is call.rounds[-1] else "ok"),
        }
        events = []
        for ask in round_.asks:
            about: Attributes = {"mcp_tap.ask.key": ask.key, "mcp_tap.ask.kind": ask.kind}
            events.append(
                self._event(ask.t, "mcp_tap.ask", about | {"mcp.method.name": ask.method})
            )
            if ask.answer_t is not None:
                done: Attributes = {"mcp_tap.answer.action": ask.action}
                done |= {"mcp_tap.answer.by": ask.answered_by, "mcp_tap.answer.entry": ask.entry}
                events.append(self._event(ask.answer_t, "mcp_tap.answer", about | done))
        made = self._span(
            trace, span, parent, _title(call), _CLIENT, round_.t, round_.end, attributes
        )
        made["events"] = events
        return _with_status(made, round_.fault.message if round_.fault else None)

    def _exchange(
        self, trace: str, parent: str, talk: Dialogue, found: Call | Exchange
    ) -> dict[str, Any]:
        request, response, closed = talk.request, talk.response, talk.closed
        assert request is not None
        status = response.status if response is not None else None
        failed: str | None = closed.how if closed is not None and closed.how != "complete" else None
        if failed is None and status is not None and status >= 400:
            failed = str(status)
        attributes: Attributes = {
            "http.request.method": request.method,
            "url.path": request.path.partition("?")[0],
            "http.response.status_code": status,
            "http.request.body.size": closed.request.bytes if closed is not None else None,
            "http.response.body.size": closed.response.bytes if closed is not None else None,
            "network.protocol.name": "http",
            "network.protocol.version": request.version,
            "mcp_tap.exchange": talk.number,
            "mcp_tap.by": "tap" if talk.by_tap else "client",
            "error.type": failed,
            **self._server,
        }
        if isinstance(found, Exchange):
            attributes["mcp.method.name"] = found.method
        end = closed.t if closed is not None else None
        span = self._id(16, trace, "exchange", talk.number)
        made = self._span(trace, span, parent, request.method, _CLIENT, request.t, end, attributes)
        return _with_status(made, closed.why if closed is not None else None)

    def _span(  # noqa: PLR0917 - the fields every span has, in the order of the format
        self,
        trace: str,
        span: str,
        parent: str,
        name: str,
        kind: Literal[1, 3],
        begin: float,
        end: float | None,
        attributes: Attributes,
    ) -> dict[str, Any]:
        """Make a span; one that has not ended lasts as long as is known."""
        made: dict[str, Any] = {"traceId": trace, "spanId": span}
        if parent:
            made["parentSpanId"] = parent
        last = end if end is not None else self._now
        return made | {
            "name": name,
            "kind": kind,
            "startTimeUnixNano": self._nanos(begin),
            "endTimeUnixNano": self._nanos(max(begin, last)),
            "attributes": _attributes(attributes),
        }

    def _event(self, t: float, name: str, attributes: Attributes) -> dict[str, Any]:
        return {"timeUnixNano": self._nanos(t), "name": name, "attributes": _attributes(attributes)}

    def _nanos(self, t: float) -> str:
        """Give a record's time as the mapping has 64-bit numbers: as text."""
        return str(min(max(0, self._start + int(t * 1e9)), (1 << 63) - 1))

    def _id(self, digits: int, *parts: object) -> str:
        """Make an id that is never zero, which the format keeps for none."""
        text = "\n".join(map(str, (self._run, *parts)))
        return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[: digits - 1] + "1"


def _title(call: Call) -> str:
    """Name a span as the conventions want it: with the tool or prompt, without URIs."""
    low = call.method in ("tools/call", "prompts/get")
    return f"{call.method} {call.name}" if low and call.name else call.method


def _named(call: Call) -> Attributes:
    named: Attributes = {"mcp.method.name": call.method}
    if call.method == "tools/call":
        named |= {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": call.name}
    elif call.method == "prompts/get":
        named["gen_ai.prompt.name"] = call.name
    elif call.method.startswith("resources/"):
        named["mcp.resource.uri"] = call.name
    return named


def _error(round_: Round | None, outcome: str) -> Attributes:
    """Say what class of error an operation ended with, if it did."""
    fault = round_.fault if round_ is not None else None
    if fault is None:
        return {"error.type": outcome} if outcome == "cancelled" else {}
    if fault.code == "isError":
        return {"error.type": "tool_error"}
    code = None if fault.code is None else str(fault.code)
    of_rpc = round_ is not None and round_.response_seq is not None
    return {"error.type": code or "_OTHER", "rpc.response.status_code": code if of_rpc else None}


def _with_status(span: dict[str, Any], message: str | None) -> dict[str, Any]:
    failed = any(pair["key"] == "error.type" for pair in span["attributes"])
    if failed:
        span["status"] = {"code": _ERROR, **({"message": message} if message else {})}
    return span


def _parent(message: Any) -> tuple[str, str] | None:
    """Give the span of the client's own that a request names as its parent."""
    params = message.get("params") if isinstance(message, dict) else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    text = meta.get("traceparent") if isinstance(meta, dict) else None
    found = _PARENT.match(text) if isinstance(text, str) else None
    return None if found is None else (found[1], found[2])


def _request_id(value: Any) -> str | None:
    return None if value is None else value if isinstance(value, str) else str(value)


def _address(url: str) -> Attributes:
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return {}
    return {"server.address": parts.hostname, "server.port": port}


def _attributes(given: Attributes) -> list[dict[str, Any]]:
    """Write attributes as the mapping has them; those without a value are left out."""
    return [{"key": k, "value": _value(v)} for k, v in given.items() if v is not None]


def _value(value: str | float) -> dict[str, Any]:
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}


def _json(value: Any) -> bytes:
    return json_safe(msgspec.json.encode(value))
