from __future__ import annotations

from mcp_tap.core.facts.listings import MOST_PAGES
from tests.facts import message, reply, seen_by


def page(seen, number, cursor=..., **members):
    asked = {} if cursor is ... else {"cursor": cursor}
    request = message("tools/list", number, seen=seen, t=float(number), **asked)
    seen.note("request", request)
    result = reply(request, resultType="complete", **{"tools": [], **members})
    seen.note("result", result)
    return request


def test_a_page_is_found_by_the_cursor_it_gave():
    seen = seen_by("a")
    page(seen, 1, nextCursor="2", cacheScope="private", tools=[{"name": "a"}])
    page(seen, 2, "2", nextCursor="3", cacheScope="public")
    second = seen.listings.page("tools/list", "3")
    assert second is not None
    assert (second.scope, second.number) == ("private", 2)
    assert second.before is not None
    assert second.before.names == {"a"}
    assert seen.listings.page("prompts/list", "3") is None
    assert seen.listings.page("tools/list", None) is None


def test_an_endless_listing_is_remembered_in_part():
    seen = seen_by("a")
    page(seen, 1, nextCursor="2")
    for number in range(2, 3 * MOST_PAGES):
        page(seen, number, str(number), nextCursor=str(number + 1))
    newest, length = seen.listings.page("tools/list", str(3 * MOST_PAGES)), 0
    while newest is not None:
        newest, length = newest.before, length + 1
    assert 0 < length <= MOST_PAGES


def test_cursors_are_known_from_the_first_page_on_and_while_nothing_is_open():
    seen = seen_by("a")
    assert not seen.listings.knows_cursors("tools/list")
    page(seen, 1)
    assert seen.listings.knows_cursors("tools/list")
    seen.note("request", message("tools/list", 2, seen=seen))
    assert not seen.listings.knows_cursors("tools/list")


def test_a_result_is_fresh_for_its_time_and_its_parameters():
    seen = seen_by("a")
    page(seen, 1, ttlMs=5000)

    def again(t, number=9, **more):
        request = message("tools/list", number, seen=seen, t=t, **more)
        return seen.listings.fresh(request) is not None

    assert again(6.9)
    assert not again(7.1)
    assert not again(6.9, cursor="x")
    assert not again(6.9, requestState="x")
    assert not again(6.9, number=1)
    assert again(6.9, _meta={"progressToken": 1})


def test_a_lifetime_that_makes_no_sense_is_none():
    seen = seen_by("a")
    for ttl in (-5, "5000", True, 1e300, None):
        page(seen, 1, ttlMs=ttl)
        assert seen.listings.fresh(message("tools/list", 9, seen=seen, t=2.5)) is None


def test_long_parameters_are_compared_as_well():
    seen = seen_by("a")
    page(seen, 1, "x" * 5000, ttlMs=5000)
    for cursor, is_fresh in (("x" * 5000, True), ("x" * 5001, False)):
        request = message("tools/list", 9, seen=seen, t=2.5, cursor=cursor)
        assert (seen.listings.fresh(request) is not None) is is_fresh


def test_names_of_pages_that_were_let_go_of_are_twice_on_none():
    seen = seen_by("a")
    page(seen, 1, nextCursor="2", tools=[{"name": "a"}])
    seen.run.held.most = 0
    seen.run.held.settle()
    first = seen.listings.page("tools/list", "2")
    assert first is not None
    assert first.names == frozenset()
