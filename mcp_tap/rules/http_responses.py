"""What servers send over HTTP, their messages aside."""

from __future__ import annotations

from typing import Final

from mcp_tap.core.facts.flow import MODERN, Flow
from mcp_tap.core.facts.message import Message, is_masked
from mcp_tap.core.facts.progress import token_key
from mcp_tap.core.records import Headers
from mcp_tap.core.spec import LISTEN, NOTE_PROGRESS
from mcp_tap.core.text import brief
from mcp_tap.core.wire import UNPARSED
from mcp_tap.rules.base import ALL, Hit, Hits, rule
from mcp_tap.rules.urls import read_url

_PAGE: Final = "specification/2026-07-28/basic/transports/streamable-http"
_KINDS: Final = frozenset({"application/json", "text/event-stream"})


@rule(
    "HTTP-003",
    severity="error",
    level="must",
    blames="server",
    spec=f"{_PAGE}#sending-messages",
    on=("head", "closed"),
    versions=ALL,
    transports=("http",),
    steady=True,
)
def response_content_type(f: Flow) -> Hits:
    """A request is answered with success, but neither with JSON nor with an event stream.

    Another media type, none at all, or an empty body: the client has nothing to read its response
    from.  So have 202 and 204, which are for notifications.  Refusals, redirects and what gateways
    say (300 and above) may look as they like, and so does what answers a notification that has an
    id by mistake.
    """
    request = f.request
    if request is None or f.responses or not f.is_endpoint:
        return None
    if request.fired is not None and "RPC-006" in request.fired:
        return None
    status = f.status
    if status == 200:
        return _without_body(f) if f.exchange.how is not None else _of_kind(f)
    if status in (202, 204) and f.exchange.how is None:
        return Hit(f"server answered a request with status {status}", spot="status")
    return None


def _of_kind(f: Flow) -> Hits:
    kind = f.exchange.content_type
    if kind is None:
        return Hit("server answered a request without a Content-Type", spot="Content-Type")
    if is_masked(kind) or kind in _KINDS or kind.partition(";")[0].strip().lower() in _KINDS:
        return None
    words = f"server answered a request with Content-Type {brief(kind, 60)}"
    return Hit(words, spot="Content-Type")


def _without_body(f: Flow) -> Hits:
    closed = f.closed
    if closed is None or closed.how != "complete" or closed.response.bytes:
        return None
    if is_masked(f.exchange.content_type):  # nobody can tell whether it was a stream
        return None
    if f.exchange.messages:
        return None
    if f.streams or f.exchange.content_type is None:
        return None  # a stream that says nothing is HTTP-005; the other is told already
    return Hit("server answered a request with status 200 and an empty body", spot="body")


@rule(
    "HTTP-004",
    severity="warning",
    level="must",
    blames="server",
    spec=f"{_PAGE}#sending-messages",
    on=("head", "closed"),
    versions=ALL,
    transports=("http",),
    steady=True,
)
def notification_response(f: Flow) -> Hits:
    """A notification that was taken is not answered with 202 and nothing else.

    In sessions this holds for a client's responses as well.  A refusal is legal; where it carries a
    JSON-RPC message, that must be an error without an id.
    """
    sent, status = f.sent, f.status
    if sent is None or status is None or sent.event == "request" or not f.is_endpoint:
        return None
    if sent.event == "notification":
        what = "notification"
    elif sent.event == "client_response" and f.band != MODERN:
        what = "response"
    else:
        return None
    if f.exchange.how is not None:
        return _of_body(f, what, status)
    if status != 202 and 200 <= status < 300:
        return Hit(f"server answered a {what} with status {status}, not 202", spot="status")
    return None


def _of_body(f: Flow, what: str, status: int) -> Hits:
    if status == 202 and f.closed is not None and f.closed.response.bytes:
        return Hit(f"server answered a {what} with 202 and a body", spot="body")
    refusal = f.response if status >= 400 else None
    if refusal is None:
        return None
    if refusal.event != "error":
        return Hit(f"server refused a {what}, but sent a result", spot="body")
    if refusal.id is not None:
        words = f"server refused a {what} with an error that has an id"
        return Hit(words, "/id", about=refusal)
    return None


