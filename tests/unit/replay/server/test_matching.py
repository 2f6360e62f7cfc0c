"""Which recorded round is the one to serve."""

from __future__ import annotations

import pytest

from mcp_tap.replay.server.matching import Book, Exhausted, asked
from tests.replays import (
    ASK,
    OPEN,
    OPENED,
    answered,
    asking,
    complete,
    exchange,
    given,
    masking,
    request,
    rounds,
)

YES = {"yes": True}


@pytest.fixture
def book(indexed):
    def make(*exchanges, after_last="repeat", edit=None):
        return Book(indexed(*exchanges, edit=edit), after_last)

    return make


def retry(action, arguments=None, **more):
    state = {"requestState": "live"}
    return given(request(9, arguments=arguments, **state, **answered(action, **more)))


def numbers(nodes):
    return [node.exchange.number for node in nodes]


def test_equal_calls_are_found_in_the_order_in_which_they_were_recorded(book):
    found = book(*(exchange(request(n), complete(n, "x")) for n in (1, 2, 3)))
    assert numbers(found.first(given(request(9))) for _ in range(5)) == [1, 2, 3, 3, 3]


def test_where_all_were_given_out_fail_says_so(book):
    found = book(exchange(request(1), complete(1, "x")), after_last="fail")
    found.first(given(request(9)))
    with pytest.raises(Exhausted):
        found.first(given(request(9)))


def test_a_call_is_served_what_one_of_its_own_era_got_where_both_were_recorded(book):
    of_session = {"jsonrpc": "2.0", "id": 2, "method": "tools/call"}
    of_session["params"] = {"name": "ship", "arguments": {"n": 1}}
    opened = {"jsonrpc": "2.0", "id": 1, "result": OPENED}
    session = [exchange(OPEN, opened), exchange(of_session, complete(2, "old"))]
    for made in session:
        made["request"]["headers"]["MCP-Protocol-Version"] = "2025-11-25"
    found = book(*session, exchange(request(3), complete(3, "new")))
    assert numbers(found.first(given(one)) for one in (request(9), of_session)) == [3, 2]
    assert numbers(found.first(given(one)) for one in (of_session, request(9))) == [2, 3]


def test_a_call_nobody_recorded_is_not_found(book):
    found = book(exchange(request(1), complete(1, "x")))
    assert found.first(given(request(9, arguments={"n": 2}))) is None
    assert found.first(given(request(9, name="sink"))) is None


def test_what_was_masked_is_compared_with_what_was_not(book):
    body = request(1, arguments={"n": "mcp-tap:0123456789abcdef", "at": "sea"})
    found = book(exchange(body, complete(1, "x")), edit=masking)
    assert numbers([found.first(given(request(9, arguments={"n": 5, "at": "sea"})))]) == [1]
    assert found.first(given(request(9, arguments={"n": 5, "at": "land"}))) is None


def test_a_call_goes_on_as_its_own_client_answered(book):
    found = book(*rounds(1, "a", "decline", "no"), *rounds(3, "b", "decline", "no again"))
    first, second = (found.first(given(request(9))) for _ in range(2))
    assert numbers([found.go_on([second], retry("decline"), "same")]) == [4]
    assert numbers([found.go_on([first], retry("decline"), "same")]) == [2]


def test_an_answer_that_another_client_gave_goes_on_as_that_one(book):
    found = book(
        *rounds(1, "a", "accept", "yes", content=YES),
        *rounds(3, "b", "decline", "no"),
        after_last="fail",
    )
    first = found.first(given(request(9)))
    assert numbers([found.go_on([first], retry("decline"), "same")]) == [4]
    assert numbers([found.first(given(request(9)))]) == [1]  # the one that was not served
    with pytest.raises(Exhausted):
        found.first(given(request(9)))


def test_once_more_is_what_was_recorded_beside_the_same_round_or_after_its_call(book):
    found = book(
        *rounds(1, "a", "cancel", "gone"),
        exchange(request(3, requestState="a", **answered("decline")), complete(3, "reused")),
        *rounds(4, "b", "accept", "yes"),
    )
    first = found.first(given(request(9)))
    more = [
        found.once_more(first, retry(action), "same", first.call, fresh=fresh)
        for action in ("cancel", "decline", "accept")
        for fresh in (True, True, False)
    ]
    assert [node and node.exchange.number for node in more] == [2, None, 2, 3, None, 3, *3 * [None]]


