"""Cancellation: who may cancel what, how, and what may follow."""

from __future__ import annotations

import pytest

from mcp_tap.core.finding import Finding
from mcp_tap.core.records import Gap
from mcp_tap.pipeline.spine import Pipeline
from mcp_tap.testing import records_of
from tests.cases import (
    PREFIX,
    RESULT,
    SESSION,
    TASKS,
    answer,
    call,
    exchange,
    fired,
    handshake,
    ids,
    line,
    listen,
    message,
    note,
    post,
    result,
    stdio,
    stream,
    traffic,
)

OLD = "2025-11-25"


def cancel(number=1, **more):
    return note("notifications/cancelled", requestId=number, **more)


def tool(number=1, **more):
    return message("tools/call", number, name="t", arguments={}, **more)


def begun():
    params = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "c"}}
    begin = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    settled = result(0, None, protocolVersion=OLD, capabilities={}, serverInfo={"name": "s"})
    return [line("client", begin), line("server", settled)]


def test_a_server_cancels_nothing_but_subscriptions():
    assert ids(traffic(exchange(call(), stream(cancel(1), RESULT))), "CANC") == ["CANC-001"]
    case = traffic(exchange(listen(toolsListChanged=True), stream(cancel(1), open=True)))
    assert not ids(case, "CANC")


def test_a_request_of_another_stream_is_known_by_its_id():
    case = traffic(
        exchange(call(7), answer(result(7)), t=(0, 5)),
        exchange(listen(8, toolsListChanged=True), stream(cancel(7), open=True), t=(1, 2)),
    )
    assert ids(case, "CANC") == ["CANC-001"]


def test_an_id_that_is_unknown_or_not_certain_is_not_judged():
    assert not ids(traffic(exchange(call(1), stream(cancel(9), RESULT))), "CANC")
    case = traffic(
        exchange(listen(7, toolsListChanged=True), stream(open=True), t=(0, 9)),
        exchange(call(7), answer(result(7)), t=(1, 8)),
        exchange(call(8), stream(cancel(7), result(8)), t=(2, 3)),
    )
    assert not ids(case, "CANC")


def test_in_a_session_servers_may_cancel():
    case = stdio(*begun(), line("client", tool(1, version=OLD)), line("server", cancel(1)))
    assert not ids(case, "CANC")


@pytest.mark.parametrize("request_id", [None, True, 1.5, ["1"], {}])
def test_what_can_be_no_id_is_none(request_id):
    case = stdio(line("client", tool(1)), line("client", cancel(request_id)))
    found = fired(case, "CANC")
    assert [(f.rule, f.severity, f.path) for f in found] == [
        ("CANC-002", "warning", "/params/requestId")
    ]


@pytest.mark.parametrize("version", [OLD, None])
def test_what_was_never_sent_cannot_be_cancelled(version):
    start = [] if version is None else begun()
    more = {} if version is None else {"version": version}
    for number, rules in ((1, []), (2, ["CANC-002"]), ("1", ["CANC-002"])):
        case = stdio(*start, line("client", tool(1, **more)), line("client", cancel(number)))
        assert ids(case, "CANC") == rules


def test_over_http_a_stateless_cancellation_is_noted_only():
    sent = post(cancel(1), {"Mcp-Method": "notifications/cancelled"})
    case = traffic(
        exchange(call(), stream(RESULT), t=(0, 5)), exchange(sent, answer(status=202), t=(1, 2))
    )
    assert [(f.rule, f.severity) for f in fired(case, "CANC")] == [("CANC-002", "note")]
    del sent["body"]["params"]["requestId"]
    assert [(f.rule, f.severity) for f in fired(case, "CANC")] == [("CANC-002", "warning")]


def test_over_http_a_session_cancels_with_notifications():
    sent = post(cancel(5), SESSION, version=OLD)
    assert not ids(traffic(*handshake(), exchange(sent, answer(status=202))), "CANC")


def test_a_task_is_not_cancelled_with_a_notification():
    made = result(1, "task", taskId="t-1", status="working")
    lines = [line("client", tool(1, caps=TASKS)), line("server", made), line("client", cancel(1))]
    assert ids(stdio(*lines), "CANC") == ["CANC-002"]
    lines[1] = line("server", result(1))
    assert not ids(stdio(*lines), "CANC")


LATE = {
    "response": result(1),
    "error": {"jsonrpc": "2.0", "id": 1, "error": {"code": -32800, "message": "cancelled"}},
    "progress": note("notifications/progress", progressToken="p", progress=1),
    "log": note("notifications/message", level="error", data="x"),
}


@pytest.mark.parametrize("kind", LATE)
@pytest.mark.parametrize(("at", "rules"), [(2.9, []), (3.0, []), (3.1, ["CANC-003"])])
def test_a_cancelled_request_is_silent_after_a_second(kind, at, rules):
    meta = {"progressToken": "p", PREFIX + "logLevel": "info"}
    case = stdio(
        line("client", tool(1, meta=meta), 0.0),
        line("client", cancel(1), 2.0),
        line("server", LATE[kind], at),
        line("server", LATE[kind], at),
    )
    assert ids(case, "CANC-003") == rules
    assert not ids(case, "PROG-002", "LOG-001")


def test_a_log_may_be_of_another_request():
    meta = {PREFIX + "logLevel": "info"}
    case = stdio(
        line("client", tool(1, meta=meta), 0.0),
        line("client", tool(2, meta=meta), 0.0),
        line("client", cancel(1), 1.0),
        line("server", LATE["log"], 9.0),
    )
    assert not ids(case, "CANC")


def test_what_was_answered_before_was_not_cancelled():
    case = stdio(
        line("client", tool(1, meta={"progressToken": "p"}), 0.0),
        line("server", result(1), 1.0),
        line("client", cancel(1), 2.0),
        line("server", LATE["progress"], 9.0),
    )
    assert ids(case, "CANC", "PROG") == ["PROG-004"]


def test_nothing_is_unknown_where_lines_were_lost():
    case = stdio(line("client", tool(1)), line("client", cancel(2)))
    header, *records = (record for record, _ in records_of(case))
    for lost, rules in ((0, {"CANC-002"}), (1, set())):
        pipeline = Pipeline()
        pipeline.feed(header)
        pipeline.feed(Gap(seq=0, t=0.0, lost=lost, why="disk full"))
        found = [change for record in records for change in pipeline.feed(record)]
        assert {f.rule for f in found if isinstance(f, Finding) and f.rule[:4] == "CANC"} == rules
