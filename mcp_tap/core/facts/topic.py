"""What a piece of memory is: it names the events it wants, and is told of them afterwards.

Rules judge a message with what was known before it; only then does memory take note of it.  So a
rule never finds its own message in there, and live and offline know the same at every step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from mcp_tap.core.facts.flow import Flow
    from mcp_tap.core.facts.message import Message


class Topic:
    """Memory of one subject.

    Everything it keeps is bounded in number, and what may be large is short or weighed (`held`).
    """

    wants: ClassVar[tuple[str, ...]] = ()
    """Events to be told of: `request`, `result tools/list`, `closed`; the words are those of rules'
    triggers for messages and flows."""
    steady: ClassVar[tuple[str, ...]] = ()
    """Those of them of which it learns nothing from a message that is equal, as `facts.steady` has
    it, to one it was told of."""
    over: ClassVar[tuple[str, ...]] = ("http", "stdio")
    """Transports it has a use on."""

    def note(self, message: Message) -> None:
        """Take note of a message whose rules have run."""

    def closed(self, flow: Flow) -> None:
        """Take note that an exchange is over; called where `closed` is wanted."""
