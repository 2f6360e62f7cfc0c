"""The lines of a capture: one frozen struct a kind, and the one place that encodes and decodes them.

Rules of this file:

- A record says what was seen on the wire or what the tap did, never what we think of it.
- `seq` counts without a gap within a run.  `t` is seconds since the run's start on a monotonic
  clock; the header holds the wall-clock start.
- A payload has exactly one carrier: `body` (strict JSON on one line, spliced in as it came), else
  `text` (valid UTF-8), else `b64`.  `carrier()` chooses; `Payload.payload()` gives the bytes back.
- Fields are only ever added.  A reader ignores fields it does not know; what a reader cannot know
  (a new kind, another meaning) raises `FORMAT`, and `capture.convert` gets a step for it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

FORMAT = 1
"""Version of the capture format this code writes."""

HTTP_1_1 = "1.1"
"""Left out of a record where it is this very object: msgspec omits by identity."""

Sender: TypeAlias = Literal["client", "server", "tap"]
Leg: TypeAlias = Literal["client", "upstream"]
Headers: TypeAlias = list[tuple[str, str]]
"""Header fields in wire order and spelling, duplicates kept; values decoded as latin-1."""

How: TypeAlias = Literal[
    "complete", "client_gone", "upstream_cut", "upstream_down", "timeout", "refused", "shutdown"
]
"""How an exchange ended.  `refused`: the tap's own answer (guard, framing).  `upstream_down`: no
connection.  `upstream_cut`: the upstream ended a message in its middle, or without an answer."""


class Mask(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is still known of a value that was masked before it reached the file."""

    at: str
    """JSON pointer into the record (`/headers/3/1`, `/path`, `/body/access_token`)."""
    length: int
    """Characters of the masked value."""
    shape: str
    """Class of its look: `jwt`, `hex`, `base64url`, `uuid`, `digits`, `opaque`, `empty`."""
    tag: str
    """HMAC tag: equal values have equal tags under one key."""
    type: str = "string"
    """JSON type of the masked value."""
    scheme: str | None = None
    """Authentication scheme (`Bearer`, `Basic`), kept in clear."""
    principal: str | None = None
    """Tag of the principal a JWT or Basic credential names (`sub`, user)."""


class Digest(Struct, frozen=True, kw_only=True):
    """The payload of one direction of an exchange as transferred (chunking undone, not decoded)."""

    bytes: int
    sha256: str


