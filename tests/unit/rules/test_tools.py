from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import pytest

from tests.cases import (
    RESULT,
    SESSION,
    answer,
    ask,
    asking,
    call,
    exchange,
    fired,
    form,
    handshake,
    ids,
    line,
    listing,
    message,
    note,
    post,
    result,
    stdio,
    stream,
    traffic,
)


def tool(name: Any = "t", **members: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, **members}


def listed(*tools: Any) -> list[str]:
    return ids(traffic(listing(*tools)), "TOOL")


@pytest.mark.parametrize(
    "schema",
    [None, True, [], "object", {}, {"type": "array"}, {"type": ["object"]}, {"properties": {}}],
)
def test_an_input_schema_describes_an_object(schema):
    assert listed(tool(inputSchema=schema)) == ["TOOL-001"]
    assert listed({"name": "t"}) == ["TOOL-001"]


def test_whatever_else_a_schema_says_is_free():
    assert listed(tool(inputSchema={"type": "object", "anyOf": [{"required": ["a"]}]})) == []
    assert listed(tool(outputSchema={"type": "array", "items": {"type": "string"}})) == []
    old = exchange(
        ask("tools/list", 2, version="2025-11-25"), answer(result(2, None, tools=[{"name": "t"}]))
    )
    old["request"]["headers"] |= SESSION
    assert ids(traffic(*handshake(), old), "TOOL") == ["TOOL-001"]


@pytest.mark.parametrize("name", ["", "a b", "a,b", "x" * 129, "ü", "a/b"])
def test_an_unusual_name_is_a_note(name):
    [finding] = fired(traffic(listing(tool(name))), "TOOL")
    assert (finding.rule, finding.severity) == ("TOOL-002", "note")


@pytest.mark.parametrize("name", ["getUser", "DATA_EXPORT_v2", "admin.tools-list", "x" * 128])
def test_a_usual_name_is_fine(name):
    assert listed(tool(name)) == []


def test_a_name_comes_once_in_a_listing():
    assert listed(tool("a"), tool("A")) == []
    assert listed(tool("a"), tool("a"), tool("a")) == ["TOOL-003", "TOOL-003"]
    case = traffic(
        listing(tool("a"), nextCursor="2"),
        listing(tool("b"), number=91, cursor="2", nextCursor=""),
        listing(tool("a"), number=92, cursor=""),
    )
    assert ids(case, "TOOL") == ["TOOL-003"]


def test_listings_and_pages_fetched_again_are_not_compared():
    first = listing(tool("a"), nextCursor="2")
    second = listing(tool("b"), number=91, cursor="2")
    third = listing(tool("b"), number=92, cursor="2")
    anew = listing(tool("a"), number=93, nextCursor="2")
    assert ids(traffic(first, second, third, anew, second), "TOOL") == []


def test_pages_between_which_the_list_changed_are_not_compared():
    changed = stream(note("notifications/tools/list_changed"), open=True)
    listening = exchange(ask("subscriptions/listen", 5, notifications={}), changed)
    case = traffic(
        listing(tool("a"), nextCursor="2"), listening, listing(tool("a"), number=91, cursor="2")
    )
    assert ids(case, "TOOL") == []


NUMBER = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}


def given(schema: Any, response: Any, *more: Any) -> list[str]:
    name = "create_tasks"
    case = traffic(
        listing(tool(name, outputSchema=schema)), *more, exchange(call(), answer(response))
    )
    return ids(case, "TOOL")


def structured(value: Any, **more: Any) -> dict[str, Any]:
    return result(1, content=[], structuredContent=value, **more)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (NUMBER, {}),
        (NUMBER, {"n": "1"}),
        (NUMBER, None),
        ({"type": "number"}, "5"),
        ({"type": "array", "items": {"enum": [1, 2]}}, [1, 3]),
        ({"$schema": "http://json-schema.org/draft-07/schema#", **NUMBER}, {}),
        ({"type": "object", "$ref": "#/$defs/a", "$defs": {"a": {"required": ["x"]}}}, {}),
        ({"pattern": "^(a+)+$"}, "b"),
    ],
)
def test_structured_content_must_fit_the_output_schema(schema, value):
    assert given(schema, structured(value)) == ["TOOL-004"]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (NUMBER, {"n": 1.5, "more": True}),
        ({"type": "number"}, 5),
        ({"type": "integer"}, 5.0),
        ({"format": "date"}, "no date"),
        ({"$schema": "https://example.com/dialect", "type": "number"}, "x"),
        ({"$ref": "https://example.com/schema.json", "type": "number"}, "x"),
        ({"type": "strin"}, 5),
        ({"pattern": "(?=a)b", "type": "number"}, "x"),
    ],
)
def test_what_fits_or_cannot_be_judged_by_is_left_alone(schema, value):
    assert "TOOL-004" not in given(schema, structured(value))


def test_structured_content_must_be_there():
    assert given(NUMBER, RESULT) == ["TOOL-004"]
    assert given({"$schema": "urn:x"}, RESULT) == []


