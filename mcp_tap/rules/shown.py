"""What several rules on answers share: how names are listed, and what tells answers apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mcp_tap.core.text import brief

MOST: Final = 3
"""Names listed; of more only the number is told."""
MEMBERS: Final[dict[str, tuple[str, ...]]] = {
    "form": ("action",),
    "url": ("action",),
    "sampling": ("role", "content", "model"),
    "roots": ("roots",),
}
"""Kind of an ask -> the members that distinguish an answer to it."""


def listed(names: Sequence[str]) -> str:
    """List names: `"a", "b" and 7 more`."""
    shown = ", ".join(brief(name, 40) for name in names[:MOST])
    more = len(names) - MOST
    return f"{shown} and {more} more" if more > 0 else shown
