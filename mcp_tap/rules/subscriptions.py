"""Subscriptions: opened with a filter, acknowledged first, and every message marked as theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mcp_tap.core.facts.message import NONE, is_masked
from mcp_tap.core.facts.subscriptions import is_acknowledged
from mcp_tap.core.records import pointer
from mcp_tap.core.spec import (
    INPUT_REQUIRED,
    LIST_CHANGES,
    LISTEN,
    META_SUBSCRIPTION,
    NOTE_ACKNOWLEDGED,
    NOTE_CANCELLED,
    NOTE_LOG,
    NOTE_PROGRESS,
    NOTE_UPDATED,
)
from mcp_tap.core.text import brief
from mcp_tap.core.values import same_json
from mcp_tap.rules.base import Hit, Hits, rule

if TYPE_CHECKING:
    from mcp_tap.core.facts.message import Message

MOST_URIS: Final = 10_000
"""Resources of one filter that are looked at."""

_URIS: Final = "resourceSubscriptions"
_FILTERS: Final[dict[str, str]] = {
    **{method: f"{capability}ListChanged" for method, capability in LIST_CHANGES.items()},
    NOTE_UPDATED: _URIS,
}
"""What announces a change, and the member of the filter that asks for it."""
_CHANGES: Final = tuple(f"server_notification {method}" for method in _FILTERS)
_ACKNOWLEDGED: Final = f"server_notification {NOTE_ACKNOWLEDGED}"
_NOT_ITS_OWN: Final = frozenset({NOTE_PROGRESS, NOTE_LOG, NOTE_CANCELLED})
"""Notifications that are not part of a subscription, whatever carries them."""
_SPOT: Final = "subscriptionId"
_AT_ID: Final = "/params/_meta" + pointer(META_SUBSCRIPTION)


def _listens(m: Message) -> bool:
    return m.request is not None and m.request.method == LISTEN


def _ends_nothing(m: Message) -> bool:
    """Tell a result of a type that does not belong here, which is a fault of its own."""
    return m.result is not None and m.result.get("resultType") in (INPUT_REQUIRED, "task")


@rule(
    "SUB-001",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/basic/patterns/subscriptions#acknowledgment",
    on=("server_notification", f"result {LISTEN}"),
    steady=("server_notification",),
)
def subscription_not_acknowledged_first(m: Message) -> Hits:
    """The first message of a subscription is not its acknowledgement.

    The acknowledgement says what the server will deliver; a client that gets a change before it
    does not know yet what it is subscribed to.  Found once a subscription: with the notification,
    or with the successful result, that came too early.

    An error in place of the acknowledgement refuses the subscription, which is fine.  Over stdio
    the order is that of one subscription; others may come in between.
    """
    if not _listens(m) or is_acknowledged(m) or m.method == NOTE_ACKNOWLEDGED:
        return None
    if m.event == "result":
        if _ends_nothing(m):
            return None
        what = "ends a subscription"
    elif m.method in _NOT_ITS_OWN:
        return None
    else:
        what = f"sends {brief(m.method, 60)} on a subscription"
    return Hit(
        f"server {what} before it has acknowledged it",
        spot=m.method,
        once=("client", m.flow.exchange.number),
    )


@rule(
    "SUB-002",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/basic/patterns/subscriptions#receiving-notifications",
    on="server_notification",
    steady=("server_notification",),
)
def subscription_id_missing_or_wrong(m: Message) -> Hits:
    """A notification of a subscription does not carry its id, or carries another one.

    `io.modelcontextprotocol/subscriptionId` is the id of the `subscriptions/listen` request, of the
    same JSON type: 1 is not "1".  Clients sort notifications by it, and over stdio have nothing
    else to go by.

    Over stdio changes and acknowledgements are judged: without an id, or with one that belongs to
    no open subscription.
    """
    if m.flow.http:
        return _wrong_id(m) if _listens(m) and m.method not in _NOT_ITS_OWN else None
    if m.method not in _FILTERS and m.method != NOTE_ACKNOWLEDGED:
        return None
    if META_SUBSCRIPTION not in m.meta:
        if m.flow.seen.subscriptions.any_open():
            return Hit(f"server sends {m.method} without a subscription id", "/params", _SPOT)
        return None
    if _listens(m) or not m.flow.seen.run.whole:
        return None  # found by it; or its request may not have been seen
    return Hit(f"server sends {m.method} for subscription {_quoted(m)}, which is not open", _AT_ID)


def _wrong_id(m: Message) -> Hits:
    own = m.request.id if m.request is not None else None
    if type(own) not in {str, int, float}:
        return None
    if META_SUBSCRIPTION not in m.meta:
        what = "without a subscription id"
        return Hit(f"server sends {brief(m.method, 60)} {what}", "/params", _SPOT)
    if same_json(m.meta[META_SUBSCRIPTION], own):
        return None
    what = f"with the subscription id {_quoted(m)} instead of {brief(own, 30)}"
    return Hit(f"server sends {brief(m.method, 60)} {what}", _AT_ID)


def _quoted(m: Message) -> str:
    return brief(m.meta.get(META_SUBSCRIPTION), 30)


@rule(
    "SUB-003",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/basic/patterns/subscriptions#opening-a-stream",
    on=(*_CHANGES, _ACKNOWLEDGED),
)
def unrequested_notification_type(m: Message) -> Hits:
    """A subscription delivers, or acknowledges, a kind of notification the client did not ask for.

    What the filter leaves out, or says `false` to, is not subscribed to.  An update of a resource
    is judged by its kind; that its URI was not asked for, and is not below one that was, is noted
    only, since servers may name a resource otherwise.

    Members the specification does not define, and `taskIds`, are not compared, and neither is a
    filter that is malformed.
    """
    request = m.request
    if request is None or request.method != LISTEN:
        return None
    wanted = request.params.get("notifications")
    if type(wanted) is not dict:
        return None
    if m.method == NOTE_ACKNOWLEDGED:
        return _acknowledged(m, wanted)
    member = _FILTERS[m.method or ""]
    if not _asked(wanted, member):
        return Hit(
            f"server sends {m.method}, which the subscription did not ask for", spot=m.method
        )
    uri = m.params.get("uri")
    if m.method == NOTE_UPDATED and type(uri) is str and not is_masked(uri):
        uris = wanted.get(_URIS)
        if type(uris) is list and not _covered(uri, uris):
            return Hit(
                f"server reports a change of {brief(uri, 80)}, which the subscription did not name",
                "/params/uri",
                severity="note",
            )
    return None


def _acknowledged(m: Message, wanted: dict[str, Any]) -> Hits:
    granted = m.params.get("notifications")
    if type(granted) is not dict:
        return None
    found = [
        Hit(
            f"server acknowledges {member}, which the subscription did not ask for",
            f"/params/notifications/{member}",
        )
        for member in _FILTERS.values()
        if granted.get(member) not in (None, False, []) and not _asked(wanted, member)
    ]
    uris, named = granted.get(_URIS), wanted.get(_URIS)
    if type(uris) is list and type(named) is list and named:
        known = {uri for uri in named if type(uri) is str}
        for index, uri in enumerate(uris[:MOST_URIS]):
            if type(uri) is str and uri not in known and not is_masked(uri):
                found.append(
                    Hit(
                        f"server acknowledges {brief(uri, 80)}, which was not asked for",
                        f"/params/notifications/{_URIS}/{index}",
                        spot=_URIS,
                        severity="note",
                    )
                )
                break
    return found


def _asked(wanted: dict[str, Any], member: str) -> bool:
    return wanted.get(member) not in (None, False, [])


def _covered(uri: str, uris: list[Any]) -> bool:
    """Tell whether a URI is one of a filter's, or below one."""
    for asked in uris[:MOST_URIS]:
        if type(asked) is not str or not uri.startswith(asked):
            continue
        if len(uri) == len(asked) or asked.endswith("/") or uri[len(asked)] in "/?#":
            return True
    return len(uris) > MOST_URIS


