from __future__ import annotations

from typing import Any

import pytest

from tests.cases import (
    RESULT,
    answer,
    ask,
    call,
    error,
    exchange,
    fired,
    ids,
    line,
    listing,
    message,
    note,
    result,
    stdio,
    stream,
    traffic,
)
from tests.work import calls_of

REGION = {"type": "string", "x-mcp-header": "Region"}
LIMIT = {"type": "integer", "x-mcp-header": "Limit"}
DRY = {"type": "boolean", "x-mcp-header": "Dry"}
DEEP = {"type": "object", "properties": {"zone": {"type": "string", "x-mcp-header": "Zone"}}}
REFUSED = answer(error(1, -32020), 400)


def tool(name: str = "sql", **properties: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object", "properties": properties}}


FULL = tool(region=REGION, limit=LIMIT, dry=DRY, query={"type": "string"}, at=DEEP)


def judged(arguments, headers, *before, response=REFUSED):
    request = call(1, "sql", arguments, headers=headers)
    case = traffic(*(before or (listing(FULL),)), exchange(request, response))
    return ids(case, "HDR")


def test_an_argument_that_is_marked_must_travel_in_its_header():
    assert judged({"region": "eu"}, {}) == ["HDR-009"]
    assert judged({"at": {"zone": "b"}}, {}) == ["HDR-009"]
    both = judged({"region": "eu", "limit": 3, "dry": False}, {})
    assert both == ["HDR-009"] * 3


@pytest.mark.parametrize("arguments", [{}, {"region": None}, {"query": "x"}, {"at": {}}])
def test_an_absent_argument_needs_no_header(arguments):
    assert judged(arguments, {}, response=answer(RESULT)) == []


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({"region": "eu"}, {"mcp-param-region": "eu"}),
        ({"region": "us west 1"}, {"Mcp-Param-Region": " us west 1 "}),
        ({"region": "eu"}, {"Mcp-Param-Region": "=?base64?ZXU=?="}),
        ({"region": ""}, {"Mcp-Param-Region": ""}),
        ({"limit": 42}, {"Mcp-Param-Limit": "42.0"}),
        ({"limit": 42.0}, {"Mcp-Param-Limit": "42"}),
        ({"limit": -7}, {"Mcp-Param-Limit": "-7"}),
        ({"limit": 42}, {"Mcp-Param-Limit": "=?base64?NDI=?="}),
        ({"dry": True}, {"Mcp-Param-Dry": "true"}),
        ({"at": {"zone": "b"}}, {"Mcp-Param-Zone": "b"}),
        ({}, {"Mcp-Param-Other": "anything"}),
    ],
)
def test_a_header_that_agrees_is_fine(arguments, headers):
    assert judged(arguments, headers, response=answer(RESULT)) == []


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({"region": "eu"}, {"Mcp-Param-Region": "EU"}),
        ({"region": "eu"}, {"Mcp-Param-Region": ["eu", "us"]}),
        ({"region": "eu"}, {"Mcp-Param-Region": "=?base64?dXM=?="}),
        ({"region": None}, {"Mcp-Param-Region": ""}),
        ({}, {"Mcp-Param-Dry": "false"}),
        ({"dry": True}, {"Mcp-Param-Dry": "True"}),
        ({"dry": True}, {"Mcp-Param-Dry": "1"}),
        ({"limit": 42}, {"Mcp-Param-Limit": "43"}),
        ({"limit": 42}, {"Mcp-Param-Limit": "forty"}),
        ({"limit": 2**53}, {"Mcp-Param-Limit": str(2**53)}),
    ],
)
def test_a_header_that_does_not_agree_is_found(arguments, headers):
    assert judged(arguments, headers) == ["HDR-010"]


def test_the_value_of_an_argument_is_not_shown():
    request = call(1, "sql", {"region": "hunter2"}, headers={"Mcp-Param-Region": "hunter3"})
    (found,) = fired(traffic(listing(FULL), exchange(request, REFUSED)), "HDR-010")
    assert "hunter" not in found.message


def test_a_fraction_is_compared_where_its_header_is_there():
    assert judged({"limit": 42.5}, {"Mcp-Param-Limit": "42"}) == ["HDR-010"]
    assert judged({"limit": 0.1}, {"Mcp-Param-Limit": "0.1"}) == []
    assert judged({"limit": 42.5}, {}) == []


def test_the_form_of_a_parameter_header_is_judged_alone():
    assert judged({"region": "ü"}, {"Mcp-Param-Region": "u"}) == ["HDR-007"]
    assert judged({"region": "ü"}, {"Mcp-Param-Region": "=?BASE64?w7w=?="}) == ["HDR-008"]
    assert judged({"limit": 1}, {"Mcp-Param-Limit": "=?base64?*?="}) == ["HDR-008"]


def test_nothing_is_said_without_a_definition_or_with_an_invalid_one():
    other = listing(tool("another", region=REGION))
    assert judged({"region": "eu"}, {}, other, response=answer(RESULT)) == []
    spoilt = listing(tool(region=REGION, ratio={"type": "number", "x-mcp-header": "R"}))
    assert "HDR-009" not in judged({"region": "eu"}, {}, spoilt, response=answer(RESULT))


