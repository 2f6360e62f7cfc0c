"""Made-up values for the fields of a form: always valid, and the same for the same seed.

Rules of this file:

- A value is tried against its field before it is given; None where nothing that fits was found.
- Nothing is drawn from a generator with a state: a value follows from seed, key and field alone,
  so that parallel calls cannot disturb each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from itertools import islice
from math import ceil, floor, isfinite
from typing import Any, Final

from mcp_tap.core.contents import INVALID, faults
from mcp_tap.core.facts.flow import MODERN
from mcp_tap.core.forms import KINDS, Field, Form, Number, choices, is_number
from mcp_tap.core.schemas import MOST_BYTES, misfit
from mcp_tap.core.wire import dumps

MOST_TRIED: Final = 50
"""Values that are tried for one field."""
LONGEST: Final = 10_000
"""Characters of a text, or entries of a list, that are made up at most."""
_WORDS: Final = (
    "amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "ivory", "jetty",
    "kelp", "lotus", "maple", "north", "olive", "pearl", "quill", "raven", "slate", "tidal",
)  # fmt: skip
_SHAPES: Final = (
    "0", "a", "A", "aa", "AA", "AAA", "000", "0000", "00000", "000000", "00000000", "0.0", "0.0.0",
    "v0.0.0", "+4700000000", "000-000-0000", "00:00", "00:00:00", "2026-01-01", "aaa-000",
    "AAA-000", "AA00", "A-0", "#000000", "00000000-0000-4000-8000-000000000000", "10.0.0.1",
    "https://example.com/", "ada@example.com", "/a/a", "a_a", "a-a", "Aaaaa", "Aaa Aaa",
)  # fmt: skip
"""Texts that are tried where a pattern is asked for, which no form may do."""


class Chance:
    """Numbers that follow from a seed and a place."""

    def __init__(self, seed: int, *place: str) -> None:
        """Begin for a place."""
        self._from = "\0".join([str(seed), *place]).encode(errors="surrogatepass")
        self._drawn = 0

    def below(self, bound: int) -> int:
        """Give a number from 0 to below `bound`."""
        self._drawn += 1
        digest = blake2b(self._from, digest_size=16, salt=self._drawn.to_bytes(8, "big"))
        return int.from_bytes(digest.digest(), "big") % bound

    def word(self) -> str:
        """Give a word."""
        return _WORDS[self.below(len(_WORDS))]


def fits(name: str, schema: dict[str, Any], value: Any) -> bool:
    """Tell whether a value may be entered into a field."""
    whole = {"type": "object", "properties": {name: schema}, "required": [name]}
    if not INVALID.isdisjoint(faults(Form(whole), {name: value}, MODERN)):
        return False
    try:
        data = dumps(schema)
    except (ValueError, TypeError, RecursionError):
        return True
    return len(data) > MOST_BYTES or misfit(data, value) is None


def generate(name: str, schema: dict[str, Any], chance: Chance) -> Any:
    """Make up a value for a field; None where none is found that fits."""
    try:
        for value in islice(_candidates(_plain(schema), chance), MOST_TRIED):
            if fits(name, schema, value):
                return value
    except (OverflowError, ValueError):  # bounds beyond all numbers
        return None
    return None


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """Read what forms may not say as what is meant: lists of types, `anyOf` with null."""
    kind = schema.get("type")
    if isinstance(kind, list):
        known = [one for one in kind if isinstance(one, str) and one in KINDS]
        return {**schema, "type": known[0]} if known else schema
    if kind is None:
        for style in ("anyOf", "oneOf"):
            branches = schema.get(style)
            for branch in branches if isinstance(branches, list) else ():
                kind = branch.get("type") if isinstance(branch, dict) else None
                if isinstance(kind, str) and kind in KINDS:
                    return {**schema, **branch}
    return schema


def _candidates(schema: dict[str, Any], chance: Chance) -> Iterator[Any]:
    field = Field("", schema)
    if "const" in schema:
        yield schema["const"]
    kind = field.kind
    if kind != "array":
        listed = choices(schema) or schema.get("enum")
        if isinstance(listed, list | tuple) and listed:
            start = chance.below(len(listed))
            yield from listed[start:]
            yield from listed[:start]
            return
    if kind == "boolean":
        first = chance.below(2) == 1
        yield from (first, not first)
    elif kind in ("integer", "number"):
        yield from _numbers(field, schema, chance)
    elif kind == "array":
        yield from _lists(field, chance)
    else:
        yield from _texts(field, schema, chance)


def _numbers(field: Field, schema: dict[str, Any], chance: Chance) -> Iterator[Number]:
    low, high = _range(field, schema)
    step = _number(schema.get("multipleOf"))
    if step is not None and step > 0:
        begin = ceil(low / step)
        count = max(floor(high / step) - begin, 0) + 1
        start = chance.below(count)
        yield from ((begin + (start + n) % count) * step for n in range(min(count, 20)))
        return
    first, last = ceil(low), floor(high)
    if first <= last:
        yield first + chance.below(last - first + 1)
        yield from (first, last)
    if field.kind == "number":
        between = (low + (high - low) * part / 8 for part in (4, 3, 5, 1, 7, 0, 8))
        yield from filter(isfinite, between)


def _range(field: Field, schema: dict[str, Any]) -> tuple[Number, Number]:
    """Give what a number lies between; where the server does not say, something small."""
    low, high = field.low, field.high
    above, below = _number(schema.get("exclusiveMinimum")), _number(schema.get("exclusiveMaximum"))
    inside = 1 if field.kind == "integer" else 0
    if above is not None and (low is None or above >= low):
        low = above + inside
    if below is not None and (high is None or below <= high):
        high = below - inside
    if low is None:
        low = 1 if high is None or high >= 1 else high - 100
    return low, low + 99 if high is None else high


def _number(value: Any) -> Number | None:
    return value if is_number(value) else None


def _lists(field: Field, chance: Chance) -> Iterator[list[Any]]:
    listed = list(choices(field.schema) or ())
    low = int(field.low or 0)
    high = int(field.high) if field.high is not None else max(low, 1)
    count = min(max(low, 1), high)
    if count > LONGEST:
        return
    if not listed:
        texts = field.items.get("type", "string") == "string"
        yield [f"{chance.word()} {n}" for n in range(count)] if texts else []
        yield []
        return
    start = chance.below(len(listed))
    turned = listed[start:] + listed[:start]
    yield [turned[n % len(turned)] for n in range(count)]
    yield sorted(set(listed[:count]), key=listed.index)
    yield []


def _texts(field: Field, schema: dict[str, Any], chance: Chance) -> Iterator[str]:
    least = field.low if field.kind == "string" else None
    most = field.high if field.kind == "string" else None
    low = int(least or 0)
    high = int(most) if most is not None else max(low, 40)
    if low > LONGEST:
        return
    form = schema.get("format")
    if form == "email":
        yield from (_long(word, low, high, "@example.com") for word in (chance.word(), "a"))
        yield _long("a", low, high, "@b")
    elif form == "uri":
        yield _long(f"https://example.com/{chance.word()}", low, high)
        yield _long("a:b", low, high)
    elif form == "date":
        yield _date(chance)
    elif form == "date-time":
        yield f"{_date(chance)}T{chance.below(24):02}:00:00Z"
    if "pattern" in schema:
        yield from (_long(shape, low, high) for shape in _SHAPES)
        yield from _SHAPES
    yield _long(f"{chance.word()} {chance.word()}", low, high)
    yield _long(chance.word(), low, high)


def _date(chance: Chance) -> str:
    return f"2026-{1 + chance.below(12):02}-{1 + chance.below(28):02}"


def _long(text: str, low: int, high: int, end: str = "") -> str:
    """Make a text as long as it has to be; `end` stays."""
    text = text[: max(high - len(end), 0)]
    short = low - len(text) - len(end)
    return text + (text[-1:].strip() or "a") * max(short, 0) + end
