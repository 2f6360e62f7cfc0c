from __future__ import annotations

import pytest

from mcp_tap.core.linking.rounds import MOST_IN_CALL, Linker, echo_of
from tests.talk import Talk, accept, call, shape


@pytest.mark.parametrize(
    ("issued", "sent", "echo"),
    [
        ("s", "s", "same"),
        ("s", "S", "changed"),
        ("", None, "missing"),
        ("", "", "same"),
        (None, "", "invented"),
        (None, None, "none"),
    ],
)
def test_echo_says_how_a_state_came_back(issued, sent, echo):
    assert echo_of(issued, sent) == echo


def test_a_retry_with_the_issued_state_is_the_next_round():
    talk = Talk()
    talk.ask(talk.post(call(1)), "day", state="s1")
    talk.ask(
        talk.post(call(2, inputResponses=accept("day"), requestState="s1")), "seat", state="s2"
    )
    talk.result(talk.post(call(3, inputResponses=accept("seat"), requestState="s2")))
    one = talk.the_call()
    assert shape(one) == ["?", "?", "*"]
    assert [r.link for r in one.rounds] == ["none", "state", "state"]
    assert [r.echo for r in one.rounds] == ["same", "same", "none"]
    assert [r.answers_round for r in one.rounds] == [None, 1, 2]
    assert [a.action for r in one.rounds for a in r.asks] == ["accept", "accept"]
    assert one.outcome == "ok"


def test_keys_link_where_there_is_no_state_and_arguments_decide_between_calls():
    talk = Talk()
    for n in (1, 2):
        talk.ask(talk.post(call(n, arguments={"n": n})), "q")
    talk.result(talk.post(call(3, arguments={"n": 2}, inputResponses=accept("q"))))
    talk.result(talk.post(call(4, arguments={"n": 1}, inputResponses=accept("q"))))
    assert [[r.exchange for r in c.rounds] for c in talk.calls.values()] == [[1, 4], [2, 3]]
    assert {c.rounds[1].link for c in talk.calls.values()} == {"keys"}


@pytest.mark.parametrize(
    ("issued", "sent", "echo"),
    [("s", "t", "changed"), ("s", None, "missing"), (None, "t", "invented")],
)
def test_keys_link_a_retry_with_a_wrong_state(issued, sent, echo):
    talk = Talk()
    talk.ask(talk.post(call(1)), "q", state=issued)
    state = {} if sent is None else {"requestState": sent}
    talk.post(call(2, inputResponses=accept("q"), **state))
    one = talk.the_call()
    assert one.rounds[0].echo == echo
    assert one.rounds[1].link == "keys"


def test_a_mangled_state_after_a_state_only_round_links_by_params():
    talk = Talk()
    talk.ask(talk.post(call(1, arguments={"n": 1})), state="s")
    talk.post(call(2, arguments={"n": 1}, requestState="S"))
    one = talk.the_call()
    assert one.rounds[1].link == "params"
    assert one.rounds[0].echo == "changed"


def test_an_unknown_state_with_other_arguments_is_unlinked():
    talk = Talk()
    talk.ask(talk.post(call(1, arguments={"n": 1})), state="s")
    talk.result(talk.post(call(2, arguments={"n": 2}, requestState="S")))
    assert [c.outcome for c in talk.calls.values()] == ["waiting", "unlinked"]


def test_a_request_without_either_field_is_a_fresh_call():
    talk = Talk()
    talk.ask(talk.post(call(1)), "q", state="s")
    talk.result(talk.post(call(2, inputResponses={}, requestState=None)))
    assert [c.outcome for c in talk.calls.values()] == ["waiting", "ok"]


def test_calls_nothing_tells_apart_make_a_retry_ambiguous():
    talk = Talk()
    for n in (1, 2):
        talk.ask(talk.post(call(n)), "q", state="always")
    talk.result(talk.post(call(3, inputResponses=accept("q"), requestState="always")))
    third = talk.calls[3]
    assert third.rounds[0].link == "ambiguous"
    assert third.rounds[0].candidates == [1, 2]
    assert third.outcome == "unlinked"
    assert [talk.calls[n].outcome for n in (1, 2)] == ["waiting", "waiting"]


