"""Bytes from one file descriptor to another, verbatim, each chunk reported before it goes on.

Rules of this file:

- Blocking reads and writes, one thread a direction: any kind of descriptor works, back-pressure is
  the system's, and what was read goes on at once, however little it is.
- A chunk is reported before it is written: whoever answers it cannot be reported earlier.
- A descriptor is given up by putting the null device in its place.  Its number stays taken, so that
  no other thread can hit a stranger's file, and a thread that writes to it does no harm.
"""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable
from time import monotonic

from mcp_tap.proxy.stdio.intake import Way

CHUNK = 1 << 16
"""Bytes that are read at once."""


class Pump(threading.Thread):
    """Carries one direction until either end is gone."""

    def __init__(
        self,
        way: Way,
        source: int,
        target: int,
        *,
        report: Callable[[Way, bytes], None],
        done: Callable[[], None],
        closes: bool = True,
    ) -> None:
        """Carry from `source` to `target`.

        Args:
            way: name of the direction.
            source: descriptor that is read.
            target: descriptor that is written.
            report: told of each chunk before it goes on; of the end by an empty one.
            done: called at the end, from the pump's thread.
            closes: the target is closed when the source has ended.
        """
        super().__init__(name=f"pump {way}", daemon=True)
        self._way = way
        self._source = source
        self._target = target
        self._report = report
        self._done = done
        self._closes = closes
        self.reading: float | None = None
        """Since when it has been waiting for something to read; None: it is not."""
        self.over = False
        """It carries no more."""
        self.ended = False
        """The source has ended by itself."""

    def run(self) -> None:
        """Carry."""
        try:
            self._carry()
        finally:
            self.over = True
            self._done()

    def _carry(self) -> None:
        while data := self._read():
            self._report(self._way, data)
            if not write_all(self._target, data):
                give_up(self._source)  # who writes there shall know that nobody reads
                self._report(self._way, b"")
                return
        self.ended = True
        self._report(self._way, b"")
        if self._closes:
            give_up(self._target)

    def _read(self) -> bytes:
        self.reading = monotonic()
        data = read(self._source)
        self.reading = None
        return data


def read(fd: int) -> bytes:
    """Read what there is, waiting for something; nothing at the end, whatever ended it."""
    while True:
        try:
            return os.read(fd, CHUNK)
        except BlockingIOError:  # whoever shares the descriptor made it so
            select.select([fd], [], [])
        except OSError:  # a terminal that was hung up, a connection that was reset
            return b""


def write_all(fd: int, data: bytes) -> bool:
    """Write all of it, however long that takes; tell whether it could be."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(fd, rest) :]
        except BlockingIOError:
            select.select([], [fd], [])
        except OSError:
            return False
    return True


def give_up(fd: int) -> None:
    """Close what this descriptor leads to, and lead it nowhere."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, fd, inheritable=False)
    os.close(nowhere)
