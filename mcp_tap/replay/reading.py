"""One pass over one capture: what is in it, linked, and nothing of it judged."""

from __future__ import annotations

from sys import intern
from typing import Any, Final

from mcp_tap.core import spec
from mcp_tap.core.linking.correlator import Correlator
from mcp_tap.core.model import Ask, Call, Exchange, Round
from mcp_tap.core.records import (
    AnyRecord,
    Body,
    Closed,
    HttpRequest,
    HttpResponse,
    Message,
    Noise,
    Payload,
)
from mcp_tap.core.values import short
from mcp_tap.core.wire import UNPARSED, value_of
from mcp_tap.replay.keys import key_of, target_of
from mcp_tap.replay.recorded import (
    Captured,
    RecordedAsk,
    RecordedCall,
    RecordedExchange,
    RecordedRound,
)

_PAYLOADS: Final = frozenset({Message, Body, Noise})
_PARSED: Final = frozenset({Message, Body})
"""Kinds with a payload that may be JSON; asked by type, since `isinstance` is slow on structs."""


class Reading:
    """One pass over one capture."""

    def __init__(self, at: int, capture: Captured) -> None:
        self._at = at
        self._capture = capture
        self._linking = Correlator()
        self._open: dict[int, Call] = {}
        self._done: dict[int, RecordedCall] = {}

    def take(self, record: AnyRecord) -> None:
        """Take the next record."""
        kind = type(record)
        value = value_of(record) if kind in _PARSED else UNPARSED  # type: ignore[arg-type]
        changes = self._linking.feed(record, value)
        capture = self._capture
        capture.records += 1
        live = self._linking.touched
        exchange = getattr(record, "exchange", None)
        number = live.exchange.number if exchange is None and live is not None else exchange
        if number is not None:
            seen = capture.exchanges.get(number)
            if seen is None:
                seen = RecordedExchange(capture=self._at, number=number, t=record.t)
                capture.exchanges[number] = seen
            seen.seqs.append(record.seq)
            self._seen(seen, record)
            if live is not None:
                self._understood(seen, record, value, live.exchange)
        for change in changes:
            if type(change) is Call:
                self._open[change.number] = change
                if change.end is not None and (kind is Closed or exchange is None):
                    self._settle(change)

    def calls(self) -> list[RecordedCall]:
        """Give the calls, once all records were taken."""
        self._linking.finish()
        for call in list(self._open.values()):
            self._settle(call)
        return [self._done[number] for number in sorted(self._done)]

    def _seen(self, seen: RecordedExchange, record: AnyRecord) -> None:
        """Take from a record what it says by itself."""
        kind = type(record)
        if kind in _PAYLOADS:
            assert isinstance(record, Payload)
            self._capture.masked += bool(record.masked)
            self._capture.cut += record.truncated
        elif isinstance(record, HttpRequest):
            if record.replaces is not None:
                return
            seen.by_tap = record.leg == "upstream"
            seen.verb, seen.path = intern(record.method), intern(record.path)
            seen.session = _session(record)
        elif isinstance(record, HttpResponse):
            if record.leg != "upstream":
                seen.status = record.status
                seen.session = _session(record) or seen.session
        elif isinstance(record, Closed):
            seen.how, seen.end = record.how, record.t

    def _understood(
        self, seen: RecordedExchange, record: AnyRecord, value: Any, exchange: Exchange
    ) -> None:
        """Take what linking knows of the exchange by now."""
        if exchange.kind != "http" and seen.kind == "http":
            seen.kind, seen.method = exchange.kind, exchange.method
            if exchange.kind == "request" and isinstance(record, Message):
                seen.target = target_of(value)
                masked = any(mask.at.startswith("/body") for mask in record.masked)
                seen.key = None if masked or record.truncated else key_of(value)
        if exchange.era != seen.era:
            seen.era = exchange.era
            self._capture.eras.add(exchange.era)
        if exchange.how is not None and seen.how is None:
            seen.how, seen.end = exchange.how, exchange.end  # stdio: no record says so

    def _settle(self, call: Call) -> None:
        """Make a recorded call of one that has ended, and let go of that."""
        self._open.pop(call.number, None)
        exchanges = self._capture.exchanges
        rounds = [self._round(round_) for round_ in call.rounds if round_.exchange in exchanges]
        if not rounds:
            return
        self._done[call.number] = RecordedCall(
            capture=self._at,
            number=call.number,
            method=call.method,
            target=call.name,
            kind=call.kind,
            era=call.era,
            version=call.version,
            outcome=call.outcome,
            t=call.t,
            end=call.end,
            server=call.server,
            key=rounds[0].exchange.key,
            rounds=rounds,
            task_seq=call.task_seq,
            others=call.other_exchanges,
        )

    def _round(self, round_: Round) -> RecordedRound:
        exchange = self._capture.exchanges[round_.exchange]
        return RecordedRound(
            number=round_.number,
            exchange=exchange,
            asks={ask.key: _ask(ask) for ask in round_.asks},
            link=round_.link,
            answers_round=round_.answers_round,
            by_tap=round_.by_tap,
            result_type=round_.result_type,
            retry=round_.sent_state is not None or bool(round_.answers),
            sent=_short(round_.sent_state),
            state=_short(round_.state),
            candidates=tuple(round_.candidates),
            request_seq=round_.request_seq,
            response_seq=round_.response_seq,
        )


def _session(record: HttpRequest | HttpResponse) -> str | None:
    found = (value for name, value in record.headers if name.lower() == spec.HEADER_SESSION)
    return next(found, None)


def _short(state: str | None) -> str | bytes | None:
    return None if state is None else short(state)


def _ask(ask: Ask) -> RecordedAsk:
    return RecordedAsk(
        kind=ask.kind,
        method=ask.method,
        seq=ask.seq,
        pushed=ask.pushed,
        action=ask.action,
        by=ask.answered_by,
        answer_seq=ask.answer_seq,
    )
