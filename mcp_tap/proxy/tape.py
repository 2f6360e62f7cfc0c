"""What is kept of an exchange while it is being recorded."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from mcp_tap.core.coding import Decoder, decoder
from mcp_tap.core.collect import Collector
from mcp_tap.core.records import Digest, Leg, Sender
from mcp_tap.core.sse import SseParser
from mcp_tap.core.wire import UNPARSED
from mcp_tap.net.heads import AnyHead, Head, RequestLine

_EMPTY = Digest(bytes=0, sha256=sha256(b"").hexdigest())


class Way:
    """The payload of one direction of one exchange."""

    __slots__ = (
        "bytes",
        "collector",
        "content_type",
        "decoder",
        "digest",
        "encoding",
        "sender",
        "sse",
    )

    def __init__(self, head: AnyHead, limit: int, *, stream: bool) -> None:
        """Learn from the head how the payload is to be understood.

        Args:
            head: of the message.
            limit: bytes to keep of a payload.
            stream: it is a response, and an event stream if the head says so.
        """
        fields = head.fields
        self.sender: Sender = "server" if stream else "client"
        self.bytes = 0
        self.digest: Any = None
        self.content_type = fields.content_type
        self.encoding: str | None = None
        self.decoder: Decoder | None = None
        self.collector: Collector | None = None
        self.sse: SseParser | None = None
        events = stream and self.content_type.startswith("text/event-stream")
        length = None if events else head.content_length()
        if fields.encoding:
            self.decoder = decoder(fields.encoding, limit + 1, stream=events)
            if self.decoder is not None:
                self.encoding = fields.encoding
                length = None
        if events:
            self.sse = SseParser(limit)
        else:
            self.collector = Collector(limit, expected=length)

    def total(self) -> Digest:
        """Digest of all that was transferred."""
        if self.digest is None:
            return _EMPTY
        return Digest(bytes=self.bytes, sha256=self.digest.hexdigest())


class Tape:
    """One exchange as it is being recorded."""

    __slots__ = (
        "conn",
        "exchange",
        "goes",
        "head",
        "heard",
        "leg",
        "peer",
        "received",
        "replaces",
        "reply_seq",
        "request",
        "response",
        "secrets",
        "sent",
        "seq",
        "sound",
        "value",
    )

    def __init__(self, exchange: int, conn: int, peer: str, head: Head[RequestLine]) -> None:
        """Begin with a request's head.

        Args:
            exchange: its number.
            conn: number of the client's connection.
            peer: address of the client.
            head: as the client sent it.
        """
        self.exchange = exchange
        self.conn = conn
        self.peer = peer
        self.head = head
        self.seq = 0
        """Number of the record of its request's head."""
        self.reply_seq = 0
        """Number of the record of its response's head."""
        self.sound = False
        """A payload was JSON on one line."""
        self.value: Any = UNPARSED
        """The request parsed, where somebody has done that before it is recorded."""
        self.goes: tuple[bytes, Any] | None = None
        """What goes upstream instead, where that is known before it is recorded, and as much of it
        as anybody looks at."""
        self.heard = 0
        """Number of the newest record of a payload."""
        self.secrets: tuple[tuple[str, ...], ...] = ()
        """Where in the payload values stand that must not be recorded."""
        self.leg: Leg | None = None
        """The leg of what is recorded now, where the two differ."""
        self.replaces: int | None = None
        """Number of the record it takes the place of."""
        self.request: Way | None = None
        """Its payload, while it comes in pieces."""
        self.response: Way | None = None
        self.sent = _EMPTY
        """Digest of the request's payload."""
        self.received = _EMPTY
        """Digest of the response's payload."""