def test_as_many_ambiguous_retries_as_rounds_leave_none_open():
    talk = Talk()
    for n in (1, 2):
        talk.ask(talk.post(call(n)), "q", state="always")
    for n in (3, 4):
        talk.post(call(n, inputResponses=accept("q"), requestState="always"))
    talk.ask(talk.post(call(5)), "q", state="always")
    talk.post(call(6, inputResponses=accept("q"), requestState="always"))
    assert [r.link for r in talk.calls[5].rounds] == ["none", "state"]


def two_waiting():
    """Give a talk in which two calls wait, with one state; and a retry that may be of either."""
    talk = Talk()
    for n in (1, 2):
        talk.ask(talk.post(call(n)), "q", state="always")
    return talk, {"inputResponses": accept("q"), "requestState": "always"}


def test_as_many_ambiguous_retries_as_rounds_end_the_calls_that_waited_for_them():
    talk, retry = two_waiting()
    talk.post(call(3, **retry))
    first, second = talk.calls[1], talk.calls[2]
    assert [(c.outcome, c.rounds[0].claimants) for c in (first, second)] == [("waiting", (3,))] * 2
    talk.post(call(4, **retry))
    assert [(c.outcome, c.end) for c in (first, second)] == [("unlinked", talk.t)] * 2
    assert [c.rounds[0].claimants for c in (first, second)] == [(3, 4)] * 2
    assert first in talk.last
    assert second in talk.last
    assert [c.server_s + c.client_s for c in (first, second)] == pytest.approx(
        [c.duration() for c in (first, second)]
    )


def test_an_ambiguous_retry_without_a_response_leaves_both_calls_waiting():
    talk, retry = two_waiting()
    talk.post(call(3, **retry))
    talk.close(talk.post(call(4, **retry)), "upstream_cut")
    first, second = talk.calls[1], talk.calls[2]
    assert {first.number, second.number, 4} == {c.number for c in talk.last}
    assert [(c.outcome, c.end) for c in (first, second)] == [("waiting", None)] * 2
    assert first.rounds[0].claimants == (3,)
    talk.post(call(5, **retry))
    assert [c.outcome for c in (first, second)] == ["unlinked"] * 2
    assert second.rounds[0].claimants == (3, 5)


def test_evidence_that_comes_later_takes_an_ambiguous_answer_back():
    talk = Talk()
    for n in (1, 2):
        talk.ask(talk.post(call(n)), f"q{n}", state="always")
    talk.post(call(3, inputResponses=accept("q1", "q2"), requestState="always"))
    assert talk.calls[1].rounds[0].claimants == (3,)
    talk.result(talk.post(call(4, inputResponses=accept("q1"), requestState="always")))
    assert (talk.calls[1].outcome, talk.calls[1].rounds[0].claimants) == ("ok", ())


def test_a_constant_state_alone_links_nothing():
    talk = Talk()
    for n in (1, 2):
        talk.ask(talk.post(call(n, arguments={"n": n})), f"k{n}", state="always")
    talk.post(call(3, arguments={"n": 3}, inputResponses=accept("other"), requestState="always"))
    assert talk.calls[3].rounds[0].link == "none"


def test_constant_states_and_equal_keys_are_told_apart_by_arguments():
    talk = Talk()
    for n in (1, 2):
        talk.ask(talk.post(call(n, arguments={"n": n})), "q", state="always")
    talk.result(
        talk.post(call(3, arguments={"n": 2}, inputResponses=accept("q"), requestState="always"))
    )
    assert talk.calls[2].outcome == "ok"
    assert talk.calls[1].outcome == "waiting"


def test_other_clients_tools_and_methods_are_never_candidates():
    talk = Talk()
    talk.ask(talk.post(call(1)), "q", state="s")
    retry = {"inputResponses": accept("q"), "requestState": "s"}
    talk.post(call(2, client="somebody", **retry))
    talk.post(call(2, "other", **retry))
    talk.post(call(2, method="prompts/get", **retry))
    talk.post(call(2, **retry), peer="10.0.0.9")
    assert {c.rounds[0].link for c in talk.calls.values()} == {"none"}
    assert len(talk.calls) == 5


