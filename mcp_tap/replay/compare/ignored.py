"""Places a person does not want to be compared: JSON pointers, with wildcards."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final

from mcp_tap.errors import UsageError
from mcp_tap.replay.compare.said import Steps

_ANY: Final = "**"


class Ignored:
    """Patterns of places: `/result/content/0/text`, `/result/**/createdAt`, `createdAt`.

    `*` stands for any step or part of one, `**` for any number of steps.  What does not begin with
    `/` is meant at any depth.  All that is below a place belongs to it.
    """

    def __init__(self, patterns: Sequence[str] = ()) -> None:
        """Read the patterns.

        Raises:
            UsageError: one of them names no place.
        """
        self._patterns = [_steps(pattern) for pattern in patterns]

    def __bool__(self) -> bool:
        """Tell whether there are any."""
        return bool(self._patterns)

    def has(self, steps: Steps) -> bool:
        """Tell whether a place is one of them, or below one."""
        return any(_fits(pattern, steps) for pattern in self._patterns)


def _steps(pattern: str) -> tuple[str, ...]:
    whole = pattern if pattern.startswith("/") else f"/{_ANY}/{pattern}"
    steps = whole.split("/")[1:]
    if not pattern.strip("/"):
        raise UsageError(
            "bad-value",
            f"--ignore-path {pattern!r} names no place",
            help="--ignore-path '/result/**/createdAt'",
        )
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in steps)


def _fits(pattern: tuple[str, ...], steps: Steps) -> bool:
    """Follow all ways in which a pattern may go on, step by step."""
    at = _beyond(pattern, {0})
    for step in steps:
        text = str(step)
        on = {i + (pattern[i] != _ANY) for i in at if i < len(pattern) and _takes(pattern[i], text)}
        at = _beyond(pattern, on)
        if len(pattern) in at:
            return True
    return False


def _takes(part: str, step: str) -> bool:
    return part in (_ANY, step) or fnmatchcase(step, part)


def _beyond(pattern: tuple[str, ...], at: set[int]) -> set[int]:
    """Add where one is when `**` stands for nothing."""
    found = set(at)
    for i in sorted(at):
        while i < len(pattern) and pattern[i] == _ANY:
            i += 1  # noqa: PLW2901 - goes on from there
            found.add(i)
    return found
