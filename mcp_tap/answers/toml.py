"""Writing TOML: the few forms that a drafted script has.

Rules of this file:

- What is written is read back as the same value, or `Unwritable` is raised: TOML has no null, and
  its texts are whole Unicode.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

WIDTH: Final = 100
"""Columns within which a table stays in its line."""
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_LITERAL: Final = re.compile(r"[^'\x00-\x1f\x7f\u0080-\u009f\u2028-\u202f\u2066-\u2069\ufeff]*")
"""What may stand in single quotes, and can be seen there."""
_ESCAPES: Final = {
    '"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r",
}  # fmt: skip


class Unwritable(ValueError):
    """TOML has no such value."""


def key(name: str) -> str:
    """Write a key."""
    return name if _BARE.fullmatch(name) else basic(name)


def text(value: str) -> str:
    """Write a text: in single quotes where that spares escapes."""
    if ("\\" in value or '"' in value) and _LITERAL.fullmatch(value):
        return f"'{value}'"
    return basic(value)


def basic(value: str) -> str:
    """Write a text in double quotes; what cannot be seen is escaped."""
    return f'"{"".join(map(_escaped, value))}"'


def _escaped(ch: str) -> str:
    if ch in _ESCAPES:
        return _ESCAPES[ch]
    if "\ud800" <= ch <= "\udfff":
        raise Unwritable("half a character")
    if ch.isprintable():
        return ch
    return f"\\u{ord(ch):04x}" if ord(ch) < 0x10000 else f"\\U{ord(ch):08x}"


def value(found: Any) -> str:
    """Write any value; tables within their line.

    Raises:
        Unwritable: TOML has none of the kind.
    """
    if isinstance(found, bool):
        return "true" if found else "false"
    if isinstance(found, str):
        return text(found)
    if isinstance(found, int | float):
        return repr(found)
    if isinstance(found, Mapping):
        return table(found)
    if isinstance(found, list | tuple):
        return f"[{', '.join(map(value, found))}]"
    raise Unwritable("null")


def table(members: Mapping[str, Any]) -> str:
    """Write a table within a line."""
    if not members:
        return "{}"
    return f"{{ {', '.join(f'{key(name)} = {value(one)}' for name, one in members.items())} }}"


def entry(head: str, members: Mapping[str, Any]) -> Iterable[str]:
    """Write one of several tables, line by line; what is too long for a line gets more of them.

    Args:
        head: name of the array of tables.
        members: of this one.
    """
    yield f"[[{head}]]"
    below = []
    for name, one in members.items():
        line = f"{key(name)} = {value(one)}"
        if len(line) <= WIDTH or not isinstance(one, Mapping | list) or not one:
            yield line
        elif isinstance(one, list):
            yield f"{key(name)} = ["
            yield from (f"  {value(item)}," for item in one)
            yield "]"
        else:
            below.append((name, one))
    for name, one in below:  # a table in lines of its own takes all that follow
        yield f"[{head}.{key(name)}]"
        yield from (f"{key(inner)} = {value(each)}" for inner, each in one.items())
