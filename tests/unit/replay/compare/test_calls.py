from __future__ import annotations

import pytest
from msgspec.structs import replace

from mcp_tap.replay.compare.calls import compare_calls
from mcp_tap.replay.compare.said import SaidAnswer, SaidFinding
from mcp_tap.replay.compare.values import Rules
from tests.saying import SCHEMA, ask, asking, call, done, failed, note, with_ask, with_round


def told(a, b, **given):
    return [
        (d.what, d.change, d.round, d.name, d.at)
        for d in compare_calls(a, b, given.pop("rules", Rules()), **given)
    ]


def only(a, b, **given):
    (found,) = compare_calls(a, b, given.pop("rules", Rules()), **given)
    return found


def test_a_call_is_equal_to_itself():
    assert told(call(), call()) == []


def test_a_difference_names_both_calls():
    found = only(call(number=4), call(number=6, arguments={"service": "crm"}))
    assert (found.a, found.b, found.method, found.target) == (4, 6, "tools/call", "deploy")
    assert (found.what, found.at, found.left, found.right) == (
        "arguments", "/params/arguments/service", "billing", "crm",
    )  # fmt: skip


def test_a_renamed_ask_is_one_difference_though_its_answers_key_changes_with_it():
    at = ("params", "inputResponses", "confirmed")
    other = with_ask(call(), 0, key="confirmed", answer=SaidAnswer(value=ask().answer.value, at=at))
    found = only(call(), other)
    assert (found.what, found.change, found.left, found.right) == (
        "ask", "renamed", "confirm", "confirmed",
    )  # fmt: skip


def test_an_ask_of_another_kind_is_one_difference():
    url = {"message": "What about confirm?", "url": "https://x.example"}
    assert told(call(), with_ask(call(), 0, kind="url", params=url)) == [
        ("ask", "changed", 1, "confirm", "/result/inputRequests/confirm/params/mode")
    ]
    sampling = with_ask(call(), 0, kind="sampling", method="sampling/createMessage", params={})
    assert told(call(), sampling) == [
        ("ask", "changed", 1, "confirm", "/result/inputRequests/confirm/method")
    ]


def test_a_field_a_form_needs_more_is_one_difference():
    schema = {
        **SCHEMA,
        "properties": {**SCHEMA["properties"], "region": {"type": "string"}},
        "required": ["proceed", "region"],
    }
    params = {**ask().params, "requestedSchema": schema}
    found = only(call(), with_ask(call(), 0, params=params))
    assert found.at == "/result/inputRequests/confirm/params/requestedSchema/properties/region"
    assert (found.change, found.note) == ("added", "required")


def test_an_answer_is_compared_by_its_action_then_by_its_content():
    no = SaidAnswer(value={"action": "decline"}, at=ask().answer.at)
    found = only(call(), with_ask(call(), 1, answer=no))
    assert (found.what, found.at) == ("answer", "/params/inputResponses/confirm/action".replace(
        "confirm", "window"))  # fmt: skip
    other = replace(no, value={"action": "accept", "content": {"proceed": False}})
    assert told(call(), with_ask(call(), 1, answer=other)) == [
        ("answer", "changed", 2, "window", "/params/inputResponses/window/content/proceed")
    ]
    assert told(call(), with_ask(call(), 1, answer=None))[0][:2] == ("answer", "removed")
    refused = replace(no, value={"code": -1, "message": "no"}, error=True)
    assert len(told(call(), with_ask(call(), 1, answer=refused))) == 1


def test_a_round_less_is_one_difference():
    whole = call()
    for at in range(3):
        less = replace(whole, rounds=whole.rounds[:at] + whole.rounds[at + 1 :])
        assert [t[:3] for t in told(whole, less)] == [("round", "removed", at + 1)]
        assert [t[:3] for t in told(less, whole)] == [("round", "added", at + 1)]


def test_an_error_in_place_of_a_result_is_one_difference():
    found = only(call(asking(1, ask()), done(2)), call(asking(1, ask()), failed(2)))
    assert (found.what, found.round) == ("outcome", 2)
    assert (list(found.left), list(found.right)) == (["result"], ["error"])
    found = only(call(asking(1, ask())), call(failed(1)))
    assert (found.what, found.left) == ("outcome", {"asks": ["confirm"]})


