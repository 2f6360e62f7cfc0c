from __future__ import annotations

import pytest

from mcp_tap.replay.compare.values import Rules, Spot

MASKED, OTHER = "mcp-tap:00000000000000aa", "mcp-tap:00000000000000bb"


def spots(a, b, at=(), **given):
    return list(Rules(**given).spots(a, b, at))


def test_equal_values_differ_nowhere():
    value = {"a": [1, {"b": None}], "c": "x"}
    assert spots(value, {"c": "x", "a": [1.0, {"b": None}]}) == []


def test_each_spot_is_told_with_its_pointer_and_both_values():
    found = spots({"a": {"b/c": 1}, "d": True, "x": 0}, {"a": {"b/c": 2}, "d": 1, "y": None})
    assert [(s.at, s.change, s.left, s.right) for s in found] == [
        ("/a/b~1c", "changed", 1, 2),
        ("/d", "changed", True, 1),
        ("/x", "removed", 0, None),
        ("/y", "added", None, None),
    ]


@pytest.mark.parametrize(
    ("a", "b", "told"),
    [
        ([1, 2, 3], [1, 9, 2, 3], [("/1", "added")]),
        ([1, 2, 3], [2, 3], [("/0", "removed")]),
        ([1, 2], [1, 2, 3, 4], [("/2", "added"), ("/3", "added")]),
        ([1, 2, 3], [9, 3], [("/0", "changed"), ("/1", "removed")]),
        ([], [1], [("/0", "added")]),
    ],
)
def test_an_entry_more_does_not_make_all_after_it_different(a, b, told):
    assert [(s.at, s.change) for s in spots(a, b)] == told


def test_a_field_that_came_with_its_requirement_is_one_spot():
    a = {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}
    b = {
        "type": "object",
        "properties": {"x": {"type": "string"}, "region": {"type": "string"}},
        "required": ["x", "region"],
    }
    at = ("params", "requestedSchema")
    added = Spot((*at, "properties", "region"), "added", None, {"type": "string"}, "required")
    assert spots(a, b, at) == [added]
    assert [s.change for s in spots(b, a, at)] == ["removed"]
    assert len(spots({"requestedSchema": a}, {"requestedSchema": b})) == 1


def test_a_field_that_became_required_is_one_spot_wherever_it_stands_in_the_list():
    a = {"properties": {"x": {}, "y": {}}, "required": ["x"]}
    b = {"properties": {"x": {}, "y": {}}, "required": ["y", "x"]}
    (found,) = spots(a, b, ("inputSchema",))
    assert (found.at, found.change, found.right) == ("/inputSchema/required", "added", "y")
    assert spots(b, b | {"required": ["x", "y"]}, ("inputSchema",)) == []


def test_a_schema_nested_in_a_field_is_taken_apart_as_well():
    inner = {"properties": {"x": {}}, "required": []}
    more = {"properties": {"x": {}, "z": {}}, "required": ["z"]}
    outer = [{"properties": {"o": schema}} for schema in (inner, more)]
    (found,) = spots(*outer, ("inputSchema",))
    assert (found.at, found.note) == ("/inputSchema/properties/o/properties/z", "required")


def test_what_is_called_required_outside_of_schemas_is_an_ordinary_list():
    a, b = ({"properties": {}, "required": names} for names in (["x", "y"], ["y", "x"]))
    assert [s.at for s in spots(a, b)] == ["/required/0", "/required/1"]


@pytest.mark.parametrize(
    ("a", "b", "name"),
    [
        (MASKED, "anything", "mask"),
        ({"x": 1}, MASKED, "mask"),
        (MASKED, OTHER, "mask"),
        ("at 2026-01-01T00:00:00Z", "at 2027-01-01T00:00:00Z", "timestamps"),
        ("123e4567-e89b-12d3-a456-426614174000", "00000000-0000-4000-8000-00000000abcd", "uuids"),
    ],
)
def test_what_is_taken_for_equal_is_counted_under_its_name(a, b, name):
    rules = Rules()
    assert list(rules.spots({"v": a}, {"v": b})) == []
    assert dict(rules.matched) == {name: 1}


def test_the_version_of_a_server_is_no_difference_until_it_shall_be():
    a, b = ({"serverInfo": {"name": "s", "version": version}} for version in ("1", "2"))
    assert spots(a, b) == []
    (found,) = spots(a, b, normalise=["timestamps"])
    assert found.at == "/serverInfo/version"


def test_masks_under_one_key_are_compared_by_their_tags():
    assert len(spots(MASKED, OTHER, same_key=True)) == 1
    assert spots(MASKED, "anything", same_key=True) == []


def test_a_value_that_is_gone_is_no_match_for_a_mask():
    assert [s.change for s in spots({"v": MASKED}, {})] == ["removed"]


def test_what_stands_at_an_ignored_place_is_counted_only_where_it_differs():
    rules = Rules(ignore=["/a/*"])
    assert list(rules.spots({"a": {"x": 1, "y": 2}}, {"a": {"x": 1, "y": 3, "z": 4}})) == []
    assert rules.matched["ignored"] == 2


def test_asking_whether_values_are_the_same_counts_nothing():
    rules = Rules()
    assert rules.same(MASKED, OTHER)
    assert not rules.same(1, 2)
    assert not rules.matched


def test_equal_values_have_equal_sums():
    rules = Rules(ignore=["/t"])
    one = {"a": 1, "when": "2026-01-01T00:00:00Z", "secret": MASKED, "t": 1}
    other = {"secret": OTHER, "when": "2027-01-01T00:00:00Z", "a": 1.0, "t": 2}
    assert rules.sum(one) == rules.sum(other)
    assert rules.sum(one) != rules.sum({**one, "a": 2})


def test_very_deep_values_are_compared_without_recursion():
    a: list = []
    b: list = [1]
    for _ in range(3_000):
        a, b = [a], [b]
    (found,) = spots(a, b)
    assert (found.change, found.right) == ("added", 1)
