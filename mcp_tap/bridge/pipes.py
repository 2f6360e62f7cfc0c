"""Our own standard streams as lines on the event loop, whatever kind of file they are.

Daemon threads read and write, so that no stream that others do not use holds up the end.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator
from concurrent.futures import CancelledError
from queue import SimpleQueue
from typing import Final

from mcp_tap.bridge.process import MOST_LINE
from mcp_tap.core.lines import LineSplitter
from mcp_tap.proxy.stdio.pump import read, write_all

MOST_AHEAD: Final = 64
"""Lines that are read before they are needed."""
MOST_BEHIND: Final = 64
"""Lines that wait to be written; beyond it none are given, as each may want an answer."""


class Pipes:
    """Reads lines of one descriptor and writes lines to another."""

    def __init__(self, source: int = 0, target: int = 1) -> None:
        """Use these from now on."""
        self._source = source
        self._target = target
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue(MOST_AHEAD)
        self._said: SimpleQueue[tuple[bytes, asyncio.Future[None]]] = SimpleQueue()
        self._behind = 0
        self._keeps_up = asyncio.Event()
        self._keeps_up.set()
        self._loop = asyncio.get_running_loop()
        self.broken = asyncio.Event()
        """Nobody reads what is written."""
        for work in (self._read, self._write):
            threading.Thread(target=work, daemon=True).start()

    async def lines(self) -> AsyncIterator[bytes]:
        """Give each line until the end of the input, as long as what is said is read."""
        while (line := await self._lines.get()) is not None:
            await self._keeps_up.wait()
            yield line

    async def say(self, line: bytes) -> None:
        """Write a line, after those before it."""
        written = self._loop.create_future()
        self._count(1)
        self._said.put((line + b"\n", written))
        await written

    def _read(self) -> None:
        splitter = LineSplitter(MOST_LINE)
        while data := read(self._source):
            for line in splitter.feed(data):
                if not self._hand_on(line.payload):
                    return
        last = splitter.finish()
        if last is None or self._hand_on(last.payload):
            self._hand_on(None)

    def _hand_on(self, line: bytes | None) -> bool:
        """Wait till there is room for it; tell whether somebody is still there."""
        putting = self._lines.put(line)
        try:
            asyncio.run_coroutine_threadsafe(putting, self._loop).result()
        except (RuntimeError, CancelledError):  # the loop has ended
            putting.close()
            return False
        return True

    def _write(self) -> None:
        while True:
            line, written = self._said.get()
            whole = write_all(self._target, line)
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._wrote, written, whole)

    def _wrote(self, written: asyncio.Future[None], whole: bool) -> None:  # noqa: FBT001
        self._count(-1)
        if not whole:
            self.broken.set()
        if not written.done():
            written.set_result(None)

    def _count(self, more: int) -> None:
        """Take note of how many lines wait to be written."""
        self._behind += more
        if self._behind <= MOST_BEHIND:
            self._keeps_up.set()
        else:
            self._keeps_up.clear()
