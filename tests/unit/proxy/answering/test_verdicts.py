"""What is told of a round in the capture."""

from __future__ import annotations

from mcp_tap.answers.book import Given, Missed, Unmatched
from mcp_tap.answers.question import questions
from mcp_tap.errors import ScriptError
from mcp_tap.proxy.answering.asked import Asked
from mcp_tap.proxy.answering.verdicts import Ask, Fail, Pass, Round, Send, told
from tests.asking import form

MISS = Missed(key="b", error=ScriptError("no-answer", "nothing answers b"), entry=None)
ASKS = questions({"a": form("a"), "b": form("b")})


def said(verdict, asks=ASKS):
    round_ = Round(asked=Asked(requests={}, state=None, server=None), asks=asks, verdict=verdict)
    return [tuple(each) for each in told(round_)]


def test_answers_name_their_entries():
    answers = {
        "a": Given(entry="first", answer={"action": "accept"}, kind="form"),
        "b": Given(entry=None, answer={"action": "decline"}, kind="form"),
    }
    assert said(Send(answers)) == [
        ("answered", 'by "first"', "first", "a"),
        ("declined", "nothing in the script answers it", None, "b"),
    ]


def test_a_round_is_refused_as_a_whole():
    assert said(Fail("no-answer", "why", [MISS])) == [
        ("not-sent", "another ask of its round has no answer", None, "a"),
        ("unmatched", "nothing answers b", None, "b"),
    ]
    assert said(Fail("too-many-rounds", "enough")) == [
        ("failed", "enough", None, "a"),
        ("failed", "enough", None, "b"),
    ]


def test_a_round_that_passes_says_what_was_missing():
    assert said(Pass("for b", [MISS])) == [
        ("passed", "for b", None, "a"),
        ("passed", "nothing answers b", None, "b"),
    ]


def test_a_round_without_asks_is_told_once():
    assert [each[0] for each in said(Send({}), [])] == ["answered"]
    assert [each[0] for each in said(Pass("it asks for nothing"), [])] == ["passed"]


def test_nothing_is_told_before_a_person_has_decided():
    assert said(Ask(Unmatched(how="ask", misses=[MISS]))) == []
    assert not Round(
        asked=Asked(requests={}, state=None, server=None), asks=[], verdict=Send({})
    ).passes
