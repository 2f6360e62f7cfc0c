from __future__ import annotations

import pytest

from tests.cases import (
    RESULT,
    SESSION,
    TASKS,
    answer,
    ask,
    call,
    error,
    exchange,
    fired,
    form,
    handshake,
    ids,
    line,
    listen,
    message,
    note,
    result,
    stdio,
    stream,
    traffic,
)
from tests.unit.rules.elicited import MINE, asked, pushed

SCHEMA = {"type": "object", "properties": {}}
URL = "https://mcp.example.com/c"


def elicit(**params):
    return {"method": "elicitation/create", "params": params}


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (elicit(message="?", requestedSchema=SCHEMA), []),
        (elicit(mode="form", message="?", requestedSchema=SCHEMA), []),
        (elicit(mode="url", message="?", url=URL), []),
        (elicit(message="?", requestedSchema=SCHEMA, vendor=1), []),
        (elicit(mode="url", message="?", url=URL + "?elicitationId=1"), []),
        (elicit(requestedSchema=SCHEMA), ["ELIC-001"]),
        (elicit(message=None, requestedSchema=SCHEMA), ["ELIC-001"]),
        (elicit(message="  \n", requestedSchema=SCHEMA), ["ELIC-001"]),
        (elicit(mode="url", url=URL), ["ELIC-001"]),
        (elicit(), ["ELIC-001", "ELIC-003"]),
        ({"method": "elicitation/create"}, []),
        (elicit(mode="Form", message="?", requestedSchema=SCHEMA), ["ELIC-002"]),
        (elicit(mode=None, message="?", requestedSchema=SCHEMA), ["ELIC-002"]),
        (elicit(mode=[], message="?", url=URL), ["ELIC-002"]),
        (elicit(mode="oob", message="?", url=URL), ["ELIC-002"]),
        (elicit(message="?"), ["ELIC-003"]),
        (elicit(mode="form", message="?", requestedSchema=[]), ["ELIC-003"]),
        (elicit(mode="url", message="?"), ["ELIC-004"]),
        (elicit(mode="url", message="?", url={}), ["ELIC-004"]),
        (elicit(message="?", url=URL), ["ELIC-005"]),
        (elicit(message="?", url=URL, requestedSchema=None), ["ELIC-005"]),
        (elicit(message="?", url=None), ["ELIC-003"]),
        (elicit(mode="form", message="?", url=URL), ["ELIC-003"]),
        (elicit(message="?", url=URL, requestedSchema=SCHEMA), ["ELIC-006"]),
        (elicit(mode="url", message="?", url=URL, requestedSchema=SCHEMA), ["ELIC-006"]),
        (elicit(mode="url", message="?", url=URL, requestedSchema=None), []),
        (elicit(mode="url", message="?", url=URL, elicitationId="1"), ["ELIC-007"]),
        (elicit(message="?", requestedSchema=SCHEMA, elicitationId="1"), ["ELIC-007"]),
    ],
)
def test_what_an_elicitation_must_have(entry, expected):
    assert ids(asked(entry), *MINE) == expected


def test_a_blank_message_is_a_warning():
    (found,) = fired(asked(elicit(message=" ", requestedSchema=SCHEMA)), *MINE)
    assert (found.severity, found.blame) == ("warning", "server")
    assert found.path == "/result/inputRequests/q/params/message"


@pytest.mark.parametrize(
    ("caps", "entry", "expected"),
    [
        ({"elicitation": {}}, form(), []),
        ({"elicitation": {}}, elicit(mode="url", message="?", url=URL), ["ELIC-010"]),
        ({"elicitation": {"form": {}}}, elicit(mode="url", message="?", url=URL), ["ELIC-010"]),
        ({"elicitation": {"url": {}}}, elicit(mode="url", message="?", url=URL), []),
        ({"elicitation": {"url": {}}}, form(), ["ELIC-011"]),
        ({"elicitation": {"url": {}}}, elicit(message="?", requestedSchema=SCHEMA), ["ELIC-011"]),
        ({"elicitation": {"url": {}}}, elicit(mode="x", message="?"), ["ELIC-002"]),
        ({"elicitation": {"url": {}, "form": {}}}, form(), []),
        ({}, form(), []),
        ({}, elicit(mode="url", message="?", url=URL), []),
        ({"elicitation": {"forms": {}}}, form(), ["ELIC-012"]),
        ({"elicitation": {"other": {}, "url": {}}}, elicit(mode="url", message="?", url=URL), []),
        ({"elicitation": True}, form(), []),
        (..., form(), []),
    ],
)
def test_a_mode_must_be_declared_by_the_very_request(caps, entry, expected):
    assert ids(asked(entry, caps), *MINE) == expected


