"""JSON Schemas that strangers wrote: are they schemas, and does a value fit?

Rules of this file:

- Nothing is ever fetched: a `$ref` to another document is left unresolved.
- Every look has a price, and what would cost too much is not looked at: a schema too large or too
  deep, references that multiply, a pattern against a long text.  "Not known" is an answer.
- Patterns run on an engine whose time is linear in the text; those it does not know (backward
  references, look-around) make a schema one that cannot be judged by.
- `format` is a hint, as the dialects from 2019-09 on have it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import urldefrag, urljoin

from msgspec import Struct

from mcp_tap.core.schemas_price import MOST_MATCHING, Price, is_odd, price_of
from mcp_tap.core.wire import dumps, loads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import jsonschema_rs

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
"""What a schema is written in that does not say so."""
MOST_NODES: Final = 5_000
"""Values in a schema that is still judged."""
DEEPEST: Final = 100
"""Nesting that is still judged, of schemas and of values."""
MOST_BYTES: Final = 64 << 10
"""Bytes of a schema that is still judged by."""
_USUAL: Final = 4 << 10
"""Bytes up to which a schema is one of the usual ones."""
_FEW: Final = 32
MOST_REFS: Final = 100
"""References of a schema that are looked at, where they are not all pointers from its root."""
MOST_ODD: Final = 20
"""Numbers in it that are far larger or smaller than what anybody counts."""
MOST_VALUES: Final = 50_000
"""Values on one level of what is judged."""

T = TypeVar("T")
_DIALECTS: Final = {
    "json-schema.org/draft/2020-12/schema": "Draft202012Validator",
    "json-schema.org/draft/2019-09/schema": "Draft201909Validator",
    "json-schema.org/draft-07/schema": "Draft7Validator",
    "json-schema.org/draft-06/schema": "Draft6Validator",
    "json-schema.org/draft-04/schema": "Draft4Validator",
}
_REFS: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_IDS: Final = ("$id", "id")
_SCHEMA, _NAMED, _DATA = range(3)
_HOLDS: Final = {
    **dict.fromkeys(("properties", "patternProperties", "$defs", "definitions"), _NAMED),
    **dict.fromkeys(("dependentSchemas", "dependencies"), _NAMED),
    **dict.fromkeys(("const", "default", "enum", "example", "examples"), _DATA),
}
"""What stands below a keyword: schemas by name, or values; below all others schemas."""
_TOLD: Final = (*_REFS, *_IDS, "pattern", "patternProperties")
_COUNTS: Final = re.compile(r"\{(\d{1,6})(?:,(\d{0,6}))?\}")
_CLASSES: Final = 200
"""How much longer a pattern is for naming a class of Unicode."""
_SIZE_LIMIT: Final = 1 << 18


class Flaw(Struct, frozen=True):
    """Where a schema is none, or where a value does not fit."""

    path: tuple[str | int, ...]
    """Steps to it; none too where it would take too long to find it."""
    keyword: str
    """The keyword that says so; empty where it would take too long to say."""


class Outline(Struct, frozen=True):
    """What has to be known of a schema before anything is done with it."""

    nodes: int
    """Values in it."""
    refs: tuple[str, ...]
    """References to other documents, each once."""
    plain: bool
    """All other references are JSON pointers from its root."""
    patterns: int
    """Length of its patterns together, repeats counted."""


def validator_name(schema: dict[str, Any]) -> str | None:
    """Name what validates a schema's dialect; None for a dialect that is not known here."""
    said = schema.get("$schema", DIALECT)
    if type(said) is not str:
        return None
    for scheme in ("https://", "http://"):
        if said.startswith(scheme):
            return _DIALECTS.get(said.removeprefix(scheme).removesuffix("#"))
    return None