def test_a_stale_state_with_the_newest_answers_is_the_next_round():
    talk = Talk()
    talk.ask(talk.post(call(1)), "a", state="s1")
    talk.ask(talk.post(call(2, inputResponses=accept("a"), requestState="s1")), "b", state="s2")
    talk.post(call(3, inputResponses=accept("b"), requestState="s1"))
    last = talk.the_call().rounds[-1]
    assert (last.link, last.answers_round, talk.the_call().rounds[1].echo) == ("keys", 2, "changed")


def test_a_stale_state_after_a_state_only_round_is_blamed_on_the_newest():
    talk = Talk()
    talk.ask(talk.post(call(1)), state="s1")
    talk.ask(talk.post(call(2, requestState="s1")), state="s2")
    talk.post(call(3, requestState="s1"))
    one = talk.the_call()
    assert one.rounds[2].answers_round == 2
    assert one.rounds[1].echo == "changed"


def test_an_answer_sent_again_after_a_lost_response_stays_in_its_call():
    talk = Talk()
    talk.ask(talk.post(call(1)), "q", state="s1")
    retry = {"inputResponses": accept("q"), "requestState": "s1"}
    talk.close(talk.post(call(2, **retry)), "upstream_cut")
    assert talk.the_call().outcome == "error"
    talk.result(talk.post(call(3, **retry)))
    one = talk.the_call()
    assert shape(one) == ["?", "x", "*"]
    assert one.outcome == "ok"
    assert one.rounds[2].answers_round == 1


def test_a_lost_answer_and_an_equal_first_answer_cannot_be_told_apart():
    talk = Talk()
    retry = {"inputResponses": accept("q"), "requestState": "always"}
    talk.ask(talk.post(call(1)), "q", state="always")
    talk.close(talk.post(call(2, **retry)), "upstream_cut")
    talk.ask(talk.post(call(3)), "q", state="always")
    talk.post(call(4, **retry))
    assert talk.calls[3].rounds[0].link == "ambiguous"


def test_a_refused_answer_can_be_corrected_within_the_call():
    talk = Talk()
    talk.ask(talk.post(call(1)), "q", state="s1")
    bad = talk.post(call(2, inputResponses=accept("q"), requestState="S1"))
    talk.reply(bad, {"error": {"code": -32602, "message": "no"}}, status=400)
    talk.result(talk.post(call(3, inputResponses=accept("q"), requestState="s1")))
    one = talk.the_call()
    assert shape(one) == ["?", "x", "*"]
    assert [r.link for r in one.rounds] == ["none", "keys", "state"]
    assert one.rounds[0].echo == "changed"


def test_a_state_presented_after_completion_is_unlinked():
    talk = Talk()
    retry = {"inputResponses": accept("q"), "requestState": "s"}
    talk.ask(talk.post(call(1)), "q", state="s")
    talk.result(talk.post(call(2, **retry)))
    talk.result(talk.post(call(3, **retry)))
    assert [c.outcome for c in talk.calls.values()] == ["ok", "unlinked"]


def test_a_finished_call_that_explains_a_retry_keeps_it_from_an_open_one():
    talk = Talk()
    retry = {"inputResponses": accept("q"), "requestState": "always"}
    talk.ask(talk.post(call(1, arguments={"n": 1})), "q", state="always")
    talk.ask(talk.post(call(2, arguments={"n": 2})), "q", state="always")
    talk.result(talk.post(call(3, arguments={"n": 1}, **retry)))
    talk.post(call(4, arguments={"n": 1}, **retry))
    assert talk.calls[3].rounds[0].link == "none"


def test_a_finished_call_with_fitting_keys_explains_a_constant_state_better():
    talk = Talk()
    for n, key in ((1, "a"), (2, "b")):
        talk.ask(talk.post(call(n)), key, state="always")
    talk.result(talk.post(call(3, inputResponses=accept("a"), requestState="always")))
    again = talk.post(call(4, inputResponses=accept("a"), requestState="always"))
    assert [r.link for r in talk.calls[3].rounds] == ["none"]
    talk.result(again)
    assert talk.calls[2].outcome == "waiting"


