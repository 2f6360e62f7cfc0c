from __future__ import annotations

import base64
import json

import pytest

from tests.cases import asking, fired, form, line, message, result, stdio, traffic
from tests.unit.rules.rounds import YES, asks, done, failed, leg, mrtr

ROME = {"action": "accept", "content": {"city": "Rome"}}


def test_an_exact_echo_is_fine_whatever_the_state_looks_like():
    for state in ("", " a ", '{"a":1}', "\u00e9", "x" * 100_000):
        assert not mrtr(leg(1, asks("q", state=state)), leg(2, done(), keys=("q",), state=state))


@pytest.mark.parametrize(
    ("issued", "sent"),
    [("s1", "s1 "), ("\u00e9", "e\u0301"), ("a+b", "a b"), ("s" * 5000, "s" * 4999), ("s1", "")],
)
def test_a_state_that_was_changed_is_found(issued, sent):
    found = mrtr(leg(1, asks("q", state=issued)), leg(2, failed(), keys=("q",), state=sent))
    assert found == ["MRTR-016"]


@pytest.mark.parametrize("sent", [{}, {"state": None}])
def test_a_state_that_is_not_echoed_is_found(sent):
    found = mrtr(leg(1, asks("q")), leg(2, done(), keys=("q",), **sent))
    assert "MRTR-015" in found
    assert set(found) <= {"MRTR-015", "MRTR-004"}


def test_an_invented_state_is_found_even_an_empty_one():
    first = leg(1, asks("q", state=None))
    assert mrtr(first, leg(2, failed(), keys=("q",), state="")) == ["MRTR-017"]
    assert mrtr(first, leg(2, failed(), keys=("q",), state="x")) == ["MRTR-017"]
    assert not mrtr(first, leg(2, done(), keys=("q",)))


def test_the_state_of_an_earlier_round_is_not_invented_but_stale():
    found = mrtr(
        leg(1, asks("a", state="s1")),
        leg(2, asks("b", state=None), keys=("a",), state="s1"),
        leg(3, failed(), keys=("b",), state="s1"),
    )
    assert found == ["MRTR-019"]


def test_a_state_nobody_issued_after_a_state_only_round_is_found():
    first = leg(1, asks(state="s1"))
    assert mrtr(first, leg(2, failed(), state="S1")) == ["MRTR-018:warning"]
    assert not mrtr(first, leg(2, done()))
    assert mrtr(first, leg(2, failed(), state="S1", arguments={"count": 4})) == ["MRTR-022:note"]


def test_two_state_only_rounds_that_fit_make_an_unknown_state_ambiguous():
    found = mrtr(leg(1, asks(state="s1")), leg(2, asks(state="s2")), leg(3, failed(), state="x"))
    assert not found


def test_an_older_state_after_a_state_only_round_is_stale():
    found = mrtr(
        leg(1, asks(state="s1")),
        leg(2, asks(state="s2"), state="s1"),
        leg(3, failed(), state="s1"),
    )
    assert found == ["MRTR-019"]


def test_after_a_state_only_round_an_older_state_is_all_that_is_wrong():
    legs = [
        leg(1, asks("q", state="s1")),
        leg(2, asks(state="s2"), keys=("q",), state="s1"),
    ]
    assert mrtr(*legs, leg(3, failed(), state="s1")) == ["MRTR-019"]
    assert mrtr(*legs, leg(3, failed(), keys=("q",), state="s1")) == []


def test_answers_with_a_stale_state_are_those_to_the_newest_form():
    again = asking({"q": form("Where?", city={"type": "string"})}, "s2")
    case = traffic(
        leg(1, asks("q", state="s1")),
        leg(2, again, keys=("q",), state="s1"),
        leg(3, failed(), inputResponses={"q": ROME}, state="s1"),
    )
    assert [f.rule for f in fired(case, "MRTR", "ELIC")] == ["MRTR-019"]


