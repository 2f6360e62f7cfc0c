"""A stdio server's process on the event loop: its lines come here, lines go there, it is ended.

Rules of this file:

- It is over when its output has ended and itself has, or `linger` seconds after one of them, or
  after it has closed its input: what it wrote last is taken before its end is told, and how it
  ended is known if it has.
- It is shut down in the specification's order, its whole group with it
  (2026-07-28, basic/transports/stdio#shutdown).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Sequence
from typing import Final

from mcp_tap.core.lines import LineSplitter
from mcp_tap.proxy.stdio.child import Child, ended
from mcp_tap.proxy.stdio.ending import GRACE, LINGER, TERMINATE

MOST_LINE: Final = 256 << 20
"""Bytes of a message; a longer one is not passed on."""
MOST_WORDS: Final = 16 << 10
"""Bytes of a line on stderr that are shown."""
LOOK: Final = 0.02
"""Seconds between two looks at whether it is gone."""


class Gone(Exception):
    """The server takes no more; says how it ended."""


class Process:
    """One process of the server."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        line: Callable[[bytes], None],
        words: Callable[[bytes], None],
        over: Callable[[], None],
        linger: float = LINGER,
        most: int = MOST_LINE,
        long: Callable[[], None] | None = None,
    ) -> None:
        """Prepare it.

        Args:
            command: the server's command line.
            line: takes each line of its output.
            words: takes each line of its stderr.
            over: told once when no more lines come.
            linger: seconds it may take to end once a stream of it has.
            most: bytes of a line of its output; of a longer one the first part is given.
            long: told each time that so many bytes of a line have come, and no end.
        """
        self._command = command
        self._line = line
        self._words = words
        self._told_over = over
        self._linger = linger
        self._most = most
        self._long = long or _nothing
        self._child: Child | None = None
        self._loop = asyncio.get_running_loop()
        self._stdin: asyncio.WriteTransport | None = None
        self._stdout: asyncio.ReadTransport | None = None
        self._stderr: asyncio.ReadTransport | None = None
        self._ready = asyncio.Event()
        self._ready.set()
        self._halved = False
        self._deaf = False
        self._stops = False
        self.over = False
        """It takes no more, and no more comes."""

    async def start(self) -> None:
        """Start it.

        Raises:
            UsageError: there is no such command.
        """
        self._child = child = Child(self._command)
        child.wait(self._exits)
        loop = self._loop
        self._stdout, _ = await loop.connect_read_pipe(
            lambda: _Output(self._most, self._line, self._half, self._long),
            os.fdopen(child.stdout, "rb", 0),
        )
        self._stderr, _ = await loop.connect_read_pipe(
            lambda: _Output(MOST_WORDS, self._words, _nothing, _nothing),
            os.fdopen(child.stderr, "rb", 0),
        )
        self._stdin, _ = await loop.connect_write_pipe(
            lambda: _Input(self._ready, self._unread), os.fdopen(child.stdin, "wb", 0)
        )
        if self._stops:  # it was to end before all of it was there
            await self.stop(0.0, 0.0)

    def send(self, line: bytes) -> None:
        """Write a line.

        Raises:
            Gone: it reads no more.
        """
        if self.over or self._stdin is None or self._stdin.is_closing():
            raise Gone(self.how())
        self._stdin.write(line + b"\n")

    @property
    def reads(self) -> bool:
        """Tell whether it has read most of what was written."""
        return self._ready.is_set()

    async def room(self) -> None:
        """Wait till it has read most of what was written, or is over."""
        await self._ready.wait()

    def how(self) -> str:
        """Say how it ended: `exited with code 1`, or which of its streams it has only closed."""
        status = None if self._child is None else self._child.status
        if status is None:
            return f"closed its {'input' if self._deaf else 'output'}"
        return ended(status)

    async def stop(self, grace: float = GRACE, term: float = TERMINATE) -> None:
        """End it: close its input, `grace` seconds, SIGTERM, `term` seconds, SIGKILL."""
        self._stops = True
        child = self._child
        if child is None:
            return
        if self._stdin is not None:
            self._stdin.close()
        try:
            if not await self._gone_within(child, grace):
                child.signal(signal.SIGTERM)
                await self._gone_within(child, term)
        finally:
            if _is_left(child):
                child.kill()
            self._end()
            for stream in (self._stdin, self._stdout, self._stderr):
                if stream is not None:
                    stream.close()

    async def _gone_within(self, child: Child, seconds: float) -> bool:
        end = self._loop.time() + seconds
        while _is_left(child):
            if self._loop.time() >= end:
                return False
            await asyncio.sleep(LOOK)
        return True

    def _exits(self) -> None:
        """Take note that the process has ended; on the thread that waited for it."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is left to tell
            self._loop.call_soon_threadsafe(self._half)

    def _unread(self) -> None:
        """Take note that nobody reads its input any more."""
        self._deaf = True
        if self._stops or self.over:
            self._ready.set()
        else:
            self._ready.clear()
            self._loop.call_later(self._linger, self._end)

    def _half(self) -> None:
        """Take note that its output has ended, or itself."""
        if self._halved:
            self._end()
        else:
            self._halved = True
            self._loop.call_later(self._linger, self._end)

    def _end(self) -> None:
        if not self.over:
            self.over = True
            self._ready.set()
            self._told_over()


class _Output(asyncio.Protocol):
    """Divides what it writes into lines."""

    def __init__(
        self,
        limit: int,
        line: Callable[[bytes], None],
        end: Callable[[], None],
        long: Callable[[], None],
    ) -> None:
        self._splitter = LineSplitter(limit)
        self._limit = limit
        self._size = 0
        self._take = line
        self._end = end
        self._long = long

    def data_received(self, data: bytes) -> None:
        lines = self._splitter.feed(data)
        for line in lines:
            self._take(line.payload)
        self._size = len(data) if lines else self._size + len(data)
        if self._size > self._limit:
            self._size = 0
            self._long()

    def connection_lost(self, _: Exception | None) -> None:
        last = self._splitter.finish()
        if last is not None:
            self._take(last.payload)
        self._end()


class _Input(asyncio.BaseProtocol):
    """Tells when it reads, and when it will no more."""

    def __init__(self, ready: asyncio.Event, end: Callable[[], None]) -> None:
        self._ready = ready
        self._end = end

    def pause_writing(self) -> None:
        self._ready.clear()

    def resume_writing(self) -> None:
        self._ready.set()

    def connection_lost(self, _: Exception | None) -> None:
        self._end()


def _is_left(child: Child) -> bool:
    return child.status is None or child.has_group()


def _nothing() -> None:
    return
