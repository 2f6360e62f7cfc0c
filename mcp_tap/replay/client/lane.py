"""One client of the recording, live: its session, what it knows of tools, and what it is asked."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from mcp_tap.answers.question import questions
from mcp_tap.bridge.heads import Tools
from mcp_tap.bridge.messages import Said, read
from mcp_tap.core import spec
from mcp_tap.core.records import Payload
from mcp_tap.core.text import brief
from mcp_tap.replay.client import bodies
from mcp_tap.replay.client.answering import Answers, NotAnswered, pushed_then
from mcp_tap.replay.client.peers import Heard, Peer, Reply, TooBig, Unreachable
from mcp_tap.replay.client.plan import Lane
from mcp_tap.replay.index import Index
from mcp_tap.replay.recorded import RecordedCall, RecordedExchange

if TYPE_CHECKING:
    from mcp_tap.replay.client.chain import Chain

MOST_PAGES: Final = 100
"""Pages of a list of tools that are read."""
_CAPABILITIES: Final[dict[str, Any]] = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {},
    "roots": {},
}
_CLIENT: Final = {"name": "mcp-tap", "version": "0"}
_OLDEST_BUT_ONE: Final = "2025-11-25"


class Limits(Struct, frozen=True, kw_only=True):
    """How long a call may take."""

    timeout: float = 60.0
    """Seconds a server has to respond to a request."""
    rounds: int = 10
    """Rounds of one call, where the recording has no more."""
    stream: float = 5.0
    """Seconds that are waited for what a stream brought in the recording, once all else is done."""

    def most(self, recorded: int) -> int:
        """Give the most rounds of a call that had so many."""
        return max(self.rounds, recorded)


class LiveLane:
    """Sends for one recorded client."""

    def __init__(
        self,
        lane: Lane,
        peer: Peer,
        *,
        index: Index,
        answers: Answers,
        limits: Limits,
        numbers: Iterator[int],
        states: dict[str | bytes, str],
        tools: Tools,
    ) -> None:
        """Be ready.

        Args:
            lane: the recorded client.
            peer: its way to the server.
            index: holds what it sent.
            answers: what it answers.
            limits: how long to wait.
            numbers: ids of requests, none twice in a run.
            states: recorded states and what the server has now in their place; shared by a run.
            tools: filled with what travels in headers.
        """
        self.lane = lane
        self.peer = peer
        self.answers = answers
        self.limits = limits
        self.states = states
        self.hints: dict[str, Any] = {}
        """Annotations of the server's tools, by name."""
        self.listed = False
        """All tools of the server are known."""
        self.streamed = 0
        """Messages that came on the session's own stream."""
        self.gone: Unreachable | None = None
        """The server is not there any more."""
        self.index = index
        self._numbers = numbers
        self._tools = tools
        self._open: list[Chain] = []
        self._answering: set[asyncio.Task[None]] = set()
        self._more = asyncio.Event()
        self._opened = not lane.opens and lane.era != "session"
        self._learning = asyncio.Lock()

    def number(self) -> int:
        """Give a new id."""
        return next(self._numbers)

    async def play(self, chain: Chain) -> None:
        """Make a call; the session is begun before, or by it.

        Raises:
            Unreachable: there is no server.
        """
        call = chain.item.call
        assert call is not None
        opens = call.method == spec.INITIALIZE
        if not opens:
            await self.ready()
        self._open.append(chain)
        try:
            await chain.run()
        finally:
            self._open.remove(chain)
        if opens:
            await self._began()

    async def ready(self) -> None:
        """Begin the session, where the recording has begun before that was done."""
        if self._opened or self.lane.opens:
            return
        self._opened = True
        params = {
            "protocolVersion": _OLDEST_BUT_ONE,
            "capabilities": _CAPABILITIES,
            "clientInfo": _CLIENT,
        }
        await self.own(spec.INITIALIZE, params)
        await self._began()

    async def tell(self, note: RecordedExchange) -> None:
        """Send a recorded notification again."""
        records = self.index.messages(note, "upstream")
        data = next((record.payload() for record in records if isinstance(record, Payload)), b"")
        said = read(data)
        if said is not None:
            await self._say(said)

    async def own(self, method: str, params: dict[str, Any], heard: Heard | None = None) -> Reply:
        """Send a request that the recording has not, or not so; no response is one, too.

        Raises:
            TooBig: the answer is, and it is for a call: that hears what comes before it.
        """
        said = read(bodies.request(self.number(), method, params))
        assert said is not None
        try:
            async with asyncio.timeout(self.limits.timeout):
                return await self.peer.ask(said, heard or self.hear)
        except TimeoutError:
            return Reply(None, "no response in time")
        except TooBig as error:
            if heard is not None:
                raise
            return Reply(None, str(error))

    async def leave(self, said: Said, why: str) -> None:
        """Wait no more for a request, and let the server know."""
        if spec.META_VERSION in said.meta and self.peer.over_http:
            return  # its connection is closed
        params = {"requestId": said.id, "reason": why}
        if spec.META_VERSION in said.meta:
            params["_meta"] = {k: v for k, v in said.meta.items() if k != "progressToken"}
        note = read(bodies.notification(spec.NOTE_CANCELLED, params))
        assert note is not None
        with contextlib.suppress(Unreachable):
            await self._say(note)

    def hear(self, said: Said) -> None:
        """Take what comes outside of requests."""
        if said.kind == "request":
            self.asked(said, None)
        else:
            self.streamed += 1
            self._more.set()

    def asked(self, said: Said, chain: Chain | None) -> None:
        """Answer what the server asks in a request of its own."""
        self.streamed += chain is None
        self._more.set()
        task = asyncio.get_running_loop().create_task(self._answer(said, chain))
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)

    async def learn_tools(self) -> None:
        """List the server's tools, unless that was done."""
        async with self._learning:
            if self.listed:
                return
            self.listed = True
            params: dict[str, Any] = {}
            if self.lane.era != "session" and self.lane.meta is not None:
                params["_meta"] = self.lane.meta
            for _ in range(MOST_PAGES):
                reply = await self.own("tools/list", params)
                if reply.said is None:
                    return
                self.learn(reply.said)
                cursor = reply.said.result.get("nextCursor")
                if type(cursor) is not str:
                    return
                params = {**params, "cursor": cursor}

    def learn(self, answer: Said) -> None:
        """Take note of tools that were listed."""
        self._tools.learn(answer)
        tools = answer.result.get("tools")
        for tool in tools if type(tools) is list else ():
            if type(tool) is dict and type(tool.get("name")) is str:
                self.hints[tool["name"]] = tool.get("annotations")
        self.listed = self.listed or (type(tools) is list and "nextCursor" not in answer.result)

    async def wait_for_stream(self) -> None:
        """Wait till as much came on the session's own stream as in the recording, or a while."""
        if not self.peer.over_http:
            return  # there it has no stream of its own
        try:
            async with asyncio.timeout(self.limits.stream):
                while self.streamed < self.lane.streamed:
                    self._more.clear()
                    await self._more.wait()
        except TimeoutError:
            return

    async def close(self) -> None:
        """End the session."""
        for task in self._answering:
            task.cancel()
        await self.peer.close()

    async def _began(self) -> None:
        """Say that the session has begun, and listen."""
        self._opened = True
        if self.lane.opened is not None:
            await self.tell(self.lane.opened)
        else:
            said = read(bodies.notification(bodies.INITIALIZED))
            assert said is not None
            await self._say(said)
        if self.lane.listens:
            await self.peer.listen(self.hear)

    async def _say(self, said: Said) -> None:
        """Send what gets no answer; what a server makes of it shows in what comes of its calls."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.limits.timeout):
                await self.peer.tell(said)

    async def _answer(self, said: Said, chain: Chain | None) -> None:
        data = self._answer_to(said, chain) if spec.asks(said.method) else None
        if said.method == "ping":
            data = bodies.answered(said.id, {})
        answer = None if data is None else read(data)
        if answer is not None:
            with contextlib.suppress(Unreachable):
                await self._say(answer)

    def _answer_to(self, said: Said, chain: Chain | None) -> bytes | None:
        if chain is None and len(self._open) == 1:
            chain = self._open[0]
        if chain is not None:
            chain.was_asked()
        exchanges = None if chain is None else chain.exchanges
        then = pushed_then(self.lane.pushes, said.method, said.params, exchanges)
        about = {} if chain is None or chain.item.call is None else _about(chain.item.call)
        question = questions({str(said.id): said.value}, pushed=True, **about)[0]
        try:
            found = self.answers.to_push(question, said.value, then)
        except NotAnswered as error:
            if chain is not None:
                chain.stopped(str(error))
            if said.method == spec.ELICIT:
                return bodies.answered(said.id, {"action": "cancel"})
            return bodies.refused(said.id, f"{brief(said.method)} is not answered: {error}")
        return None if found is None else bodies.response(said.id, found)


def _about(call: RecordedCall) -> dict[str, Any]:
    return {
        "method": call.method,
        "name": call.target,
        "server": call.server,
        "call": call.number,
    }
