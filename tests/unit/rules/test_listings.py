from __future__ import annotations

from typing import Any

import pytest

from tests.cases import (
    HINTS,
    SESSION,
    answer,
    answer_raw,
    ask,
    asking,
    call,
    error,
    exchange,
    fired,
    form,
    handshake,
    ids,
    line,
    message,
    note,
    post,
    result,
    stdio,
    stream,
    traffic,
)

METHODS = {
    "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}},
    "tools/list": {"tools": []},
    "prompts/list": {"prompts": []},
    "resources/list": {"resources": []},
    "resources/templates/list": {"resourceTemplates": []},
    "resources/read": {"contents": []},
}


def fetched(method: str, number: Any = 1, t: Any = None, **members: Any) -> dict[str, Any]:
    asked = {"uri": "file:///a"} if method == "resources/read" else {}
    reply = {**METHODS[method], **HINTS, **members}
    body = result(number, **{k: v for k, v in reply.items() if v is not ...})
    return exchange(ask(method, number, **asked), answer(body), t)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("hint", HINTS)
def test_a_result_that_may_be_cached_says_for_how_long_and_whom(method, hint):
    [finding] = fired(traffic(fetched(method, **{hint: ...})), "LIST")
    assert (finding.rule, finding.spot) == ("LIST-001", hint)
    assert ids(traffic(fetched(method)), "LIST") == []


def test_rounds_retries_errors_and_untyped_results_need_no_hints():
    asked = exchange(ask("resources/read", uri="file:///a"), answer(asking({"k": form()})))
    answers = {"k": {"action": "accept", "content": {"name": "x"}}}
    retry = ask(
        "resources/read", 2, uri="file:///a", inputResponses=answers, requestState="state-1"
    )
    assert ids(traffic(asked, exchange(retry, answer(result(2, contents=[])))), "LIST") == []
    assert ids(traffic(exchange(ask("tools/list"), answer(error(1)))), "LIST") == []
    assert (
        ids(traffic(exchange(ask("tools/list"), answer(result(1, None, tools=[])))), "LIST") == []
    )
    assert ids(traffic(exchange(call(), answer(result(1, content=[])))), "LIST") == []


@pytest.mark.parametrize(
    "hint",
    [
        {"ttlMs": -1},
        {"ttlMs": "60"},
        {"ttlMs": 0.5},
        {"ttlMs": True},
        {"ttlMs": None},
        {"cacheScope": "shared"},
        {"cacheScope": "Public"},
        {"cacheScope": None},
        {"cacheScope": ["public"]},
    ],
)
def test_hints_must_make_sense(hint):
    [finding] = fired(traffic(fetched("tools/list", **hint)), "LIST")
    assert (finding.rule, finding.spot) == ("LIST-002", next(iter(hint)))


@pytest.mark.parametrize("ttl", [0, 60000.0, 10**15])
def test_any_whole_number_is_a_lifetime(ttl):
    assert ids(traffic(fetched("tools/list", ttlMs=ttl)), "LIST") == []


def page(
    number: int, cursor: Any = ..., method: str = "tools/list", **members: Any
) -> dict[str, Any]:
    asked = {} if cursor is ... else {"cursor": cursor}
    body = result(number, **{**METHODS[method], **HINTS, **members})
    return exchange(ask(method, number, **asked), answer(body))


def test_pages_of_one_listing_have_one_scope():
    first = page(1, nextCursor="2", cacheScope="private")
    assert ids(traffic(first, page(2, "2")), "LIST") == ["LIST-003"]
    assert ids(traffic(first, page(2, "2", cacheScope="private", ttlMs=9)), "LIST") == []
    second = page(2, "2", nextCursor="3", cacheScope="private")
    assert ids(traffic(first, second, page(3, "3")), "LIST") == ["LIST-003"]


def test_listings_of_their_own_may_have_other_scopes():
    first = page(1, nextCursor="2", cacheScope="private")
    assert ids(traffic(first, page(2)), "LIST") == []
    assert ids(traffic(first, page(2, nextCursor="2"), page(3, "2")), "LIST") == []
    other = page(2, method="prompts/list", nextCursor="2")
    assert ids(traffic(first, other, page(3, "2", method="prompts/list")), "LIST") == []


@pytest.mark.parametrize("cursor", [None, 3, ["2"], True])
def test_a_cursor_that_is_no_string_is_an_error(cursor):
    [finding] = fired(traffic(page(1, cursor)), "LIST")
    assert (finding.rule, finding.severity) == ("LIST-004", "error")


def test_a_cursor_must_have_been_given_for_that_method():
    first = page(1, nextCursor="2")
    assert ids(traffic(first, page(2, "3")), "LIST") == ["LIST-004"]
    assert ids(traffic(page(1), page(2, "3")), "LIST") == ["LIST-004"]
    assert ids(traffic(first, page(2, "2")), "LIST") == []
    assert ids(traffic(page(1, nextCursor=""), page(2, "")), "LIST") == []
    assert ids(traffic(page(1), page(2, "")), "LIST") == ["LIST-004"]
    prompts = page(2, method="prompts/list")
    assert ids(traffic(first, prompts, page(3, "2", method="prompts/list")), "LIST") == ["LIST-004"]


