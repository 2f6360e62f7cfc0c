"""What is sent because of a request, and what it waits for."""

from __future__ import annotations

import json

import pytest

from mcp_tap.core.records import HttpResponse
from mcp_tap.replay.server.scripts import Scripts
from mcp_tap.replay.server.steps import is_ask, is_response
from tests.replays import OPEN, OPENED, complete, exchange, request, streamed

NOTE = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info"}}
CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
ROOTS = {"jsonrpc": "2.0", "id": 5, "method": "roots/list"}
SESSION = {"Mcp-Session-Id": "sess-1", "Content-Type": "application/json"}


@pytest.fixture
def scripts(indexed):
    def make(*exchanges, **case):
        index = indexed(*exchanges, **case)
        return Scripts(index), [*index.captures[0].exchanges.values()]

    return make


def opened(t=(0.0, 0.5)):
    reply = {"jsonrpc": "2.0", "id": 1, "result": OPENED}
    made = exchange(OPEN, reply)
    made["request"]["headers"] = {"Content-Type": "application/json"}
    made["response"]["headers"] = SESSION
    return {**made, "t": t}


def called(number, t, *messages):
    body = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": "ship"}}
    made = streamed(body, *messages, complete(number, "x"))
    made["request"]["headers"] = SESSION
    return {**made, "t": t}


def listened(t, *messages, path="/mcp", **headers):
    """A GET stream; its messages come evenly between its times."""
    got = {"status": 200, "headers": {"Content-Type": "text/event-stream"}, "sse": messages}
    asked = {"method": "GET", "path": path, "headers": {**SESSION, **headers}}
    return {"request": asked, "response": got, "t": t}


def answer(t, number=5):
    made = exchange({"jsonrpc": "2.0", "id": number, "result": {"roots": []}}, None, 202)
    made["request"]["headers"] = SESSION
    return {**made, "t": t}


def said(script):
    return [
        (step.value.get("method") or "response", step.aside)
        for step in script.steps
        if not isinstance(step.record, HttpResponse)
    ]


def test_a_script_is_the_head_and_what_followed_it(scripts):
    all_, (one,) = scripts(streamed(request(1), NOTE, complete(1, "x")))
    script = all_.of(one)
    assert isinstance(script.steps[0].record, HttpResponse)
    assert said(script) == [("notifications/message", False), ("response", False)]
    assert (script.answered, script.cut, script.waits) == (True, False, ())
    assert all_.of(one) is script


def test_a_stream_that_was_not_answered_says_so(scripts):
    all_, (one,) = scripts(streamed(request(1), NOTE, closed_by="network"))
    assert not all_.of(one).answered


def test_what_came_on_the_get_stream_belongs_to_the_request_under_way(scripts):
    all_, exchanges = scripts(
        opened(), listened((0.6, 2.6), NOTE, CHANGED), called(2, (1.0, 2.0)), called(3, (2.2, 3.0))
    )
    assert [said(all_.of(e)) for e in exchanges] == [
        [("response", False)],
        [],
        [("notifications/message", True), ("response", False)],
        [("notifications/tools/list_changed", True), ("response", False)],
    ]


def test_what_came_when_no_request_was_under_way_belongs_to_the_last_one(scripts):
    all_, exchanges = scripts(opened(), listened((0.6, 4.6), NOTE, CHANGED), called(2, (1.0, 2.0)))
    assert said(all_.of(exchanges[2])) == [
        ("response", False),
        ("notifications/message", True),
        ("notifications/tools/list_changed", True),
    ]


def test_what_a_stream_brings_before_any_request_is_its_own(scripts):
    all_, exchanges = scripts(opened(), listened((0.6, 4.6), NOTE))
    assert said(all_.of(exchanges[1])) == [("notifications/message", False)]
    assert said(all_.of(exchanges[0])) == [("response", False)]


def test_a_pushed_ask_waits_for_its_answer(scripts):
    all_, exchanges = scripts(opened(), called(2, (1.0, 3.0), ROOTS), answer((2.5, 2.6)))
    script = all_.of(exchanges[1])
    (wait,) = script.waits
    (ask,) = (step for step in script.steps if is_ask(step))
    assert wait.seq == ask.seq
    (response,) = (step for step in script.steps if is_response(step))
    assert ask.seq < wait.until < response.seq


def test_a_cancelled_call_waits_for_its_cancellation(scripts):
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
    made = exchange(cancel, None, 202)
    made["request"]["headers"] = SESSION
    call = called(2, (1.0, 3.0))
    call["response"]["sse"] = [NOTE]
    all_, exchanges = scripts(opened(), call, {**made, "t": (2.0, 2.1)})
    (wait,) = all_.of(exchanges[1]).waits
    assert (wait.seq, wait.until) == (0, exchanges[2].seqs[0])


def test_a_stream_that_was_taken_up_is_found_by_its_event(scripts):
    resumed = listened((2.0, 3.0), NOTE, **{"Last-Event-ID": "e7"})
    all_, exchanges = scripts(opened(), called(2, (1.0, 1.5)), resumed)
    assert all_.resumed == {(0, "e7"): exchanges[2]}


def test_lines_that_belong_to_no_request_come_with_the_one_before(scripts):
    lines = [
        ("client", {"jsonrpc": "2.0", "id": 1, "method": "ping"}),
        ("server", {"jsonrpc": "2.0", "id": 1, "result": {}}),
        ("server", NOTE),
    ]
    all_, exchanges = scripts(lines=[{"from": who, "line": json.dumps(x)} for who, x in lines])
    assert said(all_.of(exchanges[0])) == [("response", False), ("notifications/message", True)]
