"""Both directions where somebody decides about lines: each waits, whole, for what becomes of it.

Rules of this file:

- One lock orders everything: who decides is asked about one line at a time, and what it says is
  recorded and queued before the next one is asked about.
- Nobody writes under that lock, nor reads from the one side while the other does not take what is
  for it: each side has an `Outbox` with a thread of its own.  Else a server that reads nothing
  before it has written everything could never be answered.
- The end of the client's input is the server's once nothing has to be sent any more, `LAST` seconds
  later at most; at once where the client is gone.
- A line of more bytes than who decides waits for passes as it comes; what else is for that side
  comes after it.
"""

from __future__ import annotations

import os
import select
import threading
from collections import deque
from collections.abc import Callable, Sequence
from time import monotonic

from mcp_tap.proxy.stdio.intake import Intake, Way
from mcp_tap.proxy.stdio.pump import give_up, read, write_all
from mcp_tap.proxy.stdio.steps import LineAnswerer, Step, ToClient, ToServer

LAST = 10.0
"""Seconds for which a client that has closed its end, and waits, is still answered for."""
EDGE = 256
"""Bytes at either end of a line that passes unseen which who decides is told."""
FULL = 1 << 20
"""Bytes that may wait for one side before the other is read no further."""


class Outbox(threading.Thread):
    """What one side is to get, in order."""

    def __init__(self, target: int, *, source: int, done: Callable[[], None]) -> None:
        """Write to `target`, which is closed at the end.

        Args:
            target: descriptor that is written.
            source: descriptor that is given up where the target cannot be written any more, so that
                whoever writes there knows.
            done: called at the end, from this thread.
        """
        super().__init__(name="outbox", daemon=True)
        self._target = target
        self._source = source
        self._done = done
        self._turn = threading.Condition()
        self._lines: deque[bytes] = deque()
        self._waiting = 0
        self._passing = False
        self._held: list[bytes] = []
        self._closed = False
        self.reading: float | None = None
        """Since when it has been waiting for something to write; None: it is not."""
        self.over = False
        """It writes no more."""

    def put(self, line: bytes) -> None:
        """Send a line, after the one that is passing."""
        with self._turn:
            if self._passing:
                self._held.append(line)
            else:
                self._add(line)

    def part(self, data: bytes, *, last: bool) -> None:
        """Send a part of a line that passes as it comes."""
        with self._turn:
            self._passing = not last
            self._add(data)
            if last:
                for line in self._held:
                    self._add(line)
                self._held.clear()

    def close(self) -> None:
        """Send nothing more; close the target once everything is sent."""
        with self._turn:
            self._closed = True
            self._turn.notify_all()

    def wait_for_room(self) -> None:
        """Return when not much waits here, or nothing ever will be taken again."""
        with self._turn:
            self._turn.wait_for(lambda: self._waiting < FULL or self.over)

    @property
    def deserted(self) -> bool:
        """Tell whether nobody reads what is written here any more."""
        if self.over:
            return True
        look = select.poll()
        look.register(self._target, 0)  # that the other end is closed is told unasked
        return bool(look.poll(0))

    def run(self) -> None:
        """Write what comes, to the end."""
        while line := self._next():
            if not write_all(self._target, line):
                give_up(self._source)
                break
            with self._turn:
                self._waiting -= len(line)
                self._turn.notify_all()
        else:
            give_up(self._target)
        with self._turn:
            self.over = True
            self._turn.notify_all()
        self._done()

    def _add(self, data: bytes) -> None:
        if data and not self.over:
            self._lines.append(data)
            self._waiting += len(data)
            self._turn.notify_all()

    def _next(self) -> bytes:
        with self._turn:
            if not self._lines:
                self.reading = monotonic()
                self._turn.wait_for(lambda: self._lines or self._closed)
                self.reading = None
            return self._lines.popleft() if self._lines else b""


