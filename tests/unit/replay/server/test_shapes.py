"""What was recorded over one transport is served over the other."""

from __future__ import annotations

import json

import pytest

from mcp_tap.replay.server.play import Clock
from mcp_tap.replay.server.player import Player, Request
from tests import replays
from tests.replays import OPENED, Heard, complete, exchange, never, request, streamed

OPEN = {**replays.OPEN, "id": 0}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ship"}}
LOG = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info"}}
CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
ROOTS = {"jsonrpc": "2.0", "id": 5, "method": "roots/list"}
ROOTS_GIVEN = {"jsonrpc": "2.0", "id": 5, "result": {"roots": []}}
OPENING = (("client", OPEN), ("server", {"jsonrpc": "2.0", "id": 0, "result": OPENED}))


def failed(code):
    return {"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "no"}}


@pytest.fixture
def player(indexed):
    """Give what makes a player: of a stdio server's lines, or of exchanges."""

    def make(*lines, exchanges=(), over_stdio=False):
        case = {
            "lines": [
                {"from": who, "line": x if x == "hello" else json.dumps(x)} for who, x in lines
            ]
        }
        index = indexed(*exchanges) if exchanges else indexed(**case)
        return Player(index, Clock(never, None), lines=over_stdio, report=pytest.fail)

    return make


def sent(player, body, heard=None, **given):
    heard = heard or Heard()
    player.take(Request(body=json.dumps(body).encode(), path="/mcp", **given), heard)
    return heard


def opened(player):
    return sent(player, OPEN).headers["Mcp-Session-Id"]


def test_an_answer_that_came_as_a_line_is_the_body_of_a_response(player):
    heard = sent(player(("client", request(1)), ("server", complete(1, "x"))), request("mine"))
    assert (heard.status, heard.headers) == (200, {"Content-Type": "application/json"})
    assert heard.only == complete("mine", "x")
    assert heard.over == "end"


def test_what_came_before_the_answer_makes_a_stream_of_it(player):
    lines = ("client", request(1)), ("server", LOG), ("server", complete(1, "x"))
    heard = sent(player(*lines), request("mine"))
    assert heard.headers == {"Content-Type": "text/event-stream"}
    assert heard.messages == [LOG, complete("mine", "x")]


def test_without_sessions_nothing_follows_the_response(player):
    lines = ("client", request(1)), ("server", complete(1, "x")), ("server", CHANGED)
    assert sent(player(*lines), request(2)).only == complete(2, "x")


def test_a_call_that_was_not_answered_is_a_stream_that_stays_open(player):
    heard = sent(player(("client", request(1))), request(2))
    assert (heard.status, heard.messages, heard.over) == (200, [], "")


@pytest.mark.parametrize(
    ("code", "status"), [(-32601, 404), (-32021, 400), (-32603, 200), ("x", 200)]
)
def test_an_error_has_the_status_that_goes_with_it(player, code, status):
    heard = sent(player(("client", request(1)), ("server", failed(code))), request(1))
    assert (heard.status, heard.only) == (status, failed(code))


def test_an_error_of_the_session_era_is_a_response_like_any(player):
    played = player(*OPENING, ("client", CALL), ("server", failed(-32601)))
    assert sent(played, CALL, session=opened(played)).status == 200


def test_a_notification_is_accepted_and_what_followed_it_goes_to_the_sessions_stream(player):
    played = player(*OPENING, ("client", INITIALIZED), ("server", CHANGED))
    session, stream = opened(played), Heard()
    played.take(Request(verb="GET", path="/mcp", session=session), stream)
    heard = sent(played, INITIALIZED, session=session)
    assert (heard.status, heard.messages) == (202, [])
    assert (stream.headers, stream.messages) == ({"Content-Type": "text/event-stream"}, [CHANGED])


def test_an_ask_comes_on_the_stream_of_the_call_and_its_answer_goes_on_with_that(player):
    lines = (
        ("client", CALL),
        ("server", ROOTS),
        ("client", ROOTS_GIVEN),
        ("server", complete(1, "x")),
    )
    played = player(*OPENING, *lines)
    session = opened(played)
    heard = sent(played, CALL, session=session)
    assert [m.get("method") for m in heard.messages] == ["roots/list"]
    assert sent(played, ROOTS_GIVEN, session=session).status == 202
    assert heard.messages[1:] == [complete(1, "x")]


def test_what_a_server_printed_beside_the_protocol_is_in_no_response(player):
    played = player(("client", request(1)), ("server", "hello"), ("server", complete(1, "x")))
    heard = sent(played, request(2))
    assert (heard.headers, heard.only) == ({"Content-Type": "application/json"}, complete(2, "x"))


def with_session(made, t):
    made["request"]["headers"] = {"Mcp-Session-Id": "s-1", **made["request"].get("more", {})}
    return {**made, "t": t}


def opening():
    made = with_session(exchange(OPEN, OPENING[1][1]), [0.0, 0.5])
    made["response"]["headers"] = {"Mcp-Session-Id": "s-1", "Content-Type": "application/json"}
    return made


def listening(t, *messages, **headers):
    made = streamed(None, *messages)
    made["request"] = {"method": "GET", "path": "/mcp", "more": headers}
    return with_session(made, t)


def test_over_stdio_a_call_gets_what_came_on_the_stream_that_took_up_its_own(player):
    broken = streamed(CALL, closed_by="server")
    del broken["response"]["sse"]
    broken["response"]["sse_raw"] = f"id: e7\ndata: {json.dumps(LOG)}\n\n"
    resumed = listening([2.0, 3.0], complete(1, "x"), **{"Last-Event-ID": "e7"})
    recorded = (opening(), with_session(broken, [1.0, 1.5]), resumed)
    played = player(exchanges=recorded, over_stdio=True)
    sent(played, OPEN)
    heard = sent(played, {**CALL, "id": "mine"})
    assert heard.messages == [LOG, complete("mine", "x")]
    assert heard.over == "end"


def test_what_came_after_a_response_comes_after_it_and_may_be_answered_or_not(player):
    call = with_session(exchange(CALL, complete(1, "x")), [1.0, 2.0])
    answer = with_session(exchange(ROOTS_GIVEN, None, 202), [4.0, 4.1])
    recorded = (opening(), listening([0.6, 3.0], ROOTS), call, answer)
    played = player(exchanges=recorded)
    session, stream, heard = opened(played), Heard(), Heard()
    played.take(Request(verb="GET", path="/mcp", session=session), stream)
    over = []
    stream.flush = lambda: over.append(heard.over)
    sent(played, CALL, heard, session=session)
    assert stream.messages == [ROOTS]
    assert over == ["end"]
    assert sent(played, ROOTS_GIVEN, session=session).status == 202
