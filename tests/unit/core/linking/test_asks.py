from __future__ import annotations

from tests.talk import Talk, calls_in, done, in_session, old_call, pushed, shape
from tests.wire_samples import load


def began(talk, request_id=1, session="s1"):
    n = talk.post(old_call(request_id), in_session(session))
    talk.head(n, Content_Type="text/event-stream")
    return n


def answered(talk, request_id, result, session="s1"):
    n = talk.post({"jsonrpc": "2.0", "id": request_id, **result}, in_session(session))
    talk.head(n, 202)
    talk.close(n)
    return n


ACCEPT = {"result": {"action": "accept", "content": {}}}


def test_a_pushed_ask_ends_its_round_and_the_answer_begins_the_next():
    talk = Talk()
    talk.session()
    n = began(talk)
    talk.event(n, pushed(7))
    one = talk.calls[2]
    assert (one.outcome, shape(one)) == ("waiting", ["_"])
    b = answered(talk, 7, ACCEPT)
    assert (one.outcome, shape(one)) == ("open", ["?", "="])
    talk.event(n, done())
    talk.close(n)
    assert (one.outcome, shape(one)) == ("ok", ["?", "*"])
    ask = one.rounds[0].asks[0]
    assert (ask.key, ask.kind, ask.action, ask.answered_by) == ("7", "form", "accept", "client")
    assert ask.pushed
    assert [r.exchange for r in one.rounds] == [n, n]
    assert [r.link for r in one.rounds] == ["none", "keys"]
    assert b not in talk.loose


def test_the_time_a_person_took_is_the_clients():
    talk = Talk()
    talk.session()
    n = began(talk)
    talk.event(n, pushed(7))
    talk.t += 5
    answered(talk, 7, ACCEPT)
    talk.event(n, done())
    one = talk.calls[2]
    assert 5 < one.client_s < 5.1
    assert abs(one.server_s + one.client_s + one.tap_s - one.duration()) < 1e-6


def test_equal_ids_of_two_sessions_do_not_mix():
    talk = Talk()
    for name in ("s1", "s2"):
        talk.session(name)
    a, b = began(talk, 1, "s1"), began(talk, 1, "s2")
    talk.event(a, pushed(1))
    talk.event(b, pushed(1))
    answered(talk, 1, {"result": {"action": "decline"}}, "s2")
    first, second = talk.calls[3], talk.calls[4]
    assert first.rounds[0].asks[0].action is None
    assert second.rounds[0].asks[0].action == "decline"


def test_two_asks_at_once_are_two_rounds():
    talk = Talk()
    talk.session()
    n = began(talk)
    talk.event(n, pushed(1))
    talk.event(n, pushed(2, "sampling/createMessage"))
    answered(talk, 2, {"result": {"role": "assistant"}})
    one = talk.calls[2]
    assert one.outcome == "waiting"
    answered(talk, 1, ACCEPT)
    talk.event(n, done())
    assert shape(one) == ["?", "?", "*"]
    assert [a.action for r in one.rounds for a in r.asks] == ["accept", "answered"]


def test_an_ask_on_the_standalone_stream_belongs_to_the_only_open_call():
    talk = Talk()
    talk.session()
    get = talk.open("GET", in_session())
    n = began(talk)
    talk.event(get, pushed(3, "roots/list"))
    answered(talk, 3, {"result": {"roots": []}})
    talk.event(n, done())
    one = talk.calls[2]
    assert shape(one) == ["?", "*"]
    assert one.rounds[0].asks[0].kind == "roots"


def test_an_ask_on_the_standalone_stream_with_two_open_calls_belongs_to_none():
    talk = Talk()
    talk.session()
    get = talk.open("GET", in_session())
    began(talk, 1)
    began(talk, 2)
    talk.event(get, pushed(3))
    assert [c.number for c in talk.last] == [get]
    b = answered(talk, 3, ACCEPT)
    assert talk.loose[b].kind == "response"
    assert [c.outcome for c in talk.calls.values()] == ["ok", "open", "open"]


def test_an_answer_that_is_an_error_is_kept_as_one():
    talk = Talk()
    talk.session()
    n = began(talk)
    talk.event(n, pushed(1))
    answered(talk, 1, {"error": {"code": -1, "message": "no user"}})
    ask = talk.calls[2].rounds[0].asks[0]
    assert ask.action == "error"
    assert ask.answer == {"code": -1, "message": "no user"}


def test_a_result_that_did_not_wait_for_the_answer_gets_a_round_of_its_own():
    talk = Talk()
    talk.session()
    n = began(talk)
    talk.event(n, pushed(1))
    talk.event(n, done())
    one = talk.calls[2]
    assert (one.outcome, shape(one)) == ("ok", ["?", "*"])
    answered(talk, 1, ACCEPT)
    assert one.rounds[0].asks[0].action == "accept"
    assert one.outcome == "ok"


def test_a_server_that_withdraws_its_ask_has_the_ball_again():
    talk = Talk()
    talk.session()
    n = began(talk)
    talk.event(n, pushed(1))
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    talk.event(n, note)
    assert talk.calls[2].outcome == "open"


def test_a_ping_of_the_server_is_no_ask():
    talk = Talk()
    talk.session()
    n = began(talk)
    talk.event(n, pushed(1, "ping"))
    assert talk.calls[2].outcome == "open"
    assert talk.calls[2].rounds[0].asks == []
    assert answered(talk, 1, {"result": {}}) in talk.loose


