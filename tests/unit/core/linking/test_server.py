from __future__ import annotations

import pytest

from mcp_tap.core.model import Said
from tests.talk import Talk, accept, call, calls_in, done, in_session, old_call, shape
from tests.wire_samples import load


def result(request_id, **more):
    return {"jsonrpc": "2.0", "id": request_id, "result": {"resultType": "complete", **more}}


def test_a_result_ends_the_call():
    talk = Talk()
    n = talk.post(call(1))
    talk.head(n)
    assert talk.the_call().rounds[0].status == 200
    talk.say(n, "server", result(1))
    one = talk.the_call()
    assert (one.outcome, one.end, one.rounds[0].response_seq) == ("ok", talk.t, talk.seq)


@pytest.mark.parametrize(
    ("value", "outcome", "code"),
    [
        ({"error": {"code": -32603, "message": "x"}}, "error", -32603),
        ({"error": {"code": -32800, "message": "x"}}, "cancelled", -32800),
        ({"result": {"isError": True}}, "error", "isError"),
        ({"result": {"isError": "true"}}, "ok", None),
        ({"result": {}, "error": None}, "ok", None),
        ({"result": None}, "ok", None),
        ({"result": []}, "ok", None),
        ({"error": None}, "error", None),
        ({"result": {"resultType": "vendor"}}, "ok", None),
        ({"result": {"resultType": 7}}, "ok", None),
        ({"result": {"resultType": "task"}}, "ok", None),
    ],
)
def test_outcomes_follow_the_response(value, outcome, code):
    talk = Talk()
    talk.reply(talk.post(call(1)), value)
    one = talk.the_call()
    assert one.outcome == outcome
    assert (one.fault.code if one.fault else None) == code


def test_an_error_without_an_id_answers_the_only_request_of_its_exchange():
    talk = Talk()
    n = talk.post(call(1))
    talk.head(n, 404, Content_Type="application/json")
    talk.say(n, "server", {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "s"}})
    assert talk.the_call().outcome == "error"


def test_a_response_with_another_id_on_a_stream_answers_nothing():
    talk = Talk()
    n = talk.post(call(1))
    talk.head(n, Content_Type="text/event-stream")
    talk.event(n, result("1"))
    assert talk.the_call().outcome == "open"
    talk.event(n, result(1))
    assert talk.the_call().outcome == "ok"


def test_a_second_response_changes_nothing():
    talk = Talk()
    n = talk.post(call(1))
    talk.head(n, Content_Type="text/event-stream")
    talk.event(n, result(1))
    talk.event(n, {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "late"}})
    assert (talk.the_call().outcome, talk.the_call().fault) == ("ok", None)


def test_progress_and_logs_are_counted_where_they_belong():
    talk = Talk()
    n = talk.post(call(1))
    for method in ("notifications/progress", "notifications/message", "notifications/progress"):
        talk.event(n, {"jsonrpc": "2.0", "method": method, "params": {}})
    one = talk.the_call()
    assert (one.rounds[0].progress, one.rounds[0].logs) == (2, 1)
    assert talk.last == [one]


def test_input_required_means_nothing_in_the_session_era():
    talk = Talk()
    talk.session()
    n = talk.post(old_call(1), in_session())
    talk.reply(n, {"result": {"resultType": "input_required", "requestState": "s"}})
    assert talk.calls[2].outcome == "ok"
    assert talk.calls[2].rounds[0].result_type == "input_required"


@pytest.mark.parametrize("requests", [None, [], "x", {"q": 1}, {"q": {"params": 1}}])
def test_input_requests_of_any_shape_are_survived(requests):
    talk = Talk()
    value = {"resultType": "input_required", "inputRequests": requests, "requestState": "s"}
    talk.reply(talk.post(call(1)), {"result": value})
    assert talk.the_call().outcome == "waiting"


def test_the_first_of_two_answers_in_flight_that_completes_decides():
    talk = Talk()
    talk.ask(talk.post(call(1)), "q", state="s")
    retry = {"inputResponses": accept("q"), "requestState": "s"}
    a, b = talk.post(call(2, **retry)), talk.post(call(3, **retry))
    talk.reply(a, {"error": {"code": -1, "message": "no"}})
    assert talk.the_call().outcome == "open"
    talk.result(b)
    assert talk.the_call().outcome == "ok"


def test_answers_of_the_tap_are_marked():
    talk = Talk()
    n = talk.post(call(1))
    talk.say(n, "tap", {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "down"}})
    assert talk.the_call().fault.sender == "tap"


def calls_of(name):
    return calls_in(load(name))


@pytest.mark.parametrize(
    ("sample", "shapes"),
    [
        ("two_rounds", [["?", "?", "*"], ["?", "?", "*"], ["?", "*"]]),
        ("onboard", [["?", "*"], ["?", "*"]]),
        ("state_only", [["?", "?", "?", "*"]]),
        ("prompt_resource", [["?", "*"], ["?", "*"]]),
        ("tampered_refused", [["?", "x", "x", "?", "*"]]),
        ("tampered_accepted", [["?", "x", "?", "?", "*"]]),
        ("tampered_constant", [["?", "?", "?", "?", "*"]]),
        ("progress", [["*"]]),
        ("failures", [["x"], ["x"]]),
        ("cut_bodies", [["*"]]),
    ],
)
def test_real_traffic_is_one_call_for_each_thing_meant(sample, shapes):
    assert [shape(c) for c in calls_of(sample)] == shapes


def test_real_actions_stand_with_the_asks():
    actions = [[a.action for r in c.rounds for a in r.asks] for c in calls_of("two_rounds")]
    assert actions == [["accept", "accept"], ["accept", "decline"], ["cancel"]]
    asks = calls_of("onboard")[0].rounds[0].asks
    assert [(a.key, a.kind, a.action) for a in asks] == [
        ("profile", "form", "accept"),
        ("signin", "url", "accept"),
        ("motto", "sampling", "answered"),
        ("workspace", "roots", "answered"),
    ]


def test_a_real_tampered_state_shows_as_changed():
    for sample in ("tampered_refused", "tampered_accepted", "tampered_constant"):
        (one,) = calls_of(sample)
        assert one.rounds[0].echo == "changed"
        assert [r.link for r in one.rounds] == ["none", "keys", "state", "state", "state"]
        assert one.outcome == "ok"


def test_a_response_elsewhere_in_the_session_finds_its_call():
    talk = Talk()
    one = talk.broken_off(4)
    get = talk.open("GET", in_session())
    talk.event(get, done(4))
    assert one.outcome == "ok"


def test_a_result_type_is_what_the_wire_says_and_nothing_else():
    for result, kind in (({}, None), ({"resultType": 7}, None), ({"resultType": "v"}, "v")):
        talk = Talk()
        n = talk.post(call())
        talk.reply(n, {"jsonrpc": "2.0", "id": 1, "result": {"content": [], **result}})
        (round_,) = talk.the_call().rounds
        assert (round_.result_type, talk.the_call().outcome) == (kind, "ok")
        assert round_.result == Said(words=("0 content",))
