"""Each ask is told which entry won, and what each of the others wanted first."""

from __future__ import annotations

import pytest

from mcp_tap.answers.explain import HIDDEN, agrees, explain, shown
from tests.asks import book, form, of

TEXT = """
[[answer]]
name = "elsewhere"
match = { tool = "pay", key = "nothing" }
action = "decline"
[[answer]]
name = "here"
match = { key = "a" }
content = { x = { env = "X" } }
[[answer]]
name = "everywhere"
content = { x = "1" }
[[answer]]
name = "model"
text = "Paris."
"""
MASK = "mcp-tap:0123456789abcdef"


def test_the_winner_and_the_first_condition_each_other_failed_are_told():
    (found,) = explain(book(TEXT, {"X": "s"}), [form("a", x=None)])
    assert found.winner.name == "here"
    assert [(t.number, t.won, t.why) for t in found.tried] == [
        (1, False, 'wants tool "pay"'),
        (2, True, None),
        (3, False, None),
        (4, False, "answers sampling"),
    ]
    assert (found.error, found.held) == (None, False)


def test_an_ask_that_others_of_its_round_hold_up_says_so():
    one, other = explain(book(TEXT, {"X": "s"}), [form("a", x=None), form("b", y=None)])
    assert (one.given, one.held, one.error) == (None, True, None)
    assert (other.held, other.error.code) == (False, "answer-misfit")


def test_it_counts_as_a_live_round_does():
    of_text = book('[[answer]]\ntimes = 1\naction = "decline"')
    assert explain(of_text, [form()])[0].winner
    (found,) = explain(of_text, [of(form(), call=2)])
    assert (found.winner, found.tried[0].why) == (None, "has answered for 1 calls")


def test_what_came_from_the_environment_is_not_shown():
    (found,) = explain(book(TEXT, {"X": "hunter2"}), [form("a", x=None)])
    assert found.given.answer["content"] == {"x": "hunter2"}
    assert shown(found.given) == {"action": "accept", "content": {"x": HIDDEN}}
    (other,) = explain(book(TEXT), [form("b", x=None)])
    assert shown(other.given) == {"action": "accept", "content": {"x": "1"}}


@pytest.mark.parametrize(
    ("given", "recorded", "same"),
    [
        ({"action": "accept"}, {"action": "accept"}, True),
        (
            {"action": "accept", "content": {"n": 1}},
            {"action": "accept", "content": {"n": 1.0}},
            True,
        ),
        ({"content": {"n": True}}, {"content": {"n": 1}}, False),
        ({"content": {"a": "x"}}, {"content": {"a": MASK}}, True),
        ({"content": {}}, {"content": {"a": MASK}}, False),
        ({"action": "accept", "content": {}}, {"action": "accept"}, False),
        ({"content": {"text": "a"}, "stopReason": "endTurn"}, {"content": {"text": "a"}}, True),
        ({"action": "cancel"}, {"action": "cancel", "_meta": {"k": 1}}, True),
        ({"content": {"stopReason": "a"}}, {"content": {}}, False),
    ],
)
def test_answers_are_compared_with_what_was_recorded(given, recorded, same):
    assert agrees(given, recorded) is same
