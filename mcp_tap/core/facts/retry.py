"""A retry that is linked to the round it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp_tap.core.facts.message import NONE

if TYPE_CHECKING:
    from mcp_tap.core.facts.ask import Ask
    from mcp_tap.core.facts.flow import Flow
    from mcp_tap.core.facts.message import Message
    from mcp_tap.core.model import Call, Round


class Asking:
    """A round that asks: its `input_required` result, kept until its call is over."""

    __slots__ = ("asks", "first", "message")

    def __init__(self, message: Message, first: Message, asks: dict[str, Ask]) -> None:
        """Keep one.

        Args:
            message: the `input_required` result.
            first: the request the call began with.
            asks: what it asks, by key; empty for a state-only round.
        """
        self.message = message
        self.first = first
        self.asks = asks


class Retry:
    """A request that answers a round: linked by evidence, never ambiguous."""

    __slots__ = ("answered", "answers", "asking", "call", "message", "round")

    def __init__(
        self, message: Message, asking: Asking, call: Call, round_: Round, answered: Round
    ) -> None:
        """Link one.

        Args:
            message: the retry itself.
            asking: the round it answers, as it was on the wire.
            call: the call both belong to.
            round_: the retry's own round; `round_.link` is the evidence.
            answered: the round it answers, in the model.
        """
        self.message = message
        self.asking = asking
        self.call = call
        self.round = round_
        self.answered = answered
        found = message.params.get("inputResponses")
        self.answers: dict[str, Any] = found if type(found) is dict else NONE
        """`inputResponses`; empty where there are none, or where they are no object."""

    @property
    def flow(self) -> Flow:
        """The exchange of the retry."""
        return self.message.flow

    @property
    def first(self) -> Message:
        """The request the call began with."""
        return self.asking.first

    @property
    def asks(self) -> dict[str, Ask]:
        """What the answered round asked, by key."""
        return self.asking.asks

    @property
    def latest(self) -> Round:
        """The newest round of the call that asked; mostly the answered one."""
        earlier = [r for r in self.call.rounds if r.number < self.round.number]
        asked = [r for r in earlier if r.result_type == "input_required"]
        return asked[-1] if asked else self.answered
