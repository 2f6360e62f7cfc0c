"""The document of `show -f json`: a versioned contract, told by the structs of this file.

Adding fields keeps `VERSION`; renaming, removing or changing the meaning of one does not.  The
schema in docs/show.schema.json is made from these structs (`schema()`), and docs/show-json.md is
tested against them.  Wire text stands here as it came; what a terminal would
obey is escaped, as JSON can.  No `requestState` is in it, only its size and SHA-256.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Any, Final, Literal

import msgspec
from msgspec import Raw, Struct

from mcp_tap.core.model import (
    Ask,
    AskKind,
    Call,
    CallKind,
    Echo,
    Era,
    Exchange,
    Fault,
    Link,
    Outcome,
    Round,
)
from mcp_tap.core.records import Header, How, Sender
from mcp_tap.core.text import json_safe

VERSION: Final = 1


class AskDoc(Struct, frozen=True, kw_only=True):
    """One thing the server asked for, in the round that asked."""

    key: str
    """Key in `inputRequests`; of a server-sent request its JSON-RPC id, as text."""
    kind: AskKind
    method: str
    mode: str | None
    """`form` or `url` for elicitation, null otherwise."""
    message: str | None
    """The text a person is shown, where there is one."""
    action: str | None
    """The answer given: `accept`, `decline`, `cancel`, `answered` (sampling, roots), `error` (a
    JSON-RPC error in place of one); null while none came."""
    answered_by: Literal["client", "tap", "none"]
    entry: str | None
    """Name of the script entry that answered."""
    waited_ms: float | None
    """From the ask to its answer."""


class StateDoc(Struct, frozen=True, kw_only=True):
    """The `requestState` a round's result issued; the value itself is never shown."""

    bytes: int
    """Its size in UTF-8; 0 where none was issued."""
    sha256: str | None
    """Of its UTF-8, in hexadecimal; null where none was issued."""
    echo: Echo
    """How the next round sent it: `same`, `changed`, `missing`, `invented` (none was issued), or
    `none` while there is nothing to compare."""


class FaultDoc(Struct, frozen=True, kw_only=True):
    """How a round went wrong."""

    code: int | str | None
    """JSON-RPC error code, or a word for a transport failure; null for an `isError` result."""
    message: str
    sender: Sender
    """Who said so."""


class RoundDoc(Struct, frozen=True, kw_only=True):
    """Step n of a call."""

    round: int
    exchange: int
    """Number of the exchange, as in the capture's records."""
    request_id: Any
    """The JSON-RPC id, exactly."""
    status: int | None
    """HTTP status."""
    result_type: str | None
    link: Link
    """Evidence that ties it to the round before; `none` on a first round."""
    answers_round: int | None
    """Number of the round whose asks or state it answers; null where it answers none."""
    candidates: list[int]
    """Numbers of the calls it may belong to, where the link is `ambiguous`."""
    request_state: StateDoc
    asks: list[AskDoc]
    fault: FaultDoc | None
    duration_ms: float | None
    size: int
    """Payload bytes, both directions, as recorded."""
    by_tap: bool
    """Its request was written by the tap."""


class CallDoc(Struct, frozen=True, kw_only=True):
    """What the user meant: one or more rounds linked by evidence."""

    call: int
    method: str
    name: str | None
    """Tool or prompt name, or resource URI."""
    era: Era
    """`stateless` (2026-07-28 on), `session` (to 2025-11-25) or `unknown`."""
    version: str | None
    """Protocol revision."""
    kind: CallKind
    """`call`, or `stream` for a subscription."""
    client: str | None
    server: str | None
    outcome: Outcome
    task: str | None
    """taskId, where the server made a task of it."""
    started_ms: float
    """From the start of the run."""
    duration_ms: float | None
    """From its first byte to its end; null while it has none."""
    server_ms: float
    client_ms: float
    """Time the client, or a person behind it, took to answer."""
    tap_ms: float
    fault: FaultDoc | None
    """The last round's."""
    dropped: int
    """Rounds left out of `rounds`, where there were too many to keep; the first one stays."""
    rounds: list[RoundDoc]


class ExchangeDoc(Struct, frozen=True, kw_only=True):
    """An exchange that belongs to no call: a notification, a stream, plain HTTP."""

    number: int
    verb: str
    """HTTP method; empty on stdio."""
    path: str
    kind: Literal["request", "notification", "response", "http", "broken"]
    method: str | None
    """JSON-RPC method."""
    status: int | None
    how: How | None
    """How it ended; null while it has not."""
    why: str | None
    started_ms: float
    duration_ms: float | None


class TornDoc(Struct, frozen=True, kw_only=True):
    """A last line that is not whole, and was skipped."""

    line: int
    bytes: int


