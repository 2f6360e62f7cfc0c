"""What the console knows and what keys do to it; no terminal and no clock, so tests can press keys.

Bounded: the newest `MOST` calls of all runs, those of runs that have ended go first; the newest
`MOST_OVER` of the runs that have ended.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from typing import Final, Literal

from mcp_tap.core.filters import Filter, parse
from mcp_tap.core.finding import RANK, Finding, Severity
from mcp_tap.core.records import Header
from mcp_tap.errors import UsageError
from mcp_tap.views.base import Stats, Subject
from mcp_tap.views.console_runs import Found, Item, ShownRun
from mcp_tap.views.look import ASCII, Glyphs, Look

MOST: Final = 2000
MOST_OVER: Final = 20
MOST_FINDINGS: Final = 500

Effect = Literal["quit", "copy"]
"""What a key asks of the world outside of this file."""


_EFFECTS: Final[dict[str, Effect]] = {"q": "quit", "y": "copy"}


class ConsoleState:
    """Calls, the selected one, the filter, and what part of it all is on the screen."""

    def __init__(self, glyphs: Glyphs = ASCII) -> None:
        self.glyphs = glyphs
        self.runs: list[ShownRun] = []
        """The runs that are shown, as they joined."""
        self.waiting = ""
        """What is waited for, where there is no run yet."""
        self.stats: Stats | None = None
        self.selected: tuple[float, int, int] | None = None
        """Place of the selected row; None follows the newest."""
        self.filter = parse("")
        self.typing: str | None = None
        """The filter being typed."""
        self.open = False
        """The keys move in the call, not in the list."""
        self.help = False
        self.explained: Found | None = None
        """The finding that is shown, with its rule's page."""
        self.scroll = 0
        self.message = ""
        self.notices: deque[str] = deque(maxlen=3)
        self.page = 10
        """Rows a page key moves by; the drawing sets it."""
        self._keys = 0
        self._frozen: list[Item] | None = None
        self._rows: list[Item] | None = None
        """What the list shows, until something changes."""
        self.findings: deque[Found] = deque(maxlen=MOST_FINDINGS)
        """The newest findings, oldest first."""
        self.found: Counter[Severity] = Counter()
        """All findings, by severity."""

    def begin(self, header: Header, look: Look, *, alone: bool = False) -> ShownRun:
        """Take a further run; `alone`: what was shown of others is forgotten."""
        if alone:
            self.runs.clear()
            self.findings.clear()
            self.found.clear()
            self._frozen = self.selected = None
        run = ShownRun(self._keys, header, look)
        self._keys += 1
        self.runs.append(run)
        self._let_go()
        return run

    def take(
        self, run: ShownRun, changes: Iterable[Subject], findings: Iterable[Finding] = ()
    ) -> None:
        """Take what has changed in a run, and what was found."""
        self._rows = None
        for finding in findings:
            self.found[finding.severity] += 1
            self.findings.append(Found(run, finding))
        run.take(changes)
        while self.total > MOST:
            over = (other for other in self.runs if other.ended and other.calls)
            (next(over, None) or max(self.runs, key=lambda r: len(r.calls))).forget_call()

    def end(self, run: ShownRun) -> None:
        """Take note that no more will come of a run."""
        run.ended = True
        self._let_go()

    def _let_go(self) -> None:
        """Forget runs that are over: the oldest, and those of which there is nothing to show."""
        self._rows = None
        over = [run for run in self.runs if run.ended]
        gone = over[: max(0, len(over) - MOST_OVER)]
        gone += [run for run in over[len(gone) :] if run.empty]
        for run in gone[: len(self.runs) - 1]:  # something of one always stays
            self.runs.remove(run)
            kept = (found for found in self.findings if found.run is not run)
            self.findings = deque(kept, maxlen=MOST_FINDINGS)

    @property
    def several(self) -> bool:
        """Tell whether a number alone does not tell which call is meant."""
        return len(self.runs) > 1

    @property
    def ended(self) -> bool:
        """Tell whether all runs are over."""
        return all(run.ended for run in self.runs)

    @property
    def paused(self) -> bool:
        """Tell whether the list stands still."""
        return self._frozen is not None

    @property
    def total(self) -> int:
        """Count the calls that are known."""
        return sum(len(run.calls) for run in self.runs)

    @property
    def running(self) -> bool:
        """Tell whether something on the screen goes on, so that its time has to be drawn anew."""
        return any(run.running for run in self.runs)

    def rows(self) -> list[Item]:
        """Give what the list shows, oldest first."""
        if self._frozen is not None:
            return self._frozen
        if self._rows is None:
            shown = (item for run in self.runs for item in run.rows(self.filter))
            self._rows = sorted(shown, key=lambda item: item.place)
        return self._rows

    def position(self, rows: list[Item]) -> int:
        """Find the selected row; -1 where there is none."""
        if self.selected is None or not rows:
            return len(rows) - 1
        for n, item in enumerate(rows):
            if item.place >= self.selected:
                return n
        return len(rows) - 1

    def chosen(self) -> Item | None:
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
        found = [] if chosen is None else [Found(chosen.run, f) for f in chosen.subject.findings]
        found = found or list(self.findings)[-1:]
        if not found:
            self.message = "no rule has found anything"
            return
        self.explained = max(found, key=lambda f: (RANK[f.finding.severity], f.finding.seq))
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
            self.selected = None if at == len(rows) - 1 else rows[at].place
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
        for run in self.runs:
            run.refilter()
        self._rows = self._frozen = self.selected = None
        self.scroll = 0