@rule(
    "SUB-004",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/basic/transports/streamable-http#receiving-messages",
    on=_CHANGES,
)
def change_notification_outside_subscription(m: Message) -> Hits:
    """A change is announced elsewhere than on a subscription.

    Lists and resources that change are reported to those who subscribed, with
    `subscriptions/listen`, and on that stream alone.  On the stream of another request a client has
    to drop them: they do not relate to it.  Over stdio this is found where no subscription is open.

    In sessions of older revisions servers may announce changes on any stream.
    """
    if not m.flow.http:
        if _listens(m) or m.flow.seen.subscriptions.any_open() or not m.flow.seen.run.whole:
            return None
        return Hit(f"server sends {m.method} although no subscription is open", spot=m.method)
    if _listens(m):
        return None
    where = m.request.method if m.request is not None else m.flow.exchange.verb
    return Hit(
        f"server sends {m.method} on the stream of {brief(where, 60)}, not of a subscription",
        spot=m.method,
    )


@rule(
    "SUB-005",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/basic/transports/streamable-http#receiving-messages",
    on=(f"server_notification {NOTE_PROGRESS}", f"server_notification {NOTE_LOG}"),
    steady=(f"server_notification {NOTE_PROGRESS}",),
)
def request_scoped_notification_on_subscription(m: Message) -> Hits:
    """Progress or a log message is delivered on a subscription.

    Both belong to the stream of the request they report on.  A subscription outlives all requests,
    so a client cannot tell which of them is meant.  Over stdio such a notification is found by the
    subscription id it carries.
    """
    if m.flow.http:
        if not _listens(m):
            return None
    elif META_SUBSCRIPTION not in m.meta:
        return None
    return Hit(f"server sends {m.method} on a subscription", spot=m.method)


