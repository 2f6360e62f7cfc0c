"""Whether a tool may change things, as far as anybody has said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def may_write(annotations: Sequence[Any]) -> str:
    """Say why a tool may change things; empty where all that is known says it only reads.

    What annotations leave out means the worst (2025-11-25, server/tools: `readOnlyHint` is false
    and `destructiveHint` true unless they say otherwise).

    Args:
        annotations: those of each definition of the tool that is known, None for one without.
    """
    known = [hints if type(hints) is dict else {} for hints in annotations]
    if not known:
        return "nothing says that the tool only reads"
    if any(hints.get("readOnlyHint") is not True for hints in known):
        return "the tool may change things: it has no readOnlyHint"
    if any(hints.get("destructiveHint") is True for hints in known):
        return "the tool may change things: it has destructiveHint"
    return ""
