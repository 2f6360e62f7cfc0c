"""A session of the session era: what `initialize` settled, and what was pushed in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from mcp_tap.core.bounded import Bounded
from mcp_tap.core.facts.topic import Topic
from mcp_tap.core.values import id_key

if TYPE_CHECKING:
    from mcp_tap.core.facts.ask import Ask
    from mcp_tap.core.facts.message import Message

MOST_PUSHED = 1024
LONGEST_PUSHED = 12 * 3600.0


class Session(Topic):
    """One session."""

    wants: ClassVar = ("request initialize",)

    def __init__(self) -> None:
        """Begin one of which nothing is known."""
        self.capabilities: dict[str, Any] | None = None
        """The client's capabilities; None until `initialize` was seen."""
        self._pushed: Bounded[tuple[bool, str], Ask] = Bounded(MOST_PUSHED, LONGEST_PUSHED)

    def note(self, message: Message) -> None:
        """Take note of the handshake."""
        found = message.params.get("capabilities")
        self.capabilities = found if type(found) is dict else {}

    def push(self, ask: Ask) -> None:
        """Keep an ask a server pushed until it is answered."""
        self._pushed.put(id_key(ask.message.id), ask, ask.message.t)

    def pushed(self, request_id: Any) -> Ask | None:
        """Take out the pushed ask a client's response answers; None where there is none."""
        return self._pushed.pop(id_key(request_id))
