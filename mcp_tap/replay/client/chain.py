"""One recorded call, made again: round by round, with the new server's states.

Rules of this file:

- What the recorded client did is done again, its faults as well: a state it changed is changed, one
  it dropped is dropped, one of another call is that call's new one.
- A call stops where there is nothing recorded to go on with.  What came till then is compared.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field

from mcp_tap.bridge.messages import Said, read
from mcp_tap.core import spec
from mcp_tap.replay.client import bodies
from mcp_tap.replay.client.answering import NotAnswered, Then
from mcp_tap.replay.client.peers import Reply, TooBig, Unreachable
from mcp_tap.replay.client.plan import Item
from mcp_tap.replay.client.rounds import Rounds
from mcp_tap.replay.client.tampering import tampered
from mcp_tap.replay.keys import params_of
from mcp_tap.replay.recorded import RecordedCall, RecordedRound

if TYPE_CHECKING:
    from mcp_tap.replay.client.lane import LiveLane

PAUSE: Final = 0.1
"""Seconds between two polls of a task, where the server names no time."""
LONGEST_PAUSE: Final = 2.0
MOST_HEARD: Final = 10_000
"""Messages that may come for a call beyond those that were recorded; all are kept and compared."""
_LEFT: Final = "the recorded client left here"


class Played(Struct, kw_only=True, eq=False):
    """What became of a call."""

    item: Item
    ids: list[int] = field(default_factory=list)
    """Of the requests that were sent for it."""
    why: str = ""
    """Why it was not sent, or not gone on with; empty where it came to its end."""
    kept: int | None = None
    """Rounds of it that are compared: the last one asked what could not be answered, or the next
    has too big an answer.  None: all."""
    answered: bool = False
    """The server has responded, if only once."""
    failed: bool = False
    """No response came."""
    gone: bool = False
    """There was no server to make it."""


class Chain:
    """Makes one call."""

    def __init__(self, item: Item, lane: LiveLane) -> None:
        """Be ready; `lane` is the client that makes it."""
        assert item.call is not None
        self.item = item
        self.played = Played(item=item)
        self.opened = asyncio.Event()
        """Its first message has come; of streams."""
        self.heard = 0
        self._pushed = 0
        self._most = MOST_HEARD + sum(len(r.exchange.seqs) for r in item.call.rounds)
        self._asking: asyncio.Task[Reply] | None = None
        self._more = asyncio.Event()
        self._lane = lane
        self._call: RecordedCall = item.call
        self._rounds = Rounds(lane.index, item.call)
        self._states: dict[str | bytes, str] = {}
        self._results: list[dict[str, Any]] = []
        """Of each round so far."""

    @property
    def exchanges(self) -> frozenset[int]:
        """Recorded exchanges of the call."""
        return frozenset(round_.exchange.number for round_ in self._call.rounds)

    async def run(self) -> None:
        """Make the call."""
        played = self.played
        try:
            await self._run()
        except NotAnswered as error:
            played.why, played.kept = str(error), len(self._results) or None
        except TooBig as error:
            played.kept = len(self._results) + self._pushed
            leave = f"leave it out: !call:{self._call.number}"
            played.why = f"round {played.kept + 1}: {error}; have it give less, or {leave}"
        except ValueError as error:
            self._fail(f"it cannot be sent: {error}")
        except Unreachable as error:
            self._fail(str(error))
            played.gone = not played.answered
            raise
        finally:
            self.opened.set()

    def hear(self, said: Said) -> None:
        """Take what comes before a response; without end is too much."""
        if self.heard + self._pushed >= self._most:
            if self._asking is not None:
                self._asking.cancel()
            return
        if said.kind == "request":
            self._lane.asked(said, self)
            return
        self.heard += 1
        self.opened.set()
        self._more.set()

    def was_asked(self) -> None:
        """Take note that the server has asked something for it."""
        self._pushed += 1

    def stopped(self, why: str) -> None:
        """Take note that a pushed ask had no answer: the last of those that came."""
        if not self.played.why:
            self.played.why, self.played.kept = why, self._pushed

    async def wait_for(self, messages: int, seconds: float) -> None:
        """Wait till so many messages have come on its stream, for a while."""
        try:
            async with asyncio.timeout(seconds):
                while self.heard < messages:
                    self._more.clear()
                    await self._more.wait()
        except TimeoutError:
            return

    def _fail(self, why: str) -> None:
        """Take note that the round which was sent last has no response."""
        played = self.played
        played.failed = True
        played.why = played.why or why
        if played.kept is None:
            played.kept = len(self._results) + self._pushed + 1

    async def _run(self) -> None:
        for number in range(self._lane.limits.most(len(self._rounds))):
            body = self._first() if number == 0 else self._next(number)
            if body is None:
                return
            reply = await self._send(body)
            if reply is None or reply.said is None:
                return
            result = reply.said.result
            self._results.append(result)
            self._keep_state(number, result)
            if _task_of(result) is not None:
                await self._follow(result)
                return
        if self._asks(self._results[-1]):
            raise NotAnswered(f"stopped after {len(self._results)} rounds (--max-rounds)")

    def _first(self) -> bytes:
        first = self._rounds[0]
        data = self._rounds.data(first)
        number = self._lane.number()
        if not first.retry:
            return bodies.again(data, number)
        said = read(data)
        assert said is not None
        return bodies.retry(said.value, number, state=self._state(first))

    def _next(self, number: int) -> bytes | None:
        """Give the request of a further round; None where the call has come to its end."""
        last = self._results[-1]
        if number >= len(self._rounds):
            if not self._asks(last) or not self._goes_on():
                return None
            answers = self._answers(last, self._rounds.then(None))
            return self._retry(self._rounds[0], answers, last.get("requestState"))
        round_ = self._rounds[number]
        to = self._answered_by(number)
        result = self._results[to]
        if not self._asks(result):
            return None
        then = self._rounds.then(self._rounds[to], round_)
        value = self._rounds.request(round_)
        answers = self._answers(result, then)
        given = "inputResponses" in params_of(value)
        sent = answers if answers or (given and not result.get("inputRequests")) else None
        if given and type(params_of(value)["inputResponses"]) is not dict:
            sent = params_of(value)["inputResponses"]
        state = self._state(round_, self._rounds[to], result)
        return self._retry(round_, sent, state)

    def _goes_on(self) -> bool:
        """Tell whether to answer more than was answered then: not where the client had left."""
        return self._call.outcome not in ("waiting", "cancelled", "open", "unlinked")

    def _answered_by(self, number: int) -> int:
        """Say which of the rounds so far a recorded round answers."""
        wanted = self._rounds[number].answers_round
        if self._rounds[number].link != "ambiguous" and wanted is not None:
            for at, round_ in enumerate(self._rounds.all[:number]):
                if round_.number == wanted:
                    return min(at, len(self._results) - 1)
        return len(self._results) - 1

    def _retry(self, like: RecordedRound, answers: Any, state: Any) -> bytes:
        number = self._lane.number()
        return bodies.retry(self._rounds.request(like), number, answers=answers, state=state)

    def _answers(self, result: dict[str, Any], then: Then) -> dict[str, Any]:
        call = self._call
        about = {
            "method": call.method,
            "name": call.target,
            "arguments": params_of(self._rounds.request(self._rounds[0])).get("arguments"),
            "server": call.server,
            "call": call.number,
            "round": len(self._results),
        }
        asks = result.get("inputRequests")
        return self._lane.answers.to_round(asks, then, list(self._rounds.thens()), about)

    def _state(
        self,
        round_: RecordedRound,
        asked: RecordedRound | None = None,
        result: dict[str, Any] | None = None,
    ) -> Any:
        """Give the state that is to a round of now what the recorded one was to that of then."""
        fresh = None if result is None else result.get("requestState")
        if round_.sent is None:
            # Then there was none to send, or it was dropped.
            return fresh if asked is not None and asked.state is None else None
        if asked is not None and round_.sent == asked.state:
            return fresh
        known = self._states.get(round_.sent) or self._lane.states.get(round_.sent)
        if known is not None:
            return known
        if type(fresh) is not str or not fresh:
            return bodies.KEEP
        return tampered(fresh, self._rounds.given(asked), self._rounds.sent(round_))

    def _keep_state(self, number: int, result: dict[str, Any]) -> None:
        state = result.get("requestState")
        recorded = self._rounds[number].state if number < len(self._rounds) else None
        if type(state) is str and recorded is not None:
            self._states[recorded] = self._lane.states[recorded] = state

    @staticmethod
    def _asks(result: dict[str, Any]) -> bool:
        return result.get("resultType") == spec.INPUT_REQUIRED

    async def _send(self, body: bytes) -> Reply | None:
        """Send a request and wait for its end; None where it was cancelled."""
        said = read(body)
        assert said is not None
        self.played.ids.append(said.id)
        asking = asyncio.get_running_loop().create_task(self._lane.peer.ask(said, self.hear))
        self._asking = asking
        try:
            return await self._wait(said, asking)
        except asyncio.CancelledError:
            if self._call.kind == "stream" and not asking.done():
                await self._lane.leave(said, _LEFT)
            raise
        finally:
            if not asking.done():
                asking.cancel()
                await asyncio.wait([asking])

    async def _wait(self, said: Said, asking: asyncio.Task[Reply]) -> Reply | None:
        lane, call = self._lane, self._call
        last = len(self.played.ids) == len(self._rounds)
        leaves = call.outcome == "cancelled" and last and call.kind != "stream"
        seconds = lane.limits.timeout
        if leaves and call.end is not None:
            seconds = min(seconds, max(0.0, call.end - self._rounds[-1].exchange.t))
        await asyncio.wait([asking], timeout=None if call.kind == "stream" else seconds)
        if leaves and not asking.done():
            await lane.leave(said, _LEFT)
            if self._rounds[-1].response_seq is not None:  # the server had a last word
                await asyncio.wait([asking], timeout=lane.limits.stream)
        if asking.done() and not asking.cancelled():
            reply = asking.result()
            self.played.answered = self.played.answered or reply.said is not None
            if reply.said is None:
                self._fail(reply.why)
            elif said.method == "tools/list":
                lane.learn(reply.said)
            return reply
        if not leaves:
            await lane.leave(said, "no response in time")
            late = f"no response within {seconds:g} s (--timeout)"
            flooded = f"more than {self._most} messages came, and no response"
            self._fail(flooded if asking.cancelled() else late)
        return None

    async def _follow(self, result: dict[str, Any]) -> None:
        """Poll a task till it has ended, and answer what it asks."""
        call, lane = self._call, self._lane
        task = _task_of(result)
        meta = params_of(self._rounds.request(self._rounds[0])).get("_meta")
        params: dict[str, Any] = {"taskId": task}
        if type(meta) is dict:
            params["_meta"] = {k: v for k, v in meta.items() if k != "progressToken"}
        answered: set[str] = set()
        loop = asyncio.get_running_loop()
        until = loop.time() + lane.limits.timeout
        then = self._rounds.of_task()
        while loop.time() < until:
            if result.get("status") in spec.TERMINAL:
                return
            asks = result.get("inputRequests")
            fresh = (
                {k: v for k, v in asks.items() if k not in answered} if type(asks) is dict else {}
            )
            if fresh and result.get("status") == spec.INPUT_REQUIRED:
                about = {"method": call.method, "name": call.target, "call": call.number}
                given = lane.answers.to_round(fresh, then, [then], about)
                answered |= set(fresh)
                more = {**params, "inputResponses": given}
                await lane.own(spec.TASKS_UPDATE, more, self.hear)
                until = loop.time() + lane.limits.timeout
            elif call.outcome == "cancelled":
                await lane.own(spec.TASKS_CANCEL, params, self.hear)
                return
            else:
                await asyncio.sleep(_pause(result))
            reply = await lane.own(spec.TASKS_GET, params, self.hear)
            if reply.said is None or not reply.said.result:
                return
            result = reply.said.result
        self.played.why = f"its task had not ended after {lane.limits.timeout:g} s (--timeout)"
        self.played.failed = True


def _task_of(result: dict[str, Any]) -> str | None:
    """Give the id of a task that a result is."""
    task = result.get("taskId")
    return task if result.get("resultType") == "task" and type(task) is str else None


def _pause(task: dict[str, Any]) -> float:
    wanted = task.get("pollIntervalMs")
    seconds = wanted / 1000 if isinstance(wanted, int | float) else PAUSE
    return float(min(max(seconds, 0.01), LONGEST_PAUSE))
