r"""What a person types for a field of a form, as the value that is meant.

Rules of this file:

- What is typed is taken as it stands: `007` for a text stays `007`.  In double quotes it is read as
  JSON has strings, so that anything can be typed: `""`, `":d"`, `"two\nlines"`.
- Nothing is guessed.  What could be two options is refused, with what to write instead.
- Whether the value fits the schema is not said here, but by `answers.person`, with the check that
  scripts undergo.
"""

from __future__ import annotations

import re
from typing import Any, Final

from msgspec import Struct

from mcp_tap.core.forms import Field, choices
from mcp_tap.core.wire import loads

LEFT_OUT: Final = object()
"""The field is not sent."""

_WHOLE: Final = re.compile(r"[+-]?\d{1,400}", re.ASCII)
_NUMBER: Final = re.compile(r"[+-]?\d{1,400}(?:\.\d{1,400})?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_YES: Final = frozenset({"y", "yes", "true", "t", "1", "on"})
_NO: Final = frozenset({"n", "no", "false", "f", "0", "off"})
_PICK: Final = re.compile(r"#?(\d{1,4})", re.ASCII)


class Refused(Exception):
    """What was typed is no value for the field; the text says why."""


class Option(Struct, frozen=True):
    """One of the values a field offers."""

    value: str
    title: str | None = None
    """What people see instead, where the server wrote that."""


def options_of(field: Field) -> list[Option]:
    """List what a field offers, in the order of the server; nothing where anything can be typed."""
    values = choices(field.schema) or ()
    titles = _titles(field)
    return [Option(value, titles.get(value)) for value in dict.fromkeys(values)]


def _titles(field: Field) -> dict[str, str]:
    place = field.items if field.kind == "array" else field.schema
    found: dict[str, str] = {}
    names, values = place.get("enumNames"), place.get("enum")
    if type(names) is list and type(values) is list:
        for value, title in zip(values, names, strict=False):
            if type(value) is str and type(title) is str:
                found.setdefault(value, title)
    for style in ("oneOf", "anyOf"):
        entries = place.get(style)
        for entry in entries if type(entries) is list else ():
            if type(entry) is dict:
                value, title = entry.get("const"), entry.get("title")
                if type(value) is str and type(title) is str:
                    found.setdefault(value, title)
    return found


def entered(field: Field, line: str) -> Any:
    """Read the value of a field off a line that is not empty.

    Raises:
        Refused: it is none.
    """
    options = options_of(field)
    if field.kind == "array":
        return _several(options, line.strip())
    if options:
        return _picked(options, line.strip())
    if field.kind == "boolean":
        return _truth(line.strip().lower())
    if field.kind in ("integer", "number"):
        return _number(field.kind, line.strip())
    if field.kind == "string":
        return _text(line)
    return _anything(line)


def _text(line: str) -> str:
    quoted = _quoted(line.strip())
    return line if quoted is None else quoted


def _quoted(text: str) -> str | None:
    """Read a text in double quotes; None where it is not in quotes."""
    if len(text) < 2 or not (text.startswith('"') and text.endswith('"')):
        return None
    try:
        found = loads(text.encode("utf-8", "surrogatepass"))
    except ValueError:
        raise Refused('in double quotes it is read as JSON, where " is written \\"') from None
    return found if isinstance(found, str) else None


def _number(kind: str, text: str) -> int | float:
    if _WHOLE.fullmatch(text):
        return int(text)
    if kind == "integer":
        raise Refused("write a whole number, such as 3")
    if not _NUMBER.fullmatch(text):
        raise Refused("write a number, such as 3 or 2.5")
    found = float(text)
    if found in (float("inf"), float("-inf")):
        raise Refused("that number is too large to be sent")
    return found


def _truth(word: str) -> bool:
    if word in _YES:
        return True
    if word in _NO:
        return False
    raise Refused("write y or n")


def _picked(options: list[Option], text: str) -> str:
    """Find the option that is meant: by number, value or title."""
    quoted = _quoted(text)
    if quoted is not None:
        return _named(options, quoted, of_titles=False)
    number = _PICK.fullmatch(text)
    counted = options[int(number[1]) - 1].value if number and _counts(number[1], options) else None
    if counted is None or text.startswith("#"):
        return counted if counted is not None else _named(options, text)
    other = next((o.value for o in options if text in (o.value, o.title)), counted)
    if other != counted:
        raise Refused(f'{text} may be two of them: write #{text} for that line, or "{other}"')
    return counted


def _counts(digits: str, options: list[Option]) -> bool:
    return 1 <= int(digits) <= len(options)


def _named(options: list[Option], text: str, *, of_titles: bool = True) -> str:
    for option in options:
        if option.value == text:
            return text
    titled = [o.value for o in options if of_titles and o.title == text]
    if len(titled) > 1:
        raise Refused("several have that title: write its number")
    if titled:
        return titled[0]
    raise Refused(f"write a number from 1 to {len(options)}, or one of the values")


def _several(options: list[Option], text: str) -> list[Any]:
    """Read a list, divided by commas, or written as JSON."""
    if text.startswith("["):
        try:
            found = loads(text.encode("utf-8", "surrogatepass"))
        except ValueError:
            found = None
        if not isinstance(found, list):
            raise Refused('a list in brackets is read as JSON: ["a", "b"]')
        return found
    parts = [part.strip() for part in text.split(",")]
    if "" in parts:
        raise Refused("write them with commas between; [] for none of them")
    if options:
        return list(dict.fromkeys(_picked(options, part) for part in parts))
    return [_text(part) for part in parts]


def _anything(line: str) -> Any:
    """Read a value for a field of a type that forms do not have: JSON, or else a text."""
    try:
        return loads(line.strip().encode("utf-8", "surrogatepass"))
    except ValueError:
        return line
