"""The rounds of one call: counted and decided, whatever brings and carries them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, Final

from mcp_tap.answers.book import Given
from mcp_tap.answers.question import Question, questions
from mcp_tap.core.wire import dumps
from mcp_tap.proxy.answering.asked import Asked
from mcp_tap.proxy.answering.deciding import decide, too_many
from mcp_tap.proxy.answering.verdicts import Pass, Round, Send, Verdict

if TYPE_CHECKING:
    from mcp_tap.proxy.answering.answering import Answering
    from mcp_tap.proxy.answering.request import Watched

_WAIT_FIRST: Final = 0.05
_WAIT_MOST: Final = 0.25
"""Seconds before a round without asks is repeated: at first, and at most; the SDKs wait as long."""


class Rounds:
    """Decides about the rounds of a call."""

    def __init__(self, answering: Answering, watched: Watched, number: int) -> None:
        """Begin with the client's request.

        Args:
            answering: what all calls of the run share.
            watched: the request.
            number: what tells it from other requests; a call it goes on with has another.
        """
        self.answering = answering
        self.watched = watched
        state = watched.state
        earlier = None if state is None else answering.resumed(watched.with_state(state))
        self.call: Hashable = number if earlier is None else earlier
        self.rounds = 0
        self._waits = 0
        self._arguments: Any = None

    def round(self, asked: Asked) -> Round:
        """Decide about a round, without doing anything yet."""
        self.rounds += 1
        answering, watched = self.answering, self.watched
        if asked.server is not None:
            answering.server = asked.server
        if self.rounds == 1:
            self._arguments = watched.arguments()
        asks = questions(
            asked.requests,
            method=watched.method,
            name=watched.name,
            arguments=self._arguments,
            server=answering.server_name,
            call=self.call,
            round=self.rounds,
            declared=watched.declared,
        )
        return Round(asked=asked, asks=asks, verdict=self._verdict(asked, asks))

    def _verdict(self, asked: Asked, asks: Sequence[Question]) -> Verdict:
        if self.rounds > self.answering.max_rounds:
            return too_many(self.answering)
        if asks:
            return decide(self.answering, asks)
        return Pass("it asks for nothing") if asked.state is None else Send({})

    def hand_on(self, asked: Asked, t: float) -> None:
        """Take note that the client gets a round, and may go on with the call by itself."""
        if asked.state_text is not None:
            self.answering.passed(self.watched.with_state(asked.state_text), self.call, t)

    def again(self, token: bytes, asked: Asked, answers: dict[str, Given]) -> bytes:
        """Write the request once more, with answers to a round; `token`: of its id.

        Raises:
            ValueError: it names a member twice, or an answer is no text.
        """
        said = None
        if answers:
            said = dumps({key: given.answer for key, given in answers.items()})
            self._waits = 0
        return self.watched.again(token, said, asked.state)

    def pause_for(self) -> float:
        """Say how many seconds a round without asks waits before it is repeated; once for each."""
        delay: float = min(_WAIT_MOST, _WAIT_FIRST * 2**self._waits)
        self._waits += 1
        return delay


def secrets_of(answers: dict[str, Given]) -> tuple[tuple[str, ...], ...]:
    """Say where in a request with answers values stand that must not be recorded."""
    return tuple(
        ("params", "inputResponses", key, *steps(at))
        for key, given in answers.items()
        for at in given.secrets
    )


def steps(at: str) -> list[str]:
    """Take a JSON pointer apart."""
    return [step.replace("~1", "/").replace("~0", "~") for step in at.split("/")[1:]]
