"""Conditions of the filter language: from a value as written to a test of what a subject has.

Rules of this file:

- A condition is built once, when the filter is read; what is wrong with it is said then.
- Nothing here can take long on any text: globs and regular expressions both run on
  `core.regex`, which never goes back.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from mcp_tap.core.regex import PatternError, compile_pattern
from mcp_tap.errors import UsageError

Test: TypeAlias = Callable[[Any], bool]
Form: TypeAlias = Literal["plain", "glob", "regex"]


class Value(Struct, frozen=True):
    """One value of a term, as written."""

    text: str
    form: Form = "plain"


def refuse(key: str, value: str, why: str, help: str = "") -> UsageError:
    """Build the error for a value that a key cannot use."""
    return UsageError("filter-value", f"{key}:{value} cannot be used", why=why, help=help)


def glob(pattern: str) -> Test:
    """Test text against a glob: `*` any run of characters, `?` any one."""
    parts = (
        ".*" if p[:1] == "*" else "." if p == "?" else re.escape(p)
        for p in re.split(r"(\*+|\?)", pattern)
    )
    return compile_pattern(rf"(?s)\A{''.join(parts)}\z").search


def text(key: str, value: Value, words: tuple[str, ...] = ()) -> Test:
    """Test text for being equal, or for fitting a glob; `words` are all there can be."""
    if value.form == "glob":
        try:
            return glob(value.text)
        except PatternError as error:
            raise refuse(key, value.text, str(error)) from None
    if words and value.text not in words:
        near = get_close_matches(value.text, words, 1, 0.5)
        raise refuse(
            key,
            value.text,
            f"{key} is one of {', '.join(words)}",
            f'did you mean "{key}:{near[0]}"?' if near else "",
        )
    return value.text.__eq__


def folded(key: str, value: Value) -> Test:
    """Test text as `text` does, whatever its case."""
    inner = text(key, Value(value.text.casefold(), value.form))
    return lambda found: inner(found.casefold())


_UNITS: Final = {
    "took": {"us": 1e-6, "ms": 1e-3, "s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0},
    "size": {"b": 1, "": 1, "k": 1e3, "kb": 1e3, "m": 1e6, "mb": 1e6, "g": 1e9, "gb": 1e9}
    | {"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30},
}
_NUMBER: Final = re.compile(r"(-?\d{1,18}(?:\.\d{1,9})?)([a-z]*)", re.IGNORECASE)
_COMPARE: Final = re.compile(r"(>=|<=|>|<|=)?(.*)", re.DOTALL)


def _number(key: str, text: str, written: str) -> float:
    units = _UNITS.get(key, {"": 1})
    found = _NUMBER.fullmatch(text)
    if not found or found[2].lower() not in units:
        known = ", ".join(filter(None, units))
        raise refuse(key, written, f"{key} wants a number{f' with {known}' if known else ''}")
    return float(found[1]) * units[found[2].lower()]


def numeric(key: str, value: Value) -> Test:
    """Test numbers: `7`, `>=3`, `3..7`; with the key's units where it has some."""
    written = value.text
    if ".." in written:
        first, last = written.split("..", 1)
        low = _number(key, first, written) if first else float("-inf")
        high = _number(key, last, written) if last else float("inf")
        return lambda found: low <= found <= high
    found = _COMPARE.fullmatch(written)
    assert found
    if key == "status" and re.fullmatch("[1-5]xx", written):
        hundred = int(written[0])
        return lambda status: bool(status // 100 == hundred)
    number = _number(key, found[2], written)
    if not found[1] and key in _UNITS:
        raise refuse(key, written, "no two are exactly equal", f"compare: {key}:>{written}")
    compare: dict[str | None, Test] = {
        ">": lambda has: has > number,
        "<": lambda has: has < number,
        ">=": lambda has: has >= number,
        "<=": lambda has: has <= number,
    }
    return compare.get(found[1], number.__eq__)


_CLOCK: Final = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.\d+)?)?")
_DAY: Final = 86400.0


def clock(key: str, value: Value) -> Test:
    """Test seconds of the day: `12:04` is that minute, `12:04..12:05` a range."""

    def read(text: str) -> tuple[float, float]:
        found = _CLOCK.fullmatch(text)
        if not found:
            raise refuse(key, text, "wants times of day", "as in at:12:04..12:05")
        at = int(found[1]) * 3600 + int(found[2]) * 60 + int(found[3] or 0)
        return float(at), 1.0 if found[3] else 60.0

    if ".." not in value.text:
        at, span = read(value.text)
        return lambda second: at <= second < at + span
    first, last = value.text.split("..", 1)
    low = read(first)[0] if first else 0.0
    high = read(last)[0] if last else _DAY
    if low <= high:
        return lambda second: low <= second <= high
    return lambda second: second >= low or second <= high  # over midnight


def contains(value: Value) -> Test:
    """Test text for a plain word, whatever its case, or for a regular expression."""
    if value.form == "regex":
        try:
            return compile_pattern(value.text).search
        except PatternError as error:
            raise refuse("text", f"/{value.text}/", str(error), error.help) from None
    word = value.text.casefold()
    return lambda found: word in found.casefold()
