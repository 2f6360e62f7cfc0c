"""Log levels that requests of a stdio run asked for: there, nothing else says whose a log is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from mcp_tap.core.facts.progress import is_over
from mcp_tap.core.facts.topic import Topic
from mcp_tap.core.spec import META_LOG_LEVEL

if TYPE_CHECKING:
    from mcp_tap.core.facts.message import Message
    from mcp_tap.core.model import Exchange

LEVELS: Final[dict[str, int]] = {
    "debug": 0,
    "info": 1,
    "notice": 2,
    "warning": 3,
    "error": 4,
    "critical": 5,
    "alert": 6,
    "emergency": 7,
}
"""The names there are, the least severe first."""

MOST: Final = 1024


def rank(level: Any) -> int | None:
    """Give the place of a level among all; None for what is none."""
    return LEVELS.get(level) if type(level) is str else None


class Levels(Topic):
    """What unanswered requests asked for."""

    wants: ClassVar = ("request",)
    over: ClassVar = ("stdio",)

    def __init__(self) -> None:
        """Begin with none."""
        self._asked: list[tuple[Exchange, str | None]] = []

    def note(self, message: Message) -> None:
        """Take note of a request that asks for logs."""
        level = message.meta.get(META_LOG_LEVEL)
        if level is None or message.flow.http:
            return
        known = level if rank(level) is not None else None
        self._asked = [*self.pending(), (message.flow.exchange, known)][-MOST:]

    def pending(self) -> list[tuple[Exchange, str | None]]:
        """Give the unanswered requests that asked, each with the level; None for no known one."""
        return [entry for entry in self._asked if not is_over(entry[0])]
