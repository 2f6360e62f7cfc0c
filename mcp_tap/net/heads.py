"""Heads of HTTP/1.1 messages: read once, passed on as they came.

Fields keep their order, spelling and duplicates.  Only hop-by-hop fields (RFC 9110, section 7.6.1)
are left out, since they speak of one connection.  Blocks of fields repeat from message to message
but for Content-Length, so what was read of a block is remembered without that one value.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

RawHeaders: TypeAlias = list[tuple[bytes, bytes]]

HOP_BY_HOP = frozenset(
    {b"connection", b"keep-alive", b"proxy-connection", b"te", b"trailer", b"upgrade"}
)
"""Left out on both ways; `transfer-encoding` stays, as the framing is kept."""

_NEVER_NAMED = frozenset({b"content-length", b"host", b"transfer-encoding"})
"""Connection cannot take these out of a message: its framing and target depend on them."""

_REMEMBERED = 512
_LARGE = 8 << 10
"""Bytes of a block above which it is not remembered: what clients send must not fill our memory."""
_MOST_DIGITS = 20
_LENGTH = b"content-length"
_REQUEST_1_1 = b"%b %b HTTP/1.1\r\n%b\r\n"
_REQUEST_1_0 = b"%b %b HTTP/1.0\r\n%b\r\n"


class Fields:
    """What one block of fields says, whatever its Content-Length."""

    __slots__ = (
        "_after",
        "_before",
        "allowed",
        "chunked",
        "content_type",
        "encoding",
        "expect",
        "headers",
        "host",
        "hosts",
        "length_at",
        "named",
        "origin",
        "origins",
        "shown",
    )

    def __init__(self, headers: tuple[tuple[bytes, bytes], ...], drop: frozenset[bytes]) -> None:
        """Read a block, in which the value of Content-Length is blank; leave `drop` out."""
        self.headers = headers
        self.chunked = False
        self.content_type = ""
        self.encoding: str | None = None
        self.expect = False
        self.host: bytes | None = None
        self.hosts = 0
        self.origin: bytes | None = None
        self.origins = 0
        self.length_at: int | None = None
        """Index of Content-Length."""
        self.allowed = False
        """The guard has let this block pass."""
        self.shown: Any = None
        """A note of whoever records the block, to be spared a second look."""
        before: list[bytes] = []
        after: list[bytes] = []
        lines = before
        self.named = drop | _named_by_connection(headers)
        for index, (name, value) in enumerate(headers):
            low = name.lower()
            self._understand(low, value)
            if low in self.named:
                continue
            if low == _LENGTH:
                self.length_at = index
                before.append(name + b": ")
                lines = after
                lines.append(b"\r\n")
            else:
                lines.append(name + b": " + value + b"\r\n")
        self._before, self._after = b"".join(before), b"".join(after)

    def _understand(self, low: bytes, value: bytes) -> None:
        if low == b"transfer-encoding":
            self.chunked = value.lower().rpartition(b",")[2].strip() == b"chunked"
        elif low == b"content-type":
            self.content_type = value.decode("latin-1").lower()
        elif low == b"content-encoding":
            before = f"{self.encoding}, " if self.encoding else ""
            self.encoding = before + value.decode("latin-1")
        elif low == b"expect":
            self.expect = value.lower() == b"100-continue"
        elif low == b"host":
            self.host = value
            self.hosts += 1
        elif low == b"origin":
            self.origin = value
            self.origins += 1

    def block(self, length: bytes | None) -> bytes:
        """Write the lines to pass on."""
        if length is None:
            return self._before + self._after
        return self._before + length + self._after


class RequestLine(NamedTuple):
    """What stands before the fields of a request."""

    method: bytes
    target: bytes
    version: str
    """HTTP version, `1.1`."""


class StatusLine(NamedTuple):
    """What stands before the fields of a response."""

    status: int
    reason: bytes
    version: str
    """HTTP version, `1.1`."""


Line = TypeVar("Line", RequestLine, StatusLine)


class Head(Generic[Line]):
    """All of one message but its body."""

    __slots__ = ("fields", "length", "line")

    def __init__(self, line: Line, fields: Fields, length: bytes | None) -> None:
        """Keep the first line, what is known of the block, and the value of its Content-Length."""
        self.line: Line = line
        self.fields = fields
        self.length = length

    @property
    def headers(self) -> RawHeaders:
        """The fields as they came."""
        headers = list(self.fields.headers)
        at = self.fields.length_at
        if at is not None and self.length is not None:
            headers[at] = (headers[at][0], self.length)
        return headers

    @property
    def has_body(self) -> bool:
        """The head announces a body, if only an empty one."""
        return self.fields.chunked or self.length is not None

    def content_length(self) -> int | None:
        """Bytes of the body, where the head says so."""
        length = self.length.strip() if self.length is not None else b""
        return int(length) if length.isdigit() and len(length) < _MOST_DIGITS else None

    def block(self) -> bytes:
        """Write the lines to pass on, without the empty line."""
        return self.fields.block(self.length)


AnyHead: TypeAlias = Head[RequestLine] | Head[StatusLine]


class HeadReader:
    """Reads heads of one direction, and remembers."""

    def __init__(self, *drop: bytes) -> None:
        """Leave the fields `drop` (lower case) out of what is passed on, beside hop-by-hop ones."""
        self._drop = HOP_BY_HOP | frozenset(drop)
        self._blocks: dict[tuple[tuple[bytes, bytes], ...], Fields] = {}
        self._exact: dict[tuple[tuple[bytes, bytes], ...], tuple[Fields, bytes | None]] = {}

    def read(self, line: Line, headers: RawHeaders) -> Head[Line]:
        """Read the head of a message."""
        exact = tuple(headers)
        seen = self._exact.get(exact)
        if seen is None:
            if sum(len(name) + len(value) for name, value in headers) > _LARGE:
                return Head(line, *self._read(headers, remember=False))
            if len(self._exact) >= _REMEMBERED:
                self._exact.clear()
            seen = self._exact[exact] = self._read(headers)
        return Head(line, *seen)

    def _read(self, headers: RawHeaders, *, remember: bool = True) -> tuple[Fields, bytes | None]:
        length = None
        block = headers
        for index, (name, value) in enumerate(headers):
            if name.lower() == _LENGTH:
                length = value
                block = headers.copy()
                block[index] = (name, b"")
                break
        memo = tuple(block)
        if not remember:
            return Fields(memo, self._drop), length
        fields = self._blocks.get(memo)
        if fields is None:
            if len(self._blocks) >= _REMEMBERED:
                self._blocks.clear()
            fields = self._blocks[memo] = Fields(memo, self._drop)
        return fields, length


def request_head(head: Head[RequestLine]) -> bytes:
    """Write the head of a request for upstream."""
    method, target, version = head.line
    start = _REQUEST_1_1 if version == "1.1" else _REQUEST_1_0
    return start % (method, target, head.block())


def response_head(line: StatusLine, block: bytes, *, close: bool) -> bytes:
    """Write the head of a response for the client; `close`: the connection ends after it."""
    end = b"Connection: close\r\n" if close else b""
    return b"HTTP/1.1 %d %b\r\n%b%b\r\n" % (line.status, line.reason, block, end)


def without_chunking(head: Head[StatusLine]) -> bytes:
    """Write the lines of a head whose body will not be sent in chunks."""
    return HeadReader(b"transfer-encoding").read(head.line, head.headers).block()


def lines(headers: RawHeaders) -> bytes:
    """Write fields of our own."""
    return b"".join(b"%b: %b\r\n" % field for field in headers)


def replaced(headers: RawHeaders, wanted: Iterable[tuple[bytes, bytes]]) -> RawHeaders:
    """Put fields in: in the place of the first of the same name, else at the end."""
    out = list(headers)
    for name, value in wanted:
        low = name.lower()
        at = [i for i, (key, _) in enumerate(out) if key.lower() == low]
        if at:
            out[at[0]] = (out[at[0]][0], value)
            for i in reversed(at[1:]):
                del out[i]
        else:
            out.append((name, value))
    return out


def _named_by_connection(headers: tuple[tuple[bytes, bytes], ...]) -> frozenset[bytes]:
    return (
        frozenset(
            token.strip().lower()
            for name, value in headers
            if name.lower() == b"connection"
            for token in value.split(b",")
        )
        - _NEVER_NAMED
    )
