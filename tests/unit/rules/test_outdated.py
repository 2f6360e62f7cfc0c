"""What was removed is found where the traffic says it is modern, what is deprecated once."""

from __future__ import annotations

import pytest

from tests.cases import (
    CAPABILITIES,
    RESULT,
    answer,
    ask,
    asking,
    call,
    error,
    exchange,
    fired,
    handshake,
    ids,
    line,
    message,
    note,
    post,
    result,
    stdio,
    stream,
    traffic,
)

UNKNOWN = error(1, -32601, "Method not found")
REMOVED = [
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
    "tasks/list",
    "tasks/result",
    "initialize",
]
NOTES = [
    "notifications/initialized",
    "notifications/roots/list_changed",
    "notifications/tasks/status",
]
STREAM = {"Accept": "text/event-stream", "User-Agent": "case-client/1.0"}


@pytest.mark.parametrize("method", REMOVED)
def test_a_removed_method_is_the_clients_fault(method):
    found = fired(traffic(exchange(ask(method), answer(UNKNOWN, 404))), "LEG-001")
    assert [(f.severity, f.blame) for f in found] == [("warning", "client")]


@pytest.mark.parametrize("reply", [result(), error(1, -32600)], ids=["result", "error"])
def test_a_server_that_does_not_refuse_it_is_noted(reply):
    found = fired(traffic(exchange(ask("ping"), answer(reply))), "LEG-001")
    assert [(f.severity, f.blame) for f in found] == [("warning", "client"), ("note", "server")]


def test_only_a_request_that_says_it_is_modern_counts():
    bare = post({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {}})
    assert ids(traffic(exchange(bare, answer(UNKNOWN, 404))), "LEG") == []
    assert ids(traffic(*handshake()), "LEG") == []
    old = ask("ping", version="2025-11-25")
    assert ids(traffic(*handshake(), exchange(old, answer(result(1, None)))), "LEG") == []


@pytest.mark.parametrize("method", NOTES)
def test_a_removed_notification_of_a_modern_client_is_found(method):
    found = fired(traffic(exchange(post(note(method)), answer(status=202))), "LEG")
    assert [(f.rule, f.blame) for f in found] == [("LEG-002", "client")]


def test_one_of_a_server_is_the_servers_fault():
    status = note("notifications/tasks/status", taskId="t", status="working")
    found = fired(traffic(exchange(call(), stream(status, RESULT))), "LEG-002")
    assert [f.blame for f in found] == ["server"]


def test_sessions_may_send_what_was_removed_later():
    changed = post(note(NOTES[1]), {"Mcp-Session-Id": "case-session"}, version="2025-11-25")
    assert ids(traffic(*handshake(), exchange(changed, answer(status=202))), "LEG") == []


def test_over_stdio_the_requests_before_tell():
    changed = line("client", note(NOTES[1]))
    modern = [line("client", message("tools/call", name="t")), line("server", RESULT)]
    assert ids(stdio(*modern, changed), "LEG") == ["LEG-002"]
    assert ids(stdio(changed), "LEG") == []
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c"}}
    begin = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    assert ids(stdio(line("client", begin), *modern, changed), "LEG") == []
    refused = line("server", error(0, -32601))
    assert ids(stdio(line("client", begin), refused, *modern, changed), "LEG") == ["LEG-002"]


def deprecated(case):
    return [(f.spot, f.blame) for f in fired(case, "LEG-009")]


def test_what_is_declared_with_every_request_is_noted_once():
    caps = {**CAPABILITIES, "roots": {}, "sampling": {}}
    calls = [exchange(call(i, caps=caps), answer({**RESULT, "id": i})) for i in (1, 2, 3)]
    assert deprecated(traffic(*calls)) == [("roots", "client"), ("sampling", "client")]


def test_another_client_is_noted_as_well():
    calls = [
        exchange(call(i, caps={"roots": {}}, headers={"User-Agent": agent}), answer(RESULT))
        for i, agent in enumerate(("one/1", "two/1", "one/1"))
    ]
    assert deprecated(traffic(*calls)) == [("roots", "client"), ("roots", "client")]


@pytest.mark.parametrize("method", ["roots/list", "sampling/createMessage"])
def test_an_ask_relies_on_it(method):
    case = traffic(exchange(call(), answer(asking({"q": {"method": method}}))))
    assert deprecated(case) == [(method.partition("/")[0], "server")]


def test_logging_is_noted_however_it_shows():
    level = {"io.modelcontextprotocol/logLevel": "info"}
    log = note("notifications/message", level="info", data="x")
    asked_for = traffic(exchange(call(meta=level), stream(log, log, RESULT)))
    assert deprecated(asked_for) == [("logging", "client")]
    assert deprecated(traffic(exchange(call(), stream(log, log, RESULT)))) == [
        ("logging", "server")
    ]
    found = result(capabilities={"logging": {}}, supportedVersions=["2026-07-28"])
    discovery = traffic(exchange(ask("server/discover"), answer(found)))
    assert deprecated(discovery) == [("logging", "server")]


def test_the_old_transport_shows_by_its_endpoint():
    opened = {"method": "GET", "headers": {**STREAM, "MCP-Protocol-Version": "2026-07-28"}}
    reply = {
        "status": 200,
        "headers": {"Content-Type": "text/event-stream"},
        "sse_raw": "event: endpoint\ndata: /messages?session=1\n\n",
    }
    assert deprecated(traffic(exchange(opened, reply))) == [("sse", "server")]


def test_elicitation_is_not_deprecated():
    assert deprecated(traffic(exchange(call(), answer(RESULT)))) == []
