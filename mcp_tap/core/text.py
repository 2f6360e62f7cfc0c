r"""Words for people: wire text made harmless, states as fingerprints, times, sizes and columns.

Rules of this file:

- Whatever came over the wire passes `safe()` before it reaches a terminal.  What `safe()` returns
  has no control character, no line break, nothing that reorders or hides text; it is spelled out
  instead (`\x1b`, `\u202e`), so that a reader sees that it was there.
- A `requestState` is never shown, only its `fingerprint()`.
- Columns are terminal cells, not characters: a CJK letter takes two, a combining mark none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}

# Letters and marks that draw nothing: fillers, joiners of no script, tag-like selectors.
_INVISIBLE: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0") | {
    chr(n) for n in (*range(0x180B, 0x1810), *range(0xE0100, 0xE01F0))
}
_JOINERS: Final = "\u200c\u200d"
_SELECTORS: Final = "\ufe00-\ufe0f"

# A joiner is part of the spelling of Indic scripts, Persian and emoji, a variation selector of
# emoji and CJK.  Between other letters, or several in a row, they only hide something.
_CONTEXTUAL: Final = re.compile(
    f"(?<=[^\x00-\u05ff{_JOINERS}])[{_JOINERS}](?=[^\x00-\u05ff{_JOINERS}{_SELECTORS}])"
    f"|(?<=[^{_JOINERS}{_SELECTORS}])[{_SELECTORS}]"
    f"|([{_JOINERS}{_SELECTORS}])"
)

_ENDLESS: Final = 10_000
"""Characters from which a text is too long for any number of cells: marks take none."""
_LONGEST_STEP: Final = 200
"""Characters of one step of a JSON pointer that are shown."""
_LONGEST: Final = 1e9
"""Seconds shown at most; a capture may claim any time."""


def safe(text: str) -> str:
    """Spell out everything in `text` that a terminal would obey, hide or reorder.

    Printable text of any script stays as it is.  Applying it twice changes nothing more.
    """
    if text.isascii() and text.isprintable():
        return text
    out = text.translate(_table)
    if out.isascii():
        return out
    return _CONTEXTUAL.sub(lambda m: _spelled(m[1]) if m[1] else m[0], out)


def json_safe(data: bytes) -> bytes:
    """Escape in JSON what a terminal would obey, hide or reorder; its meaning stays the same."""
    if data.isascii() and b"\x7f" not in data:
        return data
    return data.decode().translate(_json_table).encode()


def _spelled_in_json(ch: str) -> str:
    if ch in "\n\r\t":
        return ch  # between the tokens; inside of strings JSON has no such character
    n = ord(ch)
    if n < 0x10000:
        return f"\\u{n:04x}"
    n -= 0x10000
    return f"\\u{0xD800 + (n >> 10):04x}\\u{0xDC00 + (n & 0x3FF):04x}"


def _spelled(ch: str) -> str:
    short = _SHORT.get(ch)
    if short is not None:
        return short
    n = ord(ch)
    return f"\\x{n:02x}" if n < 0x100 else f"\\u{n:04x}" if n < 0x10000 else f"\\U{n:08x}"


def _hurts(ch: str) -> bool:
    if ch in _INVISIBLE:
        return True
    category = unicodedata.category(ch)
    if category == "Cf":
        return ch not in _JOINERS
    if category == "Cn":  # a letter newer than our tables is fine, a noncharacter is not
        return ord(ch) & 0xFFFE == 0xFFFE or 0xFDD0 <= ord(ch) <= 0xFDEF or ord(ch) >= 0xE0000
    return category in ("Cc", "Cs", "Co", "Zl", "Zp")


class _Table(dict[int, str | int]):
    """A translation table that decides about a character when it first meets it."""

    def __init__(self, spell: Callable[[str], str]) -> None:
        super().__init__()
        self._spell = spell

    def __missing__(self, n: int) -> str | int:
        ch = chr(n)
        self[n] = found = self._spell(ch) if _hurts(ch) else n
        return found


_table = _Table(_spelled)
_json_table = _Table(_spelled_in_json)


def fingerprint(state: str, mark: str = "…") -> str:
    """Name a `requestState` without showing it: the start of its SHA-256 and its size."""
    raw = state.encode("utf-8", "surrogatepass")
    return f"sha256:{sha256(raw).hexdigest()[:6]}{mark}, {size(len(raw))}"


def short_print(state: str, mark: str = "…") -> str:
    """Name a `requestState` in six digits, for columns."""
    return sha256(state.encode("utf-8", "surrogatepass")).hexdigest()[:6] + mark


def took(seconds: float) -> str:
    """Render a duration with three figures: `0.4ms`, `12ms`, `6.12s`, `12.3s`, `2m03s`, `1h02m`."""
    seconds = min(max(seconds, 0.0), _LONGEST)
    if seconds < 0.00095:
        return f"{seconds * 1000:.1f}ms"
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f}ms"
    if seconds < 9.995:
        return f"{seconds:.2f}s"
    if seconds < 59.95:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02d}m"


def running(seconds: float) -> str:
    """Render how long something has been going on: whole seconds, so that it does not flicker."""
    return f"{int(max(seconds, 0))}s" if seconds < 60 else took(seconds // 1)


def size(count: int) -> str:
    """Render a number of bytes: `312 B`, `1.2 kB`, `16 MB` (powers of 1000)."""
    if count < 1000:
        return f"{count} B"
    value, units = count / 1000, ["TB", "GB", "MB"]
    unit = "kB"
    while value >= 999.5 and units:
        value, unit = value / 1000, units.pop()
    return f"{value:.1f} {unit}" if value < 9.95 else f"{value:.0f} {unit}"


def plural(count: int, word: str) -> str:
    """Count things: `1 ask`, `2 asks`."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def pointer_words(pointer: str) -> str:
    """Show a JSON pointer as people write it: `/params/content/0` is `params.content[0]`."""
    out = ""
    for step in pointer.split("/")[1:]:
        word = step[: _LONGEST_STEP + 1].replace("~1", "/").replace("~0", "~")
        if len(step) > _LONGEST_STEP:
            word = word[:_LONGEST_STEP] + ".."
        if word.isdigit():
            out += f"[{word}]"
        elif word.isidentifier():
            out += f".{word}" if out else word
        else:
            out += f'["{safe(word)}"]'
    return out or "the whole value"


