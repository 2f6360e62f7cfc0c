"""What is answered: by the script, by key, by position, or not at all."""

from __future__ import annotations

import pytest

from mcp_tap.answers.book import Book
from mcp_tap.answers.question import questions
from mcp_tap.answers.reading import load
from mcp_tap.core.facts.message import MARK
from mcp_tap.replay.client.answering import Answers, NotAnswered, Then, pushed_then
from mcp_tap.replay.client.bodies import Push

YES = {"action": "accept", "content": {"ok": True}}
NO = {"action": "decline"}


def form(message="?", **schema):
    params = {"message": message, "requestedSchema": {"type": "object", "properties": {}, **schema}}
    return {"method": "elicitation/create", "params": params}


def sampling():
    return {"method": "sampling/createMessage", "params": {"messages": []}}


def answered(asks, then, earlier=(), *, book=None):
    return Answers(book).to_round(asks, then, list(earlier), {"method": "tools/call"})


def test_an_ask_gets_what_was_answered_under_its_key():
    then = Then({"a": form(), "b": form()}, {"a": YES, "b": NO})
    assert answered({"b": form(), "a": form()}, then) == {"b": NO, "a": YES}


def test_asks_under_other_keys_get_the_answers_in_their_place_kind_by_kind():
    then = Then({"a": sampling(), "b": form(), "c": form()}, {"a": {"x": 1}, "b": YES, "c": NO})
    asks = {"b2": form(), "a2": sampling(), "c": form()}
    assert answered(asks, then) == {"b2": YES, "a2": {"x": 1}, "c": NO}


def test_what_was_asked_at_another_time_is_found_by_its_key():
    assert answered({"a": form()}, Then({}, {}), [Then({"a": form()}, {"a": YES})]) == {"a": YES}


def test_an_ask_that_was_not_answered_is_not_answered_now():
    assert answered({"a": form(), "b": form()}, Then({"a": form(), "b": form()}, {"b": NO})) == {
        "b": NO
    }


def test_answers_to_nothing_that_was_asked_are_given_again():
    assert answered({"a": form()}, Then({"a": form()}, {"a": NO, "z": YES})) == {"a": NO, "z": YES}


def test_an_ask_without_a_counterpart_has_no_answer():
    with pytest.raises(NotAnswered, match='nothing answers ask "b"'):
        answered({"a": form(), "b": form()}, Then({"a": form()}, {"a": YES}))


def test_an_answer_that_no_longer_fits_is_not_given():
    fields = {"ok": {"type": "boolean"}, "why": {"type": "string"}}
    wants = {"properties": fields, "required": ["why"]}
    with pytest.raises(NotAnswered, match='no "why", which is required'):
        answered({"a": form(**wants)}, Then({"a": form()}, {"a": YES}))
    assert answered({"a": form(**wants)}, Then({"a": form()}, {"a": NO})) == {"a": NO}


def test_a_wrong_answer_to_an_unchanged_ask_is_given_again():
    wants = form(properties={"ok": {"type": "string"}}, required=["ok"])
    assert answered({"a": wants}, Then({"a": wants}, {"a": YES})) == {"a": YES}


def test_a_masked_answer_is_not_given():
    masked = {"action": "accept", "content": {"pin": f"{MARK}string:4"}}
    with pytest.raises(NotAnswered, match="masked"):
        answered({"a": form()}, Then({"a": form()}, {"a": masked}))


SCRIPT = 'version = 1\n[[answer]]\nname = "b"\nmatch = { key = "b" }\naction = "cancel"\n'


def test_a_script_answers_first_and_the_capture_what_it_leaves():
    book = Book([load(SCRIPT, "a.toml")], env={})
    then = Then({"a": form(), "b": form()}, {"a": YES, "b": YES})
    assert answered({"a": form(), "b": form()}, then, book=book) == {
        "a": YES,
        "b": {"action": "cancel"},
    }


def pushes(*, answer=None):
    return [
        Push(exchange=number, id=number, method="elicitation/create", params={"message": words},
             answer=answer)
        for number, words in ((1, "one"), (2, "two"), (3, "one"))
    ]  # fmt: skip


def test_a_pushed_ask_is_the_recorded_one_of_its_call_then_the_one_that_says_the_same():
    recorded = pushes()

    def next_id(words, exchanges=None):
        found = pushed_then(recorded, "elicitation/create", {"message": words}, exchanges)
        return None if found is None else found.id

    assert next_id("one", frozenset({3})) == 3
    assert next_id("two") == 2
    assert next_id("three") == 1
    assert next_id("one") is None


def test_a_pushed_ask_gets_the_recorded_response_errors_and_silence_included():
    (question,) = questions({"9": form()}, pushed=True)
    error = {"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "no"}}
    found = pushes(answer=error)[0]
    assert Answers(None).to_push(question, form(), found) == error
    assert Answers(None).to_push(question, form(), pushes()[0]) is None
    with pytest.raises(NotAnswered):
        Answers(None).to_push(question, form(), None)
