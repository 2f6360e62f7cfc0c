"""What a server said of itself: discovery, versions, capabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from msgspec import Struct

from mcp_tap.core.facts.flow import MODERN
from mcp_tap.core.facts.held import size_of
from mcp_tap.core.facts.topic import Topic
from mcp_tap.core.spec import DISCOVER, METHOD_NOT_FOUND, UNSUPPORTED_VERSION
from mcp_tap.core.values import SHORT

if TYPE_CHECKING:
    from mcp_tap.core.facts.message import Message

MOST_VERSIONS: Final = 64


class Unsupported(Struct, frozen=True):
    """A refusal of a revision, with those the server has instead."""

    supported: tuple[str, ...]
    id: int | None
    """Id of the request that was refused, where that is a number."""


class Server(Topic):
    """What a server said of itself: discovery, versions, capabilities."""

    wants: ClassVar = ("result", "error")

    def __init__(self) -> None:
        """Begin with nothing known."""
        self.capabilities: dict[str, Any] | None = None
        """Of the newest `DiscoverResult`; None where there was none that could be read."""
        self.is_modern = False
        """It answered a request of 2026-07-28, discovery aside, with a result of that revision."""
        self.refused: Message | None = None
        """The error that says that it knows no `server/discover`."""
        self.unsupported: Unsupported | None = None
        """The newest refusal of a revision, until the client took one of those it named."""
        self._weight = 0

    def let_go(self) -> None:
        """Forget what it said, but not of which revision it is."""
        self.capabilities = self.refused = None
        self._weight = 0

    def _hold(self, message: Message) -> None:
        self._weight += size_of(message)
        message.flow.seen.run.held.hold(self, self._weight)

    def note(self, message: Message) -> None:
        """Take note of a response."""
        if message.event == "error":
            self._refusal(message)
            return
        if self.is_modern and self.unsupported is None and message.method != DISCOVER:
            return
        if self.unsupported is not None and message.flow.version in self.unsupported.supported:
            self.unsupported = None
        if message.method == DISCOVER:
            found = message.result.get("capabilities") if message.result is not None else None
            self.capabilities = found if type(found) is dict else None
            self._weight = 0 if self.refused is None else size_of(self.refused)
            self._hold(message)
        elif not self.is_modern and message.flow.band == MODERN:
            result = message.result
            self.is_modern = result is not None and type(result.get("resultType")) is str

    def _refusal(self, message: Message) -> None:
        code = message.code
        if code == METHOD_NOT_FOUND and message.method == DISCOVER and message.flow.band == MODERN:
            if self.refused is None:
                self.refused = message
                self._hold(message)
        elif code == UNSUPPORTED_VERSION:
            data = message.error.get("data")
            listed = data.get("supported") if type(data) is dict else None
            if type(listed) is list and listed and all(_is_revision(v) for v in listed):
                number = message.id if type(message.id) is int else None
                self.unsupported = Unsupported(tuple(listed[:MOST_VERSIONS]), number)


def _is_revision(value: Any) -> bool:
    """Tell whether a value may be the name of a revision."""
    return type(value) is str and len(value) <= SHORT