def test_an_old_cursor_may_be_used_again():
    pages = page(1, nextCursor="2"), page(2, "2", nextCursor="3"), page(3, "3"), page(4, "2")
    assert ids(traffic(*pages), "LIST") == []


def test_nothing_is_said_of_cursors_that_may_have_been_given_unseen():
    assert ids(traffic(page(1, "7", nextCursor="8"), page(2, "9")), "LIST") == []
    unread = exchange(ask("tools/list", 2), answer_raw("{"))
    assert ids(traffic(page(1), unread, page(3, "9")), "LIST") == []
    refused = exchange(ask("tools/list", 2), answer(status=401))
    assert ids(traffic(page(1), refused, page(3, "9")), "LIST") == ["LIST-004"]


def test_cursors_are_judged_in_sessions_and_over_stdio_as_well():
    def old(number, **asked):
        request = ask("tools/list", number, version="2025-11-25", **asked)
        request["headers"] |= SESSION
        return exchange(request, answer(result(number, None, tools=[])))

    assert ids(traffic(*handshake(), old(2), old(3, cursor="x")), "LIST") == ["LIST-004"]
    case = stdio(
        line("client", message("tools/list", 1)),
        line("server", result(1, tools=[], **HINTS)),
        line("client", message("tools/list", 2, cursor="x")),
    )
    assert ids(case, "LIST") == ["LIST-004"]


def fresh(*exchanges: dict[str, Any]) -> int:
    found = fired(traffic(*exchanges), "LIST")
    assert all((f.rule, f.severity) == ("LIST-005", "note") for f in found)
    return len(found)


FIRST = fetched("tools/list", 1, (0, 1), ttlMs=60_000)


@pytest.mark.parametrize("method", METHODS)
def test_what_is_fresh_need_not_be_fetched(method):
    first = fetched(method, 1, (0, 1), ttlMs=60_000)
    assert fresh(first, fetched(method, 2, (60.5, 62))) == 1
    assert fresh(first, fetched(method, 2, (61.5, 62))) == 0


def test_other_requests_are_not_the_same():
    other = exchange(
        ask("resources/read", 2, uri="file:///b"), answer(result(2, contents=[], **HINTS)), (5, 6)
    )
    assert fresh(fetched("resources/read", 1, (0, 1), ttlMs=60_000), other) == 0
    paged = exchange(ask("tools/list", 2, cursor="2"), answer(result(2, tools=[], **HINTS)), (5, 6))
    assert fresh(fetched("tools/list", 1, (0, 1), ttlMs=60_000, nextCursor="2"), paged) == 0
    assert fresh(fetched("tools/list", 1, (0, 1)), fetched("tools/list", 2, (5, 6))) == 0


def told(method: str, **params: Any) -> dict[str, Any]:
    reply = stream(note(method, **params), open=True)
    return exchange(ask("subscriptions/listen", 4, notifications={}), reply, (2, 3))


def test_a_notification_makes_stale_what_it_is_about():
    again = fetched("tools/list", 5, (5, 6))
    assert fresh(FIRST, told("notifications/tools/list_changed"), again) == 0
    assert fresh(FIRST, told("notifications/prompts/list_changed"), again) == 1
    read = fetched("resources/read", 1, (0, 1), ttlMs=60_000)
    reread = fetched("resources/read", 5, (5, 6))
    assert fresh(read, told("notifications/resources/updated", uri="file:///a"), reread) == 0


def test_an_error_or_a_new_start_makes_everything_doubtful():
    again = fetched("tools/list", 5, (5, 6))
    failed = exchange(call(3), answer(error(3, -32602)), (2, 3))
    assert fresh(FIRST, failed, again) == 0
    wrong = exchange(call(3), answer(result(3, content=[], isError=True)), (2, 3))
    assert fresh(FIRST, wrong, again) == 0
    assert fresh(FIRST, fetched("tools/list", 1, (5, 6))) == 0
    begin = fetched("server/discover", 0, (2, 3))
    assert fresh(FIRST, begin, again) == 0


def test_a_result_is_kept_for_one_credential():
    def as_user(name, number, t):
        got = fetched("tools/list", number, t, ttlMs=60_000)
        got["request"]["headers"]["Authorization"] = f"Bearer {name}"
        return got

    assert fresh(as_user("one", 1, (0, 1)), as_user("two", 2, (5, 6))) == 0
    assert fresh(as_user("one", 1, (0, 1)), as_user("one", 2, (5, 6))) == 1


def test_retries_are_never_cached():
    asked = exchange(ask("resources/read", uri="file:///a"), answer(asking({"k": form()})), (0, 1))
    answers = {"k": {"action": "accept", "content": {"name": "x"}}}

    def retry(number, t):
        request = ask(
            "resources/read",
            number,
            uri="file:///a",
            inputResponses=answers,
            requestState="state-1",
        )
        return exchange(
            request, answer(result(number, contents=[], ttlMs=60_000, cacheScope="private")), t
        )

    assert fresh(asked, retry(2, (2, 3)), retry(3, (4, 5))) == 0


def test_a_post_of_something_else_is_no_listing():
    assert ids(traffic(exchange(post(note("tools/list")), answer(status=202))), "LIST") == []
