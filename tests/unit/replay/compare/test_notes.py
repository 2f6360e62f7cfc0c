from __future__ import annotations

from msgspec.structs import replace

from mcp_tap.replay.compare.notes import compare_notes
from mcp_tap.replay.compare.values import Rules
from tests.saying import note


def told(a, b):
    return [(d.change, d.at, d.left, d.right) for d in compare_notes(a, b, Rules())]


def test_what_a_notification_says_is_compared_value_by_value():
    other = replace(note(2), params={"progress": 9, "total": 3})
    assert told([note(1), note(2)], [note(1), other]) == [("changed", "/params/progress", 2, 9)]


def test_one_that_came_or_went_is_told_whole():
    assert told([note(1)], []) == [("removed", "", note(1).params, None)]
    assert told([], [note(1)]) == [("added", "", None, note(1).params)]


def test_another_order_is_one_difference():
    (found,) = compare_notes([note(1), note(2)], [note(2), note(1)], Rules())
    assert found.change == "moved"
    assert [n["params"]["progress"] for n in found.right] == [2, 1]
