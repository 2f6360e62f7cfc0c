from __future__ import annotations

import pytest

from tests.cases import asking, fired, form, result, traffic
from tests.unit.rules.rounds import LINK, YES, asks, done, failed, leg, mrtr

TASK = result(1, "task", taskId="t", status="working", ttlMs=1, createdAt="", lastUpdatedAt="")


@pytest.mark.parametrize(
    ("response", "found"),
    [
        (done(), True),
        (TASK, True),
        (asks("q", state="s9"), True),
        (failed(), False),
        (done(isError=True), False),
    ],
)
@pytest.mark.parametrize(
    ("first", "retry", "rule"),
    [
        (asks("q"), {"keys": ("q",), "state": "x"}, "MRTR-016"),
        (asks(state="s1"), {"state": "x"}, "MRTR-018"),
        (asks("q"), {"state": "s1", "name": "other"}, "MRTR-020"),
    ],
)
def test_a_server_that_goes_on_with_a_wrong_state_is_found(first, retry, rule, response, found):
    rules = [f.rule for f in fired(traffic(leg(1, first), leg(2, response, **retry)), "MRTR")]
    assert rule in rules
    assert ("MRTR-034" in rules) is found


def test_a_server_that_goes_on_with_a_stale_state_is_found():
    legs = [leg(1, asks("a", state="s1")), leg(2, asks("b", state="s2"), keys=("a",), state="s1")]
    found = mrtr(*legs, leg(3, done(), keys=("b",), state="s1"))
    assert found == ["MRTR-019", "MRTR-034:warning"]


def test_a_missing_or_invented_state_is_not_held_against_the_server():
    assert mrtr(leg(1, asks("q")), leg(2, done(), keys=("q",))) == ["MRTR-015"]
    assert mrtr(leg(1, asks("q", state=None)), leg(2, done(), keys=("q",), state="x")) == [
        "MRTR-017"
    ]


@pytest.mark.parametrize(
    ("response", "found"),
    [
        (done(), True),
        (done(isError=True), False),
        (asks("q", state="s2"), False),
        (failed(), False),
    ],
)
@pytest.mark.parametrize("answers", [{"q": 5}, {"q": {"roots": []}}, {"q": {"result": YES}}, []])
def test_a_server_that_succeeds_on_broken_answers_is_found(answers, response, found):
    legs = [leg(1, asks("q")), leg(2, response, inputResponses=answers, state="s1")]
    assert ("MRTR-035:warning" in mrtr(*legs)) is found


def test_a_server_that_overlooks_answers_it_never_asked_for_is_left_alone():
    assert "MRTR-035:warning" not in mrtr(leg(1, done(), inputResponses={"q": 5}))


@pytest.mark.parametrize(
    ("answers", "more", "found"),
    [
        ({"a": YES}, {}, True),
        ({"a": YES, "b": YES, "c": YES}, {}, True),
        ({"a": YES}, {"state": "x"}, False),
        ({"a": YES, "c": 5}, {}, False),
        ({"a": {"roots": []}}, {}, False),
        ({"a": {"action": "accept", "content": {"name": 5}}}, {}, False),
        ({"a": YES}, {"arguments": {"count": 9}}, False),
        ({"A": YES}, {}, False),
        ({"a": YES, "b": YES}, {}, False),
    ],
)
def test_a_server_that_rejects_what_it_could_overlook_gets_a_note(answers, more, found):
    retry = leg(2, failed(), **{"inputResponses": answers, "state": "s1", **more})
    assert ("MRTR-036:note" in mrtr(leg(1, asks("a", "b")), retry)) is found


def polling(count, wait):
    legs = [leg(0, asks(state="s0"), t=(0.0, 0.0))]
    for n in range(1, count + 1):
        at = (n * wait, n * wait)
        legs.append(leg(n, asks(state=f"s{n}"), state=f"s{n - 1}", t=at))
    return legs


@pytest.mark.parametrize(("count", "found"), [(9, 0), (10, 1), (15, 1)])
def test_the_eleventh_round_is_one_too_many_and_said_once(count, found):
    assert mrtr(*polling(count, 10.0)).count("MRTR-037:warning") == found


@pytest.mark.parametrize(
    ("count", "wait", "blamed"),
    [
        (20, 0.1, ["server"]),
        (21, 0.1, ["server", "client"]),
        (30, 0.1, ["server", "client"]),
        (40, 0.5, ["server"]),
    ],
)
def test_a_hot_loop_is_the_clients_fault(count, wait, blamed):
    found = fired(traffic(*polling(count, wait)), "MRTR-037")
    assert [f.blame for f in found] == blamed


def loop(*asked, answers=None, state=None):
    """Ask in turn, answering each time; the last ask is not answered."""
    legs = []
    for n, entry in enumerate(asked):
        given = (answers or {}).get(n, YES)
        more = {} if n == 0 else {"inputResponses": {"q": given}}
        legs.append(leg(n, asking({"q": entry}, state), **more))
    return mrtr(*legs)


def test_the_same_question_a_third_time_in_a_row_is_a_loop_and_said_once():
    assert loop(form(), form(), form()) == ["MRTR-038:warning"]
    assert loop(*[form()] * 6) == ["MRTR-038:warning"]
    assert not loop(form(), form())


@pytest.mark.parametrize(
    "asked",
    [
        (form(), form("Taken. Name?"), form()),
        (form(), form(), form(name={"type": "string", "minLength": 2})),
        (LINK, LINK, LINK),
    ],
)
def test_other_words_or_schemas_and_urls_are_no_loop(asked):
    assert not loop(*asked)


@pytest.mark.parametrize(
    "given",
    [
        {"action": "decline"},
        {"action": "cancel"},
        {"action": "accept", "content": {"name": 5}},
        {"action": "accept", "content": {"name": ["x"]}},
    ],
)
@pytest.mark.parametrize("when", [1, 2])
def test_an_answer_that_is_none_begins_anew(given, when):
    assert "MRTR-038:warning" not in loop(form(), form(), form(), answers={when: given})


def test_a_required_field_that_was_left_out_is_no_valid_answer():
    asked = form()
    asked["params"]["requestedSchema"]["required"] = ["name"]
    assert loop(asked, asked, asked) == ["MRTR-038:warning"]
    assert not loop(asked, asked, asked, answers={2: {"action": "accept", "content": {}}})
