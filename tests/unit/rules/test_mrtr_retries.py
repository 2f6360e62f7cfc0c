from __future__ import annotations

import pytest

from tests.cases import asking, fired, form, traffic
from tests.unit.rules.rounds import (
    BOTH,
    LINK,
    ROOTS,
    SAMPLED,
    SAMPLING,
    YES,
    asks,
    done,
    failed,
    leg,
    mrtr,
)

DECLINED = {"action": "decline"}


def test_a_retry_has_an_id_of_its_own():
    assert mrtr(leg(1, asks("q")), leg(1, done(), keys=("q",), state="s1")) == ["MRTR-013"]
    assert not mrtr(leg(1, asks("q")), leg("1", done(), keys=("q",), state="s1"))
    assert not mrtr(leg(1, done()), leg(2, asks("q")), leg(1, done(), keys=("q",), state="s1"))


def test_the_initial_id_and_that_of_the_answered_round_are_both_taken():
    legs = [leg(1, asks("a", state="s1")), leg(2, asks("b", state="s2"), keys=("a",), state="s1")]
    for number in (1, 2):
        assert mrtr(*legs, leg(number, done(), keys=("b",), state="s2")) == ["MRTR-013"]


def test_an_answer_sent_again_with_its_own_id_reuses_no_initial_one():
    legs = [leg(1, asks("q")), leg(2, done(), keys=("q",), state="s1", closed_by="network")]
    assert not mrtr(*legs, leg(2, done(), keys=("q",), state="s1"))


@pytest.mark.parametrize(
    ("first", "now", "path"),
    [
        ({"a": 1}, {"a": 2}, "/params/arguments/a"),
        ({"a": 1}, {"a": True}, "/params/arguments/a"),
        ({"a": 1}, {}, "/params/arguments/a"),
        ({}, {"a/b": 1}, "/params/arguments/a~1b"),
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, "/params/arguments/a/1/b"),
        ({"a": [1]}, {"a": [1, 2]}, "/params/arguments/a"),
        ({"a": 1, "b": 2.0}, {"b": 2, "a": 1.0}, None),
        ({"a": "mcp-tap:0011223344556677"}, {"a": "x"}, None),
    ],
)
def test_arguments_stay_as_they_were(first, now, path):
    found = fired(
        traffic(
            leg(1, asks("q"), arguments=first),
            leg(2, done(), keys=("q",), state="s1", arguments=now),
        ),
        "MRTR",
    )
    assert [(f.rule, f.path) for f in found] == ([("MRTR-014", path)] if path else [])


def test_other_params_stay_too_while_meta_is_free():
    for more, found in (
        ({"vendor": 1}, ["MRTR-014:warning"]),
        ({"meta": {"progressToken": 7}}, []),
    ):
        assert mrtr(leg(1, asks("q")), leg(2, done(), keys=("q",), state="s1", **more)) == found


def test_absent_arguments_equal_an_empty_object():
    legs = [leg(1, asks("q"), arguments={}), leg(2, done(), keys=("q",), state="s1")]
    del legs[1]["request"]["body"]["params"]["arguments"]
    assert not mrtr(*legs)


def test_a_later_retry_is_compared_with_the_initial_request():
    found = mrtr(
        leg(1, asks("a", state="s1")),
        leg(2, asks("b", state="s2"), keys=("a",), state="s1"),
        leg(3, done(), keys=("b",), state="s2", arguments={"count": 9}),
    )
    assert found == ["MRTR-014:warning"]


def test_parallel_calls_are_told_apart_by_their_arguments():
    legs = [leg(n, asks("q", state="always"), arguments={"n": n}) for n in (1, 2)]
    retries = [leg(n + 10, done(), keys=("q",), state="always", arguments={"n": n}) for n in (2, 1)]
    assert not mrtr(*legs, *retries)


def test_nothing_is_said_of_retries_that_may_answer_either_of_two_calls():
    legs = [leg(n, asks("q", "r", state="always")) for n in (1, 2)]
    assert not mrtr(*legs, leg(3, failed(), keys=("q",), state="always"))


@pytest.mark.parametrize(
    ("answers", "found"),
    [
        ({"a": YES, "b": DECLINED}, []),
        ({"a": YES}, ["MRTR-024"]),
        ({"a": YES, "c": YES}, ["MRTR-024", "MRTR-026:warning"]),
        ({"a": YES, "b": YES, "A": YES}, ["MRTR-026:warning"]),
        ({}, ["MRTR-025"]),
        ({"A": YES, "B": YES}, ["MRTR-025"]),
    ],
)
def test_a_retry_answers_what_was_asked(answers, found):
    assert mrtr(leg(1, asks("a", "b")), leg(2, failed(), inputResponses=answers, state="s1")) in (
        found,
        [*found, "MRTR-036:note"],
    )


def test_a_retry_without_any_answers_is_found():
    assert mrtr(leg(1, asks("a")), leg(2, failed(), state="s1")) == ["MRTR-025"]


def test_answers_to_a_round_without_questions_are_unknown():
    legs = [leg(1, asks(state="s1"))]
    found = mrtr(*legs, leg(2, done(), keys=("q",), state="s1"))
    assert found == ["MRTR-026:warning"]
    assert not mrtr(*legs, leg(2, done(), state="s1", inputResponses={}))


