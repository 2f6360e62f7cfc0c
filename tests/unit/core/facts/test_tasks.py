"""Tasks of a client: states, questions and answers, all of them bounded."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mcp_tap.core.facts.tasks import MOST_KEYS, MOST_TASKS, Tasks, digests, moment
from tests.facts import message, reply

FORM = {"method": "elicitation/create", "params": {"mode": "form", "message": "Name?"}}


def made(tasks, task_id="t", **members):
    given = {"resultType": "task", "taskId": task_id, "status": "working", "ttlMs": None}
    tasks.note(reply(message("tools/call", 1), **{**given, **members}))
    return tasks.get(task_id)


def polled(tasks, t=1.0, task_id="t", **members):
    asked = message("tasks/get", 2, t=t, taskId=task_id)
    tasks.note(asked)
    tasks.note(reply(asked, **{"taskId": task_id, "status": "working", **members}))


def updated(tasks, *keys, t=5.0):
    sent = message("tasks/update", 3, t=t, taskId="t", inputResponses=dict.fromkeys(keys))
    tasks.note(reply(sent))


def test_a_handle_begins_a_task():
    task = made(Tasks(), ttlMs=5000, status="working")
    assert (task.created, task.ttl, task.status, task.ended) == (1.0, 5.0, "working", False)


def test_a_plain_result_begins_none():
    tasks = Tasks()
    tasks.note(reply(message("tools/call", 1), taskId="t", status="working"))
    assert tasks.get("t") is None


def test_a_task_seen_only_later_has_no_beginning():
    tasks = Tasks()
    polled(tasks)
    assert (tasks.get("t").created, tasks.get("t").status) == (None, "working")


def test_the_first_terminal_status_stays():
    tasks = Tasks()
    task = made(tasks)
    polled(tasks, status="failed", t=2.0)
    polled(tasks, status="completed", t=4.0)
    assert (task.status, task.status_at) == ("failed", 3.0)


def test_questions_wait_until_their_answer_is_acknowledged():
    tasks = Tasks()
    made(tasks)
    polled(tasks, inputRequests={"a": FORM, "b": FORM}, status="input_required")
    assert list(tasks.asked("t")) == ["a", "b"]
    assert tasks.asked("t")["a"].path == "/result/inputRequests/a"
    updated(tasks, "a")
    assert list(tasks.asked("t")) == ["b"]
    polled(tasks, inputRequests={"a": FORM, "b": FORM}, status="input_required", t=8.0)
    assert list(tasks.asked("t")) == ["b"]


def test_an_ended_task_asks_nothing():
    tasks = Tasks()
    made(tasks)
    polled(tasks, inputRequests={"a": FORM}, status="input_required")
    polled(tasks, status="cancelled", t=4.0)
    assert tasks.asked("t") == {}


@pytest.mark.parametrize("task_id", [None, 1, [], "other"])
def test_nobody_knows_any_other_task(task_id):
    assert Tasks().asked(task_id) == {}


def test_polls_without_an_answer_are_counted():
    tasks = Tasks()
    task = made(tasks)
    polled(tasks)
    assert task.unheard == 0
    tasks.note(message("tasks/get", 2, taskId="t"))
    assert task.unheard == 1


def test_memory_of_tasks_and_questions_is_bounded():
    tasks = Tasks()
    for number in range(MOST_TASKS + 10):
        made(tasks, f"t{number}")
    assert tasks.get("t0") is None
    task = made(tasks)
    polled(tasks, inputRequests={str(n): FORM for n in range(MOST_KEYS + 10)})
    assert len(task.questions) == len(task.asks) == MOST_KEYS
    assert not task.complete


def test_a_digest_does_not_depend_on_the_order_of_keys():
    turned = {"params": {"message": "Name?", "mode": "form"}, "method": "elicitation/create"}
    one, two = dict(digests({"a": FORM})), dict(digests({"a": turned}))
    assert one == two
    assert one != dict(digests({"a": {**FORM, "method": "roots/list"}}))


def test_a_question_nested_too_deep_has_no_digest():
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    assert dict(digests({"a": deep})) == {"a": None}


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("2026-08-01T10:00:00Z", datetime(2026, 8, 1, 10, tzinfo=UTC)),
        ("2026-08-01T12:00:00+02:00", datetime(2026, 8, 1, 10, tzinfo=UTC)),
        ("2026-08-01T10:00:00", datetime(2026, 8, 1, 10, tzinfo=UTC)),
        ("yesterday", None),
        ("2026" * 100, None),
        (None, None),
        (1785578400, None),
    ],
)
def test_moments_are_read_where_they_can_be(text, read):
    assert moment(text) == read
