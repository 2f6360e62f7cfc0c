"""Progress: tokens of requests, and the notifications that report on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mcp_tap.core.facts.flow import MODERN
from mcp_tap.core.facts.message import is_masked
from mcp_tap.core.facts.progress import token_key
from mcp_tap.core.spec import LISTEN, META_SUBSCRIPTION
from mcp_tap.core.text import brief
from mcp_tap.core.values import same_id, same_json
from mcp_tap.rules.base import ALL, Hit, Hits, rule

if TYPE_CHECKING:
    from mcp_tap.core.facts.message import Message

RACE: Final = 0.5
"""Seconds within which two streams of one session can overtake each other."""
_AT: Final = "/params/progressToken"
_NONE: Final = object()


@rule(
    "PROG-001",
    severity="error",
    level="must",
    blames="client",
    spec="specification/2026-07-28/basic/patterns/progress#progress-flow",
    on="request",
    versions=ALL,
)
def progress_token_invalid(m: Message) -> Hits:
    """A progressToken is no string or integer, or another active request of the client has it.

    A server can only send a token back as it got it, and a client tells by the token alone whose
    progress it is: two requests with one token cannot be told apart.  A token that is in use is a
    warning; it is free again once its request is answered, cancelled or cut off.

    Two requests that share their id as well are not judged over HTTP: they look like two processes
    of one program, whose tokens need not differ.
    """
    token = m.meta.get("progressToken", _NONE)
    if token is _NONE or m.flow.seen.progress.is_new(token) or is_masked(token):
        return None
    key = token_key(token)
    if key is None:
        return Hit(
            f"client gave {brief(token, 30)} as progressToken, which must be a string or integer",
            "/params/_meta/progressToken",
        )
    seen = m.flow.seen
    for other in seen.progress.active(key):
        if m.flow.http and same_id(other.request_id, m.id):
            continue
        if other is not m.flow.exchange and seen.cancelled.since(other) is None:
            return Hit(
                f"client gave progressToken {brief(token, 30)} to {m.method} while its "
                f"unanswered request {brief(other.request_id, 30)} has the same",
                "/params/_meta/progressToken",
                severity="warning",
            )
    return None


@rule(
    "PROG-002",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/basic/patterns/progress#behavior-requirements",
    on="server_notification notifications/progress",
)
def progress_for_unknown_token(m: Message) -> Hits:
    """A progress notification names a token that no active request on this channel gave.

    Over HTTP that is the request whose stream carries it, over stdio any unanswered one; 1 and "1"
    are two tokens.  The client cannot show such progress anywhere.  A notification without a token
    or without a number as `progress` is found as well.

    What comes after the response, or on a listen stream, has rules of its own.
    """
    request = m.request
    if m.flow.http:
        if request is None or request.method == LISTEN or m.flow.response is not None:
            return None
    elif META_SUBSCRIPTION in m.meta:
        return None
    token = m.params.get("progressToken", _NONE)
    if token is _NONE:
        return Hit("server reports progress without a progressToken", "/params")
    if type(m.params.get("progress")) not in {int, float}:
        return Hit("server reports progress without a number as its value", "/params", "progress")
    who = _whose(m, request, token)
    if who is None:
        return None
    return Hit(f"server reports progress for the token {brief(token, 30)}, {who}", _AT)


def _whose(m: Message, request: Message | None, token: object) -> str | None:
    """Say what is wrong with a token; None where nothing is."""
    if m.flow.http and request is not None:
        own = request.meta.get("progressToken", _NONE)
        if own is _NONE:
            return "which the request of this stream did not give"
        if (type(own) is str and own == token) or same_json(own, token):
            return None
        return f"but the request of this stream gave {brief(own, 30)}"
    if not m.flow.seen.run.whole:
        return None
    progress, key = m.flow.seen.progress, token_key(token)
    if key is None:
        known = progress.odd  # some request gave such a thing
    else:
        known = bool(progress.active(key)) or progress.answered(key) is not None
    return None if known else "which no request gave"


@rule(
    "PROG-003",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/basic/patterns/progress#progress-flow",
    on="server_notification notifications/progress",
    versions=ALL,
)
def progress_not_increasing(m: Message) -> Hits:
    """The value of `progress` does not grow from one notification to the next.

    Clients draw bars and reset timeouts by it; a value that stands still or falls looks like a
    server that has lost its place.  The total is free: it may be absent, change or be passed.

    Values are compared within one exchange, for one token.  A later request with the same token,
    or the next round of the same call, starts anew.
    """
    if "progress" not in m.flow.memo or m.flow.response is not None:
        return None
    token = token_key(m.params.get("progressToken"))
    value = m.params.get("progress")
    if token is None or type(value) not in {int, float}:
        return None
    last = m.flow.seen.progress.last(m, token)
    if last is None or value > last:  # type: ignore[operator]
        return None
    return Hit(
        f"server reports progress {brief(value, 20)} after {brief(last, 20)} for the same request",
        "/params/progress",
    )


@rule(
    "PROG-004",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/basic/patterns/progress#implementation-notes",
    on="server_notification notifications/progress",
    versions=ALL,
)
def progress_after_completion(m: Message) -> Hits:
    """A progress notification comes after the request it belongs to was answered.

    A result, an error and a result that asks for input all end a request, and with it its token; a
    client that has forgotten the token may take the notification for another request's.

    On the stream that carried the response this is HTTP-006, which alone is reported then.  Streams
    of one session can overtake each other, so half a second between them is allowed.
    """
    flow = m.flow
    if flow.http and (flow.band == MODERN or flow.response is not None):
        return None
    token = token_key(m.params.get("progressToken"))
    answered = flow.seen.progress.answered(token) if token is not None else None
    if answered is None:
        return None
    if flow.http and (answered.end is None or m.t - answered.end < RACE):
        return None
    return Hit(
        f"server reports progress for the token {brief(m.params['progressToken'], 30)} after it "
        f"answered request {brief(answered.request_id, 30)}, which gave it",
        _AT,
    )
