from __future__ import annotations

import pytest

from tests.cases import (
    PREFIX,
    RESULT,
    answer,
    ask,
    call,
    error,
    exchange,
    fired,
    ids,
    listing,
    message,
    post,
    result,
    stream,
    traffic,
)

WRONG = call(name="a", headers={"Mcp-Name": "b"})


def judged(request, response, *before):
    return [
        (f.rule, f.severity, f.blame)
        for f in fired(traffic(*before, exchange(request, response)), "HDR-013")
    ]


WARNING = [("HDR-013", "warning", "server")]
ERROR = [("HDR-013", "error", "server")]


def test_wrong_headers_that_are_taken_are_an_error():
    assert judged(WRONG, answer(RESULT)) == ERROR
    assert judged(WRONG, stream(RESULT)) == ERROR
    asks = {"k": {"method": "roots/list", "params": {}}}
    asking = answer(result(1, "input_required", inputRequests=asks))
    assert judged(WRONG, asking) == ERROR


def test_the_right_refusal_is_fine():
    assert judged(WRONG, answer(error(1, -32020), 400)) == []


@pytest.mark.parametrize(
    "response",
    [
        answer(error(1, -32600), 400),
        answer(error(1, -32020), 200),
        answer(error(1, -32020), 422),
        stream(error(1, -32020)),
        answer(status=400),
    ],
)
def test_a_refusal_of_another_shape_is_a_warning(response):
    assert judged(WRONG, response) == WARNING


def test_a_missing_version_header_alone_is_a_warning():
    request = call(headers={"MCP-Protocol-Version": ...})
    assert judged(request, answer(RESULT)) == WARNING
    assert (
        judged(call(headers={"MCP-Protocol-Version": ..., "Mcp-Method": ...}), answer(RESULT))
        == ERROR
    )


def test_another_reason_to_refuse_is_as_good():
    assert judged(WRONG, answer(error(1, -32022, supported=["2026-07-28"]), 400)) == []
    bare = message("tools/call", name="a", meta={PREFIX + "clientCapabilities": ...})
    assert judged(post(bare, {"Mcp-Name": "b"}), answer(error(1, -32602), 400)) == []
    assert judged(WRONG, answer(error(1, -32602), 400)) == WARNING
    assert judged(WRONG, answer(status=401)) == []
    assert judged(WRONG, answer(status=503)) == []


def test_right_headers_must_not_be_refused():
    refusal = answer(error(1, -32020), 400)
    assert judged(ask("tools/list"), refusal) == WARNING
    assert judged(ask("resources/read", uri="file:///a"), refusal) == WARNING


def test_a_refused_call_is_judged_only_where_its_tool_is_known():
    refusal = answer(error(1, -32020), 400)
    tool = {"name": "create_tasks", "inputSchema": {"type": "object"}}
    assert judged(call(), refusal) == []
    assert judged(call(), refusal, listing(tool)) == WARNING


@pytest.mark.parametrize("value", [4.5, [1], {"a": 1}])
def test_a_call_whose_argument_no_header_can_repeat_may_be_refused(value):
    schema = {"type": "object", "properties": {"n": {"x-mcp-header": "N"}}}
    tool = {"name": "create_tasks", "inputSchema": schema}
    refusal = answer(error(1, -32020), 400)
    assert judged(call(arguments={"n": value}), refusal, listing(tool)) == []
    whole = call(arguments={"n": 4.0}, headers={"Mcp-Param-N": "4"})
    assert judged(whole, refusal, listing(tool)) == WARNING


def test_a_refusal_comes_once():
    case = traffic(exchange(WRONG, answer(error(1, -32600), 400)))
    assert ids(case, "HDR") == ["HDR-006", "HDR-013"]
