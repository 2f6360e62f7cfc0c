from __future__ import annotations

import pytest

from tests.cases import (
    CAPABILITIES,
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
    message,
    result,
    stdio,
    traffic,
)

OTHER = {**CAPABILITIES, "extensions": {"com.example/jobs": {}}}


def of(kind, caps=CAPABILITIES):
    body = {**RESULT, "result": {**RESULT["result"], "resultType": kind}}
    return traffic(exchange(call(caps=caps), answer(body)))


def test_a_result_without_a_type_is_found():
    body = result(1, None, content=[])
    (found,) = fired(traffic(exchange(call(), answer(body))), "RPC")
    assert (found.rule, found.path, found.spot) == ("RPC-010", "/result", "resultType")
    case = stdio(line("client", message("vendor/x", 1)), line("server", result(1, None)))
    assert ids(case, "RPC") == ["RPC-010"]


def test_results_of_a_session_or_of_no_known_era_need_no_type():
    old = call(1, headers=SESSION, version="2025-11-25")
    body = result(1, None, content=[])
    assert not ids(traffic(*handshake(), exchange(old, answer(body))), "RPC")
    bare = {"jsonrpc": "2.0", "id": 1, "method": "vendor/x"}
    assert not ids(stdio(line("client", bare), line("server", result(1, None))), "RPC")
    begun = line("client", message("vendor/x", 7))
    case = stdio(begun, line("client", bare), line("server", result(1, None)))
    assert not ids(case, "RPC")


@pytest.mark.parametrize("kind", ["partial", "Complete", "", 3, None, ["complete"]])
def test_a_type_nobody_defined_is_found(kind):
    (found,) = fired(of(kind), "RPC")
    assert (found.rule, found.severity) == ("RPC-011", "error")
    assert found.path == "/result/resultType"


def test_a_type_that_may_be_an_extensions_is_a_note():
    (found,) = fired(of("job", OTHER), "RPC")
    assert (found.rule, found.severity) == ("RPC-011", "note")
    (found,) = fired(of(3, OTHER), "RPC")
    assert found.severity == "error"
    (found,) = fired(of("job", TASKS), "RPC")
    assert found.severity == "error"


@pytest.mark.parametrize("caps", [CAPABILITIES, TASKS])
def test_the_type_task_is_another_rules_business(caps):
    assert "RPC-011" not in ids(of("task", caps))
