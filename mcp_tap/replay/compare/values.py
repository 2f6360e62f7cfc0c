"""Two JSON values compared: every spot at which they differ, once.

Rules of this file:

- No recursion: strangers wrote what is compared here.
- Of two lists with other lengths, what they share at their start and end is put together first, so
  that one entry more is one difference.
- In a schema a field that came or went is one difference, whether it is required or not.
- What was matched only by a mask, a normaliser or a path to ignore is counted under its name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Any, Final, Literal, NamedTuple

from mcp_tap.core.facts.message import is_masked
from mcp_tap.core.records import pointer
from mcp_tap.core.values import digest, same_json
from mcp_tap.replay.compare.ignored import Ignored
from mcp_tap.replay.compare.said import Steps
from mcp_tap.replay.compare.volatile import (
    NORMALISERS,
    SERVER_VERSION,
    is_server_version,
    without,
)

MASK: Final = "mask"
IGNORED: Final = "ignored"
REQUIRED: Final = "required"
"""Note of a field that is required; keyword that says which are."""

_ABSENT: Final = object()
_SCHEMAS: Final = frozenset({"requestedSchema", "inputSchema", "outputSchema"})
_MASKED: Final = "\0mask"


class Spot(NamedTuple):
    """One spot at which two values differ."""

    steps: Steps
    change: Literal["changed", "added", "removed"]
    left: Any
    """None where it was added."""
    right: Any
    """None where it was removed."""
    note: str = ""

    @property
    def at(self) -> str:
        """The spot as a JSON pointer."""
        return pointer(*self.steps)


class _Pair(NamedTuple):
    steps: Steps
    a: Any
    b: Any
    schema: bool
    note: str = ""


class Rules:
    """What counts as equal, and what was matched only because of that."""

    def __init__(
        self,
        *,
        ignore: Sequence[str] = (),
        normalise: Collection[str] = tuple(NORMALISERS),
        same_key: bool = False,
    ) -> None:
        """Take what a person wants.

        Args:
            ignore: places that are not compared (`Ignored`).
            normalise: names of `NORMALISERS` that are on.
            same_key: both sides were masked under one key, so that tags tell what is equal.

        Raises:
            UsageError: a path to ignore names no place.
        """
        self.matched: Counter[str] = Counter()
        """Name of a normaliser, `mask` or `ignored` -> values that are equal only by it."""
        self._ignored = Ignored(ignore)
        self._texts = [name for name in NORMALISERS if name in normalise]
        self._versions = SERVER_VERSION in normalise
        self._same_key = same_key

    def spots(self, a: Any, b: Any, at: Steps = ()) -> Iterator[Spot]:
        """Go through the spots at which two values differ, in the order they stand in A."""
        if not same_json(a, b):
            yield from self._walk(a, b, at, self.matched)

    def same(self, a: Any, b: Any, at: Steps = ()) -> bool:
        """Tell whether two values are equal, without counting why."""
        return same_json(a, b) or next(self._walk(a, b, at, None), None) is None

    def distance(self, a: Any, b: Any, at: Steps, most: int) -> int:
        """Count the spots at which two values differ, up to `most`."""
        if same_json(a, b):
            return 0
        return sum(1 for _ in islice(self._walk(a, b, at, None), most))

    def ignores(self, at: str) -> bool:
        """Tell whether what differs at a place, a JSON pointer, is left out; counts it if so."""
        steps = tuple(s.replace("~1", "/").replace("~0", "~") for s in at.split("/")[1:])
        if not self._ignored.has(steps):
            return False
        self.matched[IGNORED] += 1
        return True

    def sum(self, value: Any, at: Steps = ()) -> bytes | None:
        """Sum up a value so that equal ones have equal sums; None where it has none.

        Only a masked value and one that is not are equal without having equal sums.
        """
        try:
            return digest(self._plain(value, at))
        except RecursionError:
            return None

    def _plain(self, value: Any, at: Steps) -> Any:
        if type(value) is dict:
            return {
                key: self._plain(member, (*at, key))
                for key, member in value.items()
                if not (self._ignored and self._ignored.has((*at, key)))
            }
        if type(value) is list:
            return [self._plain(member, (*at, index)) for index, member in enumerate(value)]
        if type(value) is not str:
            return value
        if is_masked(value) and not self._same_key:
            return _MASKED
        return "" if self._versions and is_server_version(at) else self._settled(value)

    def _settled(self, text: str) -> str:
        for name in self._texts:
            text = without(name, text)
        return text

    def _walk(self, a: Any, b: Any, at: Steps, counts: Counter[str] | None) -> Iterator[Spot]:
        todo = [_Pair(at, a, b, not _SCHEMAS.isdisjoint(at))]
        while todo:
            pair = todo.pop()
            a, b = pair.a, pair.b
            if a is b:
                continue
            if self._ignored and self._ignored.has(pair.steps):
                if counts is not None and not same_json(a, b):
                    counts[IGNORED] += 1
            elif type(a) is dict and type(b) is dict:
                todo += reversed(_members(pair))
            elif type(a) is list and type(b) is list:
                todo += reversed(self._entries(pair))
            else:
                yield from self._leaf(pair, counts)

    def _leaf(self, pair: _Pair, counts: Counter[str] | None) -> Iterator[Spot]:
        steps, a, b, _, note = pair
        if a is _ABSENT:
            yield Spot(steps, "added", None, b, note)
        elif b is _ABSENT:
            yield Spot(steps, "removed", a, None, note)
        elif not same_json(a, b):
            why = self._excuse(a, b, steps)
            if not why:
                yield Spot(steps, "changed", a, b)
            elif counts is not None:
                counts[why] += 1

    def _excuse(self, a: Any, b: Any, steps: Steps) -> str:
        """Name what makes two values equal that are not; empty where nothing does."""
        if is_masked(a) or is_masked(b):
            if not (self._same_key and is_masked(a) and is_masked(b)):
                return MASK
        elif type(a) is not str or type(b) is not str:
            return ""
        if self._versions and is_server_version(steps):
            return SERVER_VERSION
        for name in self._texts:
            a, b = without(name, a), without(name, b)
            if a == b:
                return name
        return ""

    def _entries(self, pair: _Pair) -> list[_Pair]:
        steps, a, b, schema, _ = pair

        def entry(index: int, x: Any, y: Any) -> _Pair:
            return _Pair((*steps, index), x, y, schema)

        if len(a) == len(b):
            return [entry(i, x, y) for i, (x, y) in enumerate(zip(a, b, strict=True))]
        shorter = min(len(a), len(b))
        front = 0
        while front < shorter and self.same(a[front], b[front], (*steps, front)):
            front += 1
        back = 0
        while back < shorter - front and self.same(a[-1 - back], b[-1 - back], (*steps, "-")):
            back += 1
        paired = shorter - back
        found = [entry(i, a[i], b[i]) for i in range(paired)]
        found += [entry(i, a[i], _ABSENT) for i in range(paired, len(a) - back)]
        found += [entry(i, _ABSENT, b[i]) for i in range(paired, len(b) - back)]
        found += [
            entry(len(a) - back + i, a[len(a) - back + i], b[len(b) - back + i])
            for i in range(back)
        ]
        return found


def _members(pair: _Pair) -> list[_Pair]:
    steps, a, b, schema, _ = pair
    if schema and type(a.get("properties")) is dict and type(b.get("properties")) is dict:
        return _fields(pair)
    return [
        _Pair((*steps, key), a.get(key, _ABSENT), b.get(key, _ABSENT), schema or key in _SCHEMAS)
        for key in _keys(a, b)
    ]


def _fields(pair: _Pair) -> list[_Pair]:
    """Take two schemas of objects apart, field by field."""
    steps, a, b, _, _ = pair
    needs_a, needs_b = _names(a.get(REQUIRED)), _names(b.get(REQUIRED))
    fields_a, fields_b = a["properties"], b["properties"]
    found = []
    for key in _keys(a, b):
        if key == "properties":
            for name in _keys(fields_a, fields_b):
                x, y = fields_a.get(name, _ABSENT), fields_b.get(name, _ABSENT)
                needed = name in ((needs_b if x is _ABSENT else needs_a) or ())
                note = REQUIRED if needed and (x is _ABSENT or y is _ABSENT) else ""
                found.append(_Pair((*steps, key, name), x, y, True, note))  # noqa: FBT003
        elif key == REQUIRED and needs_a is not None and needs_b is not None:
            for name in _keys(dict.fromkeys(needs_a), dict.fromkeys(needs_b)):
                if (name in fields_a) == (name in fields_b) and (name in needs_a) != (
                    name in needs_b
                ):
                    x, y = (name, _ABSENT) if name in needs_a else (_ABSENT, name)
                    found.append(_Pair((*steps, key), x, y, False))  # noqa: FBT003
        else:
            x, y = a.get(key, _ABSENT), b.get(key, _ABSENT)
            found.append(_Pair((*steps, key), x, y, True))  # noqa: FBT003
    return found


def _names(required: Any) -> list[str] | None:
    """Give the names that are required; None where that is no list of names."""
    if required is None:
        return []
    if type(required) is not list or any(type(name) is not str for name in required):
        return None
    return required


def _keys(a: dict[str, Any], b: dict[str, Any]) -> list[str]:
    return [*a, *(key for key in b if key not in a)]
