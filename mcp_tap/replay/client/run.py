"""A recorded run made again: everything of it in order, as much of it at once as there was.

Rules of this file:

- What had ended in the recording before something began has ended before it begins now.
- Without a server nothing more is sent.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from mcp_tap.answers.book import Book
from mcp_tap.bridge.heads import Tools
from mcp_tap.core.spec import INITIALIZE
from mcp_tap.replay.client.answering import Answers
from mcp_tap.replay.client.chain import Chain, Played
from mcp_tap.replay.client.lane import Limits, LiveLane
from mcp_tap.replay.client.peers import Peer, Unreachable
from mcp_tap.replay.client.plan import Item, Lane, Plan
from mcp_tap.replay.client.writing import may_write
from mcp_tap.replay.index import Index
from mcp_tap.replay.recorded import RecordedExchange

Parallel: TypeAlias = Literal["recorded", "one"]
Connect: TypeAlias = Callable[[Lane, Tools], Awaitable[Peer]]
_CALL: Final = "tools/call"
_NEVER: Final = float("inf")


class _Running(Struct, eq=False):
    item: Item
    task: asyncio.Task[None]
    chain: Chain | None


class ClientRun:
    """Sends what a plan has, and keeps what became of it."""

    def __init__(
        self,
        plan: Plan,
        index: Index,
        connect: Connect,
        *,
        book: Book | None = None,
        limits: Limits,
        parallel: Parallel = "recorded",
        yes: bool = False,
    ) -> None:
        """Prepare it.

        Args:
            plan: what to send.
            index: holds the capture.
            connect: gives a lane its way to the server.
            book: a script that answers.
            limits: how long to wait.
            parallel: as recorded, or one call after the other.
            yes: call tools that may change things, too.
        """
        self._plan = plan
        self._index = index
        self._connect = connect
        self._answers = Answers(book)
        self._limits = limits
        self._parallel = parallel
        self._yes = yes
        self._lanes: dict[str, LiveLane] = {}
        self._numbers = count(1)
        self._states: dict[str | bytes, str] = {}
        self.played: list[Played] = []
        """Of each call that is compared, in order."""
        self.sent = 0
        """Calls that were begun."""
        self.gone = ""
        """Why there is no server, or not any more; empty: there is."""

    async def run(self) -> None:
        """Send everything; ends when all has ended, or the server is gone."""
        running: list[_Running] = []
        streams: list[_Running] = []
        try:
            for item in self._plan.items:
                await self._close_streams(streams, running, until=item.t)
                running = await self._wait(running, item.t)
                begun = await self._begin(item)
                if begun is None:
                    continue
                running.append(begun)
                if begun.chain is not None and item.call and item.call.kind == "stream":
                    streams.append(begun)
            await self._wait([one for one in running if one not in streams], _NEVER)
            await self._close_streams(streams, running, until=_NEVER)
            if self._plan.whole and not self.gone:
                for lane in self._lanes.values():
                    await lane.wait_for_stream()
        finally:
            for one in running + streams:
                one.task.cancel()
            await asyncio.gather(*(one.task for one in running + streams), return_exceptions=True)
            for lane in self._lanes.values():
                with contextlib.suppress(Unreachable):
                    await lane.close()

    async def _begin(self, item: Item) -> _Running | None:
        """Begin what is next; None where it is not sent."""
        if item.call is None:
            if item.note is not None:
                await self._note(item.note, item.lane)
            return None
        lane = None
        if item.cannot is None and not self.gone:
            try:
                lane = await self._lane(item.lane)
                if item.call.method == _CALL:
                    await self._see_tools(item, lane)
            except Unreachable as error:
                self.gone = str(error)
        if lane is None or item.cannot is not None or self.gone:
            if item.cannot is None:
                item.cannot, item.why = "gone", self.gone
            if item.wanted:
                self.played.append(Played(item=item, why=item.why, failed=True))
            return None
        chain = Chain(item, lane)
        if item.wanted:
            self.played.append(chain.played)
            self.sent += 1
        task = asyncio.get_running_loop().create_task(self._play(chain, lane))
        return _Running(item, task, chain)

    async def _note(self, note: RecordedExchange, lane: Lane) -> None:
        if self.gone:
            return
        try:
            live = await self._lane(lane)
            await live.ready()
            await live.tell(note)
        except Unreachable as error:
            self.gone = str(error)

    async def _see_tools(self, item: Item, lane: LiveLane) -> None:
        """Hold a call back that may change things."""
        assert item.call is not None
        await lane.ready()
        if self._yes and item.lane.era == "session":
            return  # nothing of it travels in headers
        await lane.learn_tools()
        if self._yes:
            return
        name = item.call.target or ""
        recorded = self._plan.tools.get(name)
        known = [recorded.get("annotations")] if type(recorded) is dict else []
        why = may_write(known + [lane.hints[name]] * (name in lane.hints))
        if why:
            item.cannot, item.why = "writes", f"{why}; --yes sends it"

    async def _play(self, chain: Chain, lane: LiveLane) -> None:
        try:
            await lane.play(chain)
            self.gone = self.gone or lane.peer.gone
        except Unreachable as error:
            self.gone = str(error)
            if chain.played.gone:
                chain.item.cannot, chain.item.why = "gone", self.gone

    async def _lane(self, lane: Lane) -> LiveLane:
        live = self._lanes.get(lane.name)
        if live is None:
            tools = Tools()
            live = self._lanes[lane.name] = LiveLane(
                lane,
                await self._connect(lane, tools),
                index=self._index,
                answers=self._answers,
                limits=self._limits,
                numbers=self._numbers,
                states=self._states,
                tools=tools,
            )
        return live

    async def _wait(self, running: list[_Running], t: float) -> list[_Running]:
        """Wait for what had ended by then in the recording; give what is still running."""
        left = []
        for one in running:
            until = one.item.until
            due = self._parallel == "one" or (until is not None and until <= t) or t == _NEVER
            first = one.item.call is not None and one.item.call.method == INITIALIZE
            if not (due or first):
                left.append(one)
            elif one.chain is not None and one.item.call and one.item.call.kind == "stream":
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._limits.timeout):
                        await one.chain.opened.wait()
            else:
                await one.task
        return left

    async def _close_streams(
        self, streams: list[_Running], running: list[_Running], *, until: float
    ) -> None:
        """Leave streams as their client had by then, once what came on them has come again."""
        for one in list(streams):
            end = one.item.end
            if until != _NEVER and (end is None or end > until):
                continue
            streams.remove(one)
            before = [r for r in running if r is not one]
            await self._wait(before, end if end is not None and until != _NEVER else until)
            if one.chain is not None and not self.gone:
                await one.chain.wait_for(one.item.heard, self._limits.stream)
            one.task.cancel()
            await asyncio.gather(one.task, return_exceptions=True)
