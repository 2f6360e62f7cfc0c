"""What several rules on rounds share: how things are named, what answers and results are like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from mcp_tap.core.facts.message import Message
from mcp_tap.core.facts.places import Place
from mcp_tap.core.text import brief

MOST: Final = 3
"""Names listed; of more only the number is told."""
MOST_ANSWERS: Final = 10_000
"""Answers of one message that are looked at."""
MEMBERS: Final[dict[str, tuple[str, ...]]] = {
    "form": ("action",),
    "url": ("action",),
    "sampling": ("role", "content", "model"),
    "roots": ("roots",),
}
"""Kind of an ask -> the members an answer to it must have."""


def listed(names: Sequence[str]) -> str:
    """List names: `"a", "b" and 7 more`."""
    shown = ", ".join(brief(name, 40) for name in names[:MOST])
    more = len(names) - MOST
    return f"{shown} and {more} more" if more > 0 else shown


def target(place: Place) -> str:
    """Name what a request is for: its method, and the tool, prompt or resource."""
    _, method, name = place
    return f"{method} {brief(name, 40)}" if name is not None else str(method)


def succeeds(m: Message, *types: str) -> bool:
    """Tell whether a response is a result of one of these types, and no tool's own failure."""
    result = m.result
    if result is None or result.get("isError") is True:
        return False
    return result.get("resultType", "complete") in types


def has_shape(value: dict[str, Any], kind: str) -> bool:
    """Tell whether an answer has anything of its kind; true for kinds that are not known.

    `content` stands in answers to forms and in those of sampling: it counts for the kind that was
    asked for, unless a member beside it belongs to another one.
    """
    if kind == "roots":
        return "roots" in value
    if kind in ("form", "url"):
        return "action" in value or _only_content(value, ("role", "model", "roots"))
    if kind == "sampling":
        alone = _only_content(value, ("action", "roots"))
        return "role" in value or "model" in value or alone
    return True


def _only_content(value: dict[str, Any], others: tuple[str, ...]) -> bool:
    return "content" in value and not any(name in value for name in others)
