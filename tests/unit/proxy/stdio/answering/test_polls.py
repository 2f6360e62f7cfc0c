"""Tasks on lines: what polls show, and what news tells, is answered by updates."""

from __future__ import annotations

import json

import pytest

from mcp_tap.core import spec
from tests.lining import Both, error_of, said
from tests.tasking import DONE, SCRIPT, TASK, news, reply, request, state, waiting

ALL = {"elicitation": {"form": {}}}


def begun(**options):
    both = Both(SCRIPT, **options)
    both.client(request("tools/call", 1, name="book", arguments={"guests": 2}))
    line = reply(1, {**state("working"), "resultType": "task"}) + b"\n"
    assert both.server(line) == ([], [line])
    return both


def polled(both, number=2, **params):
    both.client(request("tasks/get", number, taskId=TASK, **params))


def updated(both, number, *keys):
    """Let the server show that it waits; give the update that follows."""
    (up,), down = both.server(reply(number, waiting(*keys)))
    assert down == []
    assert said(up)["method"] == "tasks/update"
    return said(up)


def taken(both, update):
    """Let the server take an update; give the poll that follows."""
    (up,), down = both.server(reply(update["id"], {"resultType": "complete"}))
    assert down == []
    assert said(up)["method"] == "tasks/get"
    return said(up)


def test_a_poll_is_answered_by_an_update_and_the_client_gets_the_newest_state():
    both = begun()
    polled(both)
    update = updated(both, 2, "day")
    assert update["params"]["taskId"] == TASK
    assert update["params"]["inputResponses"]["day"]["content"] == {"day": "tue"}
    assert "progressToken" not in update["params"]["_meta"]
    again = taken(both, update)
    assert len({2, update["id"], again["id"]}) == 3
    assert both.server(reply(again["id"], DONE)) == ([], [reply(2, DONE) + b"\n"])
    assert both.told == [("answered", "the day", "day")]
    call = both.the_call()
    assert (call.outcome, call.rounds[0].asks[0].entry) == ("ok", "the day")
    assert call.rounds[0].asks[0].answered_by == "tap"
    assert both.rules() == []


def test_a_key_is_answered_once_however_long_the_server_takes():
    both = begun()
    polled(both)
    again = taken(both, updated(both, 2, "day"))
    for pause in (0.05, 0.1, 0.2, 0.4):
        assert both.server(reply(again["id"], waiting("day"))) == ([], [])
        assert both.wait(pause / 2) == ([], [])
        (up,), down = both.wait(pause)
        assert down == []
        again = said(up)
        assert again["method"] == "tasks/get"
    assert both.server(reply(again["id"], DONE)) == ([], [reply(2, DONE) + b"\n"])
    assert both.told == [("answered", "the day", "day")]


def test_a_server_that_never_takes_note_is_not_waited_for_for_ever():
    both = begun()
    polled(both)
    again = taken(both, updated(both, 2, "day"))
    both.t += 30
    up, (down,) = both.server(reply(again["id"], waiting("day")))
    assert up == []
    assert (said(down)["id"], error_of(down)) == (2, "answer-not-taken")


def test_a_refused_update_is_told_to_the_client():
    both = begun()
    polled(both)
    update = updated(both, 2, "day")
    error = {"jsonrpc": "2.0", "id": update["id"], "error": {"code": 1, "message": "no such task"}}
    up, (down,) = both.server(json.dumps(error).encode())
    assert up == []
    assert "no such task" in said(down)["error"]["message"]
    assert both.answering.failed == 1


def test_what_nothing_answers_ends_the_poll():
    both = begun()
    polled(both)
    up, (down,) = both.server(reply(2, waiting("seat")))
    assert up == []
    assert (said(down)["id"], error_of(down)) == (2, "no-answer")


def test_what_passes_once_passes_again():
    both = begun(unmatched="pass")
    for number in (2, 3):
        polled(both, number, capabilities=ALL)
        line = reply(number, waiting("seat")) + b"\n"
        assert both.server(line) == ([], [line])
    assert both.told[0] == ("passed", None, "seat")


def test_a_client_that_takes_its_poll_back_does_not_take_the_answers_back():
    both = begun()
    polled(both)
    update = updated(both, 2, "day")
    params = {"requestId": 2}
    line = json.dumps({"jsonrpc": "2.0", "method": spec.NOTE_CANCELLED, "params": params}).encode()
    assert both.client(line) == ([], [])
    assert both.server(reply(update["id"], {})) == ([], [])


def test_a_poll_whose_client_has_closed_its_end_ends():
    both = begun()
    polled(both)
    updated(both, 2, "day")
    up, (down,) = both.client_eof()
    assert up == []
    assert (said(down)["id"], error_of(down)) == (2, "input-closed")


def test_other_states_pass():
    both = begun()
    polled(both)
    line = reply(2, state("working", statusMessage="input_required")) + b"\n"
    assert both.server(line) == ([], [line])


# news


def listening(**options):
    both = begun(**options)
    both.client(request("subscriptions/listen", 2, notifications={"tasks": True}))
    return both


def test_news_that_asks_is_answered_and_not_shown():
    both = listening()
    (up,), down = both.server(news(waiting("day")))
    assert down == []
    assert said(up)["params"]["inputResponses"]["day"]["content"] == {"day": "tue"}
    assert both.server(reply(said(up)["id"], {"resultType": "complete"})) == ([], [])
    assert both.server(news(waiting("day"))) == ([], [])
    line = news(DONE) + b"\n"
    assert both.server(line) == ([], [line])
    assert both.told == [("answered", "the day", "day")]
    assert both.the_call_that_asks().rounds[0].asks[0].entry == "the day"


def test_news_that_nothing_answers_ends_the_stream():
    both = listening()
    (up,), (down,) = both.server(news(waiting("seat")))
    assert said(up)["method"] == "notifications/cancelled"
    assert said(up)["params"]["requestId"] == 2
    assert (said(down)["id"], error_of(down)) == (2, "no-answer")


def test_news_whose_answers_are_refused_ends_the_stream():
    both = listening()
    (up,), _ = both.server(news(waiting("day")))
    error = {"jsonrpc": "2.0", "id": said(up)["id"], "error": {"code": 1, "message": "no"}}
    (up,), (down,) = both.server(json.dumps(error).encode())
    assert said(up)["params"]["requestId"] == 2
    assert error_of(down) == "answer-not-taken"


def test_news_for_a_client_that_answers_itself_passes():
    both = begun(unmatched="pass")
    both.client(request("subscriptions/listen", 2, capabilities=ALL))
    line = news(waiting("seat")) + b"\n"
    assert both.server(line) == ([], [line])
    assert both.server(line) == ([], [line])


@pytest.mark.parametrize(
    "line",
    [
        news(waiting("day")).replace(b'"taskId"', b'"task"'),
        news(waiting("day")).replace(b"subscriptionId", b"other"),
        news({**waiting("day"), "inputRequests": {}}),
    ],
)
def test_news_of_nobody_passes(line):
    both = listening()
    assert both.server(line) == ([], [line + b"\n"])