def outline(schema: dict[str, Any]) -> Outline | None:
    """Walk through a schema; None where it is too large or too deep to be looked at."""
    walk = _Walk(schema)
    level: list[tuple[Any, int]] = [(schema, _SCHEMA)]
    for _ in range(DEEPEST):
        below: list[tuple[Any, int]] = []
        for value, what in level:
            walk.nodes += len(value)
            if walk.nodes > MOST_NODES:
                return None
            if type(value) is dict:
                walk.look(value, data=what == _DATA)
            below += _inner(value, what)
        if not below:
            return walk.done()
        level = below
    return None


def _inner(value: Any, what: int) -> Iterator[tuple[Any, int]]:
    """Give what is in a part of a schema and has parts itself, each with what it is."""
    if type(value) is list:
        for one in value:
            if type(one) is dict or type(one) is list:
                yield one, what
        return
    for key, one in value.items():
        if type(one) is not dict and type(one) is not list:
            continue
        if what == _SCHEMA:
            yield one, _HOLDS.get(key, _SCHEMA)
        else:
            yield one, _DATA if what == _DATA else _SCHEMA


class _Walk:
    """What is collected on the way through a schema."""

    def __init__(self, root: dict[str, Any]) -> None:
        self.nodes = 0
        self._root = root
        self._patterns = 0
        self._refs: list[str] = []
        self._names: set[str] = set()
        self._plain = True

    def look(self, schema: dict[str, Any], *, data: bool) -> None:
        for key in _TOLD:
            if key not in schema:
                continue
            value = schema[key]
            if type(value) is dict and key == "patternProperties":
                self._patterns += sum(map(_weight, value))
            elif type(value) is not str:
                continue
            elif key in _REFS:
                if not data:
                    self._refs.append(value)
                pointer = key == "$ref" and (value == "#" or value.startswith("#/"))
                self._plain = self._plain and pointer
            elif key == "pattern":
                self._patterns += _weight(value)
            elif key in _IDS:
                self._names.add(value.removesuffix("#"))
                self._plain = self._plain and schema is self._root

    def done(self) -> Outline:
        told = list(dict.fromkeys(self._refs))[:MOST_REFS] if not self._plain else ()
        foreign = [ref for ref in told if not _is_inside(ref, self._root, self._names)]
        return Outline(self.nodes, tuple(foreign), self._plain, self._patterns)


def _weight(pattern: str) -> int:
    """Say how long a pattern is with its repeats written out, or that it is too long."""
    if len(pattern) > MOST_BYTES:
        return MOST_MATCHING
    weight = len(pattern) * (_CLASSES if "\\p" in pattern or "\\P" in pattern else 1)
    for least, most in _COUNTS.findall(pattern):
        weight = min(weight * max(int(least), int(most or 0), 1), MOST_MATCHING)
    return weight


def _is_inside(ref: str, schema: dict[str, Any], names: set[str]) -> bool:
    """Tell whether a reference leads to a schema the document itself holds."""
    if ref.startswith("#"):
        return True
    if not names:
        return False
    base = schema.get("$id", schema.get("id"))
    try:
        whole = urljoin(base, ref) if type(base) is str else ref
    except ValueError:
        return False
    return urldefrag(ref)[0] in names or urldefrag(whole)[0] in names


def _remembered(most: int) -> Callable[[Callable[[bytes], T]], Callable[[bytes], T]]:
    """Remember what was made of schemas: of so many usual ones, and of a few large ones."""

    def remember(make: Callable[[bytes], T]) -> Callable[[bytes], T]:
        usual, large = lru_cache(most)(make), lru_cache(_FEW)(make)
        return lambda data: usual(data) if len(data) <= _USUAL else large(data)

    return remember


def flaw_of(schema: dict[str, Any]) -> Flaw | None:
    """Find a place where a schema breaks its dialect; None too where that cannot be told."""
    if validator_name(schema) is None or outline(schema) is None:
        return None
    try:
        data = dumps(schema)
    except (ValueError, TypeError, RecursionError):
        return None
    return _flaw_of(data) if len(data) <= MOST_BYTES else _look(schema)


