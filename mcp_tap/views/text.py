"""The text view: a line when something worth saying happened, each thing once, as it happens.

A call gets a line when it begins to wait, with what it is asked below; one for each answer; and
one when it ends.  A plain call is one line.  Streams are told when they open, too.  Exchanges
outside of calls are told only when they fail.
"""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, TextIO

from mcp_tap.core.clock import here, read
from mcp_tap.core.finding import Finding
from mcp_tap.core.model import Call, Exchange
from mcp_tap.core.records import Header
from mcp_tap.core.text import pad, safe
from mcp_tap.views.base import Change
from mcp_tap.views.found import counted, finding_row
from mcp_tap.views.listing import NO_FILTER, aside, exchange_rows, listed
from mcp_tap.views.look import ASCII, LINES, Look, Row
from mcp_tap.views.paint import Painter
from mcp_tap.views.runs import NARROW, run_name
from mcp_tap.views.timeline import answer_row, ask_row, asking_row, call_row, fault_rows

_MOST_UNWRITTEN: Final = 10_000
_MOST_ENDED: Final = 10_000


class _Told:
    """What has been said about a call."""

    def __init__(self) -> None:
        self.opened = False
        self.asked: set[tuple[int, str]] = set()
        self.answered: set[tuple[int, str]] = set()
        self.rounds = 0
        """How many it had when its end was said."""


class Teller:
    """Turns changes into rows, each thing once."""

    def __init__(self, look: Look) -> None:
        self.look = look
        self._told: dict[int, _Told] = {}
        self._ended: OrderedDict[tuple[str, int], _Told | None] = OrderedDict()

    def rows(self, change: Change, now: float) -> Iterator[Row]:
        """Give the rows that are to be said now."""
        if isinstance(change, Finding):
            yield finding_row(change)
            return
        key = (type(change).__name__, change.number)
        if key in self._ended:
            told = self._ended[key]
            if told is None or isinstance(change, Exchange) or len(change.rounds) <= told.rounds:
                return
            # A client may try once more after an error: its call goes on, and gets another end.
            self._told[change.number] = told
            del self._ended[key]
        if isinstance(change, Exchange):
            if change.end is not None and listed(change, NO_FILTER):
                self._end(key, None)
                yield from exchange_rows(change, self.look, 0, now=now)
            return
        told = self._told.setdefault(change.number, _Told())
        yield from self._asks(change, told, now)
        if change.outcome == "open" and change.kind == "stream" and not told.opened:
            told.opened = True
            yield call_row(change, self.look, now=now, extra=None)
        if change.end is not None:
            told.rounds = len(change.rounds)
            self._end(key, self._told.pop(change.number))
            yield from self._last(change, now)

    def _asks(self, call: Call, told: _Told, now: float) -> Iterator[Row]:
        for round_ in call.rounds:
            new = [a for a in round_.asks if (round_.number, a.key) not in told.asked]
            if new:
                yield asking_row(call, round_, self.look)
            for ask in new:
                told.asked.add((round_.number, ask.key))
                yield ask_row(ask)
            for ask in round_.asks:
                if ask.action is not None and (round_.number, ask.key) not in told.answered:
                    told.answered.add((round_.number, ask.key))
                    clock = self.look.clock(ask.answer_t if ask.answer_t is not None else now)
                    (first, style), words = answer_row(ask)
                    front = f"{clock}{call.number:>6}".ljust(15)
                    yield [(front, "dim"), (first[15:], style), words]

    def _last(self, call: Call, now: float) -> Iterator[Row]:
        row = call_row(call, self.look, now=now, extra=None, at=call.end)
        yield [*row, *counted(call.findings), *aside(call)]
        yield from fault_rows(call)

    def _end(self, key: tuple[str, int], told: _Told | None) -> None:
        self._ended[key] = told
        if len(self._ended) > _MOST_ENDED:
            self._ended.popitem(last=False)


