"""What the console knows and what keys do to it; no terminal and no clock, so tests can press keys.

Bounded: the newest `MOST` calls, those that still run before those that have ended, and of the
exchanges outside of calls the newest that failed and the newest that did not.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Iterable
from typing import Final, Literal

from mcp_tap.core.filters import Filter, Scope, parse
from mcp_tap.core.finding import RANK, Finding, Severity
from mcp_tap.core.model import Call, Exchange
from mcp_tap.core.records import Header
from mcp_tap.errors import UsageError
from mcp_tap.views.base import Stats, Subject
from mcp_tap.views.listing import listed
from mcp_tap.views.look import ASCII, Glyphs, Look

MOST: Final = 2000
MOST_EXCHANGES: Final = 200
MOST_FINDINGS: Final = 500

Effect = Literal["quit", "copy"]
"""What a key asks of the world outside of this file."""


_EFFECTS: Final[dict[str, Effect]] = {"q": "quit", "y": "copy"}


class ConsoleState:
    """Calls, the selected one, the filter, and what part of it all is on the screen."""

    def __init__(self, glyphs: Glyphs = ASCII) -> None:
        self.glyphs = glyphs
        self.header: Header | None = None
        self.look = Look(glyphs=glyphs)
        self.now = 0.0
        self.stats: Stats | None = None
        self.ended = False
        """No more will come."""
        self.selected: tuple[float, int] | None = None
        """Place of the selected row; None follows the newest."""
        self.filter = parse("")
        self.typing: str | None = None
        """The filter being typed."""
        self.open = False
        """The keys move in the call, not in the list."""
        self.help = False
        self.explained: Finding | None = None
        """The finding that is shown, with its rule's page."""
        self.scroll = 0
        self.message = ""
        self.notices: deque[str] = deque(maxlen=3)
        self.page = 10
        """Rows a page key moves by; the drawing sets it."""
        self._calls: OrderedDict[int, Call] = OrderedDict()
        self._failed: OrderedDict[int, Exchange] = OrderedDict()
        self._others: OrderedDict[int, Exchange] = OrderedDict()
        """Exchanges that did not fail: listed when a filter speaks of them."""
        self._frozen: list[Subject] | None = None
        self._passed: dict[int, bool] = {}
        self._rows: list[Subject] | None = None
        """What the list shows, until something changes."""
        self.findings: deque[Finding] = deque(maxlen=MOST_FINDINGS)
        """The newest findings, oldest first."""
        self.found: Counter[Severity] = Counter()
        """All findings, by severity."""

    def begin(self, header: Header, look: Look) -> None:
        """Take a run; what was shown of another is forgotten."""
        self.header, self.look = header, look
        self._calls.clear()
        self._failed.clear()
        self._others.clear()
        self._passed.clear()
        self.findings.clear()
        self.found.clear()
        self._rows = self._frozen = self.selected = None
        self.ended = False

    def take(self, changes: Iterable[Subject], findings: Iterable[Finding] = ()) -> None:
        """Take what has changed, and what was found."""
        self._rows = None
        for finding in findings:
            self.found[finding.severity] += 1
            self.findings.append(finding)
        for change in changes:
            if isinstance(change, Call):
                self._calls[change.number] = change
            elif change.outcome == "error":
                self._others.pop(change.number, None)
                self._failed[change.number] = change
            else:
                self._others[change.number] = change
        while len(self._calls) > MOST:
            self._forget()
        for exchanges in (self._failed, self._others):
            while len(exchanges) > MOST_EXCHANGES:
                exchanges.popitem(last=False)

    def _forget(self) -> None:
        ended = (n for n, call in self._calls.items() if call.end is not None)
        number = next(ended, None) or next(iter(self._calls))
        del self._calls[number]
        self._passed.pop(number, None)

    @property
    def paused(self) -> bool:
        """Tell whether the list stands still."""
        return self._frozen is not None

    @property
    def total(self) -> int:
        """Count the calls that are known."""
        return len(self._calls)

    @property
    def running(self) -> bool:
        """Tell whether something on the screen goes on, so that its time has to be drawn anew."""
        return not self.ended and any(call.end is None for call in self._calls.values())

    def rows(self) -> list[Subject]:
        """Give what the list shows, oldest first."""
        if self._frozen is not None:
            return self._frozen
        if self._rows is None:
            exchanges = (*self._failed.values(), *self._others.values())
            listed_ = (e for e in exchanges if listed(e, self.filter))
            everything: list[Subject] = [*self._calls.values(), *listed_]
            self._rows = sorted((c for c in everything if self._passes(c)), key=place)
        return self._rows

    def _passes(self, change: Subject) -> bool:
        if not self.filter:
            return True
        if isinstance(change, Call) and change.end is not None:
            known = self._passed.get(change.number)
            if known is None:
                known = self.filter.matches(change, Scope(start=self.look.start))
                self._passed[change.number] = known
            return known
        return self.filter.matches(change, Scope(start=self.look.start))

    def position(self, rows: list[Subject]) -> int:
        """Find the selected row; -1 where there is none."""
        if self.selected is None or not rows:
            return len(rows) - 1
        for n, change in enumerate(rows):
            if place(change) >= self.selected:
                return n
        return len(rows) - 1

    def chosen(self) -> Subject | None:
        """Give what is selected."""
        rows = self.rows()
        return rows[self.position(rows)] if rows else None

    def press(self, key: str) -> Effect | None:
        """Do what a key means; what only the world outside can do is returned."""
        if self.typing is not None:
            self._type(key)
            return None
        self.message = ""
        if self.help or self.explained:
            self._read_help(key)
            return "quit" if key == "q" else None
        if key in _EFFECTS:
            return _EFFECTS[key]
        if key == "/":
            self.typing = str(self.filter)
        elif key == "?":
            self.help, self.scroll = True, 0
        elif key == "x":
            self._explain()
        elif key == "space":
            self._frozen = None if self.paused else self.rows()
        elif key == "enter":
            self.open, self.scroll = self.chosen() is not None, 0
        elif key == "esc":
            self._leave()
        else:
            self._move(key)
        return None

    def _explain(self) -> None:
        """Show the worst finding of the selected call, else the newest one."""
        chosen = self.chosen()
        found = list(chosen.findings) if chosen is not None else []
        found = found or list(self.findings)[-1:]
        if not found:
            self.message = "no rule has found anything"
            return
        self.explained = max(found, key=lambda f: (RANK[f.severity], f.seq))
        self.scroll = 0

    def _read_help(self, key: str) -> None:
        step = self._step(key)
        if step is None:
            self.help, self.explained, self.scroll = False, None, 0
        else:
            self.scroll = max(0, self.scroll + step)

    def _leave(self) -> None:
        if self.open:
            self.open = False
        elif self.filter:
            self._apply(parse(""))

    def _step(self, key: str) -> int | None:
        return {
            "j": 1, "down": 1, "k": -1, "up": -1, "pagedown": self.page, "pageup": -self.page,
            "g": -(10**9), "home": -(10**9), "G": 10**9, "end": 10**9,
        }.get(key)  # fmt: skip

    def _move(self, key: str) -> None:
        step = self._step(key)
        if step is None:
            return
        if self.open:
            self.scroll = max(0, self.scroll + step)
            return
        rows = self.rows()
        if rows:
            at = max(0, min(len(rows) - 1, self.position(rows) + step))
            self.selected = None if at == len(rows) - 1 else place(rows[at])
            self.scroll = 0

    def _type(self, key: str) -> None:
        assert self.typing is not None
        if key == "esc":
            self.typing, self.message = None, ""
        elif key == "enter":
            try:
                self._apply(parse(self.typing))
                self.typing, self.message = None, ""
            except UsageError as error:
                self.message = "; ".join(t for t in (error.what, error.why, error.help) if t)
                if error.code == "unknown-key":  # its list of keys is for a wider place
                    self.message = f"{error.what}; {error.help}"
        elif key == "backspace":
            self.typing = self.typing[:-1]
        elif key == "clear":
            self.typing = ""
        elif key == "space" or (len(key) == 1 and key.isprintable()):
            self.typing += " " if key == "space" else key

    def _apply(self, filter_: Filter) -> None:
        self.filter = filter_
        self._passed.clear()
        self._rows = self._frozen = self.selected = None
        self.scroll = 0


def place(change: Subject) -> tuple[float, int]:
    """Give what rows are ordered by."""
    return change.t, change.number
