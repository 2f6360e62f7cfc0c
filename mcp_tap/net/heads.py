"""Heads of HTTP/1.1 messages, passed on as they came.

Fields keep their order, spelling and duplicates.  Only hop-by-hop fields (RFC 9110, section 7.6.1)
are left out, since they speak of one connection, and framing is said anew where the body is
chunked: the chunks' sizes belong to a connection too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

RawHeaders: TypeAlias = list[tuple[bytes, bytes]]

HOP_BY_HOP = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"upgrade",
    }
)
"""Left out on both ways; `transfer-encoding` and, upstream, `expect` are dealt with by hand."""

_NEVER_NAMED = frozenset({b"content-length", b"host", b"transfer-encoding"})
"""Connection cannot take these out of a message: its framing and target depend on them."""


def find(headers: RawHeaders, name: bytes) -> bytes | None:
    """Give the first value of a field; `name` in lower case."""
    for key, value in headers:
        if len(key) == len(name) and key.lower() == name:
            return value
    return None


def listed(headers: RawHeaders, name: bytes) -> list[bytes]:
    """Give the comma-separated members of all fields of a name, in lower case."""
    return [
        member.strip().lower()
        for key, value in headers
        if key.lower() == name
        for member in value.split(b",")
    ]


def request_head(
    method: bytes, target: bytes, headers: RawHeaders, *, host: bytes | None = None
) -> bytes:
    """Write the head of a request for upstream; `host` replaces the client's where given."""
    out = [method, b" ", target, b" HTTP/1.1\r\n"]
    drop = _dropped(headers)
    for name, value in headers:
        low = name.lower()
        if low in drop or low == b"expect":
            continue
        if low == b"host" and host is not None:
            value = host  # noqa: PLW2901
        out += (name, b": ", value, b"\r\n")
    out.append(b"\r\n")
    return b"".join(out)


def response_head(
    status: int, reason: bytes, headers: RawHeaders, *, chunked: bool, close: bool
) -> bytes:
    """Write the head of a response for the client.

    `chunked`: the client gets chunks, if and only if the upstream sent some.  `close`: the
    connection ends after this response.
    """
    out = [b"HTTP/1.1 %d %b\r\n" % (status, reason)]
    drop = _dropped(headers)
    for name, value in headers:
        low = name.lower()
        if low in drop or (low == b"transfer-encoding" and not chunked):
            continue
        out += (name, b": ", value, b"\r\n")
    out.append(b"Connection: close\r\n\r\n" if close else b"\r\n")
    return b"".join(out)


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


def _dropped(headers: RawHeaders) -> frozenset[bytes]:
    named = [
        token.strip().lower()
        for name, value in headers
        if len(name) == 10 and name.lower() == b"connection"
        for token in value.split(b",")
    ]
    if not named or all(t in HOP_BY_HOP or t == b"close" for t in named):
        return HOP_BY_HOP
    return HOP_BY_HOP | (set(named) - _NEVER_NAMED)
