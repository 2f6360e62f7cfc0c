"""Bytes of a stream into its lines, in bounded memory.

A line ends with a line feed, which is not part of it; a carriage return before that is.  The last
line of a stream may have none.
"""

from __future__ import annotations

from typing import NamedTuple

from mcp_tap.core.collect import Collector


class Line(NamedTuple):
    """One line, or the first part of one that is longer than the limit."""

    payload: bytes
    """Its bytes, without the line feed."""
    size: int | None = None
    """How many bytes it has, where these are not all."""
    sha256: str | None = None
    """Of all its bytes, where these are not all."""


class LineSplitter:
    """Divides what comes in pieces into lines."""

    def __init__(self, limit: int) -> None:
        """Keep lines whole up to `limit` bytes."""
        self._limit = limit
        self._open: Collector | None = None
        self._skips = False

    def feed(self, piece: bytes) -> list[Line]:
        """Take the next bytes; give the lines that end in them."""
        *ended, rest = piece.split(b"\n")
        lines: list[Line] = []
        if ended and (self._skips or self._open is not None):
            first = self._end(ended.pop(0))
            lines += [] if first is None else [first]
        limit = self._limit
        lines += [Line(each) if len(each) <= limit else self._cut(each) for each in ended]
        if rest and not self._skips:
            if self._open is None:
                self._open = Collector(limit)
            self._open.add(rest)
        return lines

    def finish(self) -> Line | None:
        """Take note that the stream has ended; give the line that no line feed ended."""
        return self._end(b"") if self._open is not None else None

    def skip(self) -> None:
        """Take note that bytes are missing here: the line they are in is given up."""
        self._open = None
        self._skips = True

    def _end(self, last: bytes) -> Line | None:
        """Close the line that is open with its last bytes; None where it was given up."""
        line, self._open = self._open, None
        if self._skips or line is None:
            self._skips = False
            return None
        line.add(last)
        return _made(line)

    def _cut(self, whole: bytes) -> Line:
        line = Collector(self._limit)
        line.add(whole)
        return _made(line)


def _made(line: Collector) -> Line:
    if not line.truncated:
        return Line(line.kept())
    return Line(line.kept(), line.size, line.sha256())
