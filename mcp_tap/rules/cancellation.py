"""Cancellation: who may cancel what, and how; and silence afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mcp_tap.core.facts.progress import token_key
from mcp_tap.core.spec import LISTEN, META_SUBSCRIPTION, NOTE_LOG
from mcp_tap.core.text import brief, took
from mcp_tap.core.values import same_id
from mcp_tap.rules.base import ALL, Hit, Hits, rule

if TYPE_CHECKING:
    from mcp_tap.core.facts.message import Message

GRACE: Final = 1.0
"""Seconds for which a server may not have heard of a cancellation yet."""
_AT: Final = "/params/requestId"


@rule(
    "CANC-001",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/basic/patterns/cancellation#behavior-requirements",
    on="server_notification notifications/cancelled",
)
def server_cancels_request(m: Message) -> Hits:
    """A server cancels a request that is no subscription.

    Only clients cancel.  A server ends a request by answering it; the one use it has for
    `notifications/cancelled` is to end a `subscriptions/listen`.  A client that follows the
    specification does not expect one here, and goes on waiting.

    An id nobody knows is not judged, nor are sessions of older revisions, in which servers had
    requests of their own to cancel.
    """
    if "requestId" not in m.params:
        return None
    request_id = m.params["requestId"]
    request = m.request
    if request is not None and m.flow.http and same_id(request.id, request_id):
        method = request.method
    else:
        sent = m.flow.seen.cancelled.foreign(request_id)
        method = sent.method if sent is not None else None
    if method is None or method == LISTEN:
        return None
    return Hit(f"server cancels request {brief(request_id, 30)}, a {method} of the client", _AT)


@rule(
    "CANC-002",
    severity="warning",
    level="must",
    blames="client",
    spec="specification/2026-07-28/basic/patterns/cancellation#behavior-requirements",
    on="notification notifications/cancelled",
    versions=ALL,
)
def client_cancellation_invalid(m: Message) -> Hits:
    """A client cancels what it never sent, does not say what, or uses a notification over HTTP.

    Servers ignore what they cannot understand here, so the request goes on running unseen.  A
    request that has become a task is cancelled with `tasks/cancel`.  Over HTTP a stateless request
    is cancelled by closing its stream: there the notification is only noted.

    To cancel a request that was just answered is a race, and no fault.  Whether a request was ever
    sent can be told over stdio only, and only while all of them are remembered.
    """
    request_id = m.params.get("requestId")
    if token_key(request_id) is None:
        if "requestId" not in m.params:
            return Hit("client cancels without saying which request", "/params", "requestId")
        return Hit(f"client cancels {brief(request_id, 30)}, which can be no request id", _AT)
    cancelled = m.flow.seen.cancelled
    sent = cancelled.get(request_id)
    if sent is not None and sent.is_task:
        why = "which has become a task: that takes tasks/cancel"
    elif not m.flow.http and sent is None and cancelled.complete and m.flow.seen.run.whole:
        why = "which it never sent"
    elif m.flow.http and m.flow.modern:
        why = "with a notification; over HTTP closing the stream does that"
        return Hit(f"client cancels request {brief(request_id, 30)} {why}", _AT, severity="note")
    else:
        return None
    return Hit(f"client cancels request {brief(request_id, 30)}, {why}", _AT)


@rule(
    "CANC-003",
    severity="warning",
    level="must",
    blames="server",
    spec="specification/2026-07-28/basic/transports/stdio#cancellation",
    on=("server_notification", "result", "error"),
    transports=("stdio",),
)
def message_after_cancellation(m: Message) -> Hits:
    """A server still sends messages for a request its client cancelled.

    Over stdio all requests share one channel: what comes for a cancelled one is in the way of the
    others, and the client, which has forgotten it, can do nothing with it.  It is found once a
    request, with the first message that comes more than a second after the cancellation; sooner
    it is a race.

    A log message does not say whose it is: it is judged only where every unanswered request that
    asked for logs was cancelled.  Over HTTP the stream is closed, so nothing can be seen.
    """
    if m.method == NOTE_LOG and META_SUBSCRIPTION not in m.meta:
        return _log(m)
    request = m.request
    if request is None:
        return None
    since = m.flow.seen.cancelled.since(request.flow.exchange)
    if since is None or m.t - since <= GRACE:
        return None
    return _late(m, request.flow.exchange, since)


def _log(m: Message) -> Hits:
    cancelled = m.flow.seen.cancelled
    asked = [exchange for exchange, _ in m.flow.seen.levels.pending()]
    since = [cancelled.since(exchange) for exchange in asked]
    last = max((t for t in since if t is not None), default=None)
    if last is None or None in since or m.t - last <= GRACE:
        return None
    return _late(m, asked[-1], last)


def _late(m: Message, exchange: Any, since: float) -> Hit:
    what = "a response" if m.event in {"result", "error"} else m.method
    return Hit(
        f"server sends {what} for request {brief(exchange.request_id, 30)} {took(m.t - since)} "
        "after the client cancelled it",
        once=("client", exchange.number),
    )
