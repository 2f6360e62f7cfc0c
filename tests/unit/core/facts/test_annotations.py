from __future__ import annotations

from msgspec import Raw

from mcp_tap.core.facts.annotations import MOST_NODES, Mirrored, annotations_in
from mcp_tap.core.facts.message import Message
from mcp_tap.core.records import Message as Record
from mcp_tap.core.wire import dumps
from tests.facts import message


def listed(*schemas):
    tools = [{"name": f"t{i}", "inputSchema": schema} for i, schema in enumerate(schemas)]
    value = {"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}}
    record = Record(seq=2, t=1.0, sender="server", body=Raw(dumps(value)))
    return Message(record, value, message("tools/list", 1).flow)


def mark(name):
    return {"type": "string", "x-mcp-header": name}


def test_a_marked_argument_is_known_by_header_and_path():
    schema = {"properties": {"a": {"properties": {"b/c": mark("Zone")}}}}
    read = annotations_in(listed(schema))[0]
    assert read is not None
    assert read.mirrored == (Mirrored("mcp-param-zone", "Zone", ("a", "b/c")),)
    assert read.faults == ()


def test_a_fault_says_where_it_is():
    read = annotations_in(listed({"properties": {"a/b": mark("")}}))[0]
    assert read is not None
    assert read.faults[0].path == "/properties/a~1b/x-mcp-header"


def test_a_tool_without_annotations_is_left_out():
    assert annotations_in(listed({"type": "object"})) == {}
    assert list(annotations_in(listed({"type": "object"}, {"properties": {"a": mark("A")}}))) == [1]


def test_what_is_too_large_or_too_deep_is_not_known():
    wide = {"properties": {f"p{i}": mark(f"H{i}") for i in range(MOST_NODES + 1)}}
    assert annotations_in(listed(wide))[0] is None
    deep = mark("A")
    for _ in range(200):
        deep = {"properties": {"a": deep}}
    assert annotations_in(listed(deep))[0] is None


def test_a_result_is_read_once():
    m = listed({"properties": {"a": mark("A")}})
    assert annotations_in(m) is annotations_in(m)
