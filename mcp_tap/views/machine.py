"""From the model to the document of `show -f json` (views.show_doc has its structs).

Wire text stands here as it came; what a terminal would obey is escaped, as JSON can.  No
`requestState` is in it, only its size and SHA-256.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Any, Protocol

import msgspec
from msgspec import Raw

from mcp_tap.core.finding import Finding
from mcp_tap.core.model import Ask, Call, Exchange, Fault, Round
from mcp_tap.core.records import Header
from mcp_tap.core.text import json_safe
from mcp_tap.views.blame import verdict
from mcp_tap.views.show_doc import (
    VERSION,
    AskDoc,
    BlameDoc,
    CallDoc,
    CaptureDoc,
    ExchangeDoc,
    FaultDoc,
    FindingDoc,
    RoundDoc,
    ShowDoc,
    StateDoc,
    TornDoc,
)


class WatchedDoc(CallDoc, frozen=True, kw_only=True):
    """A call as `watch --json` tells it, where calls of several runs may come mixed."""

    run: str
    """Id of the run it is in, within which its number counts."""


class Torn(Protocol):
    """A last line that is not whole, as `capture.reader` tells of it."""

    @property
    def line(self) -> int:
        """Its number within its file."""

    @property
    def bytes(self) -> int:
        """How much of it there is."""


class Read(Protocol):
    """A capture that was read to its end, as `capture.reader` gives it."""

    @property
    def header(self) -> Header:
        """Its header."""

    @property
    def lost(self) -> int:
        """Records that are missing."""

    @property
    def torn(self) -> Torn | None:
        """Its last line, if that is not whole."""

    @property
    def clean(self) -> bool:
        """Its last record is there."""


def capture_doc(read: Read, *, path: str | None, records: int) -> CaptureDoc:
    """Describe a capture that was read to its end.

    Args:
        read: the capture.
        path: its first file, as it is to be shown; None for standard input.
        records: how many were read.
    """
    header, torn = read.header, read.torn
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
        lost=read.lost,
        torn=None if torn is None else TornDoc(line=torn.line, bytes=torn.bytes),
        clean=read.clean,
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
        why=call.why,
        task=call.task,
        started_ms=ms(call.t),
        duration_ms=None if call.end is None else ms(call.end - call.t),
        server_ms=ms(call.server_s),
        client_ms=ms(call.client_s),
        tap_ms=ms(call.tap_s),
        fault=_fault(call.fault),
        blame=_blame(call),
        findings=[finding_doc(found) for found in call.findings],
        dropped=call.dropped,
        rounds=[_round(r) for r in call.rounds],
        other_exchanges=list(call.other_exchanges),
    )


def watched_doc(call: Call, run: str) -> WatchedDoc:
    """Describe a call as it stands, and say which run it is in."""
    doc = call_doc(call)
    return WatchedDoc(run=run, **{name: getattr(doc, name) for name in CallDoc.__struct_fields__})


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
        findings=[finding_doc(found) for found in exchange.findings],
        started_ms=ms(exchange.t),
        duration_ms=None if exchange.end is None else ms(exchange.end - exchange.t),
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


def document_bytes(document: Any) -> bytes:
    """Render a document, over several lines."""
    return msgspec.json.format(json_safe(msgspec.json.encode(document)), indent=2)


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
        claimants=list(round_.claimants),
        request_state=StateDoc(
            bytes=0 if raw is None else len(raw),
            sha256=None if raw is None else sha256(raw).hexdigest(),
            echo=round_.echo,
        ),
        asks=[_ask(ask) for ask in round_.asks],
        fault=_fault(round_.fault),
        duration_ms=None if ended is None else ms(ended - round_.t),
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
        waited_ms=None if ask.answer_t is None else ms(ask.answer_t - ask.t),
    )


def _fault(fault: Fault | None) -> FaultDoc | None:
    if fault is None:
        return None
    return FaultDoc(code=fault.code, message=fault.message, sender=fault.sender)


def _blame(call: Call) -> BlameDoc | None:
    found = verdict(call)
    if found is None:
        return None
    return BlameDoc(party=found.party, waits=found.waits, why=found.why)


def finding_doc(finding: Finding) -> FindingDoc:
    """Describe a finding."""
    return FindingDoc(**{name: getattr(finding, name) for name in FindingDoc.__struct_fields__})


def ms(seconds: float) -> float:
    """Give milliseconds to the microsecond, as all documents do; none are less than 0."""
    return round(max(0.0, seconds) * 1000, 3)