class Sse(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The fields of a server-sent event beside its data."""

    id: str | None = None
    event: str | None = None
    retry: str | None = None


class Record(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    """One line of a capture."""

    seq: int
    t: float


class Header(Record, frozen=True, kw_only=True, tag="header"):
    """First line of every part of a run."""

    format: int
    tool: str
    """`mcp-tap/VERSION`"""
    run: str
    """Run id, equal in all parts."""
    started: str
    """Wall-clock start of the run, RFC 3339, UTC."""
    transport: Literal["http", "stdio"]
    upstream: str
    """URL (query and userinfo masked) or command line."""
    listen: str = ""
    label: str | None = None
    part: int = 1
    redaction: list[str] = []
    """The masks in force: `default` and each `--redact` specification."""
    max_body: int | None = None
    key: str | None = None
    """Fingerprint of the masking key: equal fingerprints mean that tags can be compared."""


class HttpRequest(Record, frozen=True, kw_only=True, tag="http_request"):
    """The head of a request."""

    exchange: int
    conn: int
    """Number of the client's TCP connection within the run."""
    peer: str
    """Address of the client without its port."""
    method: str
    path: str
    """Request target, raw."""
    headers: Headers
    version: str = HTTP_1_1
    leg: Leg | None = None
    """Set only where the two legs differ, since the tap changed something."""
    masked: list[Mask] = []
    replaces: int | None = None


class HttpResponse(Record, frozen=True, kw_only=True, tag="http_response"):
    """The head of a response."""

    exchange: int
    status: int
    headers: Headers
    reason: str = ""
    version: str = HTTP_1_1
    sender: Sender = "server"
    leg: Leg | None = None
    masked: list[Mask] = []
    replaces: int | None = None


class Payload(Record, frozen=True, kw_only=True):
    """What `Message`, `Body`, `Noise` and `Stderr` share: who wrote which bytes."""

    sender: Sender
    exchange: int | None = None
    body: Raw | UnsetType = UNSET
    text: str | None = None
    b64: bytes | None = None
    sse: Sse | None = None
    encoding: str | None = None
    """Content-Encoding that was undone for this copy."""
    truncated: bool = False
    """Longer than the record cap: the carrier holds a prefix.  Rules skip such payloads."""
    size: int | None = None
    """Bytes of the whole payload, where truncated."""
    sha256: str | None = None
    """Of the whole payload, where truncated."""
    leg: Leg | None = None
    masked: list[Mask] = []
    replaces: int | None = None

    def payload(self) -> bytes:
        """Give back the bytes of the carrier."""
        if self.body is not UNSET:
            return bytes(self.body)
        if self.text is not None:
            return self.text.encode()
        return self.b64 or b""


class Message(Payload, frozen=True, kw_only=True, tag="message"):
    """One JSON-RPC message, or what stands where one must: a POST body, a JSON response, an SSE
    event's data, a stdio line."""


class Body(Payload, frozen=True, kw_only=True, tag="body"):
    """A payload that is no JSON-RPC message: metadata, text, a form post, a cut SSE event."""

    content_type: str | None = None


class Noise(Payload, frozen=True, kw_only=True, tag="noise"):
    """Bytes around the protocol: SSE comments, stdout lines that are no messages."""


class Stderr(Payload, frozen=True, kw_only=True, tag="stderr"):
    """A line a stdio server wrote to its standard error."""


class Closed(Record, frozen=True, kw_only=True, tag="closed"):
    """How an exchange ended, and proof of what passed."""

    exchange: int
    how: How
    request: Digest
    response: Digest
    sent: float | None = None
    """`t` at which the request's head went upstream."""
    first_byte: float | None = None
    """`t` at which the response's head came."""
    held: float = 0.0
    """Seconds the tap itself made the exchange wait (a new upstream connection, a decider)."""
    why: str | None = None
    """The fault in words, where there was one."""


class Decision(Record, frozen=True, kw_only=True, tag="decision"):
    """What a hook, or the tap itself, did and why."""

    hook: str
    verdict: str
    why: str
    exchange: int | None = None
    entry: str | None = None


class Gap(Record, frozen=True, kw_only=True, tag="gap"):
    """`lost` records up to and including this `seq` are not in the file."""

    lost: int
    why: str


class Footer(Record, frozen=True, kw_only=True, tag="footer"):
    """Last line of a run that ended cleanly."""

    exchanges: int
    lost: int = 0
    how: str = "end"
    """`end`, `signal` or `child` (the command it ran with ended)."""


AnyRecord: TypeAlias = (
    Header
    | HttpRequest
    | HttpResponse
    | Message
    | Body
    | Noise
    | Stderr
    | Closed
    | Decision
    | Gap
    | Footer
)

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(AnyRecord)

encode = _encoder.encode
"""Encode a record as one line of JSON, without its newline."""

_DEEPEST = 5_000
"""Nesting that is still read; what a record holds was read once at the default limit of 1,000."""


def decode(line: bytes | memoryview) -> AnyRecord:
    """Decode one line; raise `msgspec.DecodeError` or `msgspec.ValidationError`."""
    try:
        return _decoder.decode(line)
    except RecursionError:
        return deep(_decoder.decode, line)


def deep(read: Callable[[Any], Any], data: Any) -> Any:
    """Read deeply nested JSON, which recurses; raise `ValueError` where it is too deep even so."""
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(max(limit, _DEEPEST))
        return read(data)
    except RecursionError:
        raise msgspec.DecodeError("JSON is nested too deep") from None
    finally:
        sys.setrecursionlimit(limit)


def pointer(*steps: Any) -> str:
    """Join steps into a JSON pointer (RFC 6901)."""
    return "".join("/" + str(s).replace("~", "~0").replace("/", "~1") for s in steps)