@lru_cache(maxsize=4096)
def _cells(ch: str) -> int:
    if unicodedata.category(ch) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(ch) in ("W", "F") else 1


def width(text: str) -> int:
    """Count the terminal cells that safe text takes."""
    if text.isascii():
        return len(text)
    return sum(map(_cells, text))


def cut(text: str, cells: int, mark: str = "..") -> str:
    """Shorten safe text to at most `cells` cells, with `mark` where something is missing."""
    if len(text) <= _ENDLESS and width(text) <= cells:
        return text
    mark = mark if width(mark) < cells else mark[:cells]
    room = cells - width(mark)
    kept = []
    for ch in text[:_ENDLESS]:
        room -= _cells(ch)
        if room < 0:
            break
        kept.append(ch)
    return "".join(kept) + mark


def pad(text: str, cells: int, mark: str = "..", *, right: bool = False) -> str:
    """Make safe text exactly `cells` cells wide, filled with spaces at the end (or the start)."""
    text = cut(text, cells, mark)
    fill = " " * (cells - width(text))
    return fill + text if right else text + fill


def brief(value: Any, cells: int = 60) -> str:
    """Show a JSON value in a few words, harmless and at most `cells` wide: `{now: true, n: 3}`."""
    return cut(safe(_brief(value, cells, 3)), cells)


def _brief(value: Any, budget: int, depth: int) -> str:
    if isinstance(value, str):
        return f'"{value[:budget]}"' if len(value) <= budget else f'"{value[:budget]}..'
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if not isinstance(value, dict | list):
        return str(value)[:budget]
    open_, close = "{}" if isinstance(value, dict) else "[]"
    if depth == 0 and value:
        return f"{open_}..{close}"
    parts: list[str] = []
    for item in value:
        if sum(map(len, parts)) > budget:
            parts.append("..")
            break
        if isinstance(value, dict):
            parts.append(f"{_key(item[: budget + 1])}: {_brief(value[item], budget, depth - 1)}")
        else:
            parts.append(_brief(item, budget, depth - 1))
    return open_ + ", ".join(parts) + close


def _key(name: str) -> str:
    return name if name.replace("-", "_").isidentifier() else f'"{name}"'