def test_a_capability_without_a_mode_is_told_once_a_client():
    request = call(caps={"elicitation": {"frm": {}}})
    again = call(2, caps={"elicitation": {"frm": {}}})
    case = traffic(exchange(request, answer(RESULT)), exchange(again, answer({**RESULT, "id": 2})))
    (found,) = fired(case, "ELIC-012")
    assert found.blame == "client"
    assert found.path == ("/params/_meta/io.modelcontextprotocol~1clientCapabilities/elicitation")


@pytest.mark.parametrize(
    ("version", "expected"), [("2025-11-25", ["ELIC-012"]), ("2025-06-18", [])]
)
def test_what_initialize_declared_counts_as_declared(version, expected):
    assert ids(traffic(*handshake(version, {"elicitation": {"frm": {}}})), *MINE) == expected
    assert ids(traffic(*handshake(version, {"elicitation": {}})), *MINE) == []


@pytest.mark.parametrize(
    ("version", "entry", "expected"),
    [
        ("2025-11-25", form(), []),
        ("2025-11-25", elicit(mode="url", message="?", url=URL, elicitationId="1"), []),
        ("2025-11-25", elicit(message="?", url=URL), ["ELIC-005"]),
        ("2025-11-25", elicit(mode="url", message="?"), ["ELIC-004"]),
        ("2025-11-25", elicit(requestedSchema=SCHEMA), ["ELIC-001"]),
        ("2025-06-18", elicit(message="?", requestedSchema=SCHEMA), []),
        ("2025-06-18", elicit(message="?", url=URL), ["ELIC-003"]),
        ("2025-06-18", elicit(mode="url", message="?", url=URL), []),
        ("2025-06-18", elicit(mode="oob", message="?", requestedSchema=SCHEMA), []),
    ],
)
def test_pushed_elicitations_are_judged_by_their_revision(version, entry, expected):
    assert ids(pushed(entry, version), *MINE) == expected


def test_asks_of_tasks_are_judged_once_and_with_the_capabilities_of_the_poll():
    state = {
        "taskId": "t1",
        "status": "input_required",
        "createdAt": "2026-07-28T00:00:00Z",
        "lastUpdatedAt": "2026-07-28T00:00:00Z",
        "ttlMs": None,
        "inputRequests": {"q": elicit(mode="url", url=URL)},
    }
    caps = {**TASKS, "elicitation": {}}

    def poll(number):
        return exchange(
            ask("tasks/get", number, taskId="t1", caps=caps), answer(result(number, **state))
        )

    assert ids(traffic(poll(1), poll(2), poll(3)), *MINE) == ["ELIC-001", "ELIC-010"]
    state["inputRequests"] = {"q": elicit(mode="url", message="?")}
    told = note("notifications/tasks", **state)
    case = traffic(exchange(listen(taskIds=["t1"]), stream(told, told, open=True)))
    assert ids(case, *MINE) == ["ELIC-004"]


COMPLETE = note("notifications/elicitation/complete", elicitationId="e")


def test_a_completion_notification_is_of_another_time():
    assert ids(traffic(exchange(call(), stream(COMPLETE, RESULT))), *MINE) == ["ELIC-008"]
    session = exchange(
        call(version="2025-11-25", headers=SESSION),
        stream(COMPLETE, result(1, None, content=[])),
    )
    assert ids(traffic(*handshake(), session), *MINE) == []


def test_on_stdio_a_completion_notification_counts_where_all_requests_are_modern():
    modern = [
        line("client", message("tools/call", name="x", arguments={})),
        line("server", COMPLETE),
    ]
    assert ids(stdio(*modern), *MINE) == ["ELIC-008"]
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}}
    begin = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    settled = result(0, None, protocolVersion="2025-11-25", capabilities={}, serverInfo={})
    assert ids(stdio(line("client", begin), line("server", settled), *modern), *MINE) == []


def test_the_error_for_urls_is_of_another_time():
    assert ids(traffic(exchange(call(), answer(error(code=-32042)))), *MINE) == ["ELIC-009"]
    assert ids(traffic(exchange(call(), answer(error(code=-32041)))), *MINE) == []
    assert ids(traffic(exchange(call(), answer({**error(), "error": []}))), *MINE) == []
    session = exchange(call(version="2025-11-25", headers=SESSION), answer(error(code=-32042)))
    assert ids(traffic(*handshake(), session), *MINE) == []
