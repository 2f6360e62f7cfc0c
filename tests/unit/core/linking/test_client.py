from __future__ import annotations

import pytest
from msgspec import Raw

from tests.talk import Talk, accept, call, in_session, old_call


@pytest.mark.parametrize("value", [[call(1)], [], 5, "x", None, {}, {"jsonrpc": "2.0", "id": 1}])
def test_what_is_no_message_is_a_broken_exchange(value):
    talk = Talk()
    n = talk.post(value)
    assert talk.loose[n].kind == "broken"
    assert talk.calls == {}


def test_bytes_that_are_no_json_are_a_broken_exchange():
    talk = Talk()
    n = talk.open()
    talk.say(n, "client", Raw(b"{nope"))
    talk.close(n)
    assert talk.loose[n].kind == "broken"


def test_notifications_and_responses_belong_to_no_call():
    talk = Talk()
    a = talk.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
    b = talk.post({"jsonrpc": "2.0", "id": 5, "result": {}})
    assert talk.loose[a].kind == "notification"
    assert talk.loose[a].method == "notifications/initialized"
    assert talk.loose[b].kind == "response"


@pytest.mark.parametrize("request_id", [0, "", "a", 1.5, None, True, {"a": 1}, [1]])
def test_any_id_makes_a_request(request_id):
    talk = Talk()
    talk.result(talk.post(call(request_id)))
    assert talk.the_call().outcome == "ok"
    assert talk.the_call().rounds[0].request_id == request_id


def test_calls_name_their_target():
    talk = Talk()
    talk.post(call(1, "t"))
    talk.post(call(1, "p", method="prompts/get"))
    talk.post(call(1, "u://x", method="resources/read"))
    talk.post(call(1, "ignored", method="tools/list"))
    talk.post(call(1, ["no", "text"]))
    assert [c.name for c in talk.calls.values()] == ["t", "p", "u://x", None, None]


@pytest.mark.parametrize("params", [None, [], "x", {"_meta": 3}, {"_meta": {"a": 1}}])
def test_params_of_any_shape_are_survived(params):
    talk = Talk()
    talk.post({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    assert talk.the_call().name is None


def test_the_session_era_knows_no_retries():
    talk = Talk()
    talk.session()
    talk.post(old_call(1, inputResponses=accept("q"), requestState="s"), in_session())
    assert not talk.calls[2].rounds[0].sent_state


def test_retry_fields_on_requests_that_cannot_be_asked_mean_nothing():
    talk = Talk()
    talk.result(talk.post(call(1, method="tools/list", requestState="s")))
    assert talk.the_call().outcome == "ok"


def test_answers_of_no_shape_link_by_state_alone():
    talk = Talk()
    talk.ask(talk.post(call(1)), "q", state="s")
    talk.post(call(2, inputResponses=["x"], requestState="s"))
    one = talk.the_call()
    assert one.rounds[1].link == "state"
    assert one.rounds[0].asks[0].action is None


def test_a_cancelled_notification_ends_its_call_and_its_exchange_belongs_there():
    talk = Talk()
    talk.session()
    n = talk.post(old_call(14), in_session())
    params = {"requestId": 14, "reason": "took too long"}
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
    m = talk.post(note, in_session())
    one = talk.calls[2]
    assert (one.outcome, talk.last) == ("cancelled", [one])
    assert one.why == "the client cancelled it: took too long"
    assert one.other_exchanges == (m,)
    assert m not in talk.loose
    error = {"code": -32800, "message": "Request cancelled"}
    talk.event(n, {"jsonrpc": "2.0", "id": 14, "error": error})
    talk.close(n)
    assert (one.outcome, one.fault.code) == ("cancelled", -32800)
    assert len(one.rounds) == 1


def test_a_cancelled_notification_that_fits_two_calls_cancels_neither():
    talk = Talk()
    for _ in range(2):
        talk.post(call(1))
    m = talk.post(
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    )
    assert [c.outcome for c in talk.calls.values()] == ["open", "open"]
    assert m in talk.loose


def test_a_second_message_in_one_exchange_changes_nothing():
    talk = Talk()
    n = talk.post(call(1))
    talk.say(n, "client", call(2))
    assert talk.last == []
    assert len(talk.calls) == 1


def test_a_cut_request_is_still_a_call():
    talk = Talk()
    n = talk.open(headers={"Mcp-Method": "tools/call", "Mcp-Name": "=?base64?esO8cmljaA==?="})
    talk.bodies[n] = {"id": 9}
    talk.say(n, "client", Raw(b'{"params":{"arguments":{"a":"'), truncated=True, size=99)
    one = talk.the_call()
    assert (one.method, one.name, one.rounds[0].arguments) == ("tools/call", "zürich", None)
    talk.head(n)
    talk.say(n, "server", Raw(b'{"result":{"content":[{"te'), truncated=True, size=99)
    assert one.outcome == "ok"


def test_a_cut_payload_without_any_hint_is_broken():
    talk = Talk()
    n = talk.open()
    talk.say(n, "client", Raw(b'{"params":{"argu'), truncated=True, size=99)
    assert talk.loose[n].kind == "broken"
