"""One pass over one capture: what is in it, linked, and nothing of it judged."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from operator import attrgetter
from sys import intern
from typing import Any, Final

from mcp_tap.core import spec
from mcp_tap.core.fields import header
from mcp_tap.core.linking.calls import host_of
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
from mcp_tap.replay.plain import Plain
from mcp_tap.replay.recorded import (
    NO_ASKS,
    Captured,
    RecordedAsk,
    RecordedCall,
    RecordedExchange,
    RecordedRound,
)

_ITS_PLACE: Final = RecordedExchange(capture=-1, number=0, t=0.0)
"""Stands for one that is plain so far: they are kept in the order in which they began."""
_seq: Final = attrgetter("seq")
_ALL_OF_PLAIN: Final = 5
MOST_PLAIN: Final = 1_000
"""Exchanges that may be waited for: all their records are kept so long."""
_PAYLOADS: Final = frozenset({Message, Body, Noise})
_PARSED: Final = frozenset({Message, Body})
"""Kinds with a payload that may be JSON; asked by type, since `isinstance` is slow on structs."""


class Reading:
    """One pass over one capture.

    What is plain is not linked, and the rest is linked as if that were not there; both are numbered
    together, in the order of their requests, as the correlator would have.
    """

    def __init__(self, at: int, capture: Captured) -> None:
        self._at = at
        self._capture = capture
        self._linking = Correlator()
        self._plain: dict[int, Plain] = {}
        """Exchanges of which is not known yet whether they have to be linked."""
        self._open: dict[int, Call] = {}
        self._ended: dict[int | None, list[Call]] = {}
        """Calls that ended in an exchange which is not closed yet; of stdio, in none."""
        self._linked: dict[int, RecordedCall] = {}
        """By the correlator's number."""
        self._done: list[RecordedCall] = []
        self._servers: dict[str, str] = {}
        header = capture.header
        self._named = header.label or host_of(header)

    def read(
        self, records: Iterable[AnyRecord], see: Callable[[int, AnyRecord], object] | None = None
    ) -> list[RecordedCall]:
        """Read all records, and give the calls.

        Args:
            records: all of a run, in order.
            see: told of each, with the index of its capture.
        """
        waiting, exchanges, link = self._plain, self._capture.exchanges, self._link
        for record in records:  # in one loop: a call of ours for each would cost as much again
            number: Any = getattr(record, "exchange", None)
            plain, kind = waiting.get(number), type(record)
            if plain is None:
                begun = Plain.begin(record) if kind is HttpRequest else None  # type: ignore[arg-type]
                if begun is None:
                    link(record)
                else:
                    waiting[number] = begun
                    exchanges[number] = _ITS_PLACE
                    if len(waiting) > MOST_PLAIN:
                        self._release(next(iter(waiting)))
            elif not plain.take(record):
                self._release(number)
            elif kind is Closed:
                del waiting[number]
                self._settle_plain(number, plain)
            if see is not None:
                see(self._at, record)
        return self._calls()

    def _calls(self) -> list[RecordedCall]:
        for at in list(self._plain):
            self._release(at)
        self._linking.finish()
        for call in list(self._open.values()):
            self._settle(call)
        calls = [*self._done, *self._linked.values()]
        calls.sort(key=lambda call: call.rounds[0].request_seq)
        named = self._capture.header.label is None
        for number, recorded in enumerate(calls, 1):
            recorded.number = number
            server = self._servers.get(recorded.rounds[0].exchange.path)
            if named and server is not None:
                recorded.server = server
        self._renumber()
        return calls

    def _renumber(self) -> None:
        """Bring the numbers by which calls name each other up to date."""
        for call in self._linked.values():
            for round_ in call.rounds:
                if round_.candidates:
                    known = (self._linked.get(number) for number in round_.candidates)
                    round_.candidates = tuple(c.number for c in known if c is not None)

    def _release(self, number: int) -> None:
        """Link an exchange after all."""
        plain = self._plain.pop(number)
        self._begun(number, plain.head.t)
        for record in plain.records:
            self._link(record)

    def _begun(self, number: int, t: float) -> RecordedExchange:
        seen = RecordedExchange(capture=self._at, number=number, t=t)
        self._capture.exchanges[number] = seen
        return seen

    def _link(self, record: AnyRecord) -> None:
        kind = type(record)
        value = value_of(record) if kind in _PARSED else UNPARSED  # type: ignore[arg-type]
        if kind is Message and self._plain and _cancels(value):
            for at in list(self._plain):  # it may be one of these
                self._release(at)
        changes = self._linking.feed(record, value)
        capture = self._capture
        live = self._linking.touched
        exchange: int | None = getattr(record, "exchange", None)
        number = exchange
        if exchange is None and live is not None:
            number = live.exchange.number
        if number is not None:
            seen = capture.exchanges.get(number) or self._begun(number, record.t)
            seen.seqs.append(record.seq)
            self._seen(seen, record)
            if live is not None:
                self._understood(seen, record, value, live.exchange)
        self._follow(changes, exchange)
        if self._ended and (kind is Closed or exchange is None):
            for call in self._ended.pop(exchange, ()):
                self._settle(call)

    def _follow(self, changes: Iterable[Any], exchange: int | None) -> None:
        """Take note of calls that have changed; one that has ended may still be told of a close."""
        for change in changes:
            if type(change) is Call:
                self._open[change.number] = change
                if change.end is not None:
                    self._ended.setdefault(exchange, []).append(change)

    def _settle_plain(self, number: int, plain: Plain) -> None:
        """Make a recorded call of a plain exchange."""
        head, records, asked, answered = plain.head, plain.records, plain.asked, plain.answered
        request, result, closed = plain.request, plain.result, records[-1]
        assert asked is not None
        assert answered is not None
        assert request is not None
        assert result is not None
        assert isinstance(closed, Closed)
        path, method, target, server = head.path, request.method, request.target, result.server
        path, method, version = intern(path), intern(method), intern(request.params.meta.version)
        target = None if target is None else intern(target)
        capture = self._capture
        capture.masked += plain.masked
        capture.eras.add("stateless")
        if server is not None:
            self._servers[path] = server
        key = None if asked.masked else request.key()
        capture.exchanges[number] = seen = RecordedExchange(
            capture=self._at,
            number=number,
            t=head.t,
            end=closed.t,
            how=closed.how,
            kind="request",
            verb="POST",
            path=path,
            method=method,
            target=target,
            era="stateless",
            status=200,
            plain=len(records) == _ALL_OF_PLAIN and closed.how == "complete",
            key=key,
            seqs=array("Q", list(map(_seq, records))),
        )
        round_ = RecordedRound(
            number=1,
            exchange=seen,
            asks=NO_ASKS,
            result_type=result.result_type,
            request_seq=asked.seq,
            response_seq=answered.seq,
        )
        self._done.append(
            RecordedCall(
                capture=self._at,
                number=0,
                method=method,
                target=target,
                era="stateless",
                version=version,
                outcome="ok",
                t=asked.t,
                end=answered.t,
                server=self._named,
                key=key,
                rounds=(round_,),
            )
        )

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
            seen.session = header(record.headers, spec.HEADER_SESSION)
        elif isinstance(record, HttpResponse):
            if record.leg != "upstream":
                seen.status = record.status
                seen.session = header(record.headers, spec.HEADER_SESSION) or seen.session
        elif isinstance(record, Closed):
            seen.how, seen.end = record.how, record.t

    def _understood(
        self, seen: RecordedExchange, record: AnyRecord, value: Any, exchange: Exchange
    ) -> None:
        """Take what linking knows of the exchange by now."""
        if exchange.kind != "http" and seen.kind == "http":
            seen.kind, seen.method = exchange.kind, _shared(exchange.method)
            if exchange.kind == "request" and isinstance(record, Message):
                seen.target = _shared(target_of(value))
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
        rounds = tuple(self._round(r) for r in call.rounds if r.exchange in exchanges)
        if not rounds:
            return
        self._linked[call.number] = RecordedCall(
            capture=self._at,
            number=call.number,
            method=intern(call.method),
            target=_shared(call.name),
            kind=call.kind,
            era=call.era,
            version=_shared(call.version),
            outcome=call.outcome,
            t=call.t,
            end=call.end,
            server=_shared(call.server),
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
            asks={intern(ask.key): _ask(ask) for ask in round_.asks} or NO_ASKS,
            link=round_.link,
            answers_round=round_.answers_round,
            by_tap=round_.by_tap,
            result_type=_shared(round_.result_type),
            retry=round_.sent_state is not None or bool(round_.answers),
            sent=_short(round_.sent_state),
            state=_short(round_.state),
            candidates=tuple(round_.candidates),
            request_seq=round_.request_seq,
            response_seq=round_.response_seq,
        )


def _cancels(value: Any) -> bool:
    return type(value) is dict and value.get("method") == spec.NOTE_CANCELLED


def _shared(text: str | None) -> str | None:
    """Give the one string there is of these words: what calls say of themselves they all say."""
    return None if text is None else intern(text)


def _short(state: str | None) -> str | bytes | None:
    found = None if state is None else short(state)
    return intern(found) if type(found) is str else found  # one round issued what the next sent


def _ask(ask: Ask) -> RecordedAsk:
    return RecordedAsk(
        kind=ask.kind,
        method=intern(ask.method),
        seq=ask.seq,
        pushed=ask.pushed,
        action=_shared(ask.action),
        by=ask.answered_by,
        answer_seq=ask.answer_seq,
    )
