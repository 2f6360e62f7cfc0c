from __future__ import annotations

import json

from mcp_tap.bridge.heads import Tools, session_head, stateless_head
from mcp_tap.bridge.messages import read
from tests.bridges import META, NEW


def said(method, **params):
    found = read(json.dumps({"id": 1, "method": method, "params": params}).encode())
    assert found is not None
    return found


def test_the_headers_of_each_method_are_those_the_specification_names():
    head = stateless_head(said("resources/read", uri="file:///ä", _meta=META), "-", {})
    assert head["MCP-Protocol-Version"] == NEW
    assert head["Mcp-Method"] == "resources/read"
    assert head["Mcp-Name"] == "=?base64?ZmlsZTovLy/DpA==?="
    head = stateless_head(said("notifications/x"), NEW, {})
    assert (head["MCP-Protocol-Version"], "Mcp-Name" in head) == (NEW, False)


def test_arguments_travel_in_headers_where_a_list_said_so():
    tools = Tools()
    properties = {
        "a": {"type": "string", "x-mcp-header": "Alpha"},
        "b": {"type": "boolean", "x-mcp-header": "Beta"},
        "c": {"type": "string", "x-mcp-header": "Gamma"},
    }
    listed = read(
        json.dumps(
            {
                "id": 1,
                "result": {
                    "tools": [
                        {"name": "t", "inputSchema": {"properties": properties}},
                        {"name": "odd", "inputSchema": 7},
                        7,
                    ]
                },
            }
        ).encode()
    )
    assert listed is not None
    tools.learn(listed)
    call = said("tools/call", name="t", arguments={"a": " x", "b": True, "c": None})
    head = stateless_head(call, NEW, tools)
    assert (head["Mcp-Param-Alpha"], head["Mcp-Param-Beta"]) == ("=?base64?IHg=?=", "true")
    assert "Mcp-Param-Gamma" not in head
    assert not [
        n for n in stateless_head(said("tools/call", name="odd"), NEW, tools) if "Param" in n
    ]


def test_a_session_is_named_as_far_as_it_has_begun():
    assert "Mcp-Session-Id" not in session_head(None, None)
    head = session_head("s", "2025-11-25")
    assert (head["Mcp-Session-Id"], head["MCP-Protocol-Version"]) == ("s", "2025-11-25")