class CaptureDoc(Struct, frozen=True, kw_only=True):
    """The capture all of it comes from."""

    run: str
    path: str | None
    """First file of the run; null for standard input."""
    started: str
    """Wall-clock start, RFC 3339, UTC."""
    tool: str
    transport: Literal["http", "stdio"]
    upstream: str
    label: str | None
    format: int
    """Version of the capture format."""
    records: int
    """Records read."""
    lost: int
    """Records that are missing."""
    torn: TornDoc | None
    clean: bool
    """The run ended cleanly: a footer was read."""


class ShowDoc(Struct, frozen=True, kw_only=True):
    """The whole document."""

    version: Literal[1]
    capture: CaptureDoc
    calls: list[CallDoc]
    exchanges: list[ExchangeDoc]
    """Those that belong to no call."""


def capture_doc(
    header: Header,
    *,
    path: str | None,
    records: int,
    lost: int,
    torn: TornDoc | None,
    clean: bool,
) -> CaptureDoc:
    """Describe a capture that was read to its end."""
    return CaptureDoc(
        run=header.run,
        path=path,
        started=header.started,
        tool=header.tool,
        transport=header.transport,
        upstream=header.upstream,
        label=header.label,
        format=header.format,
        records=records,
        lost=lost,
        torn=torn,
        clean=clean,
    )


def call_doc(call: Call) -> CallDoc:
    """Describe a call as it stands."""
    return CallDoc(
        call=call.number,
        method=call.method,
        name=call.name,
        era=call.era,
        version=call.version,
        kind=call.kind,
        client=call.client,
        server=call.server,
        outcome=call.outcome,
        task=call.task,
        started_ms=_ms(call.t),
        duration_ms=None if call.end is None else _ms(call.end - call.t),
        server_ms=_ms(call.server_s),
        client_ms=_ms(call.client_s),
        tap_ms=_ms(call.tap_s),
        fault=_fault(call.fault),
        dropped=call.dropped,
        rounds=[_round(r) for r in call.rounds],
    )


def exchange_doc(exchange: Exchange) -> ExchangeDoc:
    """Describe an exchange that belongs to no call."""
    return ExchangeDoc(
        number=exchange.number,
        verb=exchange.verb,
        path=exchange.path,
        kind=exchange.kind,
        method=exchange.method,
        status=exchange.status,
        how=exchange.how,
        why=exchange.why,
        started_ms=_ms(exchange.t),
        duration_ms=None if exchange.end is None else _ms(exchange.end - exchange.t),
    )


def encode(doc: CallDoc | ExchangeDoc) -> bytes:
    """Render a part of the document on one line."""
    return json_safe(msgspec.json.encode(doc))


def show_document(
    capture: CaptureDoc, calls: Iterable[bytes], exchanges: Iterable[bytes]
) -> dict[str, Any]:
    """Put the document together from its encoded parts; the result is for `document_bytes`."""
    return {
        "version": VERSION,
        "capture": capture,
        "calls": [Raw(call) for call in calls],
        "exchanges": [Raw(exchange) for exchange in exchanges],
    }


def document_bytes(document: dict[str, Any], *, indent: int | None = 2) -> bytes:
    """Render the document, over several lines unless `indent` is None."""
    raw = json_safe(msgspec.json.encode(document))
    return raw if indent is None else msgspec.json.format(raw, indent=indent)


def schema() -> dict[str, Any]:
    """Give the JSON Schema of the document."""
    return msgspec.json.schema(ShowDoc)


def _round(round_: Round) -> RoundDoc:
    state = round_.state
    raw = None if state is None else state.encode("utf-8", "surrogatepass")
    ended = round_.end
    return RoundDoc(
        round=round_.number,
        exchange=round_.exchange,
        request_id=round_.request_id,
        status=round_.status,
        result_type=round_.result_type,
        link=round_.link,
        answers_round=round_.answers_round,
        candidates=round_.candidates,
        request_state=StateDoc(
            bytes=0 if raw is None else len(raw),
            sha256=None if raw is None else sha256(raw).hexdigest(),
            echo=round_.echo,
        ),
        asks=[_ask(ask) for ask in round_.asks],
        fault=_fault(round_.fault),
        duration_ms=None if ended is None else _ms(ended - round_.t),
        size=round_.size,
        by_tap=round_.by_tap,
    )


def _ask(ask: Ask) -> AskDoc:
    return AskDoc(
        key=ask.key,
        kind=ask.kind,
        method=ask.method,
        mode=ask.kind if ask.kind in ("form", "url") else None,
        message=ask.message,
        action=ask.action,
        answered_by=ask.answered_by,
        entry=ask.entry,
        waited_ms=None if ask.answer_t is None else _ms(ask.answer_t - ask.t),
    )


def _fault(fault: Fault | None) -> FaultDoc | None:
    if fault is None:
        return None
    return FaultDoc(code=fault.code, message=fault.message, sender=fault.sender)


def _ms(seconds: float) -> float:
    return round(max(0.0, seconds) * 1000, 3)
