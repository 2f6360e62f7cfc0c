"""The short way for messages that come whole, with a head that was read before.

Most messages on a kept connection are small, come in one piece, and repeat the head of one before
but for its Content-Length.  Such a head is recognised by its bytes and not parsed again.  What is
recognised was accepted by the parser in exactly these bytes; everything else takes the long way.
"""

from __future__ import annotations

from typing import Generic

from mcp_tap.net.heads import Fields, Head, Line

_REMEMBERED = 512
_MOST_HEAD = 16 << 10
_MOST_DIGITS = 9
_NAME = b"\r\ncontent-l"
_REST = b"ength: "


class Whole(Generic[Line]):
    """Heads of one direction."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._seen: dict[bytes, tuple[Line, Fields]] = {}
        self._last: tuple[bytes, bytes, Line, Fields] | None = None
        """What stood before and behind the length in the newest head, and what it said."""

    def learn(self, data: bytes, head: Head[Line]) -> None:
        """Remember a head that was just parsed from the beginning of `data`."""
        if head.length is None or head.fields.chunked:
            return
        end = data.find(b"\r\n\r\n", 0, _MOST_HEAD)
        start, stop = _length(data, end)
        if stop < 0 or data[start:stop] != head.length:
            return
        if len(self._seen) >= _REMEMBERED:
            self._seen.clear()
        self._seen[data[:start] + data[stop:end]] = head.line, head.fields

    def find(self, data: bytes) -> tuple[Head[Line], bytes] | None:
        """Give head and body, if `data` is exactly one message with a known head."""
        if self._last is not None:  # mostly the same again
            before, behind, line, fields = self._last
            if data.startswith(before):
                start = len(before)
                stop = data.find(b"\r", start, start + _MOST_DIGITS + 1)
                if data.startswith(behind, stop):
                    length, body = data[start:stop], data[stop + len(behind) :]
                    if length.isdigit() and len(body) == int(length):
                        return Head(line, fields, length), body
                    return None
        end = data.find(b"\r\n\r\n", 0, _MOST_HEAD)
        start, stop = _length(data, end)
        if stop < 0:
            return None
        length = data[start:stop]
        if len(data) - end - 4 != int(length):
            return None
        seen = self._seen.get(data[:start] + data[stop:end])
        if seen is None:
            return None
        line, fields = seen
        self._last = (data[:start], data[stop : end + 4], line, fields)
        return Head(line, fields, length), data[end + 4 :]


def _length(data: bytes, end: int) -> tuple[int, int]:
    """Find the digits of the Content-Length in a head that ends at `end`; -1 for none."""
    at = data.find(_REST, 0, end) if end > 0 else -1
    if at < 0 or data[at - len(_NAME) : at].lower() != _NAME:
        return -1, -1
    start = at + len(_REST)
    stop = data.find(b"\r\n", start, end + 2)
    digits = data[start:stop]
    if not digits.isdigit() or len(digits) > _MOST_DIGITS:
        return -1, -1
    return start, stop
