"""Requests and responses: who may send which, and which belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp_tap.core.facts.flow import MODERN
from mcp_tap.core.spec import HEADER_SESSION
from mcp_tap.core.text import brief
from mcp_tap.core.values import same_json
from mcp_tap.rules.base import ALL, Hit, Hits, rule

if TYPE_CHECKING:
    from mcp_tap.core.facts.message import Message

_NOTE = "notifications/"


@rule(
    "RPC-004",
    severity="warning",
    level="must",
    blames="client",
    spec="specification/2026-07-28/basic#requests",
    on="request",
)
def id_reused_while_pending(m: Message) -> Hits:
    """A client uses an id again while its earlier request with that id has no response yet.

    Two requests under one id cannot be told apart when their responses come, or when one of them is
    to be cancelled.  `1` and `"1"` are different ids, and `1` and `1.0` the same.

    Over stdio there is one client, and it is an error.  Over HTTP a client is told by its name, its
    User-Agent, its address and its credential, and it is a warning: two programs that share all of
    these may both count from 1.  An id is free again with its response, with its cancellation and
    with the end of its exchange.
    """
    flow = m.flow
    if not flow.seen.pending.is_open(flow, m.id):
        return None
    words = f"client used id {brief(m.id, 30)} again while its request with that id is unanswered"
    return Hit(words, "/id", severity=None if flow.http else "error")


@rule(
    "RPC-005",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/basic#result-responses",
    on=("result", "error"),
    versions=(*ALL, "ambiguous"),
    steady=True,
)
def response_does_not_match_request(m: Message) -> Hits:
    """A response carries an id no request waits for, or a request is answered twice.

    Clients find what a response answers by its id alone, and `7` is not `"7"`: a response they
    cannot place is dropped, and the request runs into its timeout.

    Over HTTP a response is compared with the request of its exchange, over stdio with the requests
    seen on the channel.  Errors without an id, or with id null, may answer what could not be read.
    Silent about ids from before the recording began, about late responses to cancelled requests,
    and where the request itself could not be read.
    """
    flow = m.flow
    request = m.request
    if request is not None:
        mine, asked = m.id, request.id
        if mine == asked and type(mine) is type(asked) and flow.responses == 0:
            return None
        return _paired(m, request)
    if m.event == "error" and m.id is None:
        return None
    return _over_http(m) if flow.http else _over_stdio(m)


def _paired(m: Message, request: Message) -> Hit | None:
    flow = m.flow
    if same_json(m.id, request.id):
        if not flow.answered:
            return None
        words = f"server answered request {brief(m.id, 30)} a second time"
        return Hit(words, "/id")
    if m.event == "error" and m.id is None:
        return None
    if flow.band != MODERN and flow.seen.pending.is_open(flow, m.id):
        return None  # in a session, a stream that was taken up may carry it
    return Hit(_other(m.id, request.id, has_id="id" in m.value), "/id")


def _other(said: Any, asked: Any, *, has_id: bool) -> str:
    wanted = f"the request has id {brief(asked, 30)}"
    if not has_id:
        return f"server sent a response without an id, but {wanted}"
    return f"server answered with id {brief(said, 30)}, but {wanted}"


def _over_http(m: Message) -> Hit | None:
    sent = m.flow.sent
    if sent is None or sent.event != "notification" or m.flow.exchange.verb != "POST":
        return None
    words = "server answered a notification with a response"
    if "id" in m.value:
        words += f" that has id {brief(m.id, 30)}"
    return Hit(words, "/id")


def _over_stdio(m: Message) -> Hit | None:
    flow = m.flow
    pending = flow.seen.pending
    if flow.exchange.kind == "request" and same_json(flow.exchange.request_id, m.id):
        return None  # the request is known, but was not judged: it is not whole
    if "id" not in m.value:
        return Hit("server sent a result without an id", "/id")
    state = pending.state(flow, m.id)
    if state == "answered":
        return Hit(f"server answered request {brief(m.id, 30)} a second time", "/id")
    if state is not None or not pending.knows(m.id) or flow.seen.lines.unread:
        return None
    words = f"server answered with id {brief(m.id, 30)}, which no request has"
    return Hit(words, "/id")


@rule(
    "RPC-008",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/basic/transports/streamable-http#receiving-messages",
    on="server_request",
)
def server_initiated_request(m: Message) -> Hits:
    """A server sends a request of its own in the stateless era.

    Since revision 2026-07-28 only clients send requests: what a server wants to know it asks with a
    result of type `input_required`.  A client of that revision has no way to answer a pushed
    request, not even a ping, so the server waits for nothing.

    Silent in sessions of older revisions, where this was how servers asked; before any request of
    the client has said which revision holds; and about notifications that carry an id.
    """
    method = m.method
    if method is None or method.startswith(_NOTE):
        return None
    if not m.flow.http and not m.flow.seen.pending.started:
        return None
    words = f"server sent a request of its own, {brief(method, 50)}, instead of asking in a result"
    return Hit(words, "/method")


@rule(
    "RPC-009",
    severity="error",
    level="must",
    blames="client",
    spec="specification/2026-07-28/basic/transports/streamable-http#sending-messages",
    on="client_response",
)
def client_sent_response(m: Message) -> Hits:
    """A client sends a response in the stateless era.

    Answers travel in `inputResponses` of the repeated request; a server of revision 2026-07-28
    keeps nothing a response could belong to, so this answer is lost.

    Silent in sessions that were opened with `initialize`, and over stdio as soon as any request was
    not of that era.
    """
    seen = m.flow.seen
    if seen.session.begun:
        return None
    opened = m.flow.header(HEADER_SESSION)
    if opened is not None and seen.run.clients.get(("session", opened)) is not None:
        return None
    if not m.flow.http and (seen.pending.legacy or not seen.pending.started):
        return None
    key = "error" if "error" in m.value else "result"
    words = "client sent a response; answers belong into inputResponses of the repeated request"
    return Hit(words, f"/{key}")