class Decisions:
    """Asks what becomes of lines, and does it."""

    def __init__(
        self, answerer: LineAnswerer, intake: Intake, to_server: Outbox, to_client: Outbox
    ) -> None:
        """Ask `answerer`."""
        self._answerer = answerer
        self._intake = intake
        self._lock = threading.Lock()
        self._boxes = {"client": to_server, "server": to_client}
        self._parent = os.getppid()
        self._until: float | None = None
        """When the server's input ends, as the client's has; None: that goes on, or is through."""

    def line(self, way: Way, line: bytes) -> None:
        """Let a line wait for what becomes of it."""
        answerer = self._answerer
        ask = answerer.from_client if way == "client" else answerer.from_server
        with self._lock:
            self._do(way, ask(line, self._intake.now()))
            self._end_in_time()

    def most(self, way: Way) -> int:
        """Say how many bytes of a line are waited for."""
        return self._answerer.most(way)

    def part(self, way: Way, data: bytes, *, last: bool) -> None:
        """Let a part of a line that is too long pass."""
        with self._lock:
            self._intake.put(way, data)
            self._boxes[way].part(data, last=last)

    def passed(self, way: Way, head: bytes, tail: bytes) -> None:
        """Take note that a line has passed, with these bytes at its ends."""
        with self._lock:
            self._do(way, self._answerer.passed(way, head, tail, self._intake.now()))

    def end(self, way: Way) -> None:
        """Take note that a side has ended; what the other is still to get is sent first."""
        with self._lock:
            if way == "client":
                self._until = self._intake.now() + LAST
                self._end_in_time()
            else:
                self._end(way)

    def tick(self) -> None:
        """Let time pass."""
        with self._lock:
            self._do("client", self._answerer.tick(self._intake.now()))
            self._end_in_time()

    def wait_for_room(self, way: Way) -> None:
        """Return when whoever gets this side's lines takes them."""
        self._boxes[way].wait_for_room()

    def _end_in_time(self) -> None:
        """Let the client's end be the server's, if it is time."""
        if self._until is None:
            return
        gone = os.getppid() != self._parent or self._boxes["server"].deserted
        if gone or not self._answerer.busy or self._intake.now() >= self._until:
            self._until = None
            self._end("client")

    def _end(self, way: Way) -> None:
        answerer = self._answerer
        ask = answerer.client_eof if way == "client" else answerer.server_eof
        self._do(way, ask(self._intake.now()))
        self._intake.put(way, b"")
        self._boxes[way].close()

    def _do(self, way: Way, steps: Sequence[Step]) -> None:
        for step in steps:
            self._intake.put(way, b"", step)
            if isinstance(step, ToServer):
                self._boxes["client"].put(step.line)
            elif isinstance(step, ToClient):
                self._boxes["server"].put(step.line)


class Sluice(threading.Thread):
    """Reads one direction by the line."""

    def __init__(
        self, way: Way, source: int, decisions: Decisions, *, done: Callable[[], None]
    ) -> None:
        """Read `source`; `done` is called at its end, from this thread."""
        super().__init__(name=f"sluice {way}", daemon=True)
        self._way = way
        self._source = source
        self._decisions = decisions
        self._done = done
        self._pieces: list[bytes] = []
        self._size = 0
        self._passing = False
        self._head = self._tail = b""
        """Both ends of the line that passes."""
        self.reading: float | None = None
        """Since when it has been waiting for something to read; None: it is not."""
        self.over = False
        """It reads no more."""
        self.ended = False
        """The source has ended."""

    def run(self) -> None:
        """Read to the end."""
        while data := self._read():
            self._take(data)
            self._decisions.wait_for_room(self._way)
        if self._pieces:
            self._decisions.line(self._way, b"".join(self._pieces))
        self._decisions.end(self._way)
        self.over = self.ended = True
        self._done()

    def _read(self) -> bytes:
        self.reading = monotonic()
        data = read(self._source)
        self.reading = None
        return data

    def _take(self, data: bytes) -> None:
        for piece in _kept(data):
            self._piece(piece, last=piece.endswith(b"\n"))

    def _piece(self, piece: bytes, *, last: bool) -> None:
        """Take a line's next bytes, the `last` ones of it or not."""
        if self._passing:
            self._pass(piece, last=last)
            return
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > self._decisions.most(self._way):
            data = b"".join(self._pieces)
            self._head = data[:EDGE]
            self._pass(data, last=last)
        elif last:
            self._decisions.line(self._way, b"".join(self._pieces))
        else:
            return
        self._pieces, self._size = [], 0

    def _pass(self, data: bytes, *, last: bool) -> None:
        self._decisions.part(self._way, data, last=last)
        self._passing = not last
        self._tail = (self._tail + data[-EDGE:])[-EDGE:]
        if last:
            self._decisions.passed(self._way, self._head, self._tail)
            self._head = self._tail = b""


def _kept(data: bytes) -> list[bytes]:
    """Divide into lines, each with its line feed; the last one may have none."""
    *lines, rest = data.split(b"\n")
    return [line + b"\n" for line in lines] + ([rest] if rest else [])