def test_keys_of_earlier_rounds_are_known():
    legs = [leg(1, asks("a", state="s1")), leg(2, asks("b", state="s2"), keys=("a",), state="s1")]
    assert not mrtr(*legs, leg(3, done(), keys=("a", "b"), state="s2"))
    assert mrtr(*legs, leg(3, done(), keys=("b", "c"), state="s2")) == ["MRTR-026:warning"]


def test_keys_are_not_compared_where_the_server_sent_no_map():
    broken = asks(state="s1", inputRequests=[form()])
    found = mrtr(leg(1, broken), leg(2, done(), keys=("q",), state="s1"))
    assert found == ["MRTR-003"]


@pytest.mark.parametrize(
    ("asked", "value", "rules"),
    [
        (form(), YES, []),
        (form(), {"roots": []}, ["MRTR-027"]),
        (form(), SAMPLED, ["MRTR-027"]),
        (form(), {}, ["MRTR-027"]),
        (form(), {"content": {"name": "x"}}, []),
        (form(), {"action": 5}, []),
        (LINK, {"roots": []}, ["MRTR-027"]),
        (SAMPLING, SAMPLED, []),
        (SAMPLING, {"role": "assistant"}, []),
        (SAMPLING, {"content": {"type": "text", "text": "x"}}, []),
        (SAMPLING, YES, ["MRTR-027"]),
        (SAMPLING, {"action": "decline"}, ["MRTR-027"]),
        (ROOTS, {"roots": []}, []),
        (ROOTS, {"roots": 5}, []),
        (ROOTS, SAMPLED, ["MRTR-027"]),
        (ROOTS, {"action": "cancel"}, ["MRTR-027"]),
        (form(), {"result": YES}, ["MRTR-028"]),
        (form(), {"jsonrpc": "2.0", "id": 1, "result": YES}, ["MRTR-028"]),
        (form(), {"error": {"code": -32602, "message": "no"}}, ["MRTR-028"]),
        (SAMPLING, {"error": {"code": -1, "message": "User rejected"}}, ["MRTR-028"]),
        (form(), {**YES, "resultType": "complete", "_meta": {}}, []),
        (form(), {**YES, "jsonrpc": "2.0"}, []),
        (form(), 12345, ["MRTR-029"]),
        (form(), None, ["MRTR-029"]),
        (form(), [], ["MRTR-029"]),
        (form(), "mcp-tap:0011223344556677", []),
    ],
)
def test_an_answer_has_the_shape_of_its_kind(asked, value, rules):
    legs = [
        leg(1, asking({"q": asked}, "s1"), caps=BOTH),
        leg(2, failed(), inputResponses={"q": value}, state="s1", caps=BOTH),
    ]
    assert mrtr(*legs) == rules


@pytest.mark.parametrize(
    ("asked", "value", "before", "now", "dropped"),
    [
        (form(), YES, {"elicitation": {}}, {}, "elicitation.form"),
        (form(), YES, {"elicitation": {}}, {"elicitation": {"url": {}}}, "elicitation.form"),
        (form(), YES, {"elicitation": {}}, {"elicitation": {"form": {}, "url": {}}}, None),
        (form(), YES, {"elicitation": {"form": {}}}, {"elicitation": {}}, None),
        (form(), {"action": "cancel"}, {"elicitation": {}}, {}, "elicitation.form"),
        (form(), {"roots": []}, {"elicitation": {}}, {}, None),
        (LINK, {"action": "accept"}, {"elicitation": {"url": {}}}, {"elicitation": {}},
         "elicitation.url"),
        (SAMPLING, SAMPLED, {"sampling": {}}, {}, "sampling"),
        (ROOTS, {"roots": []}, {"roots": {}}, {"elicitation": {}}, "roots"),
        (ROOTS, {"roots": []}, {}, {}, None),
        (ROOTS, {"roots": []}, {"roots": {}}, ..., None),
    ],
)  # fmt: skip
def test_a_retry_declares_what_it_answers_with(asked, value, before, now, dropped):
    legs = [
        leg(1, asking({"q": asked}, "s1"), caps=before),
        leg(2, done(), inputResponses={"q": value}, state="s1", caps=now if now is not ... else {}),
    ]
    if now is ...:
        del legs[1]["request"]["body"]["params"]["_meta"][
            "io.modelcontextprotocol/clientCapabilities"
        ]
    found = fired(traffic(*legs), "MRTR-032")
    assert [f.spot for f in found] == ([dropped] if dropped else [])


def test_a_hostile_retry_costs_little():
    many = {f"k{n}": {} for n in range(30_000)}
    deep: object = 1
    for _ in range(300):
        deep = {"a": deep}
    legs = [leg(1, asks("q"), arguments={"a": deep, **many}),
            leg(2, failed(), state="s1", inputResponses=many,
                arguments={"a": deep, **many, "k7": 0})]  # fmt: skip
    found = fired(traffic(*legs), "MRTR-014", "MRTR-025", "MRTR-026")
    assert [f.rule for f in found] == ["MRTR-014", "MRTR-025"]
