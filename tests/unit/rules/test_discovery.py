from __future__ import annotations

from typing import Any

import pytest

from tests.cases import (
    CLIENT_INFO,
    HINTS,
    RESULT,
    answer,
    ask,
    call,
    error,
    exchange,
    fired,
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

UNKNOWN = answer(error(1, -32601), 404)


def discover(
    capabilities: Any = None, number: Any = 1, versions: Any = ("2026-07-28",)
) -> dict[str, Any]:
    own = {"supportedVersions": list(versions) if isinstance(versions, tuple) else versions}
    given = {"tools": {}} if capabilities is None else capabilities
    body = result(number, **own, capabilities=given, **HINTS)
    return exchange(ask("server/discover", number), answer(body))


def refused(number: Any = 2) -> dict[str, Any]:
    return exchange(ask("server/discover", number), answer(error(number, -32601), 404))


def listed(method: str = "tools/list", number: Any = 3, **members: Any) -> dict[str, Any]:
    key = method.split("/", maxsplit=1)[0]
    return exchange(ask(method, number), answer(result(number, **{key: [], **HINTS, **members})))


def test_a_modern_server_must_know_discover():
    assert ids(traffic(listed(number=1), refused()), "DISC") == ["DISC-001"]
    assert ids(traffic(refused(), listed(), listed(number=4)), "DISC") == ["DISC-001"]
    case = stdio(
        line("client", message("server/discover", 1)),
        line("server", error(1, -32601)),
        line("client", message("tools/list", 2)),
        line("server", result(2, tools=[], **HINTS)),
    )
    assert ids(case, "DISC") == ["DISC-001"]


def test_a_legacy_server_may_refuse_the_probe():
    assert ids(traffic(refused()), "DISC") == []
    untyped = exchange(ask("tools/list", 3), answer(result(3, None, tools=[])))
    assert ids(traffic(refused(), untyped), "DISC") == []
    other = exchange(ask("server/discover", 2), answer(error(2, -32603), 500))
    assert ids(traffic(listed(number=1), other), "DISC") == []


@pytest.mark.parametrize("versions", [None, [], "2026-07-28", [1], {"a": 1}])
def test_a_discover_result_lists_revisions(versions):
    [finding] = fired(traffic(discover(versions=versions)), "DISC")
    assert (finding.rule, finding.severity, finding.spot) == (
        "DISC-002",
        "error",
        "supportedVersions",
    )


@pytest.mark.parametrize("capabilities", ["tools", [], True])
def test_a_discover_result_has_capabilities(capabilities):
    assert ids(traffic(discover(capabilities)), "DISC") == ["DISC-002"]
    assert ids(traffic(discover({})), "DISC") == []


@pytest.mark.parametrize("kind", ["input_required", "task"])
def test_what_does_not_belong_there_is_no_discover_result(kind):
    body = result(1, kind, requestState="s")
    assert ids(traffic(exchange(ask("server/discover", 1), answer(body))), "DISC") == []


def test_a_discover_result_lists_the_revision_it_came_in():
    [finding] = fired(traffic(discover(versions=("2027-01-01",))), "DISC")
    assert (finding.rule, finding.severity) == ("DISC-002", "warning")


@pytest.mark.parametrize(
    ("method", "capability"),
    [
        ("tools/list", "tools"),
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resources"),
        ("completion/complete", "completions"),
    ],
)
def test_what_is_served_must_be_declared(method, capability):
    served = listed(method)
    assert ids(traffic(discover({}), served), "DISC") == ["DISC-003"]
    assert ids(traffic(discover({capability: {}}), served), "DISC") == []
    assert ids(traffic(served), "DISC") == []
    no = exchange(ask(method, 3), answer(error(3, -32601), 404))
    assert ids(traffic(discover({}), no), "DISC") == []


def test_calls_and_reads_count_as_served():
    called = exchange(call(3), answer(result(3, content=[])))
    assert ids(traffic(discover({}), called, called), "DISC") == ["DISC-003"]


@pytest.mark.parametrize("method", ["tools/list", "prompts/list", "resources/list"])
def test_what_is_declared_must_be_served(method):
    no = exchange(ask(method, 3), answer(error(3, -32601), 404))
    capability = method.partition("/")[0]
    assert ids(traffic(discover({capability: {}}), no), "DISC") == ["DISC-003"]
    failed = exchange(ask(method, 3), answer(error(3, -32603), 500))
    assert ids(traffic(discover({capability: {}}), failed), "DISC") == []


def test_log_messages_need_their_capability():
    log = note("notifications/message", level="info", data="x")
    asked = call(3, meta={"io.modelcontextprotocol/logLevel": "info"})
    streamed = exchange(asked, stream(log, log, result(3, content=[])))
    assert ids(traffic(discover({"tools": {}}), streamed), "DISC") == ["DISC-003"]
    assert ids(traffic(discover({"tools": {}, "logging": {}}), streamed), "DISC") == []


def test_a_change_that_was_not_announced_is_a_note():
    changed = stream(note("notifications/tools/list_changed"), open=True)
    listening = exchange(ask("subscriptions/listen", 4, notifications={}), changed)
    [finding] = fired(traffic(discover({"tools": {}}), listening), "DISC")
    assert (finding.rule, finding.severity) == ("DISC-003", "note")
    assert ids(traffic(discover({"tools": {"listChanged": True}}), listening), "DISC") == []


def unsupported(*versions: str, number: Any = 1, t: Any = None) -> dict[str, Any]:
    body = error(number, -32022, supported=list(versions), requested="2027-01-01")
    request = ask("tools/list", number, version="2027-01-01")
    request["headers"] |= {"MCP-Protocol-Version": "2027-01-01", "Mcp-Method": "tools/list"}
    return exchange(request, answer(body, 400), t)


def going_on(version: str, number: Any = 2, t: Any = None) -> dict[str, Any]:
    return exchange(ask("tools/list", number, version=version), answer(status=400), t)


def initialize(number: Any = 2) -> dict[str, Any]:
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT_INFO}
    begin = {"jsonrpc": "2.0", "id": number, "method": "initialize", "params": params}
    return exchange(post(begin, version=None), answer(status=400))


