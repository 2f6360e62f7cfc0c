"""Asks of tasks on lines: in the state that a poll shows, and as news (SEP-2663).

As on HTTP, a poll is held until the server says something new, and each key is answered once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from mcp_tap.core import spec
from mcp_tap.core.model import NO_ANSWER
from mcp_tap.core.values import id_key
from mcp_tap.core.wire import loads
from mcp_tap.proxy.answering import tasks
from mcp_tap.proxy.answering.asked import Asked
from mcp_tap.proxy.answering.deciding import decide
from mcp_tap.proxy.answering.rounds import secrets_of
from mcp_tap.proxy.answering.tasks import Pauses, Task, polled
from mcp_tap.proxy.answering.verdicts import Fail, Pass, Round, Send, told
from mcp_tap.proxy.stdio.answering.board import Board, cancelling, whole
from mcp_tap.proxy.stdio.answering.calls import CLOSED, LineCall
from mcp_tap.proxy.stdio.steps import Decided, Seen, ToClient, ToServer

if TYPE_CHECKING:
    from mcp_tap.answers.book import Given
    from mcp_tap.proxy.answering.request import Watched
    from mcp_tap.proxy.stdio.steps import Step

_NOTHING: Final = Asked(requests={}, state=None, server=None)
"""A poll has nothing to give back."""


class LinePoll(LineCall):
    """A `tasks/get` of the client."""

    def __init__(self, board: Board, watched: Watched, t: float) -> None:
        """Begin with the request, which goes to the server at `t`."""
        super().__init__(board, watched)
        self._task = board.answering.tasks.find(watched.name or "", t)
        self._passed = True  # the call goes on behind the poll
        self._now = self._answered_at = t
        self._pauses = Pauses()
        self.call = self._task.own_call

    def reads(self, line: bytes) -> Asked | None:
        """Read a state that waits for input; None for any other message."""
        return tasks.read(line)

    def came(self, line: bytes, t: float) -> Sequence[Step]:
        """Take a response: pass it on, unless it asks."""
        self._now = t
        return super().came(line, t)

    def round(self, asked: Asked) -> Round:
        """Decide about what was not answered yet."""
        declared, waited = self.watched.declared, self._now - self._answered_at
        return polled(self.answering, self._task, asked, declared, waited)

    def act(self, round_: Round, line: bytes, t: float) -> Sequence[Step]:
        """Do what was decided; that the server takes its time is no decision."""
        keys = {ask.key for ask in round_.asks}
        if keys or not isinstance(round_.verdict, Send):
            if isinstance(round_.verdict, Pass):
                self._task.passed |= keys
            return super().act(round_, line, t)
        self._kept = True
        self._until = t + self.answering.longest
        self._held, self._due = round_.asked, t + self._pauses.after(round_.asked)
        return [Seen(line, "server")]

    def send(self, asked: Asked, answers: dict[str, Given], t: float) -> Sequence[Step]:
        """Bring the server the answers; then its state is looked at anew."""
        del asked, t
        return update(self.board, self._task, answers, self.watched, self._updated)

    def repeat(self, asked: Asked, answers: dict[str, Given]) -> Sequence[Step]:
        """Poll once more."""
        del asked, answers
        return super().repeat(_NOTHING, {})

    def _updated(self, why: str | None, t: float) -> Sequence[Step]:
        if not self._wanted:
            return []
        self._answered_at, self._pauses = t, Pauses()
        if why is not None:
            self.answering.fail("answer-not-taken")
            return self.fail("answer-not-taken", why)
        if self.board.closed:
            return self.fail("input-closed", CLOSED)
        return self.repeat(_NOTHING, {})


class Update:
    """Answers on their way to a task."""

    def __init__(self, done: Callable[[str | None, float], Sequence[Step]]) -> None:
        """Tell `done` what came of them: why the server did not take them, None where it did."""
        self._done = done

    def came(self, line: bytes, t: float) -> Sequence[Step]:
        """Take what the server says to them, which is not for the client."""
        return [Seen(line, "server"), *self._done(tasks.refused(line), t)]

    def unread(self, code: str, why: str, t: float) -> Sequence[Step]:
        """Take note that it came, and nobody could read it."""
        del code, why
        return self._done(None, t)


def update(
    board: Board,
    task: Task,
    answers: dict[str, Given],
    request: Watched,
    done: Callable[[str | None, float], Sequence[Step]],
) -> list[Step]:
    """Send answers to a task, with the `_meta` of a request of the client."""
    token = board.answering.next_id()
    body = tasks.update(task, answers, token, request.body)
    board.wait(token, Update(done), own=True)
    return [ToServer(whole(body), "tap", secrets=secrets_of(answers))]


def news(board: Board, line: bytes, t: float) -> Sequence[Step]:
    """Take news of a task that may ask; what the tap deals with the client does not see."""
    asked = tasks.read(line, notice=True)
    listen = _listen(board, line) if asked is not None else None
    if asked is None or asked.task is None or listen is None:
        return [ToClient(line)]
    answering = board.answering
    task = answering.tasks.find(asked.task, t)
    asks = tasks.fresh(answering, task, asked, listen.watched.declared)
    seen = Seen(line, "server")
    if not asks:
        known = bool(task.passed.intersection(asked.requests)) or not asked.requests
        return [ToClient(line)] if known else [seen]
    verdict = decide(answering, asks)
    said = [Decided(facts) for facts in told(Round(asked=asked, asks=asks, verdict=verdict))]
    if isinstance(verdict, Pass):
        task.passed |= {ask.key for ask in asks}
        return [ToClient(line), *said]
    if isinstance(verdict, Fail):
        answering.fail(verdict.code)
        return [seen, *said, *listen.refuse(verdict.code, verdict.why)]
    assert isinstance(verdict, Send)  # over stdio there is nobody to ask
    if board.closed:
        return [seen]
    answering.answered += 1

    def done(why: str | None, _: float) -> Sequence[Step]:
        if why is None:
            return []
        answering.fail("answer-not-taken")
        return listen.refuse("answer-not-taken", why)

    return [seen, *said, *update(board, task, verdict.answers, listen.watched, done)]


class LineListen(LineCall):
    """A `subscriptions/listen` of the client: news comes for it, and its response ends it."""

    def reads(self, line: bytes) -> Asked | None:
        """Read no response as one that asks."""
        del line
        return None

    def refuse(self, code: str, why: str) -> Sequence[Step]:
        """End it, since what it brings cannot be dealt with."""
        if not self._wanted:
            return []
        return [cancelling(self.watched.id, why), *self.fail(code, why, NO_ANSWER)]


def _listen(board: Board, line: bytes) -> LineListen | None:
    """Find the request that news is for."""
    params: Any = loads(line).get("params")
    meta = params.get("_meta") if type(params) is dict else None
    name = meta.get(spec.META_SUBSCRIPTION) if type(meta) is dict else None
    found = board.calls.get(id_key(name))
    return found if isinstance(found, LineListen) else None
