"""Whether what a client sent fits what was recorded, and where it differs first.

A value that was masked before it was recorded fits anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from mcp_tap.core.facts.message import is_masked
from mcp_tap.core.records import pointer
from mcp_tap.core.values import same_json

ABSENT: Final = object()
"""Stands for a value that is not there."""


class Difference(NamedTuple):
    """One spot at which two values differ."""

    steps: tuple[Any, ...]
    """Keys and indexes that lead there."""
    recorded: Any
    given: Any

    @property
    def at(self) -> str:
        """The spot as a JSON pointer."""
        return pointer(*self.steps)


def fits(recorded: Any, given: Any) -> bool:
    """Tell whether a value is the recorded one, what was masked in that left aside."""
    return same_json(recorded, given) or next(differences(recorded, given), None) is None


def differences(recorded: Any, given: Any) -> Iterator[Difference]:
    """Go through all spots at which two values differ, those of the recorded one's order first."""
    todo: list[tuple[tuple[Any, ...], Any, Any]] = [((), recorded, given)]
    while todo:
        steps, a, b = todo.pop()
        if is_masked(a):
            continue
        if type(a) is dict and type(b) is dict:
            keys = [*a, *(key for key in b if key not in a)]
            todo += (
                ((*steps, key), a.get(key, ABSENT), b.get(key, ABSENT)) for key in reversed(keys)
            )
        elif type(a) is list and type(b) is list and len(a) == len(b):
            pairs = list(enumerate(zip(a, b, strict=True)))
            todo += (((*steps, i), x, y) for i, (x, y) in reversed(pairs))
        elif a is ABSENT or b is ABSENT or not same_json(a, b):
            yield Difference(steps, a, b)
