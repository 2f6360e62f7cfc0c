"""Cut a stream into lines, whatever it holds.

Rules of this file:

- Runs of blank lines are passed over as one, without looking at each.
- A line that can be no record is not held in memory: one of `LONGEST` and more, and one that does
  not begin as an object by the time it is `SHORT` long.
- The count stays right: what stands for several lines says for how many.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import BinaryIO

READ = 128 << 10
"""Bytes read at a time: few enough to be in the cache of the processor when they are judged."""
SHORT = 1 << 20
LONGEST = 512 << 20
"""Bytes of a line that is no longer taken for a record; no payload of 256 MiB makes one."""


class Odd(bytes):
    """Stands in for lines that are not given out; being empty, nobody takes it for a record."""

    lines: int
    """How many lines it stands for."""
    size: int
    """How many bytes they have."""
    blank: bool


def blocks_of(stream: BinaryIO) -> Iterator[list[bytes]]:
    """Give the lines of a stream, many at a time, each with its line break; `Odd` ones in between.

    By the block, because a call of ours for each line would cost as much as to decode it.
    """
    read = getattr(stream, "read1", stream.read)
    held = Held()
    while block := read(READ):
        end = block.rfind(b"\n") + 1
        begin = 0
        if held.size and end:
            begin = block.index(b"\n") + 1
            held.add(block[:begin])
            yield [held.take()]
        if begin < end:
            yield whole_lines(block[begin:end])
        if end < len(block):
            held.add(block[end:])
    if held.size:
        yield [held.take(last=True)]


def whole_lines(lines: bytes) -> list[bytes]:
    """Give lines that are whole."""
    if lines[:1] != b"\n" and lines[-2:] != b"\n\n":
        return BytesIO(lines).readlines()
    if lines.isspace():
        return [odd(len(lines), lines=lines.count(b"\n"))]
    rest = lines.lstrip(b"\n")
    core = rest.rstrip(b"\n")
    found = BytesIO(rest[: len(core) + 1]).readlines()
    if before := len(lines) - len(rest):
        found.insert(0, odd(before, lines=before))
    if after := len(rest) - len(core) - 1:
        found.append(odd(after, lines=after))
    return found


class Held:
    """A line of which more is to come."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.size = 0
        self._skipped = False
        self._pieces: list[bytes] = []

    def add(self, piece: bytes) -> None:
        """Take in more of the line."""
        self.size += len(piece)
        if not self._skipped:
            self._pieces.append(piece)
            if self.size >= SHORT:
                begins = self._pieces[0].lstrip()[:1] == b"{"
                self._skipped = not begins or self.size >= LONGEST
        if self._skipped:
            self._pieces.clear()

    def take(self, *, last: bool = False) -> bytes:
        """Give the line, and begin anew; a long `last` one is not put together if it is torn."""
        if last and self.size >= SHORT and self._pieces:
            self._skipped = not self._pieces[-1].rstrip().endswith(b"}")
        line = odd(self.size, blank=False) if self._skipped else b"".join(self._pieces)
        self.size, self._skipped = 0, False
        self._pieces.clear()
        return line


def odd(size: int, *, lines: int = 1, blank: bool = True) -> Odd:
    """Make what stands in for lines."""
    made = Odd()
    made.lines, made.size, made.blank = lines, size, blank
    return made
