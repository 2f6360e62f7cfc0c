"""The records of one exchange sorted: what was asked, what was answered, and how it ended.

Where the two sides of the tap saw different things, it is what the client saw; of a request the
tap sent on its own, what the server saw.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from mcp_tap.core.fields import header
from mcp_tap.core.records import (
    AnyRecord,
    Closed,
    Headers,
    HttpRequest,
    HttpResponse,
    Noise,
    Payload,
)
from mcp_tap.core.sse import comment, event


class Dialogue(Struct, kw_only=True):
    """One exchange."""

    number: int
    request: HttpRequest | None = None
    response: HttpResponse | None = None
    sent: list[Payload] = []
    """Payloads of the request."""
    received: list[Payload] = []
    """Payloads of the response; of an event stream, one an event or comment."""
    closed: Closed | None = None

    @property
    def by_tap(self) -> bool:
        """The tap sent it on its own."""
        return self.request is not None and self.request.leg == "upstream"

    @property
    def streams(self) -> bool:
        """The response is an event stream."""
        kind = media_type(self.response.headers) if self.response else ""
        several = len(self.received) > 1
        return kind.startswith("text/event-stream") or several or any(p.sse for p in self.received)


def dialogues(records: Iterable[AnyRecord]) -> Iterator[Dialogue]:
    """Sort records by exchange; records of none (stdio) are left out."""
    found: dict[int, list[AnyRecord]] = {}
    for record in records:
        number = getattr(record, "exchange", None)
        if number is not None:
            found.setdefault(number, []).append(record)
    for number, own in found.items():
        yield _sorted(number, own)


def _sorted(number: int, records: list[AnyRecord]) -> Dialogue:
    head = next((r for r in records if isinstance(r, HttpRequest) and r.replaces is None), None)
    made = Dialogue(number=number, request=head)
    hidden = "client" if made.by_tap else "upstream"
    for record in records:
        if getattr(record, "leg", None) == hidden:
            continue
        if isinstance(record, HttpResponse):
            made.response = record
        elif isinstance(record, Closed):
            made.closed = record
        elif isinstance(record, Payload):
            tap_asks = record.sender == "tap" and made.by_tap and made.response is None
            asks = record.sender == "client" or tap_asks
            (made.sent if asks else made.received).append(record)
    return made


def media_type(headers: Headers) -> str:
    """Give the Content-Type of a message as it stands there; empty without one."""
    return header(headers, "content-type") or ""


def stream_bytes(payloads: Iterable[Payload]) -> bytes:
    """Write an event stream anew from its events: its fields and data are as they came."""
    return b"".join(_event(payload) for payload in payloads)


def _event(payload: Payload) -> bytes:
    data = payload.payload()
    return comment(data) if isinstance(payload, Noise) and data else event(data, payload.sse)