def test_errors_asks_and_tasks_need_no_structured_content():
    assert given(NUMBER, result(1, content=[], isError=True)) == []
    assert given(NUMBER, asking({"k": form()})) == []
    assert given(NUMBER, result(1, "task", task={"taskId": "x"})) == []


def test_the_definition_must_be_known_and_fresh():
    assert ids(traffic(exchange(call(), answer(RESULT))), "TOOL") == []
    changed = stream(note("notifications/tools/list_changed"), open=True)
    listening = exchange(ask("subscriptions/listen", 5, notifications={}), changed)
    assert given(NUMBER, RESULT, listening) == []


def test_output_schemas_hold_over_stdio_and_in_sessions():
    case = stdio(
        line("client", message("tools/list", 1)),
        line("server", result(1, tools=[tool(outputSchema=NUMBER)], ttlMs=0, cacheScope="public")),
        line("client", message("tools/call", 2, name="t", arguments={})),
        line("server", result(2, content=[], structuredContent={"n": "x"})),
    )
    [finding] = fired(case, "TOOL")
    assert (finding.rule, finding.path) == ("TOOL-004", "/result/structuredContent/n")

    def session(version):
        more = {"version": version, "headers": SESSION}
        shown = exchange(
            post(message("tools/list", 1, version=version), SESSION, version=version),
            answer(result(1, None, tools=[tool(outputSchema=NUMBER)])),
        )
        reply = answer(result(2, None, content=[], structuredContent={"n": "x"}))
        return traffic(*handshake(version), shown, exchange(call(2, "t", **more), reply))

    assert ids(session("2025-11-25"), "TOOL") == ["TOOL-004"]
    assert ids(session("2025-06-18"), "TOOL") == []


def test_a_finding_does_not_show_what_the_tool_gave():
    schema = {"type": "object", "properties": {"key": {"type": "number"}}}
    name = "create_tasks"
    reply = answer(structured({"key": "sk-secret-value"}))
    case = traffic(listing(tool(name, outputSchema=schema)), exchange(call(), reply))
    [finding] = fired(case, "TOOL")
    assert "secret" not in finding.message


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"type": "strin"}}},
        {"properties": {"a": {"minimum": "3"}}},
        {"properties": {"a": {"exclusiveMinimum": True}}},
        {"required": "a"},
        {"properties": []},
        {"$schema": "http://json-schema.org/draft-07/schema#", "items": 3},
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "enum": 1},
    ],
)
def test_a_schema_must_be_one(schema):
    assert listed(tool(inputSchema={"type": "object", **schema})) == ["TOOL-005"]
    assert listed(tool(outputSchema={"type": "object", **schema})) == ["TOOL-005"]


@pytest.mark.parametrize(
    "schema",
    [
        {"$defs": {"A": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/A"}}},
        {"$schema": "https://example.com/unknown", "properties": []},
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "exclusiveMinimum": True,
            "minimum": 1,
        },
        {"properties": {"a": {"pattern": "(?<=x)[^]"}}},
        {"nullable": True, "x-anything": {"type": "strin"}},
        {"properties": {"a": {"const": {"$ref": "b.json"}, "default": {"$ref": "c.json"}}}},
        {"examples": [{"$ref": "https://x.example/a"}], "enum": [{"a": {"$ref": "d.json"}}]},
        {"$id": "https://x.example/a", "$defs": {"b": {"$id": "b"}}, "allOf": [{"$ref": "b"}]},
    ],
)
def test_a_schema_that_is_one_or_of_another_dialect_is_fine(schema):
    assert listed(tool(inputSchema={"type": "object", **schema})) == []


@pytest.mark.parametrize("ref", ["https://example.com/s.json", "other.json#/a", "file:///etc/x"])
def test_a_reference_to_another_document_is_a_note(ref):
    schema = {"type": "object", "properties": {"a": {"$ref": ref}}}
    found = fired(traffic(listing(tool(inputSchema=schema))), "TOOL")
    assert [(f.rule, f.severity, f.spot) for f in found] == [("TOOL-005", "note", "$ref")]


@pytest.mark.parametrize("name", ["default", "const", "enum", "examples"])
def test_a_property_may_have_the_name_of_a_keyword(name):
    schema = {"type": "object", "properties": {name: {"allOf": [{"$ref": "b.json"}]}}}
    assert listed(tool(inputSchema=schema)) == ["TOOL-005"]


def test_hostile_schemas_cost_little():
    names = [f"a{i}" for i in range(40)]
    doubling = {n: {"allOf": [{"$ref": f"#/$defs/{m}"}] * 2} for n, m in pairwise(names)}
    schemas = [
        {"$defs": {**doubling, "a39": {"type": "number"}}, "$ref": "#/$defs/a0"},
        {"$ref": "#"},
        {"pattern": "([01]*1[01]{900}){9}"},
        {"properties": {str(i): {"pattern": r"[\p{L}\p{N}]{50}"} for i in range(500)}},
        {"properties": {str(i): {"type": "string"} for i in range(30_000)}},
        {"enum": [str(i) for i in range(60_000)]},
    ]
    for schema in schemas:
        start = time.thread_time()
        assert "TOOL-004" not in given(schema, structured("01" * 100_000))
        assert time.thread_time() - start < 1.5