def test_a_client_uses_one_of_the_revisions_it_was_told():
    assert ids(traffic(unsupported("2026-07-28"), going_on("2026-07-28")), "DISC") == []
    assert ids(traffic(unsupported("2026-07-28"), going_on("2027-01-01")), "DISC") == ["DISC-004"]
    assert ids(traffic(unsupported("2026-07-28"), going_on("2026-09-01")), "DISC") == ["DISC-004"]
    assert ids(traffic(unsupported("2025-11-25"), going_on("2026-07-28")), "DISC") == ["DISC-004"]


def test_a_client_falls_back_only_where_there_is_nothing_modern():
    assert ids(traffic(unsupported("2026-07-28"), initialize()), "DISC") == ["DISC-004"]
    assert ids(traffic(unsupported("2026-07-28", "2025-11-25"), initialize()), "DISC") == [
        "DISC-004"
    ]
    assert ids(traffic(unsupported("2025-11-25"), initialize()), "DISC") == []


def test_giving_up_a_useless_list_and_what_was_on_its_way_are_fine():
    assert ids(traffic(unsupported("2026-07-28")), "DISC") == []
    assert ids(traffic(unsupported(), going_on("2027-01-01")), "DISC") == []
    flying = going_on("2027-01-01", 2, (0.5, 2))
    assert ids(traffic(unsupported("2026-07-28", t=(0, 1)), flying), "DISC") == []


def test_a_client_that_started_anew_has_not_been_told():
    assert ids(traffic(unsupported("2026-07-28"), going_on("2027-01-01", 1)), "DISC") == []
    taken = exchange(ask("tools/list", 2), answer(result(2, tools=[], **HINTS)))
    later = going_on("2027-01-01", 3)
    assert ids(traffic(unsupported("2026-07-28"), taken, later), "DISC") == []


def test_an_ordinary_result_says_nothing():
    assert ids(traffic(exchange(call(), answer(RESULT))), "DISC") == []
