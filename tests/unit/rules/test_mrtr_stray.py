from __future__ import annotations

import pytest

from tests.cases import answer, ask, asking, exchange, fired, form, result, traffic
from tests.unit.rules.rounds import YES, asks, done, failed, leg, mrtr


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ({"state": "s"}, ["MRTR-022:note"]),
        ({"keys": ("q",)}, ["MRTR-022:note"]),
        ({"inputResponses": {}}, []),
        ({"inputResponses": {}, "state": None}, ["MRTR-004"]),
        ({"state": "s", "method": "vendor/do"}, []),
        ({"keys": ("q",), "method": "tools/list"}, ["MRTR-030:warning"]),
    ],
)
def test_what_nothing_asked_for_is_a_note(more, found):
    assert mrtr(leg(1, done(), **more)) == found


def test_what_the_same_client_asked_elsewhere_is_no_stray():
    assert mrtr(leg(1, asks("q"), name="a"), leg(2, failed(), keys=("q", "r"), name="b")) == []


def test_answers_on_another_target_are_found():
    first = leg(1, asks("a", "b", state=None), name="one")
    found = mrtr(first, leg(2, done(), keys=("b", "a"), name="two"))
    assert found == ["MRTR-023:warning"]
    found = mrtr(first, leg(2, done(), keys=("a", "b"), name="one", method="prompts/get"))
    assert found == ["MRTR-023:warning"]


def test_answers_that_fit_less_well_are_nobody_elses():
    first = leg(1, asks("a", "b", state=None), name="one")
    assert not mrtr(first, leg(2, done(), keys=("a",), name="two"))
    answered = leg(2, done(), keys=("a", "b"), name="one")
    assert mrtr(first, answered, leg(3, done(), keys=("a", "b"), name="two")) == ["MRTR-022:note"]


def test_generic_keys_that_fit_an_own_round_are_fine():
    legs = [leg(n, asks("q", state=None), name=name) for n, name in ((1, "one"), (2, "two"))]
    assert not mrtr(*legs, leg(3, done(), keys=("q",), name="two"))


def test_an_own_round_that_waits_keeps_answers_from_being_anothers():
    legs = [leg(1, asks("q", state=None), name="one"), leg(2, asks("x", state=None), name="two")]
    assert not mrtr(*legs, leg(3, failed(), keys=("q",), name="two"))


def test_answers_of_another_client_are_not_compared():
    legs = [leg(1, asks("q", state=None), name="one"), leg(2, done(), keys=("q",), name="two")]
    legs[1]["request"]["headers"]["User-Agent"] = "somebody-else/2"
    assert mrtr(*legs) == ["MRTR-022:note"]


@pytest.mark.parametrize("answers", [[], "q", None, [{"key": "q"}]])
def test_answers_are_a_map_also_where_nothing_asked(answers):
    found = mrtr(leg(1, failed(), inputResponses=answers))
    assert found[-1] == "MRTR-029"
    assert set(found) <= {"MRTR-022:note", "MRTR-029"}


def test_envelopes_are_found_without_a_link():
    found = mrtr(leg(1, failed(), inputResponses={"q": {"result": YES}, "r": YES}))
    assert found == ["MRTR-022:note", "MRTR-028"]


def test_updates_of_tasks_are_maps_of_bare_results_too():
    for answers, rule in (({"q": {"result": YES}}, "MRTR-028"), ({"q": 5}, "MRTR-029")):
        request = ask("tasks/update", 1, taskId="t", inputResponses=answers)
        case = traffic(exchange(request, answer(result(1))))
        assert [f.rule for f in fired(case, "MRTR")] == [rule]


@pytest.mark.parametrize(
    ("method", "found"),
    [
        ("tools/list", True),
        ("completion/complete", True),
        ("server/discover", True),
        ("tools/call", False),
        ("tasks/update", False),
        ("tasks/get", False),
        ("vendor/do", False),
    ],
)
def test_retry_fields_belong_to_three_methods(method, found):
    request = ask(method, 1, inputResponses={}, requestState="s", name="t", taskId="t")
    case = traffic(exchange(request, answer(result(1))))
    assert bool(fired(case, "MRTR-030")) is found


@pytest.mark.parametrize(
    ("more", "where"),
    [
        ({"arguments": {"count": 3, "requestState": "s1"}}, "/params/arguments/requestState"),
        ({"arguments": {"count": 3, "inputResponses": {"q": YES}}},
         "/params/arguments/inputResponses"),
        ({"meta": {"requestState": "s1"}}, "/params/_meta/requestState"),
        ({"meta": {"inputResponses": {"q": YES}}, "state": "s1"}, "/params/_meta/inputResponses"),
        ({"inputResponses": {"q": YES, "requestState": "s1"}},
         "/params/inputResponses/requestState"),
        ({"meta": {"requestState": "s1"}, "state": "s1", "keys": ("q",)}, None),
        ({"inputResponses": {"q": YES, "requestState": YES}, "state": "s1"}, None),
        ({"name": "other", "arguments": {"requestState": "s1"}}, None),
    ],
)  # fmt: skip
def test_retry_fields_in_the_wrong_place_are_found(more, where):
    found = fired(traffic(leg(1, asks("q")), leg(2, failed(), **more)), "MRTR-031")
    assert [f.path for f in found] == ([where] if where else [])


def test_nothing_is_misplaced_where_nothing_waits():
    retry = leg(3, done(), arguments={"requestState": "s1"})
    assert not mrtr(retry)
    assert not mrtr(leg(1, asks("q")), leg(2, done(), keys=("q",), state="s1"), retry)


def test_a_call_that_had_the_argument_from_the_start_is_left_alone():
    given = {"requestState": "idle"}
    assert not mrtr(leg(1, asks("q"), arguments=given), leg(2, done(), arguments=given))


def test_a_prompt_with_such_an_argument_is_left_alone():
    prompts = result(1, prompts=[{"name": "p", "arguments": [{"name": "requestState"}]}],
                     ttlMs=5, cacheScope="public")  # fmt: skip
    legs = [
        leg(1, prompts, method="prompts/list"),
        leg(2, asks("q"), method="prompts/get", name="p"),
    ]
    retry = leg(3, failed(), method="prompts/get", name="p", arguments={"requestState": "x"})
    assert not mrtr(*legs, retry)
    retry["request"]["body"]["params"]["_meta"]["requestState"] = "s1"
    assert mrtr(*legs, retry) == []


def test_a_retry_of_a_prompt_puts_its_fields_into_params():
    legs = [leg(2, asks("q"), method="prompts/get", name="p")]
    retry = leg(3, failed(), method="prompts/get", name="p", arguments={"requestState": "x"})
    assert mrtr(*legs, retry) == ["MRTR-031:warning"]


def test_a_resource_has_its_own_retry_fields():
    first = exchange(ask("resources/read", 1, uri="x://a"), answer(asking({"q": form()}, "s")))
    other = exchange(ask("resources/read", 2, uri="x://b", requestState="s"), answer(failed()))
    assert [f.rule for f in fired(traffic(first, other), "MRTR")] == ["MRTR-020"]