@rule(
    "SUB-006",
    severity="error",
    level="must",
    blames="server",
    spec="specification/2026-07-28/basic/patterns/subscriptions#graceful-closure",
    on=f"result {LISTEN}",
)
def subscription_close_without_id(m: Message) -> Hits:
    """The result that ends a subscription does not carry its id, or carries another one.

    The result stands on the stream like every other message, and says in `_meta` which
    subscription it ends: the id of the request, which is that of the response.

    A stream that simply ends, without a result, is allowed.
    """
    if m.result is None or _ends_nothing(m):
        return None
    own, named = m.id, m.meta.get(META_SUBSCRIPTION, NONE)
    if named is NONE:
        return Hit("server ends a subscription without its id in _meta", "/result", _SPOT)
    if same_json(own, named):
        return None
    return Hit(
        f"server ends subscription {brief(own, 30)} with the subscription id {brief(named, 30)}",
        "/result/_meta" + pointer(META_SUBSCRIPTION),
    )


@rule(
    "SUB-007",
    severity="error",
    level="must",
    blames="client",
    spec="specification/2026-07-28/basic/patterns/subscriptions#notification-filter",
    on=f"request {LISTEN}",
)
def subscription_filter_malformed(m: Message) -> Hits:
    """The filter of a subscription is missing, or its members have the wrong type.

    `notifications` is an object of switches, and of a list of URIs; a server can do nothing with
    anything else.  An empty one is legal, though nothing will ever come.  Members the
    specification does not define belong to extensions.
    """
    wanted = m.params.get("notifications")
    if type(wanted) is not dict:
        if type(m.value.get("params", NONE)) is not dict:
            return None
        if "notifications" not in m.params:
            return Hit("client subscribes without a filter", "/params", "notifications")
        return Hit(
            f"client subscribes with {brief(wanted, 40)} as its filter, which must be an object",
            "/params/notifications",
        )
    return [
        Hit(
            f"client subscribes with {brief(wanted[member], 40)} as {member}, which must be "
            + ("a list of URIs" if member == _URIS else "true or false"),
            f"/params/notifications/{member}",
        )
        for member in _FILTERS.values()
        if member in wanted and not _well_formed(member, wanted[member])
    ]


def _well_formed(member: str, value: Any) -> bool:
    if member != _URIS:
        return type(value) is bool
    return type(value) is list and all(type(uri) is str for uri in value)
