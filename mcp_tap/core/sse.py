"""Server-sent events, parsed from a copy of the stream as its chunks come, and written anew.

Rules of this file (https://html.spec.whatwg.org/multipage/server-sent-events.html, section 9.2.6):

- A line ends with CRLF, LF or CR; a chunk may end anywhere, also between CR and LF or inside a
  character.
- A block of lines ends with an empty line.  Its `data` lines are joined with LF.
- What the stream ends in the middle of is no event: `finish()` hands it over as cut.
- Memory is bounded: of data longer than the limit a prefix, the length and the digest are kept,
  of any other long line a prefix and, where it is a comment, the length.
"""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from mcp_tap.core.collect import PREFIX, Collector
from mcp_tap.core.records import Sse

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"
_LF, _CR = b"\n\r"
_FIELDS = {b"id": "id", b"event": "event", b"retry": "retry"}

_MESSAGE = Sse(event="message")
_USUAL = tuple(
    (start, end, fields, slice(len(start), -len(end)))
    for start, end, fields in (
        (b"event: message\r\ndata: ", b"\r\n\r\n", _MESSAGE),
        (b"event: message\ndata: ", b"\n\n", _MESSAGE),
        (b"data: ", b"\n\n", None),
        (b"data: ", b"\r\n\r\n", None),
    )
)
"""How an event begins and ends, its fields, and where its data is; no two fit one event."""


class SseBlock(Struct, frozen=True, kw_only=True):
    """One block of a stream: an event, a comment, or what the stream was cut in."""

    kind: Literal["event", "comment", "cut"]
    data: bytes
    """Data lines joined with LF; of a comment its text; of a cut block what had come of it."""
    fields: Sse | None = None
    size: int | None = None
    """Bytes of the whole data, where `data` is only its first part."""
    sha256: str | None = None
    """Of an event's whole data, where `data` is only its first part."""


