from __future__ import annotations

import pytest

from mcp_tap.core.model import Said
from tests.talk import FORM, Talk, accept, call, shape

T = "task-1"


def created(talk, request_id=1, task=T, **more):
    n = talk.post(call(request_id))
    talk.reply(n, {"result": {"resultType": "task", "taskId": task, "status": "working", **more}})
    return talk.calls[max(talk.calls)]


def poll(talk, request_id, status, task=T, **more):
    n = talk.post(call(request_id, task, method="tasks/get"))
    talk.result(n, taskId=task, status=status, **more)
    return n


def update(talk, request_id, *keys):
    n = talk.post(call(request_id, T, method="tasks/update", inputResponses=accept(*keys)))
    talk.result(n)
    return n


def asking(*keys):
    return {"inputRequests": dict.fromkeys(keys, FORM)}


def test_a_task_is_one_call_that_ends_with_its_terminal_status():
    talk = Talk()
    one = created(talk)
    assert (one.outcome, one.task) == ("open", T)
    poll(talk, 2, "working")
    assert one.outcome == "open"
    poll(talk, 3, "completed", result={"content": [{"type": "text", "text": "done"}]})
    assert (one.outcome, one.rounds[0].result) == ("ok", Said(text="done"))
    assert talk.calls == {1: one}
    assert talk.loose == {}
    assert one.rounds[0].result_type == "task"
    assert one.task_seq is not None
    assert (one.rounds[0].exchange, one.other_exchanges) == (1, (2, 3))
    assert abs(one.server_s - one.duration()) < 1e-6


def test_asks_of_a_task_are_answered_by_updates_and_each_set_is_a_round():
    talk = Talk()
    one = created(talk)
    poll(talk, 2, "input_required", **asking("name"))
    assert one.outcome == "waiting"
    poll(talk, 3, "input_required", **asking("name"))
    assert [a.key for a in one.rounds[0].asks] == ["name"]
    n = update(talk, 4, "name")
    assert (one.outcome, one.rounds[1].exchange, one.rounds[1].link) == ("open", n, "keys")
    assert n not in one.other_exchanges
    poll(talk, 5, "working")
    poll(talk, 6, "input_required", **asking("day"))
    update(talk, 7, "day")
    poll(talk, 8, "completed", result={})
    assert shape(one) == ["?", "?", "*"]
    assert [a.action for r in one.rounds for a in r.asks] == ["accept", "accept"]
    assert one.client_s > 0
    assert abs(one.server_s + one.client_s - one.duration()) < 1e-6


def test_partial_answers_leave_the_rest_waiting():
    talk = Talk()
    one = created(talk)
    poll(talk, 2, "input_required", **asking("a", "b"))
    update(talk, 3, "a")
    assert one.outcome == "waiting"
    assert len(one.rounds) == 1
    update(talk, 4, "b", "unknown")
    assert one.outcome == "open"
    assert len(one.rounds) == 2


def test_what_a_later_list_leaves_out_is_no_longer_wanted():
    talk = Talk()
    one = created(talk)
    poll(talk, 2, "input_required", **asking("a", "b"))
    poll(talk, 3, "input_required", **asking("b"))
    update(talk, 4, "b")
    assert one.outcome == "open"


def test_a_status_pushed_on_a_listen_stream_counts_like_a_poll():
    talk = Talk()
    listen = talk.post(call("listen-1", method="subscriptions/listen"))
    one = created(talk)
    note = {"jsonrpc": "2.0", "method": "notifications/tasks"}
    talk.event(listen, {**note, "params": {"taskId": T, "status": "completed", "result": {}}})
    assert [c.number for c in talk.last] == [one.number, 1]
    assert one.outcome == "ok"
    talk.event(listen, {**note, "params": {"taskId": "unknown"}})
    assert [c.number for c in talk.last] == [1]


@pytest.mark.parametrize(
    ("status", "more", "outcome", "code"),
    [
        ("failed", {"error": {"code": -32603, "message": "broke"}}, "error", -32603),
        ("completed", {"result": {"isError": True, "content": []}}, "error", "isError"),
        ("cancelled", {}, "cancelled", None),
    ],
)
def test_terminal_statuses_end_the_call(status, more, outcome, code):
    talk = Talk()
    one = created(talk)
    poll(talk, 2, status, **more)
    assert one.outcome == outcome
    assert (one.fault.code if one.fault else None) == code
    poll(talk, 3, "working")
    assert one.outcome == outcome


def test_a_task_the_server_does_not_know_fails_its_call_until_it_does():
    talk = Talk()
    one = created(talk)
    n = talk.post(call(2, T, method="tasks/get"))
    talk.reply(n, {"error": {"code": -32602, "message": "Task not found"}})
    assert one.outcome == "error"
    poll(talk, 3, "working")
    assert (one.outcome, one.fault, one.end) == ("open", None, None)


def test_an_acknowledged_cancel_ends_the_call_but_a_result_still_counts():
    talk = Talk()
    one = created(talk)
    talk.result(talk.post(call(2, T, method="tasks/cancel", taskId=T)))
    assert one.outcome == "cancelled"
    poll(talk, 3, "completed", result={})
    assert one.outcome == "ok"


def test_a_task_of_before_the_capture_is_a_call_of_its_own():
    talk = Talk()
    poll(talk, 1, "working", task="older")
    one = talk.the_call()
    assert (one.method, one.name, one.outcome) == ("tasks/get", "older", "ok")


def test_tasks_of_other_clients_are_other_tasks():
    talk = Talk()
    one = created(talk)
    talk.result(talk.post(call(2, T, method="tasks/get", client="x")), status="completed")
    assert one.outcome == "open"
    assert len(talk.calls) == 2


def test_two_open_tasks_with_one_id_are_followed_neither():
    talk = Talk()
    first, second = created(talk, 1), created(talk, 2)
    poll(talk, 3, "completed", result={})
    assert (first.outcome, second.outcome) == ("open", "open")
    assert talk.calls[3].method == "tasks/get"


def test_rounds_before_the_task_belong_to_the_same_call():
    talk = Talk()
    talk.ask(talk.post(call(1)), "q", state="s")
    n = talk.post(call(2, inputResponses=accept("q"), requestState="s"))
    talk.reply(n, {"result": {"resultType": "task", "taskId": T}})
    poll(talk, 3, "input_required", **asking("q"))
    update(talk, 4, "q")
    poll(talk, 5, "completed", result={})
    assert shape(talk.the_call()) == ["?", "?", "*"]
