"""The third time in a row that a call is asked the same, and given the same, is one too many."""

from __future__ import annotations

from mcp_tap.answers.loops import Loops
from tests.asks import OTP, TWO, book, form, of


def test_the_third_time_in_a_row_is_one_too_many():
    of_two = book(TWO)
    said = [of_two.stop([ask], of_two.decide([ask])) for ask in [form("b", x=None)] * 3]
    assert said == [
        None, None,
        'the server has asked "b" 3 times in a row and got the same answer each time',
    ]  # fmt: skip


def test_another_ask_or_another_answer_is_no_loop():
    of_otp = book(OTP + 'after_last = "repeat"')
    asks = [form("otp", code=None)] * 3
    assert [of_otp.stop([ask], of_otp.decide([ask])) for ask in asks] == [None] * 3
    other = form("otp", message="Wrong, 2 left", code=None)
    assert of_otp.stop([other], of_otp.decide([other])) is None


def test_a_request_of_its_own_has_another_id_each_time_and_is_the_same_ask():
    of_two = book(TWO)
    asks = [of(form("b", x=None), key=str(n), pushed=True) for n in range(3)]
    said = [of_two.stop([ask], of_two.decide([ask])) for ask in asks]
    assert said[:2] == [None, None]
    assert said[2].startswith("the server has asked the same 3 times in a row")


def test_loops_are_looked_for_within_one_call():
    of_two = book(TWO)
    for call in (1, 2, 3, 4):
        ask = of(form("b", x=None), call=call)
        assert of_two.stop([ask], of_two.decide([ask])) is None


def test_a_round_without_asks_is_no_loop():
    empty = book("")
    assert [empty.stop([], empty.decide([])) for _ in range(5)] == [None] * 5


def test_what_cannot_be_compared_is_no_loop():
    of_two = book(TWO)
    ask = form("b", message="\ud800", x=None)
    assert [of_two.stop([ask], of_two.decide([ask])) for _ in range(5)] == [None] * 5


def test_only_so_many_calls_are_remembered():
    loops = Loops()
    one, other = ((of(form(), call=call), {}) for call in (1, 2))
    for _ in range(4):
        assert loops.stop([one], most=1) is None
        assert loops.stop([other], most=1) is None


def test_a_call_that_ended_is_forgotten():
    loops = Loops()
    for _ in range(4):
        assert loops.stop([(form(), {})], most=9) is None
        loops.forget(1)
