"""What has no place, or soon none, in traffic of the stateless era."""

from __future__ import annotations

from typing import Final

from mcp_tap.core import spec
from mcp_tap.core.facts.ask import Ask
from mcp_tap.core.facts.flow import MODERN, band_of
from mcp_tap.core.facts.message import Message
from mcp_tap.core.facts.session import DEPRECATED
from mcp_tap.core.records import pointer
from mcp_tap.rules.base import Hit, Hits, rule

_REMOVED: Final = (
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
    "tasks/list",
    "tasks/result",
    spec.INITIALIZE,
)
_REMOVED_NOTES: Final = (
    "notifications/initialized",
    "notifications/roots/list_changed",
    "notifications/tasks/status",
)


def _on(events: tuple[str, ...], methods: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{event} {method}" for event in events for method in methods)


def _declares(m: Message) -> bool:
    """Tell whether a request itself says that it is modern."""
    version = m.meta.get(spec.META_VERSION)
    return type(version) is str and band_of(version) == MODERN


@rule(
    "LEG-001",
    severity="warning",
    level="must",
    blames="client",
    spec="specification/2026-07-28/changelog#major-changes",
    on=_on(("request", "result", "error"), _REMOVED),
)
def removed_method_in_modern_traffic(m: Message) -> Hits:
    """A modern request uses a method that this revision removed.

    There is no session to open, to keep alive or to set a log level for: what is left of that is
    said with each request. Subscriptions are streams, and the result of a task comes with its
    status. A server of this revision refuses these methods; one that does not is noted as well.

    Only requests whose `_meta` names the revision count. `initialize` without is how a client
    that knows both eras asks an older server.
    """
    if m.event == "request":
        if not _declares(m):
            return None
        return Hit(f"client sent {m.method}, which this revision removed", "/method")
    request = m.request
    if request is None or not _declares(request):
        return None
    if m.event == "error" and m.code == spec.METHOD_NOT_FOUND:
        return None
    words = f"server answered {m.method}, which this revision removed, with something but -32601"
    at = "/error/code" if m.event == "error" else "/result"
    return Hit(words, at, severity="note", blame="server")


@rule(
    "LEG-002",
    severity="warning",
    level="must",
    blames="sender",
    spec="specification/2026-07-28/changelog#major-changes",
    on=_on(("notification", "server_notification"), _REMOVED_NOTES),
)
def removed_notification_in_modern_traffic(m: Message) -> Hits:
    """A notification that this revision removed appears in modern traffic.

    Nothing follows from it any more: there is no handshake to finish, roots are asked for when
    they are needed, and the status of a task has a notification of another name.

    Sessions that were opened by `initialize` are exempt, and so is whatever does not say that it is
    modern.
    """
    if m.flow.seen.session.begun:
        return None
    return Hit(f"{m.sender} sent {m.method}, which this revision removed", "/method")


@rule(
    "LEG-009",
    severity="note",
    level="should",
    blames="sender",
    spec="specification/2026-07-28/deprecated#deprecated",
    on=(
        "request",
        "ask sampling",
        "ask roots",
        f"server_notification {spec.NOTE_LOG}",
        "result server/discover",
        "malformed",
    ),
    steady=("request",),
)
def deprecated_feature_used(subject: Message | Ask) -> Hits:
    """Modern traffic relies on a deprecated feature.

    Sampling, roots, logging and the transport with a stream for events and an endpoint for posts
    still work, and may be gone within a year. Reported once a client and feature, by whichever
    side shows it first: by asking, by declaring a capability, by a log level or a log message, by
    an `endpoint` event.

    What a server may no longer put into a sampling request or a form has rules of its own.
    """
    if isinstance(subject, Ask):
        if subject.origin == "pushed":
            return None
        words = f"server asks for {subject.kind}, a deprecated feature"
        return _once(subject.kind, words, subject.path + "/method")
    event = subject.event
    if event == "request":
        return _requested(subject) if subject.sender == "client" else None
    if event == "result":
        return _discovered(subject)
    if event == "malformed":
        return _endpoint(subject)
    return _logged(subject)


def _discovered(m: Message) -> Hits:
    found = m.result.get("capabilities") if m.result is not None else None
    if type(found) is not dict or found.get("logging") is None:
        return None
    at = "/result/capabilities/logging"
    return _once("logging", "server declares logging, a deprecated feature", at)


def _requested(m: Message) -> Hits:
    meta = m.meta
    capabilities = meta.get(spec.CLIENT_CAPABILITIES)
    found: list[Hit] | None = None
    known = m.flow.seen.session.declared
    if type(capabilities) is dict:
        for feature in DEPRECATED:
            if feature in capabilities and feature not in known:
                words = f"client declares {feature}, a deprecated feature"
                where = "/params/_meta" + pointer(spec.CLIENT_CAPABILITIES, feature)
                found = [*(found or ()), _once(feature, words, where)]
    if spec.META_LOG_LEVEL in meta and "logging" not in known:
        words = "client asks for log messages, a deprecated feature"
        where = "/params/_meta" + pointer(spec.META_LOG_LEVEL)
        found = [*(found or ()), _once("logging", words, where)]
    return found


def _logged(m: Message) -> Hits:
    if "logging" in m.flow.seen.session.declared:
        return None
    return _once("logging", "server sent a log message, a deprecated feature", "/method")


def _endpoint(m: Message) -> Hits:
    sse = m.record.sse
    if sse is None or sse.event != "endpoint" or m.flow.exchange.verb != "GET":
        return None
    words = "server announces an endpoint for posts: the deprecated HTTP+SSE transport"
    return _once("sse", words, "")


def _once(feature: str, words: str, at: str) -> Hit:
    return Hit(words, at, spot=feature, once=("client", feature))
