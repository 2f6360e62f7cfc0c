"""Listings and what else may be cached: hints, pages, cursors."""

from __future__ import annotations

from typing import Any, Final

from mcp_tap.core.facts.listings import CACHED, PAGED
from mcp_tap.core.facts.message import Message, is_masked
from mcp_tap.core.forms import is_count
from mcp_tap.core.text import brief, took
from mcp_tap.rules.base import ALL, Hit, Hits, rule

_CACHING: Final = "specification/2026-07-28/server/utilities/caching"
_RESULTS: Final = tuple(f"result {method}" for method in CACHED)
_HINTS: Final = ("ttlMs", "cacheScope")
_SCOPES: Final = ("public", "private")


def _cacheable(m: Message) -> dict[str, Any] | None:
    """Give the result where it must have hints."""
    result, request = m.result, m.request
    if result is None or request is None or result.get("resultType") != "complete":
        return None
    if "inputResponses" in request.params or "requestState" in request.params:
        return None
    return result


@rule(
    "LIST-001",
    severity="error",
    level="must",
    blames="server",
    spec=f"{_CACHING}#cacheable-results",
    on=_RESULTS,
)
def cache_hints_missing(m: Message) -> Hits:
    """A complete result that may be cached lacks `ttlMs` or `cacheScope`.

    These are the results of `server/discover`, of all listings, and of `resources/read`.  Rounds
    that ask have no hints, and the results of retries depend on more than the request, so they are
    left out.
    """
    result = _cacheable(m)
    if result is None:
        return None
    missing = [name for name in _HINTS if name not in result]
    if not missing:
        return None
    words = f"server sent a result of {m.method} without {' and '.join(missing)}"
    return Hit(words, "/result", missing[0])


@rule(
    "LIST-002",
    severity="error",
    level="must",
    blames="server",
    spec=f"{_CACHING}#time-to-live-ttl-field",
    on=_RESULTS,
)
def cache_hints_invalid(m: Message) -> Hits:
    """`ttlMs` is no whole number of milliseconds from 0 on, or `cacheScope` no known word.

    60000.0 is a whole number as well.  `cacheScope` is `public` or `private`, in lower case.
    """
    result = _cacheable(m)
    if result is None:
        return None
    ttl, scope = result.get("ttlMs", 0), result.get("cacheScope", "public")
    hits = []
    if not (is_count(ttl) or is_masked(ttl)):
        words = f"server sent a result of {m.method} with ttlMs {brief(ttl, 40)}"
        hits.append(Hit(words, "/result/ttlMs"))
    if scope not in _SCOPES and not is_masked(scope):
        words = f"server sent a result of {m.method} with cacheScope {brief(scope, 40)}"
        hits.append(Hit(words, "/result/cacheScope"))
    return hits or None


@rule(
    "LIST-003",
    severity="error",
    level="must",
    blames="server",
    spec=f"{_CACHING}#interaction-with-pagination",
    on=tuple(f"result {method}" for method in PAGED),
)
def cache_scope_differs_between_pages(m: Message) -> Hits:
    """A later page of a listing has another `cacheScope` than the first.

    One list is either for everybody or for one user.  Pages belong together where one has the
    cursor the other was asked with; a request without a cursor begins anew.  Each page may have a
    lifetime of its own.
    """
    result = _cacheable(m)
    if result is None or m.request is None:
        return None
    page = m.flow.seen.listings.page(m.method or "", m.request.params.get("cursor"))
    scope = result.get("cacheScope")
    if page is None or type(scope) is not str or type(page.scope) is not str:
        return None
    if scope == page.scope or is_masked(scope) or is_masked(page.scope):
        return None
    words = (
        f"server sent a page of {m.method} with cacheScope {brief(scope, 20)}, after"
        f" {brief(page.scope, 20)} on the first"
    )
    return Hit(words, "/result/cacheScope")


@rule(
    "LIST-004",
    severity="warning",
    level="must",
    blames="client",
    spec="specification/2026-07-28/server/utilities/pagination#implementation-guidelines",
    on=tuple(f"request {method}" for method in PAGED),
    versions=ALL,
)
def cursor_not_issued(m: Message) -> Hits:
    """A client asks for a page with a cursor that it was never given.

    Cursors are opaque: a client must neither make nor change one, and the empty string is one as
    well.  A cursor that is no string, null included, is an error.  Nothing is said where the first
    page of a listing of that kind was not seen, or a page passed that was not read.
    """
    if "cursor" not in m.params:
        return None
    cursor, method = m.params["cursor"], m.method or ""
    if type(cursor) is not str:
        words = f"client asked {method} with a cursor that is {brief(cursor, 20)}, not a string"
        return Hit(words, "/params/cursor", severity="error")
    listings = m.flow.seen.listings
    if is_masked(cursor) or listings.page(method, cursor) is not None:
        return None
    if not listings.knows_cursors(method):
        return None
    return Hit(f"client asked {method} with a cursor it was never given", "/params/cursor")


@rule(
    "LIST-005",
    severity="note",
    level="should",
    blames="client",
    spec=f"{_CACHING}#freshness-calculation",
    on=tuple(f"request {method}" for method in CACHED),
)
def refetch_while_fresh(m: Message) -> Hits:
    """A client asks again for what it has, before the time the server gave it is over.

    It may have good reasons, so this is a note.  Whatever makes the result doubtful ends the time:
    a notification that it changed, any error, a client that was started anew.  Retries with answers
    are never cached.
    """
    fresh = m.flow.seen.listings.fresh(m)
    if fresh is None:
        return None
    words = (
        f"client asked {m.method} again after {took(m.t - fresh.t)}, although its result holds for"
        f" {took(fresh.until - fresh.t)}"
    )
    return Hit(words, "/method")
