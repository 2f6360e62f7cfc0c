"""A call that may be asked something, or is: round after round, until a result, an error, a limit.

Rules of this file:

- One request of a call is with the server at a time, and none is ever sent again.
- Its time begins with its first ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from mcp_tap.core.model import NO_ANSWER
from mcp_tap.core.spec import INTERNAL_ERROR, MAY_ASK
from mcp_tap.core.splice import Edit, SpliceError, find, spliced
from mcp_tap.proxy.answering import asked as reading
from mcp_tap.proxy.answering.asked import Asked, may_ask
from mcp_tap.proxy.answering.rounds import Rounds, secrets_of
from mcp_tap.proxy.answering.verdicts import Fail, Pass, Round, Send, Told, told
from mcp_tap.proxy.stdio.answering.board import Board, cancelling, error_line, key_of, whole
from mcp_tap.proxy.stdio.steps import Decided, Seen, ToClient, ToServer

if TYPE_CHECKING:
    from mcp_tap.answers.book import Given
    from mcp_tap.proxy.answering.request import Watched
    from mcp_tap.proxy.stdio.steps import Step

CLOSED: Final = "the client has closed its end, so the server gets no answer"


class LineCall(Rounds):
    """A request of the client, and what the tap makes of it."""

    def __init__(self, board: Board, watched: Watched) -> None:
        """Begin with the request, which goes to the server."""
        super().__init__(board.answering, watched, board.number())
        self.board = board
        self._own: bytes | None = None
        """Token of the id of the tap's newest request for it; None: it made none."""
        self._flying = True
        """A request of it is with the server."""
        self._kept = False
        """The client did not get a response to it that asked."""
        self._wanted = True
        """The client waits for it."""
        self._passed = False
        """The client answers itself, so the call goes on behind this request."""
        self._held: Asked | None = None
        """A round without asks, until it is repeated."""
        self._due = 0.0
        self._until: float | None = None
        """When its time is up; None: no time is counted."""
        board.wait(watched.id, self)
        board.calls[key_of(watched.id)] = self

    # what comes

    def came(self, line: bytes, t: float) -> Sequence[Step]:
        """Take a response: pass it on, unless it asks."""
        self._flying = False
        asked = self.reads(line)
        if not self._wanted:
            if self._own is None and asked is None:
                return [ToClient(line)]  # to what the client took back
            return [Seen(line, "server")]
        if asked is not None:
            return self._asked(asked, line, t)
        if self.watched.method in MAY_ASK:
            self.answering.tasks.made(line, self.watched, self.call, t)
        return self._relay(line)

    def reads(self, line: bytes) -> Asked | None:
        """Read a response that asks; None for any other message."""
        return reading.read(line)

    def unread(self, code: str, why: str, t: float) -> Sequence[Step]:
        """Take note of a response that nobody could read, with an id that is the tap's perhaps."""
        del t
        self._flying = False
        if self._own is None or not self._wanted:
            self.end()
            return []
        return self.fail(code, why)

    def _relay(self, line: bytes) -> Sequence[Step]:
        self.end()
        if self._own is None:
            if may_ask(line) and not reading.is_json(line):
                why = "what it says cannot be read for certain"
                return [ToClient(line), Decided(Told("not-examined", why))]
            return [ToClient(line)]
        seen = Seen(line, "server")
        return [seen, *self._as_own(seen)]

    def _as_own(self, seen: Seen) -> Sequence[Step]:
        """Give the client a response to a request that it does not know."""
        assert self._own is not None
        try:
            line = reading.with_id(seen.line, self._own, self.watched.id)
        except SpliceError as error:
            why = f"the server's answer cannot be passed on: {error}"
            return self.fail("cannot-pass-on", why)
        return [ToClient(line, replaces=seen)]

    # rounds

    def _asked(self, asked: Asked, line: bytes, t: float) -> Sequence[Step]:
        if self.board.closed:
            return [Seen(line, "server"), *self.fail("input-closed", CLOSED)]
        return self.act(self.round(asked), line, t)

    def act(self, round_: Round, line: bytes, t: float) -> Sequence[Step]:
        """Do what was decided of a round.

        Args:
            round_: that asked.
            line: that brought it.
            t: when.
        """
        if self._until is None:
            self._until = t + self.answering.longest
        seen, said = Seen(line, "server"), [Decided(facts) for facts in told(round_)]
        verdict = round_.verdict
        if isinstance(verdict, Send):
            self.answering.answered += 1
            self._kept = True
            return [seen, *said, *self.send(round_.asked, verdict.answers, t)]
        if isinstance(verdict, Pass):
            self._passed = True
            self.hand_on(round_.asked, t)
            self.end()
            if self._own is None:
                return [ToClient(line), *said]
            return [seen, *said, *self._as_own(seen)]
        assert isinstance(verdict, Fail)  # over stdio there is nobody to ask
        self.answering.fail(verdict.code)
        return [seen, *said, *self.fail(verdict.code, verdict.why, NO_ANSWER)]

    def send(self, asked: Asked, answers: dict[str, Given], t: float) -> Sequence[Step]:
        """Answer a round; one without asks a little later."""
        if answers:
            return self.repeat(asked, answers)
        self._held, self._due = asked, t + self.pause_for()
        return []

    def repeat(self, asked: Asked, answers: dict[str, Given]) -> Sequence[Step]:
        """Send the request once more, with answers."""
        self._held = None
        token = self.answering.next_id()
        try:
            body = self.again(token, asked, answers)
        except ValueError as error:
            self.answering.fail("cannot-repeat")
            why = f"the request cannot be repeated: {error}"
            return self.fail("cannot-repeat", why, NO_ANSWER)
        self._own, self._flying = token, True
        self.board.wait(token, self, own=True)
        return [ToServer(whole(body), "tap", secrets=secrets_of(answers))]

    def tick(self, t: float) -> Sequence[Step]:
        """Let time pass."""
        if self._until is not None and t >= self._until:
            longest = f"{self.answering.longest:g} s"
            why = f"no result within {longest} of the call's first ask (--answer-timeout)"
            self.answering.fail("answers-timeout")
            return [*self._take_back(why), *self.fail("answers-timeout", why)]
        if self._held is not None and t >= self._due:
            return self.repeat(self._held, {})
        return []

    # ends

    def cancelled(self, line: bytes) -> Sequence[Step]:
        """Take note that the client does not want it any more, which is what this line says."""
        self.end()
        if not self._kept:
            return [ToServer(line)]
        seen, own = Seen(line, "client"), self._own
        if own is None or not self._flying:
            return [seen, Decided(Told("not-sent", "nothing of it is with the server"))]
        try:
            at = find(line, "params", "requestId")
        except SpliceError:
            at = None
        if at is None:
            return [ToServer(line)]
        told_ = spliced(line, [Edit(at.start, at.end, own)])
        return [seen, ToServer(told_, "tap", replaces=seen)]

    def server_left(self, why: str) -> Sequence[Step]:
        """Tell the client that the server is gone, where it does not see that by itself."""
        return self.fail("upstream-lost", why) if self._kept and self._wanted else []

    def client_left(self) -> Sequence[Step]:
        """Let it end where something had still to be sent to the server."""
        waits = self._kept and self._wanted and not self._flying
        return self.fail("input-closed", CLOSED) if waits else []

    def fail(self, code: str, why: str, number: int = INTERNAL_ERROR) -> Sequence[Step]:
        """End it with an error of the tap's own."""
        self.end()
        return [error_line(self.watched.id, code, why, number)]

    def end(self) -> None:
        """Wait for nothing any more."""
        self._wanted = False
        self._held = self._until = None
        calls, key = self.board.calls, key_of(self.watched.id)
        if calls.get(key) is self:
            del calls[key]
        if not self._passed:
            self.answering.book.forget(self.call)

    def _take_back(self, why: str) -> Sequence[Step]:
        return [cancelling(self._own, why)] if self._flying and self._own is not None else []
