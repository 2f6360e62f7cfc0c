"""The lines of a capture: one frozen struct a kind, and what encodes and decodes them.

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
    "complete",
    "client_gone",
    "upstream_cut",
    "upstream_down",
    "timeout",
    "refused",
    "shutdown",
    "tap_failed",
]
"""How an exchange ended.  `refused`: the tap's own answer (guard, framing).  `upstream_down`: no
connection.  `upstream_cut`: the upstream ended a message in its middle, or without an answer.
`tap_failed`: a fault of the tap's own."""


class Mask(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
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


class Digest(Struct, frozen=True, kw_only=True, gc=False):
    """The payload of one direction of an exchange as transferred (chunking undone, not decoded)."""

    bytes: int
    """Number of bytes that passed."""
    sha256: str
    """Hash of these bytes, in hex."""


class Sse(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The fields of a server-sent event beside its data."""

    id: str | None = None
    """The event's `id` field."""
    event: str | None = None
    """The event's `event` field."""
    retry: str | None = None
    """The event's `retry` field."""


class Record(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind", gc=False):
    """One line of a capture."""

    seq: int
    """Number of the record within the run; the header has 0, the next record 1."""
    t: float
    """Seconds since the run's start, on a clock that never runs backwards."""


class Header(Record, frozen=True, kw_only=True, tag="header"):
    """First line of every part of a run."""

    format: int
    """Version of the capture format (`FORMAT`)."""
    tool: str
    """`mcp-tap/VERSION`"""
    run: str
    """Run id, equal in all parts."""
    started: str
    """Wall-clock start of the run, RFC 3339, UTC."""
    transport: Literal["http", "stdio"]
    """What the tap listened to."""
    upstream: str
    """URL (query and userinfo masked) or command line."""
    listen: str = ""
    """Address the tap listened on."""
    label: str | None = None
    """Name the user gave the run."""
    part: int = 1
    """Number of the file within the run; a further part repeats the header, with the `seq` and `t`
    of the record before it."""
    redaction: list[str] = []
    """The masks in force: `default` and each `--redact` specification."""
    max_body: int | None = None
    """Bytes of a payload that are recorded at most; None: all."""
    key: str | None = None
    """Fingerprint of the masking key: equal fingerprints mean that tags can be compared."""


class HttpRequest(Record, frozen=True, kw_only=True, tag="http_request"):
    """The head of a request."""

    exchange: int
    """Number of the exchange within the run."""
    conn: int
    """Number of the client's TCP connection within the run."""
    peer: str
    """Address of the client without its port."""
    method: str
    """HTTP method, as spelled."""
    path: str
    """Request target, raw."""
    headers: Headers
    """Header fields in wire order and spelling, duplicates kept."""
    version: str = HTTP_1_1
    """HTTP version."""
    leg: Leg | None = None
    """Set only where the two legs differ, since the tap changed something."""
    masked: list[Mask] = []
    """What was masked in it."""
    replaces: int | None = None
    """`seq` of the record this one took the place of."""


class HttpResponse(Record, frozen=True, kw_only=True, tag="http_response"):
    """The head of a response."""

    exchange: int
    """Number of the exchange within the run."""
    status: int
    """HTTP status."""
    headers: Headers
    """Header fields in wire order and spelling, duplicates kept."""
    reason: str = ""
    """Reason phrase."""
    version: str = HTTP_1_1
    """HTTP version."""
    sender: Sender = "server"
    """`server`, or `tap` where the answer is the tap's own."""
    leg: Leg | None = None
    """Set only where the two legs differ."""
    masked: list[Mask] = []
    """What was masked in it."""
    replaces: int | None = None
    """`seq` of the record this one took the place of."""


class Payload(Record, frozen=True, kw_only=True):
    """What `Message`, `Body`, `Noise` and `Stderr` share: who wrote which bytes."""

    sender: Sender
    """Who wrote it."""
    exchange: int | None = None
    """Number of the exchange it passed in; None on stdio."""
    body: Raw | UnsetType = UNSET
    """The bytes, where they are strict JSON on one line: spliced in as they came."""
    text: str | None = None
    """The bytes, where they are other valid UTF-8, or more than 1 MiB of it whatever it is."""
    b64: bytes | None = None
    """The bytes in base64, where they are anything else."""
    sse: Sse | None = None
    """The server-sent event it was the data of."""
    encoding: str | None = None
    """Content-Encoding that was undone for this copy."""
    truncated: bool = False
    """Longer than the record cap: the carrier holds a prefix.  Rules skip such payloads."""
    size: int | None = None
    """Bytes of the whole payload, where truncated."""
    sha256: str | None = None
    """Of the whole payload, where truncated."""
    leg: Leg | None = None
    """Set only where the two legs differ."""
    masked: list[Mask] = []
    """What was masked in it."""
    replaces: int | None = None
    """`seq` of the record this one took the place of."""

    def payload(self) -> bytes:
        """Give back the bytes of the carrier."""
        if self.body is not UNSET:
            return bytes(self.body)
        if self.text is not None:
            return self.text.encode()
        return self.b64 or b""


class Message(Payload, frozen=True, kw_only=True, tag="message"):
    """One JSON-RPC message, or what stands where one must be.

    A POST body, a JSON response, an SSE event's data, or a stdio line.
    """


class Body(Payload, frozen=True, kw_only=True, tag="body"):
    """A payload that is no JSON-RPC message: metadata, text, a form post, a cut SSE event."""

    content_type: str | None = None
    """Media type it was sent as."""


class Noise(Payload, frozen=True, kw_only=True, tag="noise"):
    """Bytes around the protocol: SSE comments, stdout lines that are no messages."""


class Stderr(Payload, frozen=True, kw_only=True, tag="stderr"):
    """A line a stdio server wrote to its standard error."""


class Closed(Record, frozen=True, kw_only=True, tag="closed"):
    """How an exchange ended, and proof of what passed."""

    exchange: int
    """Number of the exchange within the run."""
    how: How
    """What ended it.  `refused`: the tap answered itself (guard, framing); `upstream_down`: there
    was no connection; `upstream_cut`: the upstream ended a message in its middle, or never
    answered; `tap_failed`: a fault of the tap's own ended it."""
    request: Digest
    """What the client sent."""
    response: Digest
    """What the server sent."""
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
    """Name of the hook; `tap` for the tap itself."""
    verdict: str
    """What it decided."""
    why: str
    """Why it decided so."""
    exchange: int | None = None
    """Number of the exchange it was about."""
    entry: str | None = None
    """Name of the script entry that answered."""
    key: str | None = None
    """Key of the ask it was about."""


class Gap(Record, frozen=True, kw_only=True, tag="gap"):
    """`lost` records up to and including this `seq` are not in the file."""

    lost: int
    """How many; 0 says only that the line before this one is a fragment."""
    why: str
    """What kept them from the file."""


class Footer(Record, frozen=True, kw_only=True, tag="footer"):
    """Last line of a run that ended cleanly."""

    exchanges: int
    """Exchanges the run saw."""
    lost: int = 0
    """Records that are not in the file."""
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

encode_lines = _encoder.encode_lines
"""Encode records as lines, each with its newline."""

decode_flat = _decoder.decode
"""As `decode`, for a loop: raises `RecursionError` where the nesting is unusually deep."""

_DEEPEST = 5_000
"""Nesting that is still read; what a record holds was read once at the default limit of 1,000."""


def decode(line: bytes | memoryview) -> AnyRecord:
    """Decode one line; raise `msgspec.DecodeError` or `msgspec.ValidationError`."""
    try:
        return _decoder.decode(line)
    except RecursionError:
        record: AnyRecord = deep(_decoder.decode, line)
        return record


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
