"""An event stream cut into blocks, each as the bytes it came in, so that one can be kept back.

`core.sse` reads what events say; this keeps what they are made of.
"""

from __future__ import annotations

import re
from typing import Final

from mcp_tap.core.sse import SseParser

_BLANK: Final = re.compile(rb"(?:\r\n|\r(?!\n)|\n)(?:\r\n|\r(?!\n)|\n)")
ENDS: Final = (b"\n\n", b"\r\n\r\n")
"""What ends with one of these, and began behind a block, is whole blocks."""
_BETWEEN: Final = 3
"""Bytes of such an end that may have come before its last one."""
_COMMENT: Final = 4096
"""Bytes of comments that are passed on before their blank line."""
_LINES: Final = re.compile(rb"\r\n|\r|\n")
_USUAL: Final = (
    (b"event: message\r\ndata: ", b"\r\n\r\n"),
    (b"event: message\ndata: ", b"\n\n"),
    (b"data: ", b"\n\n"),
    (b"data: ", b"\r\n\r\n"),
)
"""How nearly all servers write an event."""


class Part(bytes):
    """Bytes of a block that is too large to be held back: they pass unseen."""


class Gate:
    """Gives whole blocks."""

    def __init__(self, limit: int) -> None:
        """Hold back at most `limit` bytes of a block."""
        self._limit = limit
        self._rest = bytearray()
        self._looked = 0
        self._tail: bytes | None = None
        """The last bytes of the block that is passing, since it is beyond the limit."""

    def feed(self, data: bytes) -> list[bytes]:
        """Take bytes; give the blocks that are whole, in order, their blank line included.

        Of a block beyond the limit they give parts, as they come.
        """
        rest = self._rest
        blocks: list[bytes] = []
        if self._tail is not None:
            end = self._through(self._tail, data)
            blocks.append(Part(data[:end]))
            data = data[end:]
            if not data:
                return blocks
        elif not rest and _is_one(data):
            return [data]
        rest += data
        here = 0
        for match in _BLANK.finditer(rest, max(0, self._looked - _BETWEEN)):
            blocks.append(bytes(rest[here : match.end()]))
            here = match.end()
        if here:
            del rest[:here]
        self._looked = len(rest)
        if rest and len(rest) <= _COMMENT and _is_comment(rest):
            blocks.append(self._all())
        elif len(rest) > self._limit:
            self._tail = bytes(rest[-_BETWEEN:])
            blocks.append(Part(self._all()))
        return blocks

    @property
    def empty(self) -> bool:
        """Nothing is held back, and what comes next begins a block."""
        return not self._rest and self._tail is None

    def finish(self) -> bytes:
        """Give what the stream ended in the middle of."""
        return self._all()

    def _through(self, tail: bytes, data: bytes) -> int:
        """Say where in the data the block ends that is passing; behind all of it if it does not."""
        seen = tail + data
        match = _BLANK.search(seen)
        self._tail = seen[-_BETWEEN:] if match is None else None
        return len(data) if match is None else match.end() - len(tail)

    def _all(self) -> bytes:
        rest = bytes(self._rest)
        self._rest.clear()
        self._looked = 0
        return rest


def _is_one(data: bytes) -> bool:
    """Tell whether this is exactly one event, in the usual form."""
    for start, end in _USUAL:
        if data.startswith(start) and data.endswith(end):
            return data.find(b"\n", len(start), -len(end)) < 0
    return False


def _is_comment(rest: bytearray) -> bool:
    """Tell whether this is nothing but comments, which are whole at their lines' ends."""
    if rest[0] not in b":\r\n" or rest[-1] not in b"\r\n":
        return False
    return all(not line or line[:1] == b":" for line in _LINES.split(bytes(rest)))


def data_of(block: bytes, limit: int) -> bytes:
    """Give the data of a block; empty where it has none."""
    for start, end in _USUAL:
        if block.startswith(start) and block.endswith(end):
            data = block[len(start) : -len(end)]
            if b"\n" not in data and b"\r" not in data:
                return data
    found = SseParser(limit).feed(block)
    return b"".join(each.data for each in found if each.kind == "event" and each.size is None)


def with_data(block: bytes, data: bytes) -> bytes:
    """Write a block with other data, its other fields as they were."""
    lines = _LINES.split(block)
    at = [i for i, line in enumerate(lines) if line.partition(b":")[0] == b"data"]
    head = [line for i, line in enumerate(lines) if i < at[0] and line] if at else []
    tail = [line for i, line in enumerate(lines) if at and i > at[0] and i not in at and line]
    end = b"\r\n" if b"\r\n" in block else b"\n"
    told = [b"data: " + line for line in _LINES.split(data)]
    return end.join([*head, *told, *tail, b"", b""])
