"""Lines of one side only: what the tap asks and answers, over stdio."""

from __future__ import annotations

from mcp_tap.core.linking import stdio
from mcp_tap.core.records import Decision
from tests.talk import FORM, Talk, accept, call, done, old_call, pushed, shape


def asks(number, state):
    asked = {"resultType": "input_required", "requestState": state, "inputRequests": {"k": FORM}}
    return {"jsonrpc": "2.0", "id": number, "result": asked}


def error(number, code, message):
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}


def cancelled(number):
    params = {"requestId": number, "reason": "too long"}
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}


def decided(talk, key, entry="entry"):
    facts = {"hook": "answers", "verdict": "answered", "why": "so"}
    talk.feed(Decision, key=key, entry=entry, **facts)


def asked(talk, number=1):
    """Let a call ask, which the tap answers."""
    talk.say(None, "client", call(number))
    talk.say(None, "server", asks(number, "s"), leg="upstream")
    decided(talk, "k")
    talk.say(None, "tap", call("own", inputResponses=accept("k"), requestState="s"), leg="upstream")


def test_a_round_that_the_tap_answered_is_one_of_the_call():
    talk = Talk()
    asked(talk)
    talk.say(None, "server", done("own"), leg="upstream")
    talk.say(None, "server", done(1), leg="client", replaces=talk.seq)
    found = talk.the_call()
    assert shape(found) == ["?", "*"]
    assert (found.outcome, found.rounds[1].by_tap) == ("ok", True)
    (ask,) = found.rounds[0].asks
    assert (ask.entry, ask.answered_by, ask.action) == ("entry", "tap", "accept")
    assert talk.loose == {}


def test_what_went_in_the_place_of_the_clients_request_is_no_other_call():
    talk = Talk()
    talk.say(None, "client", call(1))
    talk.say(None, "tap", call(1), leg="upstream", replaces=talk.seq)
    talk.say(None, "server", done(1))
    assert len(talk.calls) == 1
    assert talk.the_call().outcome == "ok"


def test_an_error_of_the_taps_ends_a_call_that_was_asked():
    talk = Talk()
    talk.say(None, "client", call(1))
    talk.say(None, "server", asks(1, "s"), leg="upstream")
    talk.say(None, "tap", error(1, -31999, "no answer"), leg="client")
    found = talk.the_call()
    assert (found.outcome, found.rounds[-1].fault.code) == ("error", -31999)
    assert found.rounds[-1].fault.sender == "tap"


def test_a_request_that_the_tap_took_back_is_waited_for_no_more():
    talk = Talk()
    asked(talk)
    talk.say(None, "tap", cancelled("own"), leg="upstream")
    talk.say(None, "tap", error(1, -32603, "too long"), leg="client")
    talk.say(None, "server", done("own"), leg="upstream")
    found = talk.the_call()
    assert (found.outcome, found.rounds[-1].fault.message) == ("error", "too long")


def test_what_the_client_takes_back_is_its_own_call():
    talk = Talk()
    asked(talk)
    talk.say(None, "client", cancelled(1))
    talk.say(None, "tap", cancelled("own"), leg="upstream", replaces=talk.seq)
    assert talk.the_call().outcome == "cancelled"
    talk.say(None, "client", call(1))
    talk.say(None, "server", done(1))
    assert [c.outcome for c in talk.calls.values()] == ["cancelled", "ok"]


def test_a_pushed_ask_that_the_tap_answered_is_one_of_the_only_call():
    talk = Talk()
    talk.say(None, "client", old_call(1))
    talk.say(None, "server", pushed(0), leg="upstream")
    decided(talk, "0")
    answer = {"jsonrpc": "2.0", "id": 0, "result": {"action": "accept"}}
    talk.say(None, "tap", answer, leg="upstream")
    talk.say(None, "server", done(1))
    found = talk.the_call()
    (ask,) = found.rounds[0].asks
    assert (ask.entry, ask.answered_by) == ("entry", "tap")
    assert (shape(found), found.outcome) == (["?", "*"], "ok")


def test_an_ask_of_no_call_knows_its_entry_too():
    talk = Talk()
    talk.say(None, "server", pushed(0), leg="upstream")
    decided(talk, "0")
    answer = {"jsonrpc": "2.0", "id": 0, "result": {"action": "accept"}}
    talk.say(None, "tap", answer, leg="upstream")
    (ask,) = [ask for exchange in talk.loose.values() for ask in exchange.asks]
    assert (ask.entry, ask.answered_by, ask.action) == ("entry", "tap", "accept")


def test_what_is_held_is_bounded(monkeypatch):
    monkeypatch.setattr(stdio, "MOST_WAITING", 3)
    talk = Talk()
    for number in range(5):
        talk.say(None, "client", call(number))
        talk.say(None, "server", asks(number, f"s{number}"), leg="upstream")
    assert talk.pipeline.retired == 2
    talk.say(None, "tap", error(0, -31999, "no answer"), leg="client")
    talk.say(None, "tap", error(4, -31999, "no answer"), leg="client")
    assert [c.outcome for c in talk.calls.values()].count("error") == 1