@_remembered(1024)
def _flaw_of(data: bytes) -> Flaw | None:
    return _look(loads(data))


def _look(schema: dict[str, Any]) -> Flaw | None:
    import jsonschema_rs  # noqa: PLC0415 (most runs never need it)

    try:
        jsonschema_rs.meta.validate(schema)
    except jsonschema_rs.ValidationError as error:
        flaw = _flaw(error)
        return flaw if flaw.keyword != "format" else None  # its regular expressions are not ours
    except (ValueError, TypeError, jsonschema_rs.ReferencingError):
        return None
    return None


def is_usable(schema: bytes) -> bool:
    """Tell whether values can be judged by a schema, given as JSON."""
    return _compiled(schema) is not None


def misfit(schema: bytes, value: Any) -> Flaw | None:
    """Find a place where a value does not fit a schema; None too where that cannot be told.

    Args:
        schema: as JSON, an object of at most `MOST_BYTES`.
        value: any JSON value.
    """
    judge = _compiled(schema)
    if judge is None:
        return None
    validator, price = judge
    size = _measure(value)
    if size is None or not price.allows(*size):
        return None
    import jsonschema_rs  # noqa: PLC0415 (most runs never need it)

    try:
        if not validator.is_valid(value):
            if not price.shows(size[0]):
                return Flaw((), "")
            validator.validate(value)
    except jsonschema_rs.ValidationError as error:
        return _flaw(error)
    except (ValueError, TypeError, OverflowError, jsonschema_rs.ReferencingError):
        pass
    return None


@_remembered(256)
def _compiled(data: bytes) -> tuple[jsonschema_rs.Validator, Price] | None:
    """Make a validator, and what says what it costs; None where none can be made."""
    import jsonschema_rs  # noqa: PLC0415 (most runs never need it)

    schema = loads(data)
    name = validator_name(schema)
    shape = outline(schema)
    if name is None or shape is None or shape.refs or not shape.plain:
        return None
    price = price_of(schema, shape.patterns)
    if price is None:
        return None
    options = jsonschema_rs.RegexOptions(size_limit=_SIZE_LIMIT, dfa_size_limit=_SIZE_LIMIT)
    try:
        jsonschema_rs.meta.validate(schema)
        make: type[jsonschema_rs.Validator] = getattr(jsonschema_rs, name)
        validator = make(schema, validate_formats=False, pattern_options=options, offline=True)
    except (ValueError, TypeError, OverflowError, jsonschema_rs.ReferencingError):
        return None
    return validator, price


def _measure(value: Any) -> tuple[list[int], int] | None:
    """Count values, level by level, and characters; None where it is too deep or too much.

    Odd numbers are soon too many: they are compared exactly, whatever that takes.
    """
    odd = 0
    counts = [1]
    text = len(value) if type(value) is str else 0
    level: list[Any] = [value] if type(value) is dict or type(value) is list else []
    for _ in range(DEEPEST):
        below: list[Any] = []
        count = 0
        for outer in level:
            inner: Any = outer
            if type(outer) is dict:
                text += sum(map(len, outer))
                inner = outer.values()
            count += len(inner)
            if count > MOST_VALUES:
                return None
            more, strange = _sort(inner, below)
            text += more
            odd += strange
        if odd > MOST_ODD:
            return None
        if not count:
            return counts, text
        counts.append(count)
        level = below
    return None


def _sort(values: Iterable[Any], below: list[Any]) -> tuple[int, int]:
    """Put aside what has values inside; count the characters of the rest, and odd numbers."""
    text = odd = 0
    for one in values:
        if type(one) is str:
            text += len(one)
        elif type(one) is dict or type(one) is list:
            below.append(one)
        elif is_odd(one):
            odd += 1
    return text, odd


def _flaw(error: jsonschema_rs.ValidationError) -> Flaw:
    return Flaw(tuple(error.instance_path), error.kind.name)
