"""What styles look like on a terminal; rich decides about colour, this file only names it."""

from __future__ import annotations

from typing import Final

from rich.color import ColorSystem
from rich.style import Style
from rich.text import Text

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
        self._around = {
            name: tuple(style.render(_MARK, color_system=ColorSystem.STANDARD).split(_MARK))
            for name, style in THEME.items()
        }
        self.color = color

    def line(self, row: Row) -> str:
        """Render a row, with its line break."""
        if not self.color:
            return text_of(row) + "\n"
        out = []
        for text, style in row:
            before, after = self._around[style]
            out.append(f"{before}{text}{after}")
        return "".join(out).rstrip() + "\n"


def rich_text(row: Row, *, style: str | Style = "") -> Text:
    """Give a row as rich text that neither wraps nor grows."""
    text = Text(style=style, no_wrap=True, overflow="crop", end="")
    for piece, name in row:
        text.append(piece, THEME[name])
    return text


assert set(THEME) == set(STYLES)
