"""The state of tasks, as it is read and remembered."""

from __future__ import annotations

import json

from mcp_tap.proxy.answering import tasks
from tests.tasking import TASK, news, reply, state, waiting


def asked(**state):
    return json.dumps({"jsonrpc": "2.0", "id": 1, "result": state}).encode()


def test_only_a_state_that_waits_for_input_asks():
    found = tasks.read(reply(1, waiting("day", pollIntervalMs=250)))
    assert (found.task, found.pace, [*found.requests]) == (TASK, 0.25, ["day"])
    for body in (
        reply(1, state("working")),
        reply(1, state("working", statusMessage="input_required")),
        b'{"id":1,"error":{"message":"input_required"}}',
        b"input_required",
        b'{"result":["input_required"]}',
        news(waiting("day")),
    ):
        assert tasks.read(body) is None
    assert tasks.read(asked(status="input_required", inputRequests=[1])).requests == {}
    assert tasks.read(asked(status="input_required", pollIntervalMs=-1)).pace is None


def test_news_is_told_from_responses():
    assert tasks.read(news(waiting("day")), notice=True).task == TASK
    assert tasks.read(reply(1, waiting("day")), notice=True) is None
    other = news(waiting("day")).replace(b"notifications/tasks", b"notifications/other")
    assert tasks.read(other, notice=True) is None


def test_the_call_that_became_a_task_is_known_by_its_response():
    known, request = tasks.Tasks(), object()
    known.made(reply(1, {**state("working"), "resultType": "task"}), request, 7, 1.0)
    assert (known.find(TASK, 2.0).request, known.find(TASK, 2.0).call) == (request, 7)
    for body in (reply(1, state("working")), b'{"taskId', b'{"error":{"taskId":1}}'):
        known.made(body, object(), 8, 3.0)
    assert known.find(TASK, 4.0).request is request
