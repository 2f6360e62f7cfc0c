"""What differs between two runs, in rows: a line a difference, grouped by call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from mcp_tap.core.text import brief, cut, plural, safe, took, width
from mcp_tap.replay.compare.difference import Difference
from mcp_tap.replay.compare.runs import Compared
from mcp_tap.replay.compare.totals import Totals
from mcp_tap.replay.compare.values import IGNORED
from mcp_tap.views.look import Row

SIGNS: Final = {"added": ("+", "ok"), "removed": ("-", "bad")}
_HOW: Final = frozenset({"renamed", "moved"})
"""Changes a sign does not tell."""
_CHANGED: Final = ("~", "wait")
_WIDE: Final = 200
"""Cells of a line where there is no terminal."""
_LEAST: Final = 24
"""Cells that are left for each value, however long its place is."""
_FEW: Final = 3
"""Equal differences told one by one; the rest is counted."""


class DiffRows:
    """Makes the rows; what is the same in many calls is told of the first few and then counted."""

    def __init__(self, cells: int | None) -> None:
        """Take the width of the terminal; None where there is none."""
        self._cells = cells or _WIDE
        self._told: dict[str, int] = {}
        self.untold = 0
        """Differences that were only counted."""

    def of(self, compared: Compared) -> Iterator[Row]:
        """Give the rows of a pair of calls, or of what is outside of calls; none if all is equal.

        What is in one run only is a row without a heading.
        """
        differences = compared.differences
        if not differences:
            return
        if compared.a is None and compared.b is None:
            yield from self._outside(differences)
            return
        if compared.a is None or compared.b is None:
            yield self._alone(compared, differences[0])
            return
        told, more = self._sifted(differences)
        if not told:
            return
        yield [(_title(differences[0]), "strong"), (f"  {_numbers(differences[0])}", ""),
               (f"  {_times(compared)}", "dim")]  # fmt: skip
        for difference in told:
            yield self.row(difference)
        if more:
            yield [(f"    {more} more like others above", "dim")]

    def _outside(self, differences: list[Difference]) -> Iterator[Row]:
        before = ""
        for difference in differences:
            is_tool = difference.what == "tool"
            title = f"tool {safe(difference.name)}" if is_tool else "outside of calls"
            if title != before:
                yield [(title, "strong")]
            before = title
            yield self.row(difference)

    def _alone(self, compared: Compared, difference: Difference) -> Row:
        sign, style = SIGNS[difference.change]
        side = "a" if compared.b is None else "b"
        front = f"{sign} {_title(difference)}  {_numbers(difference)}"
        params = difference.left if compared.b is None else difference.right
        told = params.get("arguments", params) if type(params) is dict else params
        room = max(_LEAST, self._cells - width(front) - 14)
        return [(front, style), (f"  only in {side}", ""), (f"  {brief(told, room)}", "dim")]

    def _sifted(self, differences: list[Difference]) -> tuple[list[Difference], int]:
        told = []
        for difference in differences:
            key = repr(
                (difference.what, difference.change, difference.name, difference.at,
                 difference.left, difference.right)
            )  # fmt: skip
            count = self._told[key] = self._told.get(key, 0) + 1
            if count <= _FEW:
                told.append(difference)
        more = len(differences) - len(told)
        self.untold += more
        return told, more

    def row(self, difference: Difference) -> Row:
        """Lay a difference out: round, what, where, and both values."""
        sign, style = SIGNS.get(difference.change, _CHANGED)
        row: Row = [(f"  {sign} ", style)]
        if difference.round is not None:
            row.append((f"r{difference.round} ", ""))
        if difference.what != "tool":
            row.append((_what(difference), "strong"))
        if difference.at:
            row.append(("  " * (len(row) > 1) + safe(difference.at), ""))
        if difference.note:
            row.append((f"  ({safe(difference.note)})", "dim"))
        room = self._cells - sum(width(text) for text, _ in row) - 2
        values = _values(difference, max(room, 2 * _LEAST + 4))
        return [*row, (f"  {values}", "")] if values else row


def totals_rows(totals: Totals) -> Iterator[Row]:
    """Sum up in a few rows; the last one says how it stands."""
    counts = sorted(totals.matched.items())
    matched = [f"{n} {name if name == IGNORED else f'by {name}'}" for name, n in counts if n]
    if matched:
        yield [(f"taken for equal: {', '.join(matched)}", "dim")]
    if totals.equal or totals.differ:
        times = f"{took(totals.a_s)} in a, {took(totals.b_s)} in b"
        yield [(f"time of the server over the same calls: {times}", "dim")]
    yield [("different", "bad") if totals.differences else ("same", "ok"),
           (f": {words_of(totals)}", "")]  # fmt: skip


def words_of(totals: Totals) -> str:
    """Count what there is: `3 differences; of 12 calls 10 are equal, 1 differs, 1 is only in b`."""
    counted = [
        (totals.equal, "equal"),
        (totals.differ, "different"),
        (totals.only_a, "only in a"),
        (totals.only_b, "only in b"),
    ]
    calls = ", ".join(f"{count} {word}" for count, word in counted if count) or "no calls"
    if not totals.differences:
        return f"{plural(totals.equal, 'call')} equal"
    kinds = ", ".join(f"{count} {what}" for what, count in totals.what.most_common())
    return f"{plural(totals.differences, 'difference')} ({kinds}); calls: {calls}"


def _title(difference: Difference) -> str:
    return safe(" ".join(word for word in (difference.method, difference.target) if word))


def _numbers(difference: Difference) -> str:
    return " / ".join("-" if n is None else f"#{n}" for n in (difference.a, difference.b))


def _times(compared: Compared) -> str:
    return " / ".join(took(call.server_s) for call in (compared.a, compared.b) if call is not None)


def _what(difference: Difference) -> str:
    words = f"{difference.what} {difference.name}".rstrip()
    return safe(f"{words} {difference.change}" if difference.change in _HOW else words)


def _values(difference: Difference, room: int) -> str:
    """Show both values in `room` cells, or the one there is."""
    if difference.what == "state" or (difference.left is difference.right is None):
        return "null" if difference.what != "state" and difference.change in SIGNS else ""
    if difference.change in SIGNS:
        return brief(difference.right if difference.change == "added" else difference.left, room)
    if difference.what == "time":
        return f"{took(difference.left)} -> {took(difference.right)}"
    if difference.change == "moved":
        left, right = (_order(value) for value in (difference.left, difference.right))
    else:
        left, right = difference.left, difference.right
    half = (room - 4) // 2
    one, other = _apart(left, right, half)
    return f"{one} -> {other}"


def _order(notes: Iterable[dict[str, Any]]) -> list[Any]:
    return [note["params"].get("progress", note["method"]) for note in notes]


def _apart(left: Any, right: Any, cells: int) -> tuple[str, str]:
    """Shorten two values so that what they differ in is seen."""
    if type(left) is str and type(right) is str and max(len(left), len(right)) > cells - 2:
        pairs = zip(left, right, strict=False)
        shared = next((i for i, (x, y) in enumerate(pairs) if x != y), min(len(left), len(right)))
        start = max(0, shared - cells // 3)
        if start:
            return _from(left, start, cells), _from(right, start, cells)
    return brief(left, cells), brief(right, cells)


def _from(text: str, start: int, cells: int) -> str:
    """Show a text from a place in it on."""
    shown = safe(text[start : start + cells])
    return cut(f"..{shown}" + '"' * (start + cells >= len(text)), cells)
