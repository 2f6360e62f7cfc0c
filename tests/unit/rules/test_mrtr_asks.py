from __future__ import annotations

from tests.cases import TASKS, exchange, fired, form, listen, note, result, stream, traffic
from tests.unit.rules.rounds import leg


def test_asks_of_tasks_are_judged_like_those_of_rounds():
    asked = {"a": {"method": "ping"}, "b": {"params": {}}, "c": {"method": "roots/list"}}
    state = result(1, taskId="t", status="input_required", inputRequests=asked)
    case = traffic(leg(1, state, method="tasks/get", taskId="t", caps=TASKS))
    assert [f.rule for f in fired(case, "MRTR")] == ["MRTR-005", "MRTR-006", "MRTR-007"]


def test_what_a_notification_about_a_task_asks_is_not_held_against_the_streams_capabilities():
    told = note(
        "notifications/tasks", taskId="t", status="input_required", inputRequests={"q": form()}
    )
    request = listen(1, taskIds=["t"])
    request["body"]["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = {}
    case = traffic(exchange(request, stream(told, open=True)))
    assert not fired(case, "MRTR-007")
