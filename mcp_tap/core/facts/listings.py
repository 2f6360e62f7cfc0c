"""Pages, cursors and freshness of listings and of what else may be cached."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias

from msgspec import Struct

from mcp_tap.core import spec
from mcp_tap.core.bounded import Bounded
from mcp_tap.core.facts.topic import Topic
from mcp_tap.core.values import SHORT, short
from mcp_tap.core.wire import dumps

if TYPE_CHECKING:
    from mcp_tap.core.facts.flow import Flow
    from mcp_tap.core.facts.message import Message

PAGED: Final = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
CACHED: Final = (spec.DISCOVER, *PAGED, "resources/read")
MOST_CURSORS: Final = 1024
MOST_FRESH: Final = 256
MOST_OPEN: Final = 64
MOST_PAGES: Final = 64
"""Pages of one listing that are remembered."""
MOST_NAMES: Final = 10_000
"""Names remembered of one page."""
_NAME: Final = 50
"""Bytes one of them weighs."""
LONGEST_TTL: Final = 1e15
"""Milliseconds from which on a lifetime is none."""
LONGEST: Final = 24 * 3600.0

_OUTDATES: Final = {
    spec.NOTE_TOOLS: ("tools/list",),
    spec.NOTE_PROMPTS: ("prompts/list",),
    spec.NOTE_RESOURCES: ("resources/list", "resources/templates/list", "resources/read"),
    spec.NOTE_UPDATED: ("resources/read",),
}

Key: TypeAlias = tuple[str, bytes, str | None]
"""Method, parameters and credential: what a cached result is kept under."""


class Page(Struct, eq=False, weakref=True):
    """One page of a listing."""

    names: frozenset[str | bytes]
    """Names of the tools on it, made short."""
    scope: str | None
    """`cacheScope` of the first page of its listing that was seen."""
    before: Page | None
    """The page before it."""
    number: int
    changes: int
    """How often the list was said to have changed when it came."""

    def let_go(self) -> None:
        """Forget the names."""
        self.names = frozenset()


class Fresh(Struct, frozen=True, eq=False):
    """A result that need not be fetched again yet."""

    key: Key
    until: float
    """When it goes stale."""
    t: float
    """When it came."""
    id: int | None
    """Id of the request it answered, where that is a number."""


class Listings(Topic):
    """Pages, cursors and freshness."""

    wants: ClassVar = (
        *(f"{event} {method}" for event in ("request", "result") for method in CACHED),
        f"request {spec.INITIALIZE}",
        "result tools/call",
        "error",
        *(f"server_notification {method}" for method in _OUTDATES),
    )
    steady: ClassVar = ("result tools/call",)

    def __init__(self) -> None:
        """Begin with nothing seen."""
        self._pages: Bounded[tuple[str, str | bytes], Page] = Bounded(MOST_CURSORS, LONGEST)
        self._begun: set[str] = set()
        self._open: dict[int, tuple[str, Flow]] = {}
        self._fresh: Bounded[Key, Fresh] = Bounded(MOST_FRESH, LONGEST)

    def page(self, method: str, cursor: Any) -> Page | None:
        """Give the page whose `nextCursor` this is."""
        return self._pages.get((method, short(cursor))) if type(cursor) is str else None

    def knows_cursors(self, method: str) -> bool:
        """Tell whether every cursor of a method a client can have is known.

        It is so once a listing was seen from its first page, and no page passed unread.
        """
        if method not in self._begun or self._pages.retired:
            return False
        return not any(
            m == method and not (flow.status is not None and flow.status >= 400)
            for m, flow in self._open.values()
        )

    def fresh(self, request: Message) -> Fresh | None:
        """Give the result that made a request needless, where there is one."""
        key = key_of(request)
        found = self._fresh.get(key) if key is not None else None
        if found is None or request.t >= found.until or _is_older(request.id, found.id):
            return None
        return found

    def note(self, message: Message) -> None:
        """Take note of requests, pages, results, and of whatever makes them stale."""
        event = message.event
        if event == "request":
            self._request(message)
        elif event == "server_notification":
            self._forget(_OUTDATES.get(message.method or "", ()))
        elif event == "error":
            self._open.pop(message.flow.exchange.number, None)
            self._forget(CACHED)
        elif message.method == "tools/call":
            if message.result is not None and message.result.get("isError") is True:
                self._forget(CACHED)
        else:
            self._result(message)

    def _request(self, message: Message) -> None:
        method = message.method or ""
        if method in PAGED:
            if len(self._open) >= MOST_OPEN:
                del self._open[next(iter(self._open))]
            self._open[message.flow.exchange.number] = (method, message.flow)
        if method == spec.INITIALIZE:
            self._forget(CACHED)
            return
        newest = self._fresh.values()[-1:]
        anew = method == spec.DISCOVER and type(message.id) is not int
        if newest and (anew or _is_older(message.id, newest[0].id)):
            self._forget(CACHED)  # ids start again: so did the client

    def _result(self, message: Message) -> None:
        self._open.pop(message.flow.exchange.number, None)
        result, request = message.result, message.request
        if result is None or request is None:
            return
        method = message.method or ""
        if method in PAGED:
            page = page_of(message)
            if "cursor" not in request.params:
                self._begun.add(method)
            cursor = result.get("nextCursor")
            if type(cursor) is str:
                self._pages.put((method, short(cursor)), page, message.t)
                if page.names:
                    message.flow.seen.run.held.hold(page, _NAME * len(page.names))
        key = key_of(request)
        if key is not None and result.get("resultType") == "complete":
            ttl = result.get("ttlMs")
            if (type(ttl) is int or type(ttl) is float) and 0 < ttl < LONGEST_TTL:
                number = request.id if type(request.id) is int else None
                fresh = Fresh(key, message.t + ttl / 1000, message.t, number)
                self._fresh.put(key, fresh, message.t)
            else:
                self._fresh.pop(key)

    def _forget(self, methods: tuple[str, ...]) -> None:
        if not len(self._fresh):
            return
        if methods is CACHED:
            self._fresh = Bounded(MOST_FRESH, LONGEST)
            return
        for fresh in self._fresh.values():
            if fresh.key[0] in methods:
                self._fresh.pop(fresh.key)


def page_of(message: Message) -> Page:
    """Read the page a result is, with the pages before it."""
    result = message.result or {}
    request = message.request
    seen = message.flow.seen
    cursor = request.params.get("cursor") if request is not None else None
    before = seen.listings.page(message.method or "", cursor)
    if before is not None and before.number >= MOST_PAGES:
        before = None
    scope = _scope(result.get("cacheScope"))
    if before is not None and before.scope is not None:
        scope = before.scope
    names: frozenset[str | bytes] = frozenset()
    if message.method == "tools/list" and type(result.get("tools")) is list:
        tools = result["tools"][:MOST_NAMES]
        found = [tool.get("name") for tool in tools if type(tool) is dict]
        names = frozenset(short(name) for name in found if type(name) is str)
    number = 1 if before is None else before.number + 1
    return Page(names, scope, before, number, seen.tools.changes)


def key_of(request: Message) -> Key | None:
    """Say what a result is kept under; None where it must not be kept, or cannot be."""
    params = request.params
    if "inputResponses" in params or "requestState" in params or len(params) > MOST_OPEN:
        return None
    method = request.method
    if method not in CACHED or method is None:
        return None
    known = sorted(name for name in params if name != "_meta")
    try:
        data = dumps([(name, params[name]) for name in known])
    except (ValueError, TypeError, RecursionError):
        return None
    if len(data) > SHORT:
        data = blake2b(data, digest_size=16).digest()
    return method, data, request.flow.credential


def _scope(value: Any) -> str | None:
    return value if type(value) is str and len(value) <= SHORT else None


def _is_older(one: Any, other: Any) -> bool:
    """Tell whether an id cannot have come after another within one run of a client."""
    return type(one) is int and type(other) is int and one <= other
