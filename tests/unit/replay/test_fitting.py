"""Whether what a client sent fits what was recorded."""

from __future__ import annotations

import pytest

from mcp_tap.replay.fitting import ABSENT, differences, fits

MASKED = "mcp-tap:0123456789abcdef"


@pytest.mark.parametrize(
    ("recorded", "given"),
    [
        ({"a": 1, "b": [True, None]}, {"b": [True, None], "a": 1}),
        ({"n": 1}, {"n": 1.0}),
        ({"key": MASKED, "n": 1}, {"key": "anything", "n": 1}),
        ({"key": MASKED}, {"key": {"even": ["this"]}}),
        ([MASKED, 2], ["x", 2]),
        (f"Bearer {MASKED}", "Bearer x"),
    ],
    ids=["order", "number", "masked", "masked structure", "in a list", "in a text"],
)
def test_equal_values_and_masked_ones_fit(recorded, given):
    assert fits(recorded, given)


@pytest.mark.parametrize(
    ("recorded", "given"),
    [
        ({"n": 1}, {"n": True}),
        ({"n": 1}, {"n": "1"}),
        ({"n": None}, {}),
        ({}, {"n": None}),
        ([1, 2], [2, 1]),
        ([1], [1, 1]),
        ({"n": "anything"}, {"n": MASKED}),
        ({}, []),
    ],
    ids=["bool", "text", "left out", "added", "order", "length", "given is masked", "kind"],
)
def test_what_differs_does_not_fit(recorded, given):
    assert not fits(recorded, given)


def test_differences_come_in_the_recorded_order_and_added_ones_after_them():
    recorded = {"z": 1, "a": {"x": [1, 2]}, "gone": 0}
    given = {"new": 5, "a": {"x": [1, 3]}, "z": 2}
    found = [(d.at, d.recorded, d.given) for d in differences(recorded, given)]
    assert found == [("/z", 1, 2), ("/a/x/1", 2, 3), ("/gone", 0, ABSENT), ("/new", ABSENT, 5)]


def test_a_spot_is_a_json_pointer():
    (found,) = differences({"a/b": {"c~d": 1}}, {"a/b": {"c~d": 2}})
    assert found.at == "/a~1b/c~0d"
    assert found.steps == ("a/b", "c~d")


def test_a_list_of_another_length_is_one_difference():
    assert [d.at for d in differences({"l": [1, 2]}, {"l": [1]})] == ["/l"]


def test_values_deeper_than_python_calls_go_are_compared():
    one: object = 1
    other: object = 2
    for _ in range(5_000):
        one, other = [one], [other]
    (found,) = differences(one, other)
    assert len(found.steps) == 5_000