def test_a_completed_url_elicitation_is_marked():
    talk = Talk()
    talk.session()
    n = began(talk)
    talk.event(n, pushed(1, mode="url", elicitationId="el-1"))
    answered(talk, 1, {"result": {"action": "accept"}})
    note = {"method": "notifications/elicitation/complete", "params": {"elicitationId": "el-1"}}
    talk.event(n, {"jsonrpc": "2.0", **note})
    assert talk.calls[2].rounds[0].asks[0].completed_t == talk.t
    talk.event(n, {"jsonrpc": "2.0", **note, "params": {"elicitationId": "other"}})


def test_a_broken_stream_is_taken_up_and_its_response_ends_the_call():
    talk = Talk()
    one = talk.broken_off(event_id="42")
    assert one.outcome == "open"
    get = talk.open("GET", in_session(**{"Last-Event-ID": "42"}))
    assert talk.last == [one]
    talk.event(get, {"jsonrpc": "2.0", "method": "notifications/message"}, "43")
    talk.event(get, pushed(9), "44")
    talk.event(get, pushed(9), "44")
    answered(talk, 9, ACCEPT)
    talk.event(get, done(), "45")
    talk.close(get, "client_gone")
    assert (one.outcome, shape(one)) == ("ok", ["?", "*"])
    assert one.rounds[0].logs == 2
    assert get not in talk.loose
    assert one.other_exchanges == (get, get + 1)


def test_a_stream_the_network_broke_reopens_its_call_when_taken_up():
    talk = Talk()
    one = talk.broken_off(how="client_gone")
    assert (one.outcome, one.why) == ("cancelled", "the client left")
    get = talk.open("GET", in_session(**{"last-event-id": "1"}))
    assert (one.outcome, one.why) == ("open", None)
    talk.event(get, done())
    assert one.outcome == "ok"
    assert abs(one.server_s + one.client_s - one.duration()) < 1e-6


def test_clients_without_a_session_are_kept_apart_by_who_they_are():
    talk = Talk()
    streams = {}
    for agent in ("a", "b"):
        streams[agent] = talk.post(old_call(), {"User-Agent": agent})
        talk.event(streams[agent], pushed(0))
    n = talk.post({"jsonrpc": "2.0", "id": 0, **ACCEPT}, {"User-Agent": "b"})
    assert n not in talk.loose
    assert [c.outcome for c in talk.calls.values()] == ["waiting", "open"]


def test_real_python_traffic_of_the_session_era_is_one_call_each():
    calls = calls_in(load("py_legacy"))
    by_name = {c.name: c for c in calls if c.name != "push_form"}
    assert shape(by_name["book_table"]) == ["?", "?", "*"]
    for name in ("push_url", "push_sample", "push_roots"):
        assert shape(by_name[name]) == ["?", "*"]
        assert by_name[name].outcome == "ok"
    forms = [c for c in calls if c.name == "push_form"]
    assert [c.rounds[0].asks[0].action for c in forms] == ["accept", "decline"]
    assert by_name["drop_stream"].outcome == "ok"
    assert by_name["drop_stream"].rounds[0].logs == 2
    assert {c.server for c in calls} == {"lab-py-hi"}
    assert {c.client for c in calls} == {"lab-py/1"}


def test_real_typescript_asks_on_the_get_stream_reach_their_calls():
    calls = calls_in(load("ts_legacy"))
    pushes = [c for c in calls if (c.name or "").startswith("push_")]
    assert [shape(c) for c in pushes] == [["?", "*"]] * 4
    assert [c.rounds[0].asks[0].kind for c in pushes] == ["form", "url", "sampling", "roots"]
    assert pushes[1].rounds[0].asks[0].completed_t is not None
    assert next(c for c in calls if c.name == "linger").outcome == "cancelled"


def test_calls_whose_broken_streams_nobody_takes_up_are_let_go():
    talk = Talk()
    talk.broken_off()
    session = talk.pipeline._correlator._who._sessions.get("s1")
    assert len(session.active) == 1
    talk.pipeline.advance(13 * 3600.0)
    assert list(session.active) == []
    assert talk.pipeline.retired == 1


def test_an_ask_for_no_call_is_kept_with_its_stream_and_its_answer():
    talk = Talk()
    talk.session()
    get = talk.open("GET", in_session())
    talk.event(get, pushed(0, "roots/list"))
    answered(talk, 0, {"result": {"roots": []}})
    talk.event(get, pushed(1, "ping"))
    talk.event(get, pushed(2))
    answered(talk, 2, {"error": {"code": -32601, "message": "no"}})
    one, other = talk.loose[get].asks
    assert (one.kind, one.key, one.action, one.answer) == ("roots", "0", "answered", {"roots": []})
    assert (one.pushed, one.answered_by) == (True, "client")
    assert other.action == "error"


def test_a_stream_keeps_the_first_hundred_asks_for_no_call():
    talk = Talk()
    talk.session()
    get = talk.open("GET", in_session())
    for number in range(200):
        talk.event(get, pushed(number))
    assert [ask.key for ask in talk.loose[get].asks] == [str(n) for n in range(100)]


def test_an_answer_goes_to_the_ask_of_a_call_before_one_for_no_call():
    talk = Talk()
    talk.session()
    get = talk.open("GET", in_session())
    talk.event(get, pushed(3))
    n = began(talk)
    talk.event(n, pushed(3))
    answered(talk, 3, ACCEPT)
    *_, one = talk.calls.values()
    assert [a.action for r in one.rounds for a in r.asks] == ["accept"]
    assert talk.loose[get].asks[0].action is None
