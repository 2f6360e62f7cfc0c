"""What the answered calls of a run share."""

from __future__ import annotations

from tests.asking import answering
from tests.asks import script


def test_ids_are_the_taps_own_and_never_the_same():
    helper = answering()
    assert [helper.next_id() for _ in range(3)] == [b'"mcp-tap-1"', b'"mcp-tap-2"', b'"mcp-tap-3"']


def test_a_round_that_was_passed_on_leads_back_to_its_call_once():
    helper = answering()
    helper.passed("s1", 4, 1.0)
    helper.passed("s1", 5, 1.0)
    assert {helper.resumed("s1"), helper.resumed("s1")} == {4, 5}
    assert helper.resumed("s1") is None
    assert helper.resumed("s2") is None


def test_what_the_script_can_answer_is_advertised():
    assert answering().reader is not None
    assert answering().book.advertised() == {"elicitation": {"form": {}}}


def test_what_is_added_to_the_book_is_advertised_once_that_is_told():
    helper = answering()
    known = helper.advertised
    helper.book.add(script('[[answer]]\nmatch = { ask = "roots" }\nroots = []\n'))
    assert set(helper.advertised) == {"elicitation"}
    helper.renew()
    assert set(known) == {"elicitation", "roots"}