def test_an_older_state_is_not_stale_where_the_newest_round_was_lost_on_its_way():
    found = mrtr(
        leg(1, asks(state="s1")),
        leg(2, asks(state="s2"), state="s1", closed_by="network"),
        leg(3, done(), state="s1"),
    )
    assert not found


def test_an_earlier_answer_sent_again_with_its_own_state_is_not_stale():
    found = mrtr(
        leg(1, asks("q", state="s1")),
        leg(2, asks("q", state="s2"), keys=("q",), state="s1"),
        leg(3, done(), keys=("q",), state="s1"),
    )
    assert not found


def test_a_new_answer_with_an_older_state_is_stale_though_the_key_is_the_same():
    other = {"q": {"action": "accept", "content": {"name": "other"}}}
    found = mrtr(
        leg(1, asks("q", state="s1")),
        leg(2, asks("q", state="s2"), keys=("q",), state="s1"),
        leg(3, failed(), inputResponses=other, state="s1"),
    )
    assert found == ["MRTR-019"]


def test_older_answers_beside_the_newest_are_stale_with_the_older_state_only():
    legs = [leg(1, asks("a", state="s1")), leg(2, asks("b", state="s2"), keys=("a",), state="s1")]
    assert not mrtr(*legs, leg(3, done(), keys=("a", "b"), state="s2"))
    assert mrtr(*legs, leg(3, failed(), keys=("a", "b"), state="s1")) == ["MRTR-019"]


@pytest.mark.parametrize("other", [{"name": "b"}, {"method": "prompts/get", "name": "a"}])
def test_a_state_on_another_target_is_found(other):
    found = mrtr(leg(1, asks("q"), name="a"), leg(2, failed(), keys=("q",), state="s1", **other))
    assert found == ["MRTR-020"]


def test_a_state_of_another_target_in_a_retry_linked_by_its_keys_is_misplaced_not_modified():
    found = mrtr(
        leg(1, asks("x", state="sa"), name="a"),
        leg(2, asks("q", state="sb"), name="b"),
        leg(3, failed(), keys=("q",), state="sa", name="b"),
    )
    assert found == ["MRTR-020"]


def test_a_state_this_target_was_ever_given_is_not_misplaced():
    found = mrtr(
        leg(1, asks("q"), name="a"),
        leg(2, asks("q"), name="b"),
        leg(3, done(), keys=("q",), state="s1", name="a"),
        leg(4, failed(), keys=("q",), state="s1", name="a"),
    )
    assert found == ["MRTR-021:warning"]


def test_a_state_given_to_very_many_calls_tells_nothing():
    legs = [leg(n, asks("q", state="always"), name=f"tool-{n}") for n in range(1, 40)]
    assert not mrtr(*legs, leg(50, failed(), keys=("q",), state="always", name="other"))


def test_an_empty_state_belongs_to_nobody():
    legs = [leg(1, asks("q", state=""), name="a")]
    assert mrtr(*legs, leg(2, done(), state="", name="b")) == ["MRTR-022:note"]


def test_a_state_presented_after_its_call_is_over_is_found():
    legs = [leg(1, asks("q")), leg(2, done(), keys=("q",), state="s1")]
    assert mrtr(*legs, leg(3, failed(), keys=("q",), state="s1")) == ["MRTR-021:warning"]
    assert mrtr(*legs, leg(3, failed(), state="s1", arguments={})) == ["MRTR-021:warning"]


def test_a_state_presented_after_a_task_was_made_is_found():
    task = result(
        1, "task", taskId="t", status="working", ttlMs=1000, createdAt="", lastUpdatedAt=""
    )
    legs = [leg(1, asks("q")), leg(2, task, keys=("q",), state="s1")]
    assert "MRTR-021:warning" in mrtr(*legs, leg(3, failed(), keys=("q",), state="s1"))


