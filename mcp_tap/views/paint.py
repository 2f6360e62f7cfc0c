"""What styles look like on a terminal; rich decides about colour, this file only names it."""

from __future__ import annotations

from typing import Final

from rich.color import ColorSystem
from rich.style import Style

from mcp_tap.views.look import STYLES, Row, text_of

THEME: Final = {
    "": Style(),
    "dim": Style(dim=True),
    "strong": Style(bold=True),
    "ok": Style(color="green"),
    "bad": Style(color="red", bold=True),
    "wait": Style(color="yellow"),
    "ask": Style(color="cyan"),
    "answer": Style(color="magenta"),
    "open": Style(color="blue"),
}
_MARK: Final = "\0"


class Painter:
    """Turns rows into the text of a stream, with or without colour."""

    def __init__(self, *, color: bool) -> None:
        # Sixteen colours only: the person's own palette decides what is readable.
        self.color = color
        self._around = {name: _around(style) for name, style in THEME.items()}
        chosen = Style(reverse=True)
        self._chosen = {name: _around(style + chosen) for name, style in THEME.items()}

    def line(self, row: Row) -> str:
        """Render a row for a stream, with its line break."""
        return (self.cells(row) if self.color else text_of(row)).rstrip() + "\n"

    def cells(self, row: Row, *, chosen: bool = False) -> str:
        """Render a row as it is, blanks and all; a chosen one stands out."""
        if not self.color:
            return "".join(text for text, _ in row)
        around = self._chosen if chosen else self._around
        return "".join(f"{around[s][0]}{text}{around[s][1]}" for text, s in row)


def _around(style: Style) -> tuple[str, str]:
    before, after = style.render(_MARK, color_system=ColorSystem.STANDARD).split(_MARK)
    return before, after


assert set(THEME) == set(STYLES)
