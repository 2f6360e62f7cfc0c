"""A walk over JSON that strangers wrote: no recursion, and bounded in values and characters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

MOST_VALUES: Final = 3_000
"""Values looked at of one message."""
MOST_STEPS: Final = 64
"""Steps from the root to a value that are followed."""
MOST_TEXT: Final = 200_000
"""Characters of texts that are handed out."""

Steps: TypeAlias = tuple[Any, ...]


def texts_in(root: Any, *steps: Any) -> Iterator[tuple[Steps, str | None, str]]:
    """Give all texts in a value, in order: the steps to it, its member's name, the text.

    Args:
        root: the value.
        steps: to the value itself, to begin all others with.
    """
    waiting: list[tuple[Steps, str | None, Any]] = [(steps, None, root)]
    values, left = MOST_VALUES, MOST_TEXT
    while waiting and values > 0 and left > 0:
        values -= 1
        path, name, value = waiting.pop()
        kind = type(value)
        if kind is str:
            yield path, name, value[:left]
            left -= len(value)
        elif len(path) >= MOST_STEPS:
            continue
        elif kind is dict:
            members = list(value.items())[:values]
            waiting += [((*path, key), key, one) for key, one in reversed(members)]
        elif kind is list:
            entries = list(enumerate(value[:values]))
            waiting += [((*path, index), name, one) for index, one in reversed(entries)]
