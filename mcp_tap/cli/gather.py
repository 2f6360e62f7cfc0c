"""From the records of a capture to its calls in order, with bounded memory.

Rules of this file:

- Calls and exchanges come out in the order they began, as far as `AHEAD` of them can be held back:
  one that stays open longer than that comes when it ends, or last.
- What comes out no longer changes; that is why even an ended call is held back for a while (its
  exchange closes after its answer).
- Records are kept only for a depth or a filter that needs them, within `BYTES` and `PER_EXCHANGE`;
  what had to be let go is counted.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias

from mcp_tap.core.finding import Finding
from mcp_tap.core.model import Call, Exchange
from mcp_tap.core.records import AnyRecord, HttpRequest, Payload
from mcp_tap.pipeline.spine import Pipeline
from mcp_tap.views.bodies import searchable

Found: TypeAlias = Call | Exchange

AHEAD: Final = 2000
"""Calls and exchanges that have ended and are held back, to come out in order."""
PER_EXCHANGE: Final = 2000
"""Records of one exchange that are kept; of more, the newest."""
BYTES: Final = 128 << 20
"""Bytes of records that are kept, over all exchanges."""


class Shelf:
    """Keeps the records of exchanges until their calls are printed."""

    def __init__(self) -> None:
        """Begin with nothing kept."""
        self._records: OrderedDict[int, deque[AnyRecord]] = OrderedDict()
        self._where: dict[int, int] = {}
        self._bytes = 0
        self._cut: set[int] = set()
        self.incomplete = 0
        """Calls and exchanges of which records had to be let go before they were asked for."""

    def keep(self, record: AnyRecord, number: int | None) -> None:
        """Keep a record that belongs to the exchange of this number, if to any."""
        if number is None:
            return
        records = self._records.setdefault(number, deque())
        records.append(record)
        self._bytes += _weight(record)
        if isinstance(record, Payload):
            self._where[record.seq] = number
        if len(records) > PER_EXCHANGE:
            self._forget(records.popleft())
            self._cut.add(number)
        while self._bytes > BYTES and len(self._records) > 1:
            oldest, dropped = self._records.popitem(last=False)
            self._cut.add(oldest)
            for each in dropped:
                self._forget(each)

    def of(self, found: Found) -> list[AnyRecord]:
        """Give the records of a call or an exchange, in order."""
        numbers = self._numbers(found)
        self.incomplete += not self._cut.isdisjoint(numbers)
        records = {r.seq: r for n in numbers for r in self._records.get(n, ())}
        if isinstance(found, Call):
            asked = {ask.seq for r in found.rounds for ask in r.asks}
            asked |= {r.response_seq for r in found.rounds if r.response_seq is not None}
            for seq in asked - records.keys():  # they came on another exchange's stream
                others = self._records.get(self._where.get(seq, -1), ())
                records.update((seq, r) for r in others if r.seq == seq)
        return [records[seq] for seq in sorted(records)]

    def texts(self, found: Found) -> Iterator[str]:
        """Give the payload texts of a call or an exchange, for a filter."""
        return (searchable(r) for r in self.of(found) if isinstance(r, Payload))

    def release(self, found: Found) -> None:
        """Let go of what belongs to a call or an exchange that is done with."""
        for number in self._numbers(found):
            self._cut.discard(number)
            for record in self._records.pop(number, ()):
                self._forget(record)

    def left(self) -> Iterator[Exchange]:
        """Give the exchanges that are kept still: those that belong to no call and did not end."""
        for number, records in list(self._records.items()):
            head = records[0]
            if isinstance(head, HttpRequest):
                yield Exchange(number=number, t=head.t, verb=head.method, path=head.path)

    def _numbers(self, found: Found) -> set[int]:
        if isinstance(found, Exchange):
            return {found.number}
        answers = {ask.answer_seq for r in found.rounds for ask in r.asks if ask.answer_seq}
        elsewhere = {self._where[seq] for seq in answers if seq in self._where}
        return {r.exchange for r in found.rounds}.union(elsewhere, found.other_exchanges)

    def _forget(self, record: AnyRecord) -> None:
        self._bytes -= _weight(record)
        self._where.pop(record.seq, None)


def _weight(record: AnyRecord) -> int:
    return 200 + (len(record.payload()) if isinstance(record, Payload) else 0)


def gather(
    records: Iterable[AnyRecord],
    pipeline: Pipeline,
    *,
    shelf: Shelf | None,
    see: Callable[[AnyRecord], None],
) -> Iterator[Found]:
    """Give calls, and exchanges that belong to none, each once and when it no longer changes.

    Args:
        records: a run from its header on.
        pipeline: a fresh one.
        shelf: keeps records where those are wanted.
        see: told of each record.
    """
    line = _Line()
    for record in records:
        see(record)
        changes = pipeline.feed(record)
        if shelf is not None:
            shelf.keep(record, pipeline.exchange_of(record))
        for change in changes:
            if not isinstance(change, Finding):  # its call holds it
                line.join(change)
        if len(line.waiting) >= line.look:
            yield from line.leave()
    for change in pipeline.finish():
        if not isinstance(change, Finding):
            line.join(change)
    yield from (line.waiting[place] for place in sorted(line.waiting))


class _Line:
    """Those that wait for their turn, in the order they began."""

    def __init__(self) -> None:
        self.waiting: dict[tuple[float, str, int], Found] = {}
        self.look = 2 * AHEAD
        self._gone: OrderedDict[tuple[float, str, int], None] = OrderedDict()

    def join(self, found: Found) -> None:
        place = _place(found)
        if place not in self._gone:
            self.waiting[place] = found

    def leave(self) -> Iterator[Found]:
        """Let those go first that ended longest ago."""
        over = sorted(place for place, found in self.waiting.items() if found.end is not None)
        for place in over[:-AHEAD]:
            self._gone[place] = None
            yield self.waiting.pop(place)
        while len(self._gone) > 10 * AHEAD:
            self._gone.popitem(last=False)
        self.look = len(self.waiting) + AHEAD


def _place(found: Found) -> tuple[float, str, int]:
    return found.t, type(found).__name__, found.number