class _Feed:
    """One of several runs; its name stands before its lines once there was another one."""

    def __init__(self, view: TextView, teller: Teller, name: str) -> None:
        self._view = view
        self._teller = teller
        self._name = pad(name, max(NARROW, len(name))) + "  "

    def update(self, changes: Sequence[Change], now: float) -> None:
        """Say what is new in the changes."""
        for change in changes:
            for row in self._teller.rows(change, now):
                self._view.say([(self._name, "dim"), *row] if self._view.several else row)

    def finished(self) -> None:
        """Say nothing: whoever follows runs tells of their ends."""


class TextView:
    """Writes runs to a stream while they go on; a slow reader costs lines, never traffic."""

    def __init__(
        self,
        stream: TextIO,
        *,
        color: bool = False,
        ascii: bool = False,  # noqa: A002 - named as its option
        notices: TextIO | None = None,
    ) -> None:
        """Write to `stream`; the tap's own words go to `notices`, else there too."""
        self._stream = stream
        self._notices = notices or stream
        self._painter = Painter(color=color)
        self._glyphs = ASCII if ascii else LINES
        self._feed: _Feed | None = None
        self._runs = 0
        self._lines: deque[tuple[TextIO, str]] = deque()
        self._unsaid = 0
        self._wake = threading.Condition()
        self._closing = False
        self._holds = 0
        self._writer: threading.Thread | None = None
        self.gone = False
        """Nobody reads the stream any more."""

    @property
    def several(self) -> bool:
        """Tell whether lines of more than one run are written."""
        return self._runs > 1

    def start(self, header: Header) -> None:
        """Take the run's start, and begin to write."""
        self._feed = self.join(header, alone=True)

    def join(self, header: Header, *, alone: bool = False) -> _Feed:
        """Take the start of a further run; `alone`: nothing more comes of others."""
        self._runs = 1 if alone else self._runs + 1
        look = Look(glyphs=self._glyphs, start=local_start(header.started))
        if self._writer is None:
            self._writer = threading.Thread(target=self._write, name="text-view", daemon=True)
            self._writer.start()
        return _Feed(self, Teller(look), run_name(header))

    def wait(self, text: str) -> None:
        """Say nothing: this is told on stderr."""

    def update(self, changes: Sequence[Change], now: float) -> None:
        """Say what is new in the changes of the run that was started."""
        if self._feed is not None:
            self._feed.update(changes, now)

    def say(self, row: Row) -> None:
        """Write a row."""
        self._put(self._stream, self._painter.line(row))

    def notice(self, text: str) -> None:
        """Say the tap's own words."""
        self._put(self._notices, f"mcp-tap: {safe(text)}\n")

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Write nothing meanwhile: a person is typing at the same terminal.  From any thread."""
        with self._wake:
            self._holds += 1
        try:
            yield
        finally:
            with self._wake:
                self._holds -= 1
                self._wake.notify()

    def close(self) -> None:
        """Write what is left, for at most two seconds."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        if self._writer is not None:
            self._writer.join(2.0)
            self._writer = None

    def _put(self, stream: TextIO, line: str) -> None:
        with self._wake:
            if len(self._lines) >= _MOST_UNWRITTEN:
                self._unsaid += 1
                return
            self._lines.append((stream, line))
            self._wake.notify()

    def _write(self) -> None:
        while True:
            with self._wake:
                while (self._holds or not self._lines) and not self._closing:
                    self._wake.wait()
                lines = list(self._lines)
                self._lines.clear()
                unsaid, self._unsaid = self._unsaid, 0
                if not lines and not unsaid:
                    return
            try:
                for stream, line in lines:
                    stream.write(line)
                if unsaid:
                    self._notices.write(f"mcp-tap: {unsaid} lines were not shown\n")
                for stream in {id(s): s for s, _ in lines}.values():
                    stream.flush()
            except (OSError, ValueError):
                self.gone = True  # whoever records goes on without a view
                return


def local_start(started: str) -> datetime | None:
    """Read a header's start as this machine's clock shows it."""
    start = read(started)
    return None if start is None else here(start)