def test_repeating_older_answers_is_no_mismatch():
    talk = Talk()
    for n, arguments in ((1, {}), (2, {})):
        talk.ask(talk.post(call(n, arguments=arguments)), f"a{n}")
        talk.ask(talk.post(call(n + 10, inputResponses=accept(f"a{n}"))), "b")
    talk.post(call(30, inputResponses=accept("a2", "b")))
    assert talk.calls[2].rounds[-1].exchange == 5
    assert talk.calls[2].rounds[-1].link == "keys"


def test_states_that_are_no_strings_still_link():
    talk = Talk()
    talk.ask(talk.post(call(1)), state={"step": 1})
    talk.post(call(2, requestState={"step": 1}))
    assert talk.the_call().rounds[1].link == "state"


def test_an_endless_chain_keeps_only_so_many_rounds_to_answer_again():
    talk = Talk()
    talk.ask(talk.post(call(0)), state="s0")
    for n in range(MOST_IN_CALL + 20):
        talk.ask(talk.post(call(n + 1, requestState=f"s{n}")), state=f"s{n + 1}")
    assert len(talk.the_call().rounds) == MOST_IN_CALL + 21
    assert len(talk.pipeline._correlator._linker.tracks()) == MOST_IN_CALL


def test_rounds_nobody_answers_are_let_go_and_counted():
    talk = Talk()
    talk.ask(talk.post(call(1)), "q", state="s")
    talk.pipeline.advance(1e6)
    assert talk.pipeline.retired == 1
    talk.post(call(2, inputResponses=accept("q"), requestState="s"))
    assert talk.calls[2].rounds[0].link == "none"


def test_a_new_linker_knows_nothing():
    assert Linker().tracks() == []
    assert Linker().retired == 0


def test_open_rounds_are_bounded_in_bytes_too(monkeypatch):
    monkeypatch.setattr("mcp_tap.core.linking.rounds.MOST_BYTES", 20_000)
    talk = Talk()
    for n in range(10):
        talk.ask(talk.post(call(n, arguments={"blob": "x" * 5000})), "q", state=f"s{n}")
    assert len(talk.pipeline._correlator._linker.tracks()) == 3
    assert talk.pipeline.retired == 7


def test_a_constant_state_with_other_arguments_links_where_one_round_alone_fits():
    talk = Talk()
    talk.ask(talk.post(call(1, "other")), "q", state="always")
    talk.ask(talk.post(call(2, arguments={"n": 1})), state="always")
    talk.post(call(3, arguments={"n": 2}, requestState="always"))
    assert (talk.calls[2].rounds[-1].link, talk.calls[2].rounds[-1].answers_round) == ("state", 1)


def test_an_answered_round_is_no_evidence_while_others_with_its_state_wait():
    talk = Talk()
    talk.ask(talk.post(call(1, arguments={"n": 1})), state="always")
    talk.ask(talk.post(call(2, arguments={"n": 2})), "q", state="always")
    retry = {"inputResponses": accept("q"), "requestState": "always"}
    talk.ask(talk.post(call(3, arguments={"n": 2}, **retry)), state="always")
    talk.post(call(4, arguments={"n": 3}, requestState="always"))
    assert talk.last[0].rounds[0].link in ("none", "ambiguous")


@pytest.mark.parametrize("state", ["always", None])
def test_an_answer_sent_again_after_an_error_goes_to_the_round_that_asked_exactly_that(state):
    echo = {} if state is None else {"requestState": state}
    talk = Talk()
    talk.ask(talk.post(call(1)), "a", state=state)
    talk.ask(talk.post(call(2)), "a", "b", state=state)
    for number in (3, 4):
        n = talk.post(call(number, inputResponses=accept("a"), **echo))
        if number == 3:
            talk.reply(n, {"error": {"code": -32603, "message": "x"}})
        else:
            talk.result(n)
    assert (talk.calls[1].outcome, talk.calls[2].outcome) == ("ok", "waiting")


@pytest.mark.parametrize("end", ["answered", "cut"])
def test_what_an_answer_may_have_been_for_is_held_until_its_exchange_is_over(end):
    talk = Talk()
    for n in (1, 2):
        talk.ask(talk.post(call(n)), "q")
    number = talk.post(call(3, inputResponses=accept("q")))
    live = talk.pipeline._correlator._live[number]
    assert len(live.retries) == 2
    if end == "answered":
        talk.result(number)
    else:
        talk.close(number, how="upstream_cut")
    assert live.retries == []
