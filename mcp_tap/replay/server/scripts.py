"""What to send in the place of a recorded server, and in which order.

The script of a request is what its exchange got, in the order in which it came.  What came
elsewhere meanwhile, on a session's GET stream or as a line of its own, belongs to the script as
well: it came because of this request, as far as anybody can tell.  So a client sees it when it
makes that request, and never before.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any, Final

from msgspec import Struct

from mcp_tap.core import spec
from mcp_tap.core.fields import header
from mcp_tap.core.records import Body, HttpRequest, HttpResponse, Message, Noise
from mcp_tap.core.wire import UNPARSED, value_of
from mcp_tap.replay.index import Index
from mcp_tap.replay.recorded import RecordedCall, RecordedExchange
from mcp_tap.replay.server.shapes import over_http, over_stdio
from mcp_tap.replay.server.steps import Step, is_response

Place = tuple[int, int]
"""A capture, by its index, and the number of one of its exchanges."""

_LEFT: Final = ("client_gone", "shutdown")
"""Ends that say nothing about what the server would have sent."""
_SENT: Final = frozenset({HttpResponse, Message, Body, Noise})
_SEQ: Final = attrgetter("seq")
_MOST_CACHED: Final = 512
_MOST_BYTES: Final = 256 << 10
"""Bytes of a script that is kept for the next time."""


class Wait(Struct, frozen=True):
    """What a client has to do before a script goes on."""

    seq: int
    """Record of the ask it has to answer; 0: it has to cancel the request."""
    until: int
    """Steps from this `seq` on wait."""


class Script(Struct, frozen=True, kw_only=True):
    """All that is sent because of one request."""

    exchange: RecordedExchange
    steps: tuple[Step, ...]
    waits: tuple[Wait, ...] = ()
    answered: bool
    """The response to the request is in it."""
    cut: bool
    """Something in it was not recorded whole, so that it cannot be sent."""
    size: int

    @property
    def ends(self) -> bool:
        """The server ended it; what its client left, or the end of the run cut off, stays open."""
        how = self.exchange.how
        return self.answered or (how is not None and how not in _LEFT)


class Scripts:
    """Scripts of the exchanges of an index."""

    def __init__(self, index: Index, *, lines: bool = False) -> None:
        """Look for what came on streams that no request opened; `lines`: clients speak stdio."""
        self._index = index
        self._lines = lines
        self._cache: OrderedDict[Place, Script] = OrderedDict()
        self._aside: dict[Place, list[int]] = {}
        """What came elsewhere because of an exchange."""
        self._elsewhere: set[tuple[int, int]] = set()
        """Capture and `seq` of all of that."""
        self._waits: dict[Place, list[Wait]] = {}
        self.resumed: dict[tuple[int, str], RecordedExchange] = {}
        """Exchanges that took a stream up again, by capture and event id."""
        asks = dict(self._asks())
        for capture in range(len(index.captures)):
            self._sort_out(capture, asks)
        self._resuming = self._took_up()
        """By the exchange whose stream it was."""

    def of(self, exchange: RecordedExchange) -> Script:
        """Give the script of an exchange."""
        place = exchange.capture, exchange.number
        script = self._cache.get(place)
        if script is not None:
            self._cache.move_to_end(place)
            return script
        script = self._made(exchange)
        if script.size <= _MOST_BYTES:
            self._cache[place] = script
            if len(self._cache) > _MOST_CACHED:
                self._cache.popitem(last=False)
        return script

    def _made(self, exchange: RecordedExchange) -> Script:
        place = exchange.capture, exchange.number
        source = self._index.captures[exchange.capture].source
        seqs: Sequence[int] = exchange.seqs
        if exchange.verb:  # over HTTP, the first record is the request's head, the last the end
            seqs = seqs[1 : None if exchange.how is None else -1]
        if self._elsewhere:
            seqs = [seq for seq in seqs if (exchange.capture, seq) not in self._elsewhere]
        steps = [step for step in map(_step, source.again(seqs)) if step is not None]
        for seq in self._aside.get(place, ()):
            step = _step(source.record(seq), aside=True)
            if step is not None:
                steps.append(step)
        steps.sort(key=_SEQ)
        if self._lines:
            steps = over_stdio(steps, (self.of(e).steps for e in self._resuming.get(place, ())))
        elif not exchange.verb:
            steps = over_http(exchange, steps)
        return Script(
            exchange=exchange,
            steps=tuple(steps),
            waits=tuple(self._waits.get(place, ())),
            answered=any(map(is_response, steps)),
            cut=any(step.cut for step in steps),
            size=sum(
                len(s.record.payload()) for s in steps if not isinstance(s.record, HttpResponse)
            ),
        )

    def _asks(self) -> Iterator[tuple[tuple[int, int], Place]]:
        """Note what scripts have to wait for; give the owners of pushed asks."""
        captures = self._index.captures
        for call in self._index.calls:
            place = call.capture, call.rounds[0].exchange.number
            waits = [
                Wait(ask.seq, ask.answer_seq)
                for round_ in call.rounds
                for ask in round_.asks.values()
                if ask.pushed and ask.answer_seq is not None
            ]
            if call.outcome == "cancelled":
                others = (captures[call.capture].exchanges.get(n) for n in call.others)
                waits += [
                    Wait(0, e.seqs[0]) for e in others if e and e.method == spec.NOTE_CANCELLED
                ]
            if waits:
                self._waits[place] = waits
            yield from _pushed(call, place)

    def _sort_out(self, capture: int, asks: dict[tuple[int, int], Place]) -> None:
        """Find whose script the messages belong to that no exchange of their own explains."""
        exchanges = [e for e in self._index.captures[capture].exchanges.values() if not e.by_tap]
        calls = {n for c in self._index.calls if c.capture == capture for n in c.others}
        strays: list[tuple[int, int]] = []
        for exchange in exchanges:
            if exchange.kind == "http" and exchange.verb in ("", "GET"):
                messages = self._messages(exchange)
                since = exchange.seqs[0] if exchange.verb else 0
                if exchange.verb == "" or exchange.number not in calls:
                    strays += ((seq, since) for seq in messages)
        if not strays:
            return
        ends = {e.number: e.seqs[-1] for e in exchanges}
        for (at, number), waits in self._waits.items():
            cancelled = [wait.until for wait in waits if wait.seq == 0]
            if at == capture and cancelled:
                ends[number] = cancelled[0]
        for seq, owner in _owners(sorted(strays), exchanges, ends):
            place = asks.get((capture, seq)) or (None if owner is None else (capture, owner))
            if place is not None:
                self._aside.setdefault(place, []).append(seq)
                self._elsewhere.add((capture, seq))

    def _took_up(self) -> dict[Place, list[RecordedExchange]]:
        if not self.resumed:
            return {}
        resumed = {(e.capture, e.number): e for e in self.resumed.values()}
        found: dict[Place, list[RecordedExchange]] = {}
        for call in self._index.calls:
            place = call.capture, call.rounds[0].exchange.number
            for number in call.others:
                exchange = resumed.get((call.capture, number))
                if exchange is not None:
                    found.setdefault(place, []).append(exchange)
        return found

    def _messages(self, exchange: RecordedExchange) -> list[int]:
        """List the messages of a stream; note what event it was taken up behind."""
        found = []
        for record in self._index.messages(exchange):
            if isinstance(record, HttpRequest):
                last_event = header(record.headers, spec.HEADER_LAST_EVENT)
                if last_event is not None:
                    self.resumed[exchange.capture, last_event] = exchange
            elif isinstance(record, Message) and record.sender != "client":
                found.append(record.seq)
        return found


def _step(record: Any, *, aside: bool = False) -> Step | None:
    kind = type(record)
    if kind not in _SENT or record.leg == "upstream":
        return None
    value = UNPARSED
    if kind is HttpResponse:
        if record.status < 200:
            return None
    elif record.sender == "client":
        return None
    elif kind is Message:
        value = value_of(record)
    return Step(seq=record.seq, t=record.t, record=record, value=value, aside=aside)


def _pushed(call: RecordedCall, place: Place) -> Iterator[tuple[tuple[int, int], Place]]:
    for round_ in call.rounds:
        for ask in round_.asks.values():
            if ask.pushed:
                yield (call.capture, ask.seq), place


def _owners(
    strays: list[tuple[int, int]], exchanges: list[RecordedExchange], ends: dict[int, int]
) -> Iterator[tuple[int, int | None]]:
    """Say which request each message came because of: the newest under way, else the one before.

    Args:
        strays: each message, and where the stream it came on began; before that, nothing caused it.
        exchanges: what clients sent.
        ends: where each of these ended.
    """
    begun = [e for e in exchanges if e.kind != "http" and e.seqs]
    begun.sort(key=lambda e: e.seqs[0], reverse=True)
    active: list[RecordedExchange] = []
    newest: RecordedExchange | None = None
    for seq, since in strays:
        while begun and begun[-1].seqs[0] < seq:
            newest = begun.pop()
            if newest.kind == "request" and newest.method != spec.LISTEN:
                active.append(newest)
        active = [e for e in active if ends[e.number] > seq]
        owner = active[-1] if active else newest
        if owner is not None and not active and owner.seqs[0] < since:
            owner = None
        yield seq, None if owner is None else owner.number