def test_a_call_that_got_no_response_is_compared_by_its_outcome():
    gone = call(done(1, end="none", said=None), outcome="cancelled")
    found = only(gone, replace(gone, outcome="open"))
    assert (found.what, found.left, found.right) == ("outcome", "cancelled", "open")
    assert only(call(done(1)), gone).right == "cancelled"


def test_a_round_without_a_response_is_told_as_what_became_of_its_call():
    gone = call(asking(1, ask()), done(2, end="none", said=None), outcome="cancelled")
    assert only(call(asking(1, ask())), gone).right == "cancelled"
    found = only(call(done(1, end="none", said=None), outcome="open"), call(asking(1, ask())))
    assert (found.what, found.left, found.right) == ("outcome", "open", {"asks": ["confirm"]})


def test_a_round_that_was_sent_again_for_want_of_a_response_says_so():
    again = call(asking(1, ask()), done(2, end="none", said=None), done(3))
    assert only(call(asking(1, ask()), done(2)), again).right == "no response"


def test_how_a_stream_ended_is_no_difference():
    one = call(done(1, end="none", said=None), kind="stream", outcome="cancelled")
    assert told(one, replace(one, outcome="open")) == []
    assert told(one, call(done(1), kind="stream")) == []


def test_status_and_state_are_compared():
    assert told(call(), with_round(call(), 2, status=500)) == [("status", "changed", 3, "", "")]
    assert told(call(), with_round(call(), 2, status=None)) == []
    assert told(call(), with_round(call(), 1, has_state=False)) == [
        ("state", "removed", 2, "", "/result/requestState")
    ]


def test_errors_are_compared_value_by_value():
    assert told(call(failed(1)), call(failed(1, -32603))) == [
        ("error", "changed", 1, "", "/error/code")
    ]


def test_a_result_too_long_to_be_recorded_is_compared_by_its_hash():
    a, b = (call(done(1, end="none", said=None, cut=sha)) for sha in ("aa", "bb"))
    assert told(a, a) == []
    assert only(a, b).note == "longer than what is recorded"


def test_notifications_stand_with_their_round():
    fewer = with_round(call(), 2, notes=(note(1), note(3)))
    assert told(call(), fewer) == [("notification", "removed", 3, "notifications/progress", "")]


def test_the_order_of_a_listing_is_no_difference():
    tools = [{"name": "a", "x": 1}, {"name": "b"}]
    listing = call(done(1, said={"tools": tools}), method="tools/list", target=None, params={})
    turned = with_round(listing, 0, said={"tools": tools[::-1]})
    assert told(listing, turned) == []
    other = with_round(listing, 0, said={"tools": [{"name": "b"}, {"name": "a", "x": 2}]})
    assert told(listing, other) == [("result", "changed", 1, "", "/result/tools/a/x")]
    assert told(listing, other, listings=False) == []


def test_findings_are_compared():
    found = SaidFinding(rule="HDR-006", name="n", severity="error", spot="s", message="m", round=1)
    assert told(call(), call(findings=(found,))) == [("finding", "added", 1, "HDR-006", "")]


@pytest.mark.parametrize(
    ("before", "after", "ratio", "is_told"),
    [
        (0.1, 0.3, 2.0, True),
        (0.1, 0.15, 2.0, False),
        (0.001, 0.01, 2.0, False),
        (0.1, 9, None, False),
    ],
)
def test_time_is_a_difference_only_where_asked_for(before, after, ratio, is_told):
    a, b = (call(done(1, took=took)) for took in (before, after))
    assert bool(told(a, b, slower=ratio)) == is_told


def test_an_ask_at_an_ignored_place_is_left_out():
    more = with_round(
        call(), 0, asks=(*call().rounds[0].asks, ask("extra", params={"message": "!"}))
    )
    assert len(told(call(), more)) == 1
    assert told(call(), more, rules=Rules(ignore=["/result/inputRequests/extra"])) == []