@rule(
    "HTTP-005",
    severity="warning",
    level="must",
    blames="server",
    spec=f"{_PAGE}#receiving-messages",
    on="closed",
    transports=("http",),
    steady=True,
)
def stream_ended_without_response(f: Flow) -> Hits:
    """The event stream of a request ends, and no response was in it.

    Nothing tells the client whether the work was done, and the stream cannot be taken up again.  A
    note where the connection broke.  Not where the client left first (that cancels the request),
    and not for `subscriptions/listen`, which may end at any time.
    """
    request, how = f.request, f.exchange.how
    if request is None or f.responses or f.exchange.answered or not f.streams:
        return None
    if request.method == LISTEN or f.status != 200:
        return None
    if how == "complete":
        return Hit("server ended the event stream of a request without a response", spot="stream")
    if how in ("upstream_cut", "timeout"):
        words = "server's event stream broke off before the response"
        return Hit(words, spot="stream", severity="note")
    return None


@rule(
    "HTTP-006",
    severity="error",
    level="must",
    blames="server",
    spec=f"{_PAGE}#receiving-messages",
    on=("result", "error", "server_request", "server_notification", "malformed"),
    versions=ALL,
    steady=True,
)
def message_after_final_response(m: Message) -> Hits:
    """A server goes on sending after the response that ends a request.

    Result, error and `input_required` are all the last word: clients stop reading, and what follows
    is lost.  Comments that keep the connection open are no messages.  Over stdio only progress of a
    request that was answered is looked at, since nothing tells whose log messages are.
    """
    flow = m.flow
    if not flow.http:
        return _late(m)
    if not flow.responses or flow.request is None or m.sender != "server":
        return None
    if m.value is UNPARSED or m.record.sse is None:
        return None
    what = "another response" if m.event in ("result", "error") else brief(m.method or "data", 60)
    return Hit(f"server sent {what} after the response of the request", spot="after")


def _late(m: Message) -> Hits:
    """Judge progress that came over stdio, of a request that is answered."""
    if m.method != NOTE_PROGRESS or m.flow.request is not None:
        return None
    token = token_key(m.params.get("progressToken"))
    if token is None or m.flow.seen.progress.answered(token) is None:
        return None
    return Hit("server sent progress after the response of the request", spot="after")


@rule(
    "HTTP-008",
    severity="warning",
    level="heuristic",
    blames="server",
    spec=f"{_PAGE}#security-endpoint",
    on="head",
    versions=ALL,
    transports=("http",),
    steady=True,
)
def foreign_origin_accepted(f: Flow) -> Hits:
    """A server on this machine takes a request that a foreign web site made a browser send.

    A site can point a name of its own to 127.0.0.1 and so reach servers that think themselves
    private; checking Origin is what stops it.  Only loopback servers are judged, others may list
    the sites they trust.  Pages of this machine, of the server itself, and what is no web site are
    fine.
    """
    if f.head is None or "origin" not in _six(f.head.headers):
        return None
    if not _is_local(f.upstream) or not f.is_endpoint:
        return None
    origin = f.header("origin")
    if origin is None or f.status is None or not 200 <= f.status < 300:
        return None
    if f.head.method == "OPTIONS":
        return None  # it only asks whether it may
    site = _site(origin)
    if site is None or _is_local(origin) or site == (f.header("host") or "").lower():
        return None
    words = f"server on this machine took a request of the web site {brief(site, 80)}"
    return Hit(words, spot="Origin")


def _six(headers: Headers) -> list[str]:
    """Give the names of six letters: the cheapest way to tell that there is no Origin."""
    return [name.lower() for name, _ in headers if len(name) == 6]


def _is_local(url: str) -> bool:
    """Tell whether a URL leads to this machine."""
    found = read_url(url)
    return found is not None and found.is_loopback


def _site(origin: str) -> str | None:
    """Give host and port of a web site; None for whatever else an origin can be."""
    scheme, mark, rest = origin.lower().partition("://")
    return rest if mark and scheme in ("http", "https") and rest else None
