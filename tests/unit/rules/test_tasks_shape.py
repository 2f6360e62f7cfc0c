"""What a task looks like, and what it carries in each status."""

from __future__ import annotations

import pytest

from tests.cases import (
    TASKS,
    answer,
    ask,
    call,
    exchange,
    fired,
    form,
    ids,
    listen,
    note,
    result,
    stream,
    traffic,
)

TASK = {
    "taskId": "t-1",
    "status": "working",
    "createdAt": "2026-08-01T10:00:00Z",
    "lastUpdatedAt": "2026-08-01T10:00:00.123456789+02:00",
    "ttlMs": 60000,
    "pollIntervalMs": 0,
}


def without(name):
    return {key: value for key, value in TASK.items() if key != name}


def places(task):
    """Put a task wherever there may be one."""
    handle = exchange(call(caps=TASKS), answer(result(1, "task", **task)))
    polled = exchange(ask("tasks/get", 2, caps=TASKS, taskId="t-1"), answer(result(2, **task)))
    told = note("notifications/tasks", **task)
    noticed = exchange(listen(3, taskIds=["t-1"]), stream(told, open=True))
    return [traffic(one) for one in (handle, polled, noticed)]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("taskId", 7),
        ("status", "running"),
        ("status", None),
        ("createdAt", 1785578400),
        ("createdAt", "yesterday"),
        ("createdAt", "2026-13-01T10:00:00Z"),
        ("lastUpdatedAt", None),
        ("lastUpdatedAt", ""),
        ("ttlMs", "60000"),
        ("ttlMs", 0.5),
        ("ttlMs", True),
        ("pollIntervalMs", -1),
        ("pollIntervalMs", None),
        ("pollIntervalMs", "5s"),
        ("ttl", 60000),
        ("pollInterval", 5000),
        ("requestState", "x"),
        ("task", {"taskId": "t"}),
    ],
)
def test_a_member_has_its_type(name, value):
    for case in places({**TASK, name: value}):
        found = fired(case, "TASK-003")
        assert [(f.severity, f.blame, f.spot) for f in found] == [("error", "server", name)]


@pytest.mark.parametrize("name", TASK)
def test_what_must_be_there_is(name):
    for case in places(without(name)):
        assert ids(case, "TASK-003") == ([] if name == "pollIntervalMs" else ["TASK-003"])


@pytest.mark.parametrize(
    "more",
    [
        {"ttlMs": None},
        {"ttlMs": 1.0},
        {"vendor": {"ttl": 1}},
        {"statusMessage": "x"},
        {"task": "a word"},
        {"createdAt": "20260801T100000Z", "lastUpdatedAt": "2026-08-01 10:00"},
    ],
)
def test_everything_else_is_free(more):
    for case in places({**TASK, **more}):
        assert not ids(case, "TASK-003")


def test_results_that_are_no_task_are_not_looked_at():
    plain = traffic(exchange(call(caps=TASKS), answer(result(1, content=[], ttl=1))))
    assert not ids(plain, "TASK")


FAULT = {"code": -32603, "message": "x"}


@pytest.mark.parametrize(
    ("status", "carried", "fits"),
    [
        ("completed", {"result": {"content": [], "isError": True}}, True),
        ("completed", {}, False),
        ("completed", {"result": "ok"}, False),
        ("failed", {"error": FAULT}, True),
        ("failed", {}, False),
        ("failed", {"result": {"isError": True}}, False),
        ("failed", {"error": {"message": "x"}}, False),
        ("failed", {"error": "x"}, False),
        ("input_required", {"inputRequests": {"q": form()}}, True),
        ("input_required", {}, False),
        ("input_required", {"inputRequests": {}}, False),
        ("input_required", {"inputRequests": [form()]}, False),
        ("working", {}, True),
        ("working", {"result": {}}, False),
        ("working", {"error": FAULT}, False),
        ("cancelled", {}, True),
        ("unheard-of", {}, True),
    ],
)
def test_what_a_task_carries_fits_its_status(status, carried, fits):
    task = {**TASK, "status": status, **carried}
    handle, *states = places(task)
    # A handle need not carry anything; one of a task at work must not.
    assert bool(ids(handle, "TASK-004")) == (status == "working" and not fits)
    for case in states:
        assert ids(case, "TASK-004") == ([] if fits else ["TASK-004"])
