"""Log messages of servers: asked for by the request, at its level, with a name there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp_tap.core.facts.levels import LEVELS, rank
from mcp_tap.core.facts.message import is_masked
from mcp_tap.core.records import pointer
from mcp_tap.core.spec import LISTEN, META_LOG_LEVEL, META_SUBSCRIPTION
from mcp_tap.core.text import brief
from mcp_tap.rules.base import Hit, Hits, rule

if TYPE_CHECKING:
    from mcp_tap.core.facts.message import Message


@rule(
    "LOG-001",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/server/utilities/logging#per-request-log-level",
    on="server_notification notifications/message",
)
def log_without_opt_in(m: Message) -> Hits:
    """A log message is sent for a request that did not ask for any.

    A request asks with `io.modelcontextprotocol/logLevel` in its `_meta`; without it the client
    wants silence, and may have nowhere to put a log.  Over stdio, where a log does not say whose it
    is, it is enough that any unanswered request asked.

    Sessions of older revisions set the level once, with `logging/setLevel`, and are not judged.
    What comes on a listen stream, or after the response, has rules of its own.
    """
    if not m.flow.http:
        seen = m.flow.seen
        if META_SUBSCRIPTION in m.meta or seen.levels.pending() or not seen.run.whole:
            return None
        return Hit("server sends a log message while no unanswered request asks for any")
    request = m.request
    if request is None or META_LOG_LEVEL in request.meta:
        return None
    if request.method == LISTEN or m.flow.response is not None:
        return None
    return Hit(f"server sends a log message for a {request.method} that did not ask for any")


@rule(
    "LOG-002",
    severity="warning",
    level="must",
    blames="server",
    spec="specification/2026-07-28/server/utilities/logging#per-request-log-level",
    on="server_notification notifications/message",
)
def log_below_level(m: Message) -> Hits:
    """A log message is less severe than its request asked for.

    The level is what a client can stand: a server that sends more floods it.  Over stdio, where a
    log does not say whose it is, it must be below what every unanswered request asked for.

    Levels nobody knows are not compared; they are LOG-003.
    """
    level = m.params.get("level")
    place = rank(level)
    if place is None:
        return None
    wanted = _wanted(m)
    lowest = min(wanted, key=lambda name: LEVELS.get(name, -1), default=None)
    if lowest is None or place >= LEVELS.get(lowest, -1):
        return None
    return Hit(
        f"server sends a log message of level {level} although {lowest} was asked for",
        "/params/level",
    )


def _wanted(m: Message) -> list[str]:
    """Give the levels that were asked for; none where one of them cannot be compared."""
    found: list[Any]
    if not m.flow.http:
        if META_SUBSCRIPTION in m.meta:
            return []
        found = [level for _, level in m.flow.seen.levels.pending()]
    elif m.request is None or m.request.method == LISTEN or m.flow.response is not None:
        return []
    else:
        found = [m.request.meta.get(META_LOG_LEVEL)]
    return [] if any(rank(level) is None for level in found) else found


@rule(
    "LOG-003",
    severity="error",
    level="must",
    blames="sender",
    spec="specification/2026-07-28/server/utilities/logging#log-levels",
    on=("request", "server_notification notifications/message", "result"),
    steady=("request", "result"),
)
def log_level_invalid(m: Message) -> Hits:
    """A log level is none of the eight names there are.

    They are `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert` and `emergency`, in
    lower case.  A server cannot compare any other with what it has to say, and should refuse the
    request with -32602; that it answers it nevertheless is noted.
    """
    if m.event == "request":
        if META_LOG_LEVEL not in m.meta:
            return None
        level, at = m.meta[META_LOG_LEVEL], "/params/_meta" + pointer(META_LOG_LEVEL)
        who = "client asks for log messages of"
    elif m.event == "result":
        return _served(m)
    else:
        level, at, who = m.params.get("level"), "/params/level", "server sends a log message of"
    if rank(level) is not None or is_masked(level):
        return None
    return Hit(f"{who} level {brief(level, 30)}, which there is not", at)


def _served(m: Message) -> Hits:
    request = m.request
    if request is None or META_LOG_LEVEL not in request.meta:
        return None
    level = request.meta[META_LOG_LEVEL]
    if rank(level) is not None or is_masked(level):
        return None
    return Hit(
        f"server answers a request for log messages of level {brief(level, 30)} instead of "
        "refusing it with -32602",
        spot=META_LOG_LEVEL,
        severity="note",
    )