class SseParser:
    """Turn chunks of an event stream into blocks."""

    # How a stream begins; on the class, since most of it stays so for most streams.
    _skip_lf = False
    _first_line = True
    _line_size = 0
    _flowing = False
    _dropping = False
    _open = False
    _data: Collector | None = None
    _form = _USUAL[1]
    """What the events of this stream looked like so far."""

    def __init__(self, limit: int) -> None:
        """Keep the data of a block whole up to `limit` bytes."""
        self._limit = limit
        self._line: list[bytes] = []
        self._fields: dict[str, str] = {}

    def feed(self, chunk: bytes) -> list[SseBlock]:
        """Take the next bytes; return the blocks they complete, in order."""
        if self._skip_lf and chunk:
            self._skip_lf = False
            if chunk[0] == 0x0A:
                chunk = chunk[1:]
        if not chunk:
            return []
        self._skip_lf = chunk[-1] == 0x0D
        *lines, rest = _split(chunk)
        blocks: list[SseBlock] = []
        for line in lines:
            if self._line_size:
                self._end_line(line, blocks)
            else:
                self._accept(line, blocks)
        if rest:
            self._keep(rest)
        return blocks

    def finish(self) -> list[SseBlock]:
        """Say that the stream ended; return what it was cut in the middle of, once."""
        line = self._strip_bom(b"".join(self._line))
        if line:
            self._accept(line, [])
        data = self._data.kept() if self._data is not None else line
        cut = self._open or bool(line)
        fields = Sse(**self._fields) if self._fields else None
        self._begin_block()
        self._line, self._line_size = [], 0
        return [SseBlock(kind="cut", data=data, fields=fields)] if cut else []

    def usual(self, chunk: bytes) -> tuple[bytes, Sse | None] | None:
        """Give data and fields of a chunk that is one event as nearly all servers write it.

        None for any other chunk; then `feed()` reads it.
        """
        if self._open or self._line_size or self._skip_lf:
            return None
        start, end, fields, within = self._form
        if not (chunk.startswith(start) and chunk.endswith(end)):
            for form in _USUAL:
                start, end, fields, within = form
                if chunk.startswith(start) and chunk.endswith(end):
                    self._form = form
                    break
            else:
                return None
        data = chunk[within]
        if _LF in data or _CR in data or len(data) > self._limit:
            return None
        self._first_line = False
        return data, fields

    def _keep(self, piece: bytes) -> None:
        """Keep the start of a line whose end has not come yet."""
        if self._flowing:
            self._add(piece)
            return
        self._line_size += len(piece)
        if self._dropping:
            return
        self._line.append(piece)
        if self._line_size > PREFIX:
            line = b"".join(self._line)
            if self._strip_bom(line).startswith(b"data:"):
                self._accept(line, [])
                self._flowing = True
                self._line = []
            else:
                self._line = [line[:PREFIX]]
                self._dropping = True

    def _end_line(self, end: bytes, blocks: list[SseBlock]) -> None:
        """End a line whose start came with an earlier chunk."""
        if self._flowing:
            self._add(end)
            self._flowing = False
            self._line_size = 0
            return
        dropped = 0
        if self._line_size:
            if self._dropping:
                dropped = self._line_size + len(end) - PREFIX
                self._dropping = False
                end = b""
            self._line.append(end)
            end = b"".join(self._line)
            self._line = []
            self._line_size = 0
        self._accept(end, blocks, dropped)

    def _accept(self, line: bytes, blocks: list[SseBlock], dropped: int = 0) -> None:
        if self._first_line:
            line = self._strip_bom(line)
            self._first_line = False
        if not line:
            if self._open:
                self._dispatch(blocks)
            return
        name, _, value = line.partition(b":")
        if value[:1] == b" ":
            value = value[1:]
        if not name and line[0] == 0x3A:
            size = len(value) + dropped if dropped else None
            blocks.append(SseBlock(kind="comment", data=value, size=size))
            return
        self._open = True
        if name == b"data":
            if self._data is None:
                self._data = Collector(self._limit)
            else:
                self._data.add(b"\n")
            self._data.add(value)
        elif name in _FIELDS:
            self._fields[_FIELDS[name]] = value.decode(errors="replace")

    def _add(self, piece: bytes) -> None:
        if self._data is not None and piece:
            self._data.add(piece)

    def _strip_bom(self, line: bytes) -> bytes:
        return line.removeprefix(_BOM) if self._first_line else line

    def _dispatch(self, blocks: list[SseBlock]) -> None:
        data = self._data
        blocks.append(
            SseBlock(
                kind="event",
                data=b"" if data is None else data.kept(),
                fields=Sse(**self._fields) if self._fields else None,
                size=data.size if data is not None and data.truncated else None,
                sha256=None if data is None else data.sha256(),
            )
        )
        self._begin_block()

    def _begin_block(self) -> None:
        self._open = False
        self._data = None
        self._fields = {}


def event(data: bytes, fields: Sse | None) -> bytes:
    """Write an event: its fields, then its data on as many lines as it has.

    A field with a line break in it is left out: nobody can have sent it.
    """
    parts = []
    if fields is not None:
        named = (("id", fields.id), ("event", fields.event), ("retry", fields.retry))
        parts = [
            f"{name}: {value}\n".encode()
            for name, value in named
            if value is not None and "\n" not in value and "\r" not in value
        ]
    parts += [b"data: %b\n" % line for line in _split(data)]
    return b"".join(parts) + b"\n"


def comment(data: bytes) -> bytes:
    """Write a comment, on as many lines as it has."""
    return b"".join(b": %b\n" % line for line in _split(data)) + b"\n"


def _split(chunk: bytes) -> list[bytes]:
    """Split into lines; the last piece is what has no line end yet."""
    returns = chunk.count(b"\r")
    if not returns:
        return chunk.split(b"\n")
    if returns == chunk.count(b"\r\n"):
        return chunk.replace(b"\r\n", b"\n").split(b"\n")
    return _LINE_END.split(chunk)
