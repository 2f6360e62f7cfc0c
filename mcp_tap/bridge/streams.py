"""What waits to go to a client of the HTTP front, in order, on one of its streams."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final, NamedTuple

MOST_WAITING: Final = 64 << 20
"""Bytes that wait for a client who does not read; past that its stream is broken off.

One message may be larger."""


class Part(NamedTuple):
    """Something to be sent."""

    data: bytes | None
    """A message; None where there is only an end."""
    last: bool = False
    """The stream ends with it."""
    status: int | None = None
    """Status of a response that is nothing but this; None: as the message has it."""
    mark: str = ""
    """Name of the fault, where the bridge says it."""


class Stream:
    """A queue with one reader."""

    def __init__(self) -> None:
        """Begin empty."""
        self._parts: deque[Part] = deque()
        self._size = 0
        self._some = asyncio.Event()
        self.closed = False
        """Nothing is taken any more: it has ended, or its client is gone."""
        self.overrun = False
        """Its client did not read."""

    def put(self, data: bytes) -> None:
        """Let a message be sent."""
        self._add(Part(data))

    def end(self, part: Part | None = None) -> None:
        """Let this be sent, and the stream end."""
        self._add(Part(None, last=True) if part is None else part)
        self.closed = True

    def drop(self) -> None:
        """Forget what waits: nobody will read it."""
        self.closed = True
        self._parts.clear()

    async def next(self, seconds: float) -> Part | None:
        """Give what is to be sent next; None where nothing came in this time."""
        if not self._parts:
            self._some.clear()
            try:
                async with asyncio.timeout(seconds):
                    await self._some.wait()
            except TimeoutError:
                return None
        part = self._parts.popleft()
        self._size -= len(part.data or b"")
        return part

    def _add(self, part: Part) -> None:
        if self.closed:
            return
        self._size += len(part.data or b"")
        if self._parts and self._size > MOST_WAITING:
            self._parts.clear()
            part = Part(None, last=True)
            self.overrun = self.closed = True
        self._parts.append(part)
        self._some.set()
