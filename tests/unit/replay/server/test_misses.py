"""The words about what was not recorded."""

from __future__ import annotations

import json

import pytest

from mcp_tap.core.wire import UNPARSED
from mcp_tap.replay.index import Index
from mcp_tap.replay.server.matching import Book
from mcp_tap.replay.server.misses import NOT_RECORDED, Misses, error_of
from tests.replays import (
    META,
    answered,
    complete,
    cutting,
    exchange,
    given,
    index_of,
    request,
    rounds,
)


@pytest.fixture
def misses(indexed):
    def make(*exchanges, **given):
        index = indexed(*exchanges, **given)
        book = Book(index, "fail")
        return Misses(index, book), book

    return make


def recorded(*arguments):
    return [
        exchange(request(n, arguments=one), complete(n, "x")) for n, one in enumerate(arguments, 1)
    ]


def test_the_call_with_the_fewest_differences_is_the_nearest(misses):
    words, _ = misses(*recorded({"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 4}))
    miss = words.call(given(request(9, arguments={"a": 1, "b": 3, "c": 5})))
    assert miss.nearest.call.number == 2
    assert "arguments differ: c 5, recorded 4" in miss.error.why
    assert miss.error.what.endswith(
        'run.jsonl has no call like tools/call ship {"a":1,"b":3,"c":5}'
    )


def test_a_call_that_was_not_recorded_whole_says_so(misses):
    (made,) = recorded({"a": 1})
    made["request"]["headers"] |= {"Mcp-Method": "tools/call", "Mcp-Name": "ship"}
    words, _ = misses(made, edit=cutting)
    miss = words.call(given(request(9, arguments={"a": 1})))
    assert miss.error.why.endswith(
        "same method and name; arguments were not recorded whole (--max-body)"
    )


def test_what_is_left_out_or_added_is_named(misses):
    words, _ = misses(*recorded({"a": 1}))
    why = words.call(given(request(9, arguments={"b": {"c": []}}))).error.why
    assert "a nothing, recorded 1; b {" in why
    assert why.endswith("recorded nothing")


def test_no_more_than_three_differences_are_named(misses):
    words, _ = misses(*recorded(dict.fromkeys("abcde", 1)))
    why = words.call(given(request(9, arguments=dict.fromkeys("abcde", 2)))).error.why
    assert why.endswith("a 2, recorded 1; b 2, recorded 1; c 2, recorded 1; and 2 more")


def test_long_and_terrible_values_are_cut_and_made_harmless(misses):
    words, _ = misses(*recorded({"a": "x" * 5000}))
    error = words.call(given(request(9, arguments={"a": "\x1b[2J" + "y" * 5000}))).error
    assert len(error.what) < 600
    assert len(error.why) < 400
    assert "\x1b" not in error.what + error.why


def test_secrets_are_shown_nowhere(misses):
    words, _ = misses(*recorded({"api_key": "old-one", "n": {"password": "old-two"}}))
    secret = {"api_key": "new-one", "n": {"password": "new-two"}}
    error = words.call(given(request(9, arguments=secret))).error
    shown = error.what + error.why
    assert "new-one" not in shown
    assert "old-" not in shown
    assert "new-two" not in shown
    assert "api_key ***, recorded ***" in error.why
    added = words.call(given(request(9, arguments={"n": [{"password": "new-two"}]}))).error
    assert "new-two" not in added.what + added.why
    assert "old-" not in added.why


def test_a_value_deeper_than_anybody_reads_is_shown_in_part(misses):
    words, _ = misses(*recorded({"a": 1}))
    deep: object = 1
    for _ in range(400):
        deep = {"a": deep}
    error = words.call(given(request(9, arguments=deep))).error
    assert 'tools/call ship {"a":{"a":' in error.what


def test_without_a_call_of_that_name_the_nearest_name_is_given(misses):
    words, _ = misses(*recorded({"a": 1}))
    miss = words.call(given(request(9, name="shipp")))
    assert miss.nearest.call.number == 1
    assert 'same method; name "shipp", recorded "ship"' in miss.error.why


def test_without_a_call_of_that_method_the_nearest_method_is_given(misses):
    words, _ = misses(*recorded({"a": 1}))
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
    miss = words.call(given(body))
    assert miss.nearest is None
    assert miss.error.why == "nearest method is tools/call; no tools/list is in it"
    assert miss.error.help == "--on-miss forward=URL asks a server"


def test_a_capture_without_calls_has_nothing_near(misses):
    note = {"jsonrpc": "2.0", "method": "notifications/x"}
    words, _ = misses(exchange(note, None, 202))
    assert words.call(given(request(9))).error.why == "no call is in it"


def test_an_answer_names_the_recorded_one_it_comes_nearest_to(misses):
    words, book = misses(*rounds(1, "s", "accept", "yes", content={"yes": True, "no": False}))
    first = book.first(given(request(9)))
    retry = request(9, requestState="s", **answered("accept", content={"yes": True}))
    miss = words.answers(given(retry), [*book.after(first)])
    assert "has no round like tools/call ship" in miss.error.what
    assert miss.error.what.endswith("answering sure")
    assert miss.error.why.endswith("answers differ: sure.content.no nothing, recorded false")


def test_a_round_nobody_answered_says_so(misses):
    words, _ = misses(*recorded({"a": 1}))
    retry = request(9, requestState="s", **answered("accept"))
    assert words.answers(given(retry), []).error.why == (
        "the call was recorded without an answer to this"
    )


def test_a_call_that_was_recorded_but_not_so_often_names_the_option(misses):
    words, _ = misses(*recorded({"a": 1}, {"a": 1}))
    miss = words.exhausted(given(request(9, arguments={"a": 1})))
    assert miss.nearest.call.number == 2
    assert miss.error.why == "every recorded one has been served"
    assert "--after-last repeat" in miss.error.help


def test_an_answer_that_is_too_long_names_the_option(misses):
    words, _ = misses(*recorded({"a": 1}))
    assert "--max-body" in words.cut(given(request(9)), None).error.why


def test_a_pushed_ask_names_what_was_answered(misses):
    words, _ = misses(*recorded({"a": 1}))
    old, new = ({"result": {"action": action}} for action in ("accept", "decline"))
    why = words.pushed("tools/call", "ship", old, new).error.why
    assert why == 'nearest answer differs: result.action "decline", recorded "accept"'


def test_a_pushed_ask_nobody_answered_says_so(misses):
    words, _ = misses(*recorded({"a": 1}))
    miss = words.pushed("tools/call", None, UNPARSED, {"result": {}})
    assert miss.error.why == "it was never answered"
    assert "has no tools/call that goes on after this answer" in miss.error.what


def test_several_captures_are_counted_and_the_nearest_is_named_with_its_own(tmp_path):
    for name in ("a", "b"):
        index_of(tmp_path / f"{name}.jsonl", *recorded({name: 1})).close()
    with Index.of([str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")]) as index:
        words = Misses(index, Book(index, "fail"))
        error = words.call(given(request(9, arguments={"b": 2}))).error
    assert error.what.startswith("the set of 2 captures has no call like")
    assert "b.jsonl #1 (line 3)" in error.why


def test_no_server_is_offered_over_stdio_where_none_can_be_asked(indexed):
    index = indexed(*recorded({"a": 1}))
    words = Misses(index, Book(index, "fail"), lines=True)
    asked = given(request(9, arguments={"a": 2}))
    assert words.call(asked).error.help == "--on-miss nearest serves that one"
    assert words.unanswered(words.call(asked)).error.help == ""


def test_the_error_for_the_client_says_all_of_it_on_one_line(misses):
    words, _ = misses(*recorded({"a": 1}))
    miss = words.call(given(request(9, arguments={"a": "1\n2"})))
    error = json.loads(error_of(miss, "id-1"))
    assert (error["id"], error["error"]["code"]) == ("id-1", NOT_RECORDED)
    assert error["error"]["data"] == {"sender": "mcp-tap", "error": "not-recorded"}
    message = error["error"]["message"]
    assert message.startswith("mcp-tap: ")
    assert "\n" not in message
    assert message == miss.line
