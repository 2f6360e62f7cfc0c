from __future__ import annotations

import pytest

from mcp_tap.replay.compare.tools import by_name, compare_tools, tools_of
from mcp_tap.replay.compare.values import Rules


def page(*names, cursor=None):
    tools = [{"name": name, "description": name} for name in names]
    return {"tools": tools} | ({"nextCursor": cursor} if cursor else {})


@pytest.mark.parametrize(
    ("results", "names"),
    [
        ([(True, page("a", "b"))], "ab"),
        ([(True, page("a", cursor="2")), (False, page("b"))], "ab"),
        ([(True, page("a", "b")), (True, page("b"))], "b"),
        ([(True, page("a", "b")), (True, page("c", cursor="2"))], "ab"),
        ([(False, page("c"))], "c"),
        ([(True, None), (True, {"tools": 1}), (True, page("a"))], "a"),
    ],
)
def test_the_tools_of_a_run_are_those_of_its_last_whole_listing(results, names):
    assert "".join(tools_of(results)) == names


def test_a_run_that_listed_none_has_no_tools_to_compare():
    assert tools_of([(True, None)]) is None
    assert list(compare_tools(None, {"a": {}}, Rules())) == []
    assert list(compare_tools({"a": {}}, None, Rules())) == []


def test_tools_are_compared_by_name_field_by_field():
    a = {"x": {"inputSchema": {"properties": {}}, "description": "1"}, "gone": {"name": "gone"}}
    b = {
        "new": {"name": "new"},
        "x": {
            "inputSchema": {"properties": {"r": {"type": "string"}}, "required": ["r"]},
            "description": "2",
        },
    }
    told = [(d.name, d.change, d.at, d.note) for d in compare_tools(a, b, Rules())]
    assert told == [
        ("x", "added", "/tools/x/inputSchema/properties/r", "required"),
        ("x", "changed", "/tools/x/description", ""),
        ("gone", "removed", "/tools/gone", ""),
        ("new", "added", "/tools/new", ""),
    ]


def test_a_listing_without_sound_names_stays_a_list():
    for tools in ([{"name": "a"}, {"name": "a"}], [{"name": 1}], ["a"], None):
        assert by_name({"tools": tools}, "tools", "name") == {"tools": tools}
