from __future__ import annotations

from mcp_tap.core.model import Ask, Call, Fault, Round


def call(**fields):
    return Call(number=1, method="tools/call", name="deploy", t=2.0, **fields)


def test_a_call_lasts_until_its_end_or_until_now():
    assert call(end=5.0).duration(9.0) == 3.0
    assert call().duration(9.0) == 7.0
    assert call().duration() is None


def test_a_call_never_lasts_less_than_nothing():
    assert call(end=1.0).duration() == 0.0


def test_the_fault_of_a_call_is_that_of_its_last_round():
    rounds = [
        Round(number=n, exchange=n, request_id=n, t=2.0, request_seq=n, fault=fault)
        for n, fault in enumerate([None, Fault(code=-32602, message="no")], 1)
    ]
    assert call(rounds=rounds).fault == rounds[1].fault
    assert call(rounds=rounds[:1]).fault is None
    assert call().fault is None


def test_an_ask_shows_a_message_only_if_it_is_text():
    def ask(**params):
        return Ask(key="k", method="elicitation/create", kind="form", params=params, seq=1, t=0)

    assert ask(message="Which seat?").message == "Which seat?"
    assert ask(message=["no", "text"]).message is None
    assert ask().message is None


def test_lists_of_two_rounds_are_not_shared():
    first, second = (Round(number=n, exchange=n, request_id=n, t=0, request_seq=n) for n in (1, 2))
    assert first.asks is not second.asks
