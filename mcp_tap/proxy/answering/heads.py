"""Heads of messages whose bodies were changed."""

from __future__ import annotations

from typing import Final

from mcp_tap.net.heads import Head, HeadReader, RequestLine, StatusLine

_PLAIN: Final = HeadReader(b"content-length", b"content-encoding")

_FRAMING: Final = (b"content-length", b"content-encoding", b"transfer-encoding")
STREAM: Final = _PLAIN.read(
    StatusLine(200, b"OK", "1.1"), [(b"Content-Type", b"text/event-stream")]
)


def endless(head: Head[StatusLine]) -> Head[StatusLine]:
    """Make the head of a stream whose length nobody can tell."""
    headers = [f for f in head.headers if f[0].lower() not in _FRAMING]
    return _PLAIN.read(head.line, [*headers, (b"Transfer-Encoding", b"chunked")])


def with_body(head: Head[StatusLine], body: bytes) -> Head[StatusLine]:
    """Make the head of a response whose body was changed, and is not encoded any more."""
    if head.fields.encoding:
        headers = [f for f in head.headers if f[0].lower() != b"content-encoding"]
        head = HeadReader().read(head.line, headers)
    if head.length is None:
        return head
    return Head(head.line, head.fields, b"%d" % len(body))


def with_length(head: Head[RequestLine], length: int) -> Head[RequestLine]:
    """Make the head of a request whose body has another length."""
    if head.length is None:
        return head
    return Head(head.line, head.fields, b"%d" % length)


def field(head: Head[RequestLine], name: bytes) -> str | None:
    """Give the first value of a field; `name` in lower case."""
    for key, value in head.fields.headers:
        if key.lower() == name:
            return value.decode("latin-1").strip()
    return None
