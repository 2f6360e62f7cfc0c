from __future__ import annotations

from mcp_tap.core.linking.calls import MOST_ACTIVE
from mcp_tap.core.linking.stdio import MOST_WAITING
from tests.talk import Talk, call, calls_in, done, old_call, pushed, shape
from tests.wire_samples import load


def calls_of(name):
    return {c.name or c.method: c for c in calls_in(load(name))}


def test_lines_are_paired_by_id():
    talk = Talk()
    talk.say(None, "client", call(1))
    talk.say(None, "client", call("1", "other"))
    talk.say(None, "server", done("1"))
    assert [c.outcome for c in talk.calls.values()] == ["open", "ok"]
    talk.say(None, "server", done(1))
    assert talk.calls[1].outcome == "ok"


def test_lines_of_nobody_are_exchanges_of_their_own():
    talk = Talk()
    talk.say(None, "server", done(77))
    talk.say(None, "server", {"jsonrpc": "2.0", "method": "notifications/message"})
    talk.say(None, "client", [1])
    assert len(talk.loose) == 3
    assert talk.calls == {}


def test_an_ask_belongs_to_the_only_open_call():
    talk = Talk()
    talk.say(None, "client", old_call(1))
    talk.say(None, "server", pushed(0))
    talk.say(None, "client", {"jsonrpc": "2.0", "id": 0, "result": {"action": "accept"}})
    talk.say(None, "server", done(1))
    assert shape(talk.the_call()) == ["?", "*"]


def test_unanswered_lines_are_bounded():
    talk = Talk()
    for n in range(MOST_WAITING + 10):
        talk.say(None, "client", call(n))
    assert talk.pipeline.retired == 10 + (MOST_WAITING + 10 - MOST_ACTIVE)


def test_of_calls_that_wait_for_ever_a_process_keeps_the_newest():
    talk = Talk()
    asked = {"resultType": "input_required", "requestState": "s"}
    for n in range(MOST_ACTIVE + 10):
        talk.say(None, "client", call(n))
        talk.say(None, "server", {"jsonrpc": "2.0", "id": n, "result": asked})
    assert talk.pipeline.retired == 10


def test_real_lines_of_the_stateless_era():
    calls = calls_of("stdio_stateless")
    assert shape(calls["book_table"]) == ["?", "?", "*"]
    assert calls["stream_work"].rounds[0].progress == 4
    assert calls["linger"].outcome == "cancelled"


def test_real_lines_of_the_session_era():
    calls = calls_of("stdio_legacy")
    for name in ("push_form", "push_url", "push_sample", "push_roots"):
        assert shape(calls[name]) == ["?", "*"]
    assert calls["push_form"].era == "session"
    assert calls["push_form"].client == "lab-ts/1"


def test_a_refused_handshake_opens_no_session():
    talk = Talk()
    params = {"protocolVersion": "2025-11-25", "capabilities": {}}
    begin = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    refused = {"jsonrpc": "2.0", "id": 0, "error": {"code": -32601, "message": "no"}}
    talk.say(None, "client", begin)
    talk.say(None, "server", refused)
    talk.say(None, "client", {"jsonrpc": "2.0", "method": "notifications/cancelled"})
    assert [exchange.version for exchange in talk.loose.values()] == [None]
