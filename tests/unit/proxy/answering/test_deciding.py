"""What follows from what scripts, or a person, say of a round."""

from __future__ import annotations

from mcp_tap.answers.book import Unmatched
from mcp_tap.proxy.answering.answering import Answering
from mcp_tap.proxy.answering.deciding import decide, weigh
from mcp_tap.proxy.answering.verdicts import Ask, Fail, Pass, Send
from tests.asks import book, form, of, roots

SCRIPT = """
[[answer]]
name = "day"
match = { field = "day" }
content = { day = "tue" }
"""


def verdict(*asks, person=None, **options):
    answering = Answering(book(SCRIPT, **options), person=person, max_rounds=3)
    return decide(answering, asks)


async def nobody(asks, unmatched):
    raise AssertionError


def test_what_an_entry_answers_is_sent():
    found = verdict(form(day=None))
    assert isinstance(found, Send)
    assert found.answers["confirm"].entry == "day"


def test_a_round_too_many_fails_whatever_a_script_says():
    found = verdict(of(form(day=None), round=4))
    assert isinstance(found, Fail)
    assert found.code == "too-many-rounds"


def test_only_what_all_was_declared_is_passed_on():
    assert isinstance(verdict(form(seat=None), unmatched="pass"), Pass)
    found = verdict(form("a"), of(form("b"), declared=False), unmatched="pass")
    assert isinstance(found, Fail)
    assert found.code == "no-answer"


def test_elicitations_are_declined_and_nothing_else_can_be():
    found = verdict(form(seat=None), unmatched="decline")
    assert isinstance(found, Send)
    assert found.answers["confirm"].answer == {"action": "decline"}
    assert isinstance(verdict(roots(), unmatched="decline"), Fail)


def test_a_person_is_asked_where_there_is_one():
    assert isinstance(verdict(form(seat=None), unmatched="ask"), Fail)
    assert isinstance(verdict(form(seat=None), unmatched="ask", person=nobody), Ask)


def test_the_same_over_and_over_is_a_loop():
    answering = Answering(book(SCRIPT))
    found = [decide(answering, [form(day=None)]) for _ in range(3)]
    assert [type(f) for f in found] == [Send, Send, Fail]
    assert found[-1].code == "asks-again"


def test_refusals_over_and_over_are_a_loop_too():
    answering = Answering(book(SCRIPT, unmatched="cancel"))
    found = [decide(answering, [form(seat=None)]) for _ in range(3)]
    assert [type(f) for f in found] == [Send, Send, Fail]


def test_what_a_person_passes_on_that_was_not_declared_fails():
    answering = Answering(book(SCRIPT))
    ask = of(form(seat=None), declared=False)
    misses = book(SCRIPT).decide([ask]).misses
    assert isinstance(weigh(answering, [ask], Unmatched(how="pass", misses=misses)), Fail)


def test_a_fault_of_ours_is_told_and_leaves_nobody_waiting():
    answering = Answering(book(SCRIPT))
    answering.book.entries = None
    found = decide(answering, [form(day=None)])
    assert isinstance(found, Fail)
    assert found.code == "tap-failed"
