from __future__ import annotations

import pytest

from mcp_tap.core.records import Body
from tests.talk import Talk, accept, call, done, in_session, old_call
from tests.wire_samples import load


@pytest.mark.parametrize(
    ("how", "status", "outcome", "code", "sender"),
    [
        ("client_gone", None, "cancelled", None, None),
        ("shutdown", None, "cancelled", None, None),
        ("complete", 200, "error", None, "server"),
        ("complete", 202, "error", 202, "server"),
        ("complete", 307, "error", 307, "server"),
        ("complete", 503, "error", 503, "server"),
        ("upstream_cut", 200, "error", "upstream_cut", "server"),
        ("upstream_cut", None, "error", "upstream_cut", "server"),
        ("upstream_down", None, "error", "upstream_down", "tap"),
        ("timeout", None, "error", "timeout", "tap"),
        ("refused", 403, "error", 403, "tap"),
        ("tap_failed", None, "error", "tap_failed", "tap"),
        ("tap_failed", 200, "error", "tap_failed", "tap"),
    ],
)
def test_calls_without_a_response_end_as_their_exchange_did(how, status, outcome, code, sender):
    talk = Talk()
    n = talk.post(call(1))
    if status is not None:
        talk.head(n, status)
    talk.close(n, how)
    one = talk.the_call()
    assert (one.outcome, one.end) == (outcome, talk.t)
    assert (one.fault.code if one.fault else None) == code
    assert (one.fault.sender if one.fault else None) == sender
    assert bool(one.fault and one.fault.message) == (outcome == "error")
    assert talk.last == [one]


@pytest.mark.parametrize(
    ("how", "given", "why"),
    [
        ("client_gone", None, "the client left"),
        (
            "client_gone",
            "the client's body is framed wrongly",
            "the client's body is framed wrongly",
        ),
        ("shutdown", None, "the tap was stopped"),
    ],
)
def test_a_call_that_nobody_wants_any_more_says_why(how, given, why):
    talk = Talk()
    talk.close(talk.post(call(1)), how, why=given)
    assert (talk.the_call().why, talk.the_call().fault) == (why, None)


def test_an_error_page_says_why():
    talk = Talk()
    n = talk.post(call(1))
    talk.head(n, 421)
    talk.feed(Body, exchange=n, sender="server", text="Invalid Host header")
    talk.close(n)
    assert talk.the_call().fault.message == "Invalid Host header"


def test_an_oauth_error_says_why():
    talk = Talk()
    n = talk.post(call(1))
    talk.head(n, 401)
    text = '{"error":"invalid_token","error_description":"Authentication required"}'
    talk.feed(Body, exchange=n, sender="server", text=text)
    talk.close(n)
    assert talk.the_call().fault.message == "Authentication required"


@pytest.mark.parametrize("how", ["client_gone", "upstream_cut", "shutdown"])
def test_how_the_connection_ends_after_the_response_does_not_matter(how):
    talk = Talk()
    n = talk.post(call(1))
    talk.event(n, {"jsonrpc": "2.0", "id": 1, "result": {}})
    talk.close(n, how)
    assert talk.the_call().outcome == "ok"


@pytest.mark.parametrize(
    ("how", "outcome"),
    [("client_gone", "ok"), ("complete", "ok"), ("shutdown", "ok"), ("upstream_cut", "error")],
)
def test_listen_streams_end_well_unless_the_server_broke(how, outcome):
    talk = Talk()
    n = talk.post(call("listen:0", method="subscriptions/listen"))
    talk.head(n)
    note = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    talk.event(n, note)
    assert talk.the_call().kind == "stream"
    talk.close(n, how)
    assert talk.the_call().outcome == outcome


def test_a_refused_listen_is_an_error():
    talk = Talk()
    n = talk.post(call(1, method="subscriptions/listen"))
    talk.head(n, 404)
    talk.close(n)
    assert talk.the_call().outcome == "error"


def test_deleting_a_session_cancels_what_was_left_in_it():
    talk = Talk()
    left = talk.broken_off()
    d = talk.open("DELETE", in_session())
    talk.head(d, 200)
    talk.close(d)
    assert left.outcome == "cancelled"
    assert d in talk.loose


def test_a_stream_that_ends_with_its_deleted_session_is_cancelled():
    talk = Talk()
    talk.session()
    n = talk.post(old_call(1), in_session())
    talk.head(n)
    d = talk.open("DELETE", in_session())
    talk.head(d, 200)
    talk.close(d)
    talk.close(n)
    assert talk.calls[2].outcome == "cancelled"


def test_a_refused_delete_ends_nothing():
    talk = Talk()
    talk.session()
    n = talk.post(old_call(1), in_session())
    d = talk.open("DELETE", in_session())
    talk.head(d, 405)
    talk.close(d)
    talk.event(n, done(1))
    assert talk.calls[2].outcome == "ok"


def test_when_records_end_open_calls_stay_open_with_their_time_accounted_for():
    talk = Talk()
    talk.ask(talk.post(call(1)), "q", state="s")
    talk.t += 3
    talk.post(call(2, "other"))
    changed = talk.pipeline.finish()
    assert [(c.number, c.outcome) for c in changed] == [(1, "waiting"), (2, "open")]
    one = talk.calls[1]
    assert one.client_s > 3
    assert abs(one.server_s + one.client_s - one.duration(talk.t)) < 1e-6


def test_a_cancelled_answer_does_not_open_its_round_again():
    talk = Talk()
    talk.ask(talk.post(call(1)), "q", state="always")
    retry = {"inputResponses": accept("q"), "requestState": "always"}
    talk.close(talk.post(call(2, **retry)), "client_gone")
    talk.ask(talk.post(call(3)), "q", state="always")
    talk.post(call(4, **retry))
    assert len(talk.calls[2].rounds) == 2


def test_real_cancellation_and_real_listening():
    outcomes = {}
    for sample in ("cancel", "listen"):
        talk = Talk()
        for record in load(sample):
            for change in talk.pipeline.feed(record):
                if hasattr(change, "rounds"):
                    outcomes[change.method, change.name] = change.outcome
                else:
                    assert change.method == "notifications/cancelled"
    assert outcomes["tools/call", "linger"] == "cancelled"
    assert outcomes["subscriptions/listen", None] == "ok"
    assert outcomes["tools/call", "touch"] == "ok"
