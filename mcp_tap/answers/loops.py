"""Calls that go in a circle: asked the same, given the same, and asked again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from hashlib import blake2b
from typing import Any, Final

from mcp_tap.answers.question import Question
from mcp_tap.core.text import brief
from mcp_tap.core.wire import dumps

SAME: Final = 3
"""How often in a row one call may be asked the same and be given the same."""


class Loops:
    """Remembers the last round of each call."""

    def __init__(self) -> None:
        """Begin with none."""
        self._last: OrderedDict[Hashable, tuple[bytes, int]] = OrderedDict()

    def stop(self, round_: Sequence[tuple[Question, dict[str, Any]]], *, most: int) -> str | None:
        """Say why a call is not to go on; None where it may.

        Args:
            round_: the asks of its newest round, each with its answer.
            most: calls to remember.
        """
        if not round_:
            return None
        said = [(q.key * (not q.pushed), q.ask, q.params, answer) for q, answer in round_]
        try:
            mark = blake2b(dumps(said), digest_size=16).digest()
        except (ValueError, TypeError, RecursionError):
            return None  # the number of rounds is limited, too
        first = round_[0][0]
        last, times = self._last.pop(first.call, (b"", 0))
        times = times + 1 if last == mark else 1
        self._last[first.call] = (mark, times)
        while len(self._last) > most:
            self._last.popitem(last=False)
        if times < SAME:
            return None
        what = "the same" if first.pushed else brief(first.key)
        return (
            f"the server has asked {what} {times} times in a row and got the same answer each time"
        )

    def forget(self, call: Hashable) -> None:
        """Let go of what is known of a call that ended."""
        self._last.pop(call, None)
