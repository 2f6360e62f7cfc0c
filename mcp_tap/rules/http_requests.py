"""What clients send over HTTP, their messages aside."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from mcp_tap.core.facts.flow import MODERN, Flow, band_of
from mcp_tap.core.facts.lost import own_params
from mcp_tap.core.facts.message import Message
from mcp_tap.core.spec import HEADER_LAST_EVENT, HEADER_SESSION, HEADER_VERSION
from mcp_tap.core.text import brief
from mcp_tap.core.values import digest
from mcp_tap.rules.base import ALL, Hit, Hits, rule

_PAGE: Final = "specification/2026-07-28/basic/transports/streamable-http"
_KINDS: Final = ("application/json", "text/event-stream")
LONGEST_ACCEPT: Final = 4096
AT_ONCE: Final = 1.0
"""Seconds within which a library may send a request once more all by itself."""


@rule(
    "HTTP-001",
    severity="warning",
    level="must",
    blames="client",
    spec=f"{_PAGE}#sending-messages",
    on="http",
    transports=("http",),
)
def non_post_in_modern_era(f: Flow) -> Hits:
    """A client that declares 2026-07-28 or later sends GET, DELETE or PUT to the MCP endpoint.

    Only POST is left there: no streams to open, no sessions to end.  Without MCP-Protocol-Version
    nothing is said, since browsers, health checks and clients that fall back to an older transport
    all send GET; and 405 is the right answer.
    """
    if not f.is_endpoint or f.head is None or f.head.method not in ("GET", "DELETE", "PUT"):
        return None
    version = f.header(HEADER_VERSION)
    if version is None or band_of(version) != MODERN:
        return None
    words = f"client sent {f.head.method} to the MCP endpoint, declaring {brief(version, 20)}"
    return Hit(words, spot="method")


@rule(
    "HTTP-002",
    severity="warning",
    level="must",
    blames="client",
    spec=f"{_PAGE}#sending-messages",
    on=("request", "notification", "client_response"),
    versions=ALL,
    transports=("http",),
    steady=True,
)
def accept_header_incomplete(m: Message) -> Hits:
    """A POST does not accept both application/json and text/event-stream.

    The server alone decides which of the two it answers with.  Wildcards count, and so do types
    with parameters or a low weight; a weight of 0 refuses a type.
    """
    values = m.flow.fields.get("accept")
    if values is None:
        if m.flow.head is None or not m.flow.is_endpoint:
            return None
        return Hit("client sent a POST without an Accept header", spot="Accept")
    missing = _missing((values[0] if len(values) == 1 else ",".join(values))[:LONGEST_ACCEPT])
    if not missing or not m.flow.is_endpoint:
        return None
    words = f"client sent a POST whose Accept header does not cover {' and '.join(missing)}"
    return Hit(words, spot="Accept")


@lru_cache(maxsize=256)
def _missing(accept: str) -> tuple[str, ...]:
    """Give the media types of the two that an Accept header does not cover."""
    weights: dict[str, float] = {}
    for part in accept.lower().split(","):
        kind, *parameters = part.split(";")
        kind = kind.strip()
        weights[kind] = max(weights.get(kind, 0.0), _weight(parameters))
    missing = []
    for kind in _KINDS:
        ranges = (kind, kind.partition("/")[0] + "/*", "*/*")
        if not next((weights[one] for one in ranges if one in weights), 0.0):
            missing.append(kind)
    return tuple(missing)


def _weight(parameters: list[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                return max(float(value.strip()), 0.0)
            except ValueError:
                return 1.0
    return 1.0


@rule(
    "HTTP-007",
    severity="warning",
    level="should",
    blames="sender",
    spec=f"{_PAGE}#earlier-streamable-http-revisions",
    on=("request", "head", "result", "error", "server_notification", "server_request", "closed"),
    transports=("http",),
    steady=True,
)
def removed_http_feature(m: Message | Flow) -> Hits:
    """Sessions or resumable streams are used with a revision that has neither any more.

    A server is to blame that sends Mcp-Session-Id, or events with an id or a time to reconnect; a
    client that sends Mcp-Session-Id or Last-Event-ID.  The latter is a note where sessions of older
    revisions are served as well: a client of both kinds may send a header that is simply ignored.
    """
    if type(m) is Flow:
        return _of_reply(m)
    if type(m) is not Message:
        return None
    if m.sender == "server":
        return _of_events(m.flow) if m.flow.event_fields else None
    fields = m.flow.fields
    if HEADER_SESSION not in fields and HEADER_LAST_EVENT not in fields:
        return None
    return _of_request(m)


def _of_request(m: Message) -> Iterator[Hit]:
    served = any(seen.session.version is not None for seen in m.flow.seen.run.clients.values())
    for header, name in ((HEADER_SESSION, "Mcp-Session-Id"), (HEADER_LAST_EVENT, "Last-Event-ID")):
        if header in m.flow.fields:
            words = f"client sent {name} with a request of a revision that does not have it"
            yield Hit(words, spot=name, severity="note" if served else None, blame="client")


def _of_reply(f: Flow) -> Hits:
    if f.request is None:
        return None
    if f.exchange.how is not None:
        return _of_events(f) if f.event_fields else None
    reply = f.reply
    if reply is None or HEADER_VERSION not in f.fields:
        return None  # without the header a server may take the request for one of 2025-03-26
    names = [name for name, _ in reply.headers if len(name) == len(HEADER_SESSION)]
    if not any(name.lower() == HEADER_SESSION for name in names):
        return None
    words = "server sent Mcp-Session-Id for a request of a revision that has no sessions"
    return Hit(words, spot="Mcp-Session-Id", blame="server")


def _of_events(f: Flow) -> Hit:
    words = "server sent events with an id or a time to reconnect, but streams cannot be resumed"
    return Hit(words, spot="id", blame="server", once=("exchange", f.exchange.number))


@rule(
    "HTTP-009",
    severity="warning",
    level="must",
    blames="client",
    spec="specification/2026-07-28/changelog#major-changes",
    on="request",
    transports=("http",),
)
def reissued_with_same_id(m: Message) -> Hits:
    """A request whose response was lost is sent again with the same id.

    It has to be a new request, with an id of its own.  A note where a library may have sent it
    again all by itself: the very same message, within a second, before a byte of a response came.
    A client that closes the stream cancels the request, and its id is free again.
    """
    known = m.flow.seen.lost
    lost = known.of(m.id) if known.any else None
    if lost is None or lost.method != m.method:
        return None
    if lost.params is None or lost.params != own_params(m):
        return None
    below = lost.silent and m.t - lost.t <= AT_ONCE and lost.value == digest(m.value)
    words = "client sent a request again with the same id after its response was lost"
    return Hit(words, "/id", severity="note" if below else None)
