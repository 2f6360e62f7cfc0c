from __future__ import annotations

from mcp_tap.core.facts.tools import MOST_SCHEMA, MOST_TOOLS
from tests.facts import message, reply, seen_by


def call(seen, name="t", principal=None):
    called = message("tools/call", 2, seen=seen, name=name)
    called.flow.principal = principal
    return called


def show(seen, *tools, principal=None):
    asked = message("tools/list", 1, seen=seen)
    asked.flow.principal = principal
    seen.note("result", reply(asked, tools=list(tools)))


def test_a_tool_is_known_once_it_was_listed():
    seen = seen_by("a")
    assert seen.tools.of(call(seen)) is None
    show(seen, {"name": "t", "inputSchema": {}})
    tool = seen.tools.of(call(seen))
    assert tool is not None
    assert (tool.mirrored, tool.spoilt, tool.output) == ((), False, None)


def test_what_may_have_changed_is_not_fresh_until_it_is_listed_again():
    seen = seen_by("a")
    show(seen, {"name": "t", "outputSchema": {"type": "object"}})
    told = message("notifications/tools/list_changed", seen=seen)
    seen.note("server_notification", told_by_server(told))
    tool = seen.tools.of(call(seen))
    assert tool is not None
    assert not seen.tools.is_fresh(tool)
    show(seen, {"name": "t"})
    again = seen.tools.of(call(seen))
    assert again is not None
    assert seen.tools.is_fresh(again)


def told_by_server(told):
    told.event = "server_notification"
    return told


def test_a_name_listed_twice_says_nothing_certain():
    seen = seen_by("a")
    show(seen, {"name": "t", "outputSchema": {}}, {"name": "t", "outputSchema": {}})
    tool = seen.tools.of(call(seen))
    assert tool is not None
    assert (tool.mirrored, tool.output) == (None, None)


def test_what_another_person_was_shown_does_not_count():
    seen = seen_by("a")
    show(seen, {"name": "t"}, principal="p1")
    assert seen.tools.of(call(seen, principal="p2")) is None
    assert seen.tools.of(call(seen, principal="p1")) is not None
    assert seen.tools.of(call(seen)) is not None


def test_what_makes_no_sense_or_is_too_large_is_passed_over():
    seen = seen_by("a")
    huge = {"enum": ["x" * MOST_SCHEMA]}
    show(
        seen,
        3,
        {"name": 4},
        {},
        {"name": "t", "outputSchema": huge},
        {"name": "u", "outputSchema": 1},
    )
    tools = [seen.tools.of(call(seen, name)) for name in ("t", "u")]
    assert [tool.output for tool in tools if tool is not None] == [None, None]
    assert seen.tools.of(message("tools/call", 2, seen=seen, name=["t"])) is None


def test_only_so_many_tools_are_kept():
    seen = seen_by("a")
    for part in range(3):
        show(seen, *({"name": f"{part}-{i}"} for i in range(MOST_TOOLS)))
    assert seen.tools.of(call(seen, "0-0")) is None
    assert seen.tools.of(call(seen, "2-0")) is not None