def test_the_newest_definition_counts_and_every_page():
    first = listing(tool("a"), nextCursor="p2", t=(0, 1))
    second = listing(FULL, number=91, cursor="p2")
    assert judged({"region": "eu"}, {}, first, second) == ["HDR-009"]
    plain = listing(tool(region={"type": "string"}), number=92)
    assert judged({"region": "eu"}, {}, listing(FULL), plain, response=answer(RESULT)) == []


def test_what_may_have_changed_since_is_a_note():
    changed = stream(note("notifications/tools/list_changed"), open=True)
    listening = exchange(
        ask("subscriptions/listen", 5, notifications={"toolsListChanged": True}), changed
    )
    case = traffic(
        listing(FULL), listening, exchange(call(1, "sql", {"region": "eu"}), answer(RESULT))
    )
    [finding] = fired(case, "HDR")
    assert (finding.rule, finding.severity) == ("HDR-009", "note")


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"type": "string", "x-mcp-header": ""}}},
        {"properties": {"a": {"type": "string", "x-mcp-header": 1}}},
        {"properties": {"a": {"type": "string", "x-mcp-header": "My Header"}}},
        {"properties": {"a": {"type": "string", "x-mcp-header": "Zo\u00eb"}}},
        {"properties": {"a": {"type": "string", "x-mcp-header": "a\r\nb"}}},
        {"properties": {"a": REGION, "b": {"type": "string", "x-mcp-header": "REGION"}}},
        {"properties": {"a": {"type": "number", "x-mcp-header": "A"}}},
        {"properties": {"a": {"type": "object", "x-mcp-header": "A"}}},
        {"properties": {"a": {"type": "array", "x-mcp-header": "A"}}},
        {"properties": {"a": {"type": "null", "x-mcp-header": "A"}}},
        {"properties": {"a": {"type": ["string", "number"], "x-mcp-header": "A"}}},
        {"properties": {"a": {"type": "array", "items": REGION}}},
        {"properties": {"a": {"type": "array", "prefixItems": [REGION]}}},
        {"properties": {"a": {"anyOf": [REGION]}}},
        {"allOf": [{"properties": {"a": REGION}}]},
        {"not": REGION},
        {"if": {"properties": {"a": REGION}}, "then": {}},
        {"$defs": {"A": REGION}, "properties": {"a": {"$ref": "#/$defs/A"}}},
        {"additionalProperties": REGION},
        {"patternProperties": {"^a": REGION}},
        {"x-mcp-header": "Root"},
    ],
)
def test_an_annotation_clients_must_reject_is_found(schema):
    case = traffic(listing({"name": "x", "inputSchema": {"type": "object", **schema}}))
    [finding] = fired(case, "HDR")
    assert (finding.rule, finding.blame, finding.spot) == ("HDR-011", "server", "x-mcp-header")
    assert finding.path.startswith("/result/tools/0/inputSchema")


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"x-mcp-header": {"type": "string"}}},
        {"properties": {"a": {"type": ["string", "null"], "x-mcp-header": "A"}}},
        {"properties": {"a": {"x-mcp-header": "A"}}},
        {"properties": {"a": {"anyOf": [{"type": "string"}], "x-mcp-header": "A"}}},
        {"properties": {"a": DEEP}},
        {"properties": {"a": {"default": {"x-mcp-header": ""}, "enum": [{"x-mcp-header": 1}]}}},
    ],
)
def test_an_annotation_that_is_fine_is_left_alone(schema):
    case = traffic(listing({"name": "x", "inputSchema": {"type": "object", **schema}}))
    assert ids(case, "HDR") == []


def test_a_tool_that_must_be_dropped_must_not_be_called():
    broken = tool("sql", a={"type": "string", "x-mcp-header": ""})
    called = exchange(call(1, "sql", {"a": "1"}), answer(RESULT))
    assert ids(traffic(listing(broken), called), "HDR") == ["HDR-011", "HDR-012"]
    mended = listing(tool("sql", a={"type": "string"}), number=91)
    assert ids(traffic(listing(broken), mended, called), "HDR") == ["HDR-011"]


def test_over_stdio_annotations_mean_nothing():
    broken = tool("sql", a={"type": "string", "x-mcp-header": ""})
    case = stdio(
        line("client", message("tools/list", 1)),
        line("server", result(1, tools=[broken], ttlMs=0, cacheScope="private")),
        line("client", message("tools/call", 2, name="sql", arguments={"a": "1"})),
        line("server", result(2, content=[])),
    )
    assert ids(case, "HDR") == []


def test_hostile_definitions_cost_little():
    deep: dict[str, Any] = {"type": "string", "x-mcp-header": ""}
    for _ in range(400):
        deep = {"type": "object", "properties": {"a": deep}}
    wide = {"type": "object", "properties": {f"p{i}": dict(REGION) for i in range(9000)}}
    case = traffic(
        listing({"name": "deep", "inputSchema": deep}, {"name": "wide", "inputSchema": wide})
    )
    calls, found = calls_of(lambda: ids(case, "HDR", "TAP"))
    assert found
    assert set(found) == {"HDR-011"}
    assert len(found) <= 200
    assert calls < 1_000_000
