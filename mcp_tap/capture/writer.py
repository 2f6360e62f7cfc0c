"""Write a capture while traffic passes: never in its way, and never quietly incomplete.

Rules of this file:

- `write()` encodes, queues and returns.  One thread takes all that is queued and appends it, some
  40 times a second, so that what was handed over half a second before a `kill -9` is in the file.
  The thread does nothing a line: it would take the interpreter from the traffic.
- What cannot be written waits in memory and is tried again.  Past `BOUND` waiting bytes new lines
  are lost: counted, said at once, and told in the file by a `gap` record in their place.
- With `sync` there is no thread: `write()` returns when the system has the bytes.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

import msgspec

from mcp_tap.capture.file import CaptureFile
from mcp_tap.core.records import AnyRecord, Footer, Gap, Header, encode, encode_lines

BOUND = 64 << 20
"""Bytes that may wait; one line may go beyond it, so that a line larger than this is kept too."""
TICK = 0.025
"""Seconds between two writes under load."""
IDLE = 0.05
"""Seconds the thread sleeps at most when nothing comes: someone may be looking at the file."""
HURRY = 1 << 20
"""Bytes that do not wait for the next tick."""
PATIENCE = 0.5
"""Seconds a burst may wait for a disk that works."""
RETRY = 0.25
"""Seconds between two attempts while writing fails."""
CLOSE = 2.0
"""Seconds `close()` and `flush()` wait at most."""


class CaptureWriter:
    """One capture being written; `write()` is for one thread at a time."""

    def __init__(
        self,
        path: Path,
        header: Header,
        *,
        rotate: int | None = None,
        sync: bool = False,
        on_trouble: Callable[[str], None],
    ) -> None:
        """Create the file and start the thread.

        Args:
            path: first part; it must not exist yet.
            header: repeated at the head of every further part.
            rotate: begin another part before one grows past so many bytes.
            sync: write in `write()` itself.
            on_trouble: told in a sentence that writing fails, that records are being lost, and
                that all is well again: each once.  Called from any thread; must return at once.

        Raises:
            CaptureError: the file exists already, or cannot be created.
        """
        self.path = path
        self._file = CaptureFile(path, header)
        self._rotate = rotate
        self._rotate_at = rotate or 0
        self._sync = sync
        self._on_trouble = on_trouble
        self._lock = threading.Lock()
        self._blocks: list[bytes] = []
        """Lines that were handed over, by the block; under the lock, as both threads get at it."""
        self._waiting = 0
        """How many lines those are; under the lock too."""
        self._rest = b""
        """Lines the writing thread has taken and not written yet."""
        self._count: int | None = 0
        """How many lines those are, where that is known."""
        self._taken = 0
        self._settled = 0
        self._lost_queueing = 0
        self._lost_in_file = 0
        self._hole: Gap | None = None
        self._failing: OSError | None = None
        self._retry_at = 0.0
        self._loss_said = False
        self._odd_said = False
        self._attempts = 0
        self._patient = True
        self._closed = False
        self._stop = False
        self._wake = threading.Event()
        self._turn = threading.Condition()
        self._thread: threading.Thread | None = None
        if not sync:
            self._thread = threading.Thread(target=self._run, name="capture", daemon=True)
            self._thread.start()

    @property
    def lost(self) -> int:
        """Records that are not, and will not be, in the file."""
        return self._lost_queueing + self._lost_in_file

    @property
    def parts(self) -> list[Path]:
        """The files of this run so far, in order."""
        return list(self._file.parts)

    def write(self, record: AnyRecord) -> None:
        """Take a record: never wait for the disk (without `sync`), never raise."""
        self._wait_if_full()
        if self._taken - self._settled > BOUND or self._closed:
            self._lose_late(record)
            return
        if self._hole is not None:
            self._tell_hole()
        try:
            self._add(record)
        except (ValueError, TypeError, RecursionError) as error:
            self._lose_odd(record, f"it cannot be written as a line ({type(error).__name__})")
            return
        if self._sync:
            self._drain()

    def write_many(self, items: list[tuple[AnyRecord, Any]]) -> None:
        """Take several records: the same as `write()` for each, with less ado.

        Args:
            items: records, each with something that is not written: as the recording has them.
        """
        self._wait_if_full()
        special = self._hole is not None or self._closed or self._sync
        if special or self._taken - self._settled > BOUND:
            for record, _ in items:
                self.write(record)
            return
        try:
            block = encode_lines([record for record, _ in items])
        except (ValueError, TypeError, RecursionError):
            block = b""
        if block.count(b"\n") == len(items):
            self._queue(block, len(items))
        else:  # one of them is no line
            for record, _ in items:
                self.write(record)

    def poke(self) -> None:
        """Try again what could not be written, where no thread does it; called now and then."""
        if self._thread is None and not self._closed:
            self._drain()

    def flush(self) -> None:
        """Return when all that was handed over is written, or that failed, or 2 s have passed."""
        if self._thread is None:
            self._retry_at = 0.0
            self._drain()
            return
        target, attempts, end = self._taken, self._attempts, monotonic() + CLOSE
        self._retry_at = 0.0
        self._wake.set()
        with self._turn:
            while self._settled < target and self._thread.is_alive() and monotonic() < end:
                if self._failing is not None and self._attempts > attempts:
                    return
                self._turn.wait(TICK)

    def close(self, footer: Footer) -> None:
        """Write the footer and what still waits, and close the file; wait at most 2 s for that."""
        if self._closed:
            return
        if self._hole is not None:
            self._tell_hole()
        self._add(msgspec.structs.replace(footer, lost=max(footer.lost, self.lost)))
        self._closed = True
        self._retry_at = 0.0
        self._stop = True
        if self._thread is None:
            self._drain()
            self._file.close()
        else:
            self._wake.set()
            self._thread.join(CLOSE)
        left = self._rest.count(b"\n") + self._waiting
        if left:
            self._lost_queueing += left - 1
            self._say(f"{self.path.name} ends without a footer; {_records(self.lost)} not written")

    def _run(self) -> None:
        tick = TICK
        while not self._stop:
            self._wake.wait(tick)
            self._wake.clear()
            tick = TICK if self._drain() else min(tick * 2, IDLE)
        self._drain()
        self._file.close()

    def _drain(self) -> bool:
        """Write all that waits; tell whether there was anything to write."""
        if not (self._rest or self._blocks):
            return False
        if self._failing is not None and monotonic() < self._retry_at and not self._stop:
            return True
        try:
            self._mend()
            while self._rest or self._blocks:
                data = self._next_lines()
                count = self._count if data is self._rest else None
                whole, failure = self._file.append(data, count)
                self._rest, self._count = self._rest[whole:], None
                self._settled += whole
                if failure is not None:
                    raise failure
        except OSError as error:
            self._failed(error)
        else:
            self._well()
        with self._turn:
            self._attempts += 1
            self._turn.notify_all()
        return True

    def _next_lines(self) -> bytes:
        """Give what goes into the current part; begin a further one where nothing more fits."""
        if not self._rest:
            with self._lock:
                blocks, self._blocks = self._blocks, []
                self._count, self._waiting = self._waiting, 0
            self._rest = b"".join(blocks)
        rest, file = self._rest, self._file
        if not self._rotate:
            return rest
        first = rest.find(b"\n") + 1
        if file.lines and self._rotate_at < file.size + first:
            self._next_part()
        return rest[: rest.rfind(b"\n", 0, max(self._rotate_at - file.size, first)) + 1]

    def _add(self, record: AnyRecord) -> None:
        """Queue a line."""
        self._queue(_line(record) + b"\n", 1)

    def _queue(self, block: bytes, lines: int) -> None:
        """Hand over lines, each with its line break."""
        with self._lock:
            self._blocks.append(block)
            self._waiting += lines
        self._taken += len(block)
        if self._taken - self._settled > HURRY and not self._wake.is_set():
            self._wake.set()

    def _wait_if_full(self) -> None:
        """Let a disk that works catch up, rather than lose records to a burst.

        This holds up the traffic, so one wait in vain is the last until the backlog has gone down:
        a disk that fails, or is too slow for the traffic, costs records and not time.
        """
        waiting = self._taken - self._settled
        if waiting < HURRY:
            self._patient = True
        if waiting <= BOUND or not self._patient or self._failing or self._thread is None:
            return
        end = monotonic() + PATIENCE
        with self._turn:
            while self._taken - self._settled > BOUND and not self._failing:
                if monotonic() > end:
                    self._patient = False
                    return
                self._turn.wait(TICK)

    def _next_part(self) -> None:
        rotate = self._rotate or 0
        try:
            self._file.next_part()
        except OSError as error:
            self._rotate_at = self._file.size + rotate
            self._say(
                f"no further part of {self.path.name} can be begun: {error.strerror}; "
                f"it goes on in {self._file.current.name}"
            )
        else:
            self._rotate_at = rotate

    def _mend(self) -> None:
        what, gone = self._file.mend()
        if what:
            self._lost_in_file += gone
            self._say(f"{what}; {_records(gone)} lost" if gone else what)

    def _lose(self, record: AnyRecord, why: str) -> None:
        self._lost_queueing += 1
        lost = 1 if self._hole is None else self._hole.lost + 1
        self._hole = Gap(seq=record.seq, t=record.t, lost=lost, why=why)

    def _lose_odd(self, record: AnyRecord, why: str) -> None:
        self._lose(record, why)
        if not self._odd_said:
            self._odd_said = True
            self._say(f"a record is missing from {self.path.name}: {why}")

    def _lose_late(self, record: AnyRecord) -> None:
        reason = self._failing
        why = f"more than {BOUND >> 20} MiB waited to be written" + (
            f" ({reason.strerror or reason})" if reason is not None else ""
        )
        self._lose(record, why)
        if not self._loss_said and not self._closed:
            self._loss_said = True
            self._say(f"records are being lost from {self.path.name}: {why}")

    def _tell_hole(self) -> None:
        if self._hole is not None:
            self._add(self._hole)
            self._hole = None

    def _failed(self, error: OSError) -> None:
        self._retry_at = monotonic() + RETRY
        first, self._failing = self._failing is None, error
        if first:
            self._say(
                f"{self._file.current.name} cannot be written: {error.strerror or error}; "
                f"traffic goes on, records wait in memory up to {BOUND >> 20} MiB"
            )

    def _well(self) -> None:
        if self._failing is not None or (self._loss_said and self._hole is None):
            self._failing, self._loss_said = None, False
            self._say(
                f"{self._file.current.name} is written again; {_records(self.lost)} lost so far"
            )

    def _say(self, text: str) -> None:
        # The listener may be an event loop that is closed by now; that must not end the thread.
        with contextlib.suppress(RuntimeError):
            self._on_trouble(text)


def _line(record: AnyRecord) -> bytes:
    line = encode(record)
    if b"\n" in line:
        raise ValueError("more than one line")  # a payload spliced in against the rules
    return line


def _records(count: int) -> str:
    return f"{count:,} record" + ("" if count == 1 else "s")