def test_a_retry_of_nothing_that_was_recorded_is_found_by_whether_it_had_a_state(book):
    kept, dropped = answered("accept"), answered("decline")
    found = book(
        exchange(request(1, requestState="old", **kept), complete(1, "went on")),
        exchange(request(2, **dropped), complete(2, "so did this")),
        *rounds(3, "a", "accept", "yes"),
        exchange(request(5, requestState="a", **answered("cancel")), complete(5, "reused")),
    )
    strays = [
        found.stray(retry(action), state=state)
        for action in ("accept", "decline", "cancel")
        for state in (True, False)
    ]
    assert [node and node.exchange.number for node in strays] == [1, None, None, 2, None, None]


def test_a_state_that_several_calls_were_given_is_a_servers_constant(book):
    more = exchange(request(9, requestState="d", **answered("x")), asking(9, "d"))
    found = book(
        *rounds(1, "a", "accept", "yes"),
        *rounds(3, "a", "accept", "yes"),
        *rounds(5, "b", "accept", "yes"),
        *rounds(7, "b mcp-tap:0123456789abcdef", "accept", "yes"),
        *rounds(10, "b mcp-tap:0123456789abcdef", "accept", "yes"),
        exchange(request(12), asking(12, "d")),
        more,
    )
    states = ["a", "b", "b mcp-tap:0123456789abcdef", "d", "e"]
    assert [found.is_constant(0, state) for state in states] == [True, *4 * [False]]


def test_an_answer_nobody_gave_leads_nowhere(book):
    found = book(*rounds(1, "a", "accept", "yes", content=YES))
    first = found.first(given(request(9)))
    assert found.go_on([first], retry("accept", content={"yes": False}), "same") is None
    assert numbers(found.following([first])) == [2]


@pytest.mark.parametrize("relation", ["missing", "other"])
def test_a_state_that_was_not_sent_back_as_recorded_leads_nowhere(book, relation):
    found = book(*rounds(1, "a", "decline", "no"))
    first = found.first(given(request(9)))
    assert found.go_on([first], retry("decline"), relation) is None


def test_a_state_the_recorded_client_dropped_has_to_be_dropped(book):
    retried = request(2, **answered("decline"))
    found = book(exchange(request(1), asking(1, "a")), exchange(retried, complete(2, "no")))
    first = found.first(given(request(9)))
    assert found.go_on([first], retry("decline"), "same") is None
    assert numbers([found.go_on([first], retry("decline"), "missing")]) == [2]


def test_rounds_with_other_arguments_are_others(book):
    found = book(*rounds(1, "a", "decline", "no"))
    first = found.first(given(request(9)))
    assert found.go_on([first], retry("decline", arguments={"n": 2}), "same") is None


def test_calls_that_asked_something_else_are_no_branches_of_this_one(book):
    other = {"sure": {**ASK["sure"], "params": {"mode": "form", "message": "Really?"}}}
    strange = request(4, requestState="b", **answered("decline"))
    found = book(
        *rounds(1, "a", "cancel", "gone"),
        exchange(request(3), asking(3, "b", other)),
        exchange(strange, complete(4, "no")),
    )
    first = found.first(given(request(9)))
    assert found.go_on([first], retry("decline"), "same") is None


def test_equal_calls_are_listed_with_those_not_yet_served_first(book):
    found = book(*(exchange(request(n), complete(n, "x")) for n in (1, 2, 3)))
    first, _ = (found.first(given(request(9))) for _ in range(2))
    assert numbers(found.equal(first)) == [1, 3, 2]


def test_a_round_is_read_again_with_its_answers_and_its_result(book):
    found = book(*rounds(1, "a", "decline", "no"))
    first = found.first(given(request(9)))
    second = found.go_on([first], retry("decline"), "same")
    assert found.answers(second) == {"sure": {"action": "decline"}}
    assert found.result(second)["result"]["content"][0]["text"] == "no"
    assert found.answers(first) is None


def test_what_is_asked_is_the_same_whatever_its_state():
    assert asked(asking(1, "a")) == asked(asking(2, "b"))
    assert asked(asking(1, "a")) != asked(asking(1, "a", {"other": ASK["sure"]}))
    assert asked({"error": {}}) is None
    assert asked([]) is None
