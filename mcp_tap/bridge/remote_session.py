"""The session a stdio client has with an HTTP server of the session era.

Sources: 2025-11-25, basic/transports#session-management, #listening-for-messages-from-the-server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import aiohttp

from mcp_tap.bridge.checks import STREAM
from mcp_tap.bridge.events import Events
from mcp_tap.bridge.heads import session_head
from mcp_tap.bridge.messages import Said
from mcp_tap.bridge.wire import Wire

ATTEMPTS: Final = 5
"""Times in a row that a broken stream is asked for in vain."""
LEAVE: Final = 0.8
"""Seconds the server has to take note of the session's end."""


class RemoteSession:
    """What has to be said of the session with each message, and the stream that belongs to it."""

    def __init__(self, wire: Wire, say: Callable[[bytes], Awaitable[None]]) -> None:
        """Begin without one; `say` takes what the server says on the session's own stream."""
        self._wire = wire
        self._say = say
        self._id: str | None = None
        self._version: str | None = None
        self._listening: asyncio.Task[None] | None = None
        self.opening: Said | None = None
        """The `initialize` it began with."""
        self.opened: Said | None = None
        """The notification that ended its beginning."""

    @property
    def id(self) -> str | None:
        """Its id; None where it has none."""
        return self._id

    def head(self) -> dict[str, str]:
        """Give the headers of a message in it."""
        return session_head(self._id, self._version)

    def began(self, opening: Said, answer: Said, session: str | None) -> None:
        """Take note of how it began."""
        if answer.result:
            version = answer.result.get("protocolVersion")
            self.opening = opening
            self._id = session
            self._version = version if type(version) is str else None

    def listen(self, opened: Said) -> None:
        """Ask for its own stream."""
        self.opened = opened
        if self._listening is not None:
            self._listening.cancel()
        self._listening = asyncio.get_running_loop().create_task(self._listen())

    def forget(self) -> None:
        """Take note that the server knows it no more."""
        self._id = self._version = None

    async def end(self) -> None:
        """End it."""
        if self._listening is not None:
            self._listening.cancel()
        if self._id is None:
            return
        try:
            async with asyncio.timeout(LEAVE), self._wire.request("DELETE", self.head()):
                self._id = None
        except (aiohttp.ClientError, OSError):  # it ends all the same
            return

    async def follow(self, events: Events, until: Said | None = None) -> Said | None:
        """Go on with a stream on further connections.

        Args:
            events: the stream.
            until: the request whose answer ends it; None: it has no end of its own.

        Returns:
            The answer; None where the server has no more of the stream.
        """
        failures = 0
        while failures < ATTEMPTS:
            head = self.head() | {"Accept": STREAM}
            head.pop("Content-Type")
            if events.last_id is not None:
                head["Last-Event-ID"] = events.last_id
            try:
                async with self._wire.request("GET", head) as response:
                    if response.status >= 500:
                        response.raise_for_status()
                    if response.status != 200 or response.content_type != STREAM:
                        return None
                    failures = 0
                    async for said in events.messages(response):
                        if until is not None and said.answers(until):
                            return said
                        await self._say(said.data)
            except (aiohttp.ClientError, OSError):
                failures += 1
            await asyncio.sleep(events.wait)
        return None

    async def _listen(self) -> None:
        await self.follow(Events())
