"""The console's list of calls: its columns, and with several runs the one that names them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mcp_tap.core.model import Call
from mcp_tap.core.text import width
from mcp_tap.views.console_runs import Item, ShownRun
from mcp_tap.views.console_state import ConsoleState
from mcp_tap.views.found import counted
from mcp_tap.views.look import Row, wrapped
from mcp_tap.views.runs import NARROW, fitted
from mcp_tap.views.timeline import HEADING, call_row, exchange_row

WIDE: Final = 120
"""Cells from which the selected call stands beside the list, not below."""
LIST: Final = 80
"""Cells of the list beside it."""
_TIME: Final = 8


class Line(list[tuple[str, str]]):
    """A row of the screen; `chosen` says that the selected call is in its first `cells` cells."""

    chosen: int = 0


def name_cells(state: ConsoleState) -> int:
    """Tell how wide the column of runs is; 0 where one run needs no name."""
    if not state.several:
        return 0
    return max(len("TIME") + 4, min(NARROW, max(width(run.name) for run in state.runs)))


def named(state: ConsoleState, run: ShownRun, cells: int) -> Row:
    """Name the run something is of, in so many cells; nothing in none."""
    return [(f"{fitted(run.name, cells, state.glyphs.more)} ", "dim")] if cells else []


def list_rows(state: ConsoleState, columns: int, room: int) -> Iterator[Row]:
    """Draw the list: a heading, and as many rows around the selected one as there is room for."""
    columns_ = _Columns(state, columns)
    yield columns_.heading()
    rows = state.rows()
    here = state.position(rows)
    room = max(1, room - 1)
    state.page = room
    first = max(0, min(here - room // 2, len(rows) - room))
    if not rows:
        yield [("", "")]
        for words in wrapped(_nothing(state), columns - 4):
            yield [(f"  {words}", "dim")]
    for n, item in enumerate(rows[first : first + room], first):
        line = Line(columns_.row(item, marker="> " if n == here else ""))
        line.chosen = columns if n == here else 0
        yield line


def _nothing(state: ConsoleState) -> str:
    if state.filter:
        return "no call passes the filter"
    return state.waiting if state.waiting and not state.runs else "no call yet"


class _Columns:
    """The columns of the list; with several runs their names stand before the time, or for it."""

    def __init__(self, state: ConsoleState, columns: int) -> None:
        self._state = state
        self._names = name_cells(state)
        spare = max(0, min(columns, WIDE) - LIST)
        self._timed = spare > self._names
        taken = self._names + 1 if self._timed else self._names - _TIME
        self._extra = spare - taken if self._names else spare

    def heading(self) -> Row:
        front = "TIME".ljust(_TIME)
        if self._names:
            runs = "RUN".ljust(self._names)
            front = f"{runs} {front}" if self._timed else runs
        at = HEADING.index("ROUNDS")
        what, back = HEADING[_TIME:at], HEADING[at:]
        return [(front, "dim"), (_stretched(what, self._extra) + back, "dim")]

    def row(self, item: Item, marker: str) -> Row:
        run, change = item
        look, extra, now = run.look, self._extra, run.now
        row: Row
        if isinstance(change, Call):
            row = call_row(change, look, now=now, extra=extra, marker=marker)
        else:
            row = exchange_row(change, look, now=now, extra=extra)
            row[1] = (marker.rjust(6) + " ", "") if marker else row[1]
        row += counted(change.findings)
        if not self._names:
            return row
        row = [*named(self._state, run, self._names), *row]
        if not self._timed:
            row = [(row[0][0][:-1], row[0][1]), *row[2:]]
        return [(text, "dim") for text, _ in row] if run.ended else row


def _stretched(text: str, extra: int) -> str:
    return text + " " * extra if extra >= 0 else text[:extra]
