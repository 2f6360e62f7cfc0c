"""How rows look: their pieces, the drawing characters, and whose clock they show.

A row is a list of (text, style) pieces; a style is a word of `STYLES`, and a view decides what it
looks like.  No row says by style alone what it does not also say by a letter or a word.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final, TypeAlias

from msgspec import Struct

from mcp_tap.core.clock import after
from mcp_tap.core.text import cut, pad, width

Piece: TypeAlias = tuple[str, str]
Row: TypeAlias = list[Piece]

STYLES: Final = ("", "dim", "strong", "ok", "bad", "wait", "ask", "answer", "open")

_ZERO: Final = datetime(1, 1, 1)  # noqa: DTZ001 - stands for no clock's time: counts from 0


class Glyphs(Struct, frozen=True):
    """The few drawing characters; everything else is letters."""

    join: str = "-"
    stream: str = "="
    rule: str = "-"
    bar: str = "|"
    cross: str = "+"
    left: str = "<"
    right: str = ">"
    gap: str = ":"
    more: str = ".."


ASCII: Final = Glyphs()
LINES: Final = Glyphs("─", "═", "─", "│", "┼", "◄", "►", "┊", "…")


class Look(Struct, frozen=True, kw_only=True):
    """How rows are drawn: with which glyphs, and by whose clock."""

    glyphs: Glyphs = ASCII
    start: datetime | None = None
    """Wall-clock start of the run, in the zone times are shown in; without it they count from 0."""

    def clock(self, t: float) -> str:
        """Show a record's time as `HH:MM:SS`."""
        at = after(self.start or _ZERO, t)
        return at.strftime("%H:%M:%S")

    def fine(self, t: float) -> str:
        """Show a record's time within its minute, with milliseconds: `07.218`."""
        at = after(self.start or _ZERO, t)
        return f"{at.second:02d}.{at.microsecond // 1000:03d}"


def fit(row: Row, cells: int, mark: str = "..") -> Row:
    """Make a row exactly `cells` wide: cut with `mark`, or filled with blanks."""
    room = cells - sum(width(text) for text, _ in row)
    if room >= 0:
        return [*row, (" " * room, "")]
    out: Row = []
    room = cells - width(mark)
    for text, style in row:
        wide = width(text)
        if wide > room:
            out.append((pad(cut(text, room, ""), room) + mark, style))
            break
        out.append((text, style))
        room -= wide
    return out


def wrapped(text: str, cells: int) -> Iterator[str]:
    """Break text between words so that each line fits; a long word is broken anywhere."""
    line = ""
    for word in text.split(" "):
        joined = f"{line} {word}" if line else word
        if width(joined) <= cells:
            line = joined
            continue
        if line:
            yield line
        while width(word) > cells:
            piece = cut(word, cells, "") or word[0]
            yield piece
            word = word[len(piece) :]  # noqa: PLW2901 - the rest of it
        line = word
    if line:
        yield line


def text_of(row: Row) -> str:
    """Give a row's text without its styles or trailing blanks."""
    return "".join(piece for piece, _ in row).rstrip()
