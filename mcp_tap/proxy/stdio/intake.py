"""The queue between the pumps and the recording: in the order of what happened, and bounded.

Rules of this file:

- `put()` takes the time and queues the chunk in one step, so that times never run backwards.
- They are taken in portions, so that what waits can be `cut()` soon where a run has to end.
- Past `BOUND` waiting bytes a pump waits up to `PATIENCE` once for the recording to catch up (it
  loads while the first bytes pass); after that chunks are dropped from the recording until it has.
  The traffic is never dropped.
"""

from __future__ import annotations

import threading
from collections import deque
from time import monotonic, perf_counter, sleep
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from mcp_tap.proxy.stdio.steps import Step

Way: TypeAlias = Literal["client", "server", "stderr"]
"""A stream, named after who writes to it; `stderr` is the server's other one."""

WAYS: Final[tuple[Way, ...]] = ("client", "server", "stderr")
BOUND = 64 << 20
"""Bytes that may wait."""
PORTION = 1 << 20
"""Bytes that are taken at once; a chunk is not divided."""
PATIENCE = 0.5
"""Seconds a burst may wait for the recording."""
GATHER = 0.002
"""Seconds for which chunks gather, so that they are on their way before they are looked at."""


class Chunk(NamedTuple):
    """What was read from a stream, or became of it."""

    way: Way
    t: float
    """When, in seconds since the run's start."""
    data: bytes
    """Its bytes; none: the stream has ended."""
    step: Step | None = None
    """What became of a line, in place of bytes."""
    lost: int = 0
    """In place of bytes: so many lines at least were dropped here."""


class Intake:
    """Chunks that wait to be recorded."""

    def __init__(self, *, sync: bool = False) -> None:
        """Begin; the run starts now.  With `sync`, `put()` returns when the chunk is recorded."""
        self._started = perf_counter()
        self._sync = sync
        self._chunks: deque[Chunk] = deque()
        self._waiting = 0
        self._taken = 0
        self._settled = 0
        self._turn = threading.Condition()
        self._patient = True
        self._holes: dict[Way, int] = {}
        self._wake = threading.Event()
        self._deaf = False
        self.closed = False
        """Nothing more comes."""

    @property
    def idle(self) -> bool:
        """Tell whether everything that came is recorded, or never will be."""
        return self._deaf or self._taken == self._settled

    def now(self) -> float:
        """Give the time since the run's start, in seconds."""
        return perf_counter() - self._started

    def put(self, way: Way, data: bytes, step: Step | None = None) -> None:
        """Take what was read from a stream, nothing at its end; or what became of a line."""
        with self._turn:
            if self._waiting > BOUND and self._patient:
                self._wait_for_room()
            if self._deaf:
                return
            t = self.now()
            if self._waiting > BOUND and data:
                self._holes[way] = self._holes.get(way, 0) + (data.count(b"\n") or 1)
                return
            self._tell_holes(t)
            self._queue(Chunk(way, t, data, step))
            self._wake.set()
            if self._sync:
                mine = self._taken
                self._turn.wait_for(lambda: self._deaf or self._settled >= mine)

    def take(self, timeout: float) -> list[Chunk]:
        """Give a portion of what came, waiting so many seconds for it."""
        if self._wake.wait(timeout) and not (self.closed or self._sync):
            sleep(GATHER)
        chunks: list[Chunk] = []
        size = 0
        with self._turn:
            while self._chunks and size < PORTION:
                chunks.append(self._chunks.popleft())
                size += _bytes(chunks[-1])
            if not self._chunks:
                self._wake.clear()
        return chunks

    def done(self, chunks: list[Chunk]) -> None:
        """Take note that these are recorded."""
        with self._turn:
            self._settled += len(chunks)
            self._waiting -= sum(map(_bytes, chunks))
            if self._waiting < BOUND // 2:
                self._patient = True
            self._turn.notify_all()

    def cut(self) -> None:
        """Record nothing of what waits: there is no time."""
        with self._turn:
            waiting = list(self._chunks)
            self._chunks.clear()
            for way, _, data, step, lost in waiting:
                if data or step or lost:
                    lines = lost or data.count(b"\n") or 1
                    self._holes[way] = self._holes.get(way, 0) + lines
            self.done(waiting)
            self._tell_holes(self.now())

    def close(self) -> None:
        """Take note that nothing more comes."""
        with self._turn:
            self._tell_holes(self.now())
            self.closed = True
            self._wake.set()

    def forget(self) -> None:
        """Take nothing from now on: nobody records it."""
        with self._turn:
            self._deaf = True
            self._chunks.clear()
            self._turn.notify_all()

    def _tell_holes(self, t: float) -> None:
        for way, lost in self._holes.items():
            self._queue(Chunk(way, t, b"", lost=lost))
        self._holes.clear()

    def _queue(self, chunk: Chunk) -> None:
        self._chunks.append(chunk)
        self._taken += 1
        self._waiting += _bytes(chunk)

    def _wait_for_room(self) -> None:
        end = monotonic() + PATIENCE
        while self._waiting > BOUND and not self._deaf:
            left = end - monotonic()
            if left <= 0:
                self._patient = False
                return
            self._turn.wait(left)


def _bytes(chunk: Chunk) -> int:
    """Count what a chunk holds."""
    line = getattr(chunk.step, "line", b"")
    return len(chunk.data) + len(line)
