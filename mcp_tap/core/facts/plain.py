"""Results of mere text, as most are."""

from __future__ import annotations

from typing import Any, Final

_FREE: Final = frozenset({"_meta", "structuredContent"})


def is_flat(result: dict[str, Any]) -> bool:
    """Tell whether nothing in a result needs a look inside.

    Beside `_meta` and `structuredContent` there are only scalars, and arrays of text blocks that
    have no more than their text.
    """
    for name, value in result.items():
        kind = type(value)
        if kind is list:
            for block in value:
                if type(block) is not dict or len(block) != 2 or block.get("type") != "text":
                    return False
                if type(block.get("text")) is not str:
                    return False
        elif kind is dict and name not in _FREE:
            return False
    return True
