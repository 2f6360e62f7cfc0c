"""Conditions of `match`: each a test of a question that can say what it wants.

Rules of this file:

- A condition is built once, when the script is read; what is wrong with it is said then.
- Globs and expressions run on `core.regex`: no text a server sends can hang one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from math import isfinite
from typing import Any, Final

from msgspec import Struct

from mcp_tap.answers.question import EVERY, MOST_TEXT, Question
from mcp_tap.core.filter_tests import glob
from mcp_tap.core.forms import KINDS
from mcp_tap.core.regex import PatternError, compile_pattern
from mcp_tap.core.text import brief
from mcp_tap.core.values import same_json

KEYS: Final = (
    "server", "tool", "name", "method", "key", "message", "mode", "url", "field", "ask",
    "arguments",
)  # fmt: skip
"""Keys that `match` knows."""
_GLOBS: Final[dict[str, Callable[[Question], str | None]]] = {
    "server": lambda q: q.server,
    "tool": lambda q: q.tool,
    "name": lambda q: q.name,
    "method": lambda q: q.method,
    "key": lambda q: q.key,
    "url": lambda q: q.url,
}
_WORDS: Final[dict[str, tuple[str, ...]]] = {
    "mode": ("form", "url"),
    "ask": tuple(sorted(EVERY)),
}


class Condition(Struct, frozen=True, eq=False):
    """One condition of an entry."""

    key: str
    wants: str
    """What it wants, in words: `key "confirm"`."""
    test: Callable[[Question], bool]


class Unusable(ValueError):
    """A value cannot be a condition; the text says why, `help` what to do."""

    def __init__(self, why: str, help: str = "") -> None:
        super().__init__(why)
        self.help = help


def conditions(match: Mapping[str, Any]) -> tuple[Condition, ...]:
    """Build the conditions of an entry, in the order they were written.

    Raises:
        Unusable: a value cannot be one; keys that are not known are left out.
    """
    return tuple(condition(key, value) for key, value in match.items() if key in KEYS)


def check_literal(value: Any, where: str) -> None:
    """Refuse what TOML has and JSON has not.

    Raises:
        Unusable: it is a date, a time, or no finite number.
    """
    if isinstance(value, datetime | date | time):
        why = f"{where}: TOML reads {value} as a date, which JSON has not"
        raise Unusable(why, f'quote it: "{value}"')
    if isinstance(value, float) and not isfinite(value):
        raise Unusable(f"{where}: {value} is no number in JSON")


def condition(key: str, value: Any) -> Condition:
    """Build one condition.

    Raises:
        Unusable: the value cannot be one.
    """
    if key == "arguments":
        return _arguments(value)
    texts = value if isinstance(value, list) else [value]
    if not texts or not all(isinstance(text, str) and text for text in texts):
        raise Unusable(f"{key} takes a text, or a list of texts")
    shown = [brief(text) for text in texts]
    if key == "field":
        return Condition(key, "field " + " and ".join(shown), _fields(texts))
    wants = f"{key} " + " or ".join(shown)
    tests = [_test(key, text) for text in texts]
    return Condition(key, wants, lambda q: any(test(q) for test in tests))


def _test(key: str, text: str) -> Callable[[Question], bool]:
    if key == "message":
        try:
            search = compile_pattern(text).search
        except PatternError as error:
            raise Unusable(f'message = "{text}" is no expression: {error}', error.help) from None
        return lambda q: search(q.message[:MOST_TEXT])
    words = _WORDS.get(key)
    if words is not None:
        if text not in words:
            raise Unusable(f'{key} cannot be "{text}"', f"{key} is one of {', '.join(words)}")
        return lambda q: q.ask == text
    of = _GLOBS[key]
    if "*" not in text and "?" not in text:
        return lambda q: of(q) == text
    try:
        fits = glob(text)
    except PatternError as error:
        raise Unusable(f"{key} is too long", error.help) from None

    def test(question: Question) -> bool:
        found = of(question)
        return found is not None and fits(found[:MOST_TEXT])

    return test


def _fields(texts: list[str]) -> Callable[[Question], bool]:
    """Test for fields of a form; `name:type` names the type, too."""
    wanted = [field_of(text) for text in texts]

    def test(question: Question) -> bool:
        schema = question.schema
        fields = schema.get("properties") if schema is not None else None
        if not isinstance(fields, dict):
            return False
        for name, kind in wanted:
            found = fields.get(name)
            if not isinstance(found, dict) or (kind is not None and found.get("type") != kind):
                return False
        return True

    return test


def field_of(text: str) -> tuple[str, str | None]:
    """Take a condition on a field apart: its name, and its type where one is named."""
    name, colon, kind = text.rpartition(":")
    return (name, kind) if colon and kind in KINDS else (text, None)


def _arguments(value: Any) -> Condition:
    if not isinstance(value, dict) or not value:
        raise Unusable("arguments takes a table", 'arguments = { service = "billing" }')
    waiting = list(value.values())
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict | list):
            waiting.extend(one.values() if isinstance(one, dict) else one)
        else:
            check_literal(one, "arguments")
    wants = "arguments " + ", ".join(f"{name} = {brief(v, 30)}" for name, v in value.items())

    def test(question: Question) -> bool:
        found = question.arguments
        return isinstance(found, dict) and all(
            name in found and same_json(found[name], wanted) for name, wanted in value.items()
        )

    return Condition("arguments", wants, test)
