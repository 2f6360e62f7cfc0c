"""Tasks: given to those who know them, named in headers, final at their end, asking once a key."""

from __future__ import annotations

import pytest

from tests.cases import (
    CAPABILITIES,
    TASKS,
    answer,
    ask,
    call,
    error,
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

NAMES = ("tasks/get", "tasks/update", "tasks/cancel")


def state(status="working", updated="2026-08-01T10:00:05Z", **more):
    return {
        "taskId": "t-1",
        "status": status,
        "createdAt": "2026-08-01T10:00:00Z",
        "lastUpdatedAt": updated,
        "ttlMs": 60000,
        **more,
    }


def made(number=1, **more):
    return exchange(call(number, caps=TASKS), answer(result(number, "task", **state(**more))))


def about(method, reply, *, t=None, caps=TASKS, **params):
    params = {"inputResponses": {}, **params} if method == "tasks/update" else params
    request = ask(method, 5, caps=caps, taskId="t-1", **params)
    return exchange(request, answer(reply), t)


def poll(status="working", *, t=None, **more):
    return about("tasks/get", result(5, **state(status, **more)), t=t)


def asked(*, t=None, **requests):
    return poll("input_required", t=t, inputRequests=requests)


def update(*keys, t=None, reply=None):
    answers = {key: {"action": "decline"} for key in keys}
    return about("tasks/update", reply or result(5), t=t, inputResponses=answers)


def notices(*states, t):
    marked = [note("notifications/tasks", **one) for one in states]
    return exchange(listen(9, taskIds=["t-1"]), stream(*marked, open=True), t)


def told(*exchanges):
    return [(f.rule, f.severity, f.blame) for f in fired(traffic(*exchanges), "TASK")]


@pytest.mark.parametrize(
    "caps",
    [
        {},
        CAPABILITIES,
        {"tasks": {}},
        {"extensions": {}},
        {"extensions": {"x/y": {}}},
        {"extensions": True},
        None,
    ],
)
def test_only_clients_that_declare_it_get_a_task(caps):
    given = exchange(call(caps=caps), answer(result(1, "task", **state())))
    assert ids(traffic(given), "TASK") == ["TASK-001"]
    for method, reply in zip(NAMES, (result(5, **state()), result(5), result(5)), strict=True):
        case = traffic(about(method, reply, caps=caps))
        assert ids(case, "TASK") == ["TASK-001"]
        assert not ids(traffic(about(method, error(5, -32021), caps=caps)), "TASK")


def test_a_declared_task_is_fine():
    assert told(made(), poll(), poll("completed", result={"content": []})) == []


@pytest.mark.parametrize("method", ["resources/read", "prompts/get", "tools/list", "tasks/update"])
def test_only_tool_calls_are_answered_with_a_task(method):
    request = ask(method, 1, caps=TASKS, taskId="t-1", uri="a:b", name="x")
    found = told(exchange(request, answer(result(1, "task"))))
    assert found == [("TASK-002", "error", "server")]


def test_for_polls_the_wrong_result_type_is_a_warning():
    reply = result(5, "task", **state())
    assert told(made(), about("tasks/get", reply)) == [("TASK-002", "warning", "server")]


@pytest.mark.parametrize("end", ["completed", "failed", "cancelled"])
def test_a_terminal_status_is_final(end):
    more = {"result": {}} if end == "completed" else {"error": {"code": 1, "message": "x"}}
    last = poll(end, **more)
    assert told(made(), poll(), last, last) == []
    changed = [("TASK-005", "error", "server")]
    assert told(made(), last, poll(), poll()) == changed
    assert told(made(), last, asked(q=form())) == changed
    seen = notices(state(), t=(20, 21))
    assert told(made(), last, seen) == changed


def test_a_state_that_may_be_older_is_not_judged():
    last = poll("cancelled", t=(10, 11))
    assert told(made(), last, poll(updated="2026-08-01T10:00:04Z", t=(20, 21))) == []
    assert told(made(), last, poll(t=(9, 12))) == []
    assert told(made(), last, notices(state(), t=(9, 11.5))) == []
    mixed = poll(updated="2026-08-01T12:00:04+02:00", t=(20, 21))
    assert told(made(), last, mixed) == []


def test_a_new_task_is_known():
    lost = about("tasks/get", error(5, -32602), t=(10, 11))
    assert told(made(), lost) == [("TASK-005", "warning", "server")]
    assert told(lost) == []
    assert told(made(), about("tasks/get", error(5, -32603), t=(10, 11))) == []
    assert told(made(), about("tasks/cancel", error(5, -32602), t=(10, 11))) == []


def test_a_task_may_be_gone_after_its_time_its_end_or_its_cancellation():
    late = about("tasks/get", error(5, -32602), t=(70, 71))
    assert told(made(), late) == []
    assert told(made(ttlMs=None), late) == [("TASK-005", "warning", "server")]
    assert told(made(), poll(ttlMs=90000, t=(5, 6)), late) == [("TASK-005", "warning", "server")]
    soon = about("tasks/get", error(5, -32602), t=(20, 21))
    assert told(made(), poll("cancelled", t=(5, 6)), soon) == []
    assert told(made(), about("tasks/cancel", result(5), t=(5, 6)), soon) == []


def test_a_task_is_not_there_for_somebody_else():
    lost = about("tasks/get", error(5, -32602), t=(10, 11))
    lost["request"]["headers"]["Authorization"] = "Bearer other"
    assert told(made(), lost) == []


@pytest.mark.parametrize("member", ["taskId", "status", "result", "error", "inputRequests"])
def test_updates_and_cancellations_are_acknowledged_with_nothing(member):
    for method in ("tasks/update", "tasks/cancel"):
        found = told(made(), about(method, result(5, **{member: "x"})))
        assert found == [("TASK-006", "warning", "server")]
        assert told(made(), about(method, result(5, vendor=1))) == []


@pytest.mark.parametrize("method", NAMES)
def test_requests_about_a_task_name_it_in_a_header(method):
    def sent(name, task_id="t-1"):
        replies = result(5, **state()) if method == "tasks/get" else result(5)
        one = about(method, replies)
        one["request"]["body"]["params"]["taskId"] = task_id
        fields = one["request"]["headers"]
        del fields["Mcp-Name"]
        if name is not None:
            fields["mcp-name"] = name
        return told(one)

    wrong = [("TASK-007", "error", "client")]
    assert sent("t-1") == sent("=?base64?dC0x?=") == sent(" t-1 ") == []
    assert sent("=?base64?w6k=?=", "é") == []
    assert sent(None) == sent("create_tasks") == sent("T-1") == sent("") == wrong


def test_a_question_may_be_repeated_until_it_is_answered():
    again = asked(q=form("Name?"))
    assert told(made(), again, again, update("q"), poll()) == []


def test_a_key_stands_for_one_question():
    wrong = [("TASK-008", "error", "server")]
    assert told(made(), asked(q=form("Name?")), asked(q=form("Age?"))) == wrong
    assert told(made(), asked(q=form("Name?")), update("q"), asked(q=form("Age?"))) == wrong
    first = notices(state("input_required", inputRequests={"q": form("Name?")}), t=(5, 6))
    assert told(made(), first, asked(q=form("Age?"), t=(7, 8))) == wrong


def test_the_page_of_a_link_may_have_a_new_address():
    def link(url):
        return {"method": "elicitation/create", "params": {"mode": "url", "url": url}}

    assert told(made(), asked(q=link("https://a/1")), asked(q=link("https://a/2"))) == []


def test_a_state_may_lag_behind_an_answer_for_a_while():
    q = form("Name?")
    first = (made(), asked(q=q, t=(5, 6)), update("q", t=(7, 8)))
    assert told(*first, asked(q=q, t=(10, 11))) == []
    late = asked(q=q, t=(12, 13))
    again = asked(q=q, t=(14, 15))
    assert told(*first, late, again) == [("TASK-008", "warning", "server")]
    assert told(*first, poll(t=(8.5, 9)), asked(q=q, t=(10, 11))) == [
        ("TASK-008", "error", "server")
    ]


def test_only_what_is_asked_is_answered():
    wrong = [("TASK-008", "warning", "client")]
    q = asked(q=form())
    assert told(made(), q, update("zz")) == wrong
    assert told(made(), update("q")) == wrong
    assert told(made(), q, update("q"), update("q")) == wrong
    assert told(made(), asked(a=form(), b=form()), update("a"), update("b")) == []


def test_an_answer_that_was_not_accepted_may_be_given_again():
    failed = update("q", reply=error(5, -32603))
    assert told(made(), asked(q=form()), failed, update("q")) == []


def test_answers_are_not_judged_where_not_all_was_seen():
    assert told(poll(), update("zz")) == []
    unheard = poll(t=(4, 20))
    assert told(made(), unheard, update("zz", t=(7, 8))) == []


def test_a_question_under_an_old_key_may_be_answered():
    found = told(made(), asked(q=form("A?")), update("q"), asked(q=form("B?")), update("q"))
    assert found == [("TASK-008", "error", "server")]