@pytest.mark.parametrize(
    "second",
    [
        leg(2, done(), keys=("q",), state="s1", closed_by="network"),
        leg(2, done(), keys=("q",), state="s1", closed_by="client"),
        leg(2, failed(), keys=("q",), state="s1"),
    ],
    ids=["lost", "left", "error"],
)
def test_an_answer_sent_again_after_a_lost_final_response_or_an_error_is_fine(second):
    assert not mrtr(leg(1, asks("q")), second, leg(3, done(), keys=("q",), state="s1"))


def test_a_constant_state_that_was_issued_again_is_not_reused():
    found = mrtr(
        leg(1, asks("q")),
        leg(2, done(), keys=("q",), state="s1"),
        leg(3, asks("q"), arguments={"count": 4}),
        leg(4, done(), keys=("q",), state="s1"),
    )
    assert not found


def bearer(subject, issuer="https://as"):
    parts = [{"alg": "none"}, {"iss": issuer, "sub": subject, "jti": "x"}]
    coded = [base64.urlsafe_b64encode(json.dumps(p).encode()).decode().rstrip("=") for p in parts]
    return {"Authorization": f"Bearer {'.'.join(coded)}.c2ln"}


def basic(user, password="x"):
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        (bearer("alice"), bearer("bob"), True),
        (bearer("alice"), bearer("alice", "https://other"), True),
        (bearer("alice"), bearer("alice"), False),
        (basic("alice"), basic("bob"), True),
        (basic("alice"), basic("alice", "new"), False),
        (basic("alice"), bearer("bob"), False),
        (bearer("alice"), {}, False),
        ({}, bearer("bob"), False),
        (bearer("alice"), {"Authorization": "Bearer opaque"}, False),
    ],
)
def test_principals_are_compared_where_both_are_named(one, other, found):
    legs = [
        leg(1, asks("q"), headers=one),
        leg(2, failed(), keys=("q",), state="s1", headers=other),
    ]
    assert mrtr(*legs) == (["MRTR-033:warning"] if found else [])


def test_a_server_that_completes_for_another_user_is_named_as_well():
    for reply, blamed in ((done(), ["client", "server"]), (done(isError=True), ["client"])):
        legs = [
            leg(1, asks("q"), headers=bearer("alice")),
            leg(2, reply, keys=("q",), state="s1", headers=bearer("bob")),
        ]
        assert [f.blame for f in fired(traffic(*legs), "MRTR-033")] == blamed


def test_a_constant_state_given_to_both_users_is_no_crossing():
    legs = [
        leg(1, asks("q"), headers=bearer("alice"), arguments={"n": 1}),
        leg(2, asks("q"), headers=bearer("bob"), arguments={"n": 2}),
        leg(3, done(), keys=("q",), state="s1", headers=bearer("bob"), arguments={"n": 2}),
    ]
    assert not mrtr(*legs)


def test_no_message_shows_a_state():
    secret = "a-very-secret-state-value"
    legs = [
        leg(1, asks("q", state=secret), name="a"),
        leg(2, failed(), keys=("q",), state=secret + "x", name="a"),
        leg(3, failed(), keys=("q",), state=secret, name="b"),
    ]
    found = fired(traffic(*legs), "MRTR")
    assert found
    assert not [f for f in found if secret in f.message]


def test_states_are_judged_over_stdio_too():
    params = {"name": "t", "arguments": {}}
    retry = message("tools/call", 2, **params, inputResponses={"q": YES}, requestState="s2")
    case = stdio(
        line("client", message("tools/call", 1, **params)),
        line("server", asks("q")),
        line("client", retry),
        line("server", {**failed(), "id": 2}),
        line("client", {**retry, "id": 3, "params": {**retry["params"], "requestState": "s1"}}),
        line("server", {**done(), "id": 3}),
        line("client", {**retry, "id": 4, "params": {**retry["params"], "requestState": "s1"}}),
    )
    assert [f.rule for f in fired(case, "MRTR")] == ["MRTR-016", "MRTR-021"]
