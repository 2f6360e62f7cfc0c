"""What is made up fits its field, and is the same for the same seed."""

from __future__ import annotations

import pytest

from mcp_tap.answers.generate import Chance, fits, generate

MANY = {"anyOf": [{"const": "a", "title": "A"}, {"const": "b"}, {"const": "c"}]}
FIELDS = [
    {"type": "string"},
    {"type": "string", "minLength": 80, "maxLength": 80},
    {"type": "string", "maxLength": 0},
    {"type": "string", "maxLength": 1},
    {"type": "string", "format": "email"},
    {"type": "string", "format": "email", "maxLength": 8},
    {"type": "string", "format": "email", "minLength": 50},
    {"type": "string", "format": "uri"},
    {"type": "string", "format": "uri", "maxLength": 5},
    {"type": "string", "format": "date"},
    {"type": "string", "format": "date-time"},
    {"type": "string", "enum": ["x", "y"]},
    {"type": "string", "oneOf": [{"const": "x", "title": "X"}]},
    {"type": "string", "pattern": "^[0-9]{6}$"},
    {"type": "string", "pattern": "^[A-Z]{2}$"},
    {"type": "string", "pattern": r"^\+\d+$"},
    {"type": "integer"},
    {"type": "integer", "minimum": -5, "maximum": -5},
    {"type": "integer", "maximum": -7},
    {"type": "integer", "minimum": 0.5, "maximum": 1.5},
    {"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 5},
    {"type": "integer", "minimum": 10, "maximum": 99, "multipleOf": 25},
    {"type": "number"},
    {"type": "number", "minimum": 0.1, "maximum": 0.9},
    {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    {"type": "number", "multipleOf": 0.5, "minimum": 2, "maximum": 3},
    {"type": "boolean"},
    {"type": "boolean", "const": False},
    {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}},
    {"type": "array", "items": MANY, "minItems": 2, "maxItems": 2, "uniqueItems": True},
    {"type": "array", "items": MANY, "maxItems": 0},
    {"type": "array", "items": MANY, "minItems": 5},
    {"type": "array", "items": {"type": "string"}, "minItems": 3},
    {"type": ["string", "null"], "maxLength": 4},
    {"anyOf": [{"type": "integer", "maximum": 3}, {"type": "null"}]},
    {"enum": [1, 2]},
    {"oneOf": [{"const": "x"}, {"const": "y"}]},
    {},
]


@pytest.mark.parametrize("schema", FIELDS, ids=str)
def test_a_value_for_any_field_fits_it(schema):
    for seed in range(20):
        found = generate("f", schema, Chance(seed, "f"))
        assert found is not None
        assert fits("f", schema, found)


@pytest.mark.parametrize("schema", FIELDS, ids=str)
def test_the_same_seed_makes_up_the_same(schema):
    assert generate("f", schema, Chance(7, "f")) == generate("f", schema, Chance(7, "f"))


def test_other_seeds_fields_and_keys_make_up_something_else():
    field = {"type": "integer", "minimum": 0, "maximum": 10**9}
    places = [Chance(1, "a"), Chance(2, "a"), Chance(1, "b"), Chance(1, "a", "b")]
    assert len({generate("f", field, chance) for chance in places}) == 4


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "minLength": 10**9},
        {"type": "string", "minLength": 5, "maxLength": 3, "pattern": "^a$"},
        {"type": "string", "pattern": "^(?:only|this|xyzzy)$"},
        {"type": "integer", "minimum": 0.1, "maximum": 0.9},
        {"type": "integer", "minimum": 1e308, "multipleOf": 1e-308},
        {"type": "string", "enum": []},
        {"type": "array", "items": {"type": "string", "enum": ["a"]}, "minItems": 10**9},
        {"type": "object"},
        {"enum": [None, {}]},
    ],
    ids=str,
)
def test_where_nothing_fits_nothing_is_made_up(schema):
    assert generate("f", schema, Chance(1, "f")) is None


def test_a_long_list_of_options_of_which_none_fits_takes_no_time():
    schema = {"type": "string", "enum": [f"o{n}" for n in range(20_000)], "maxLength": 0}
    assert generate("f", schema, Chance(1, "f")) is None


def test_a_value_that_breaks_the_form_or_the_schema_does_not_fit():
    assert fits("f", {"type": "string"}, "x")
    assert not fits("f", {"type": "string"}, 1)
    assert not fits("f", {"type": "string", "format": "email"}, "x")
    assert not fits("f", {"type": "string", "pattern": "^y"}, "x")
    assert fits("f", {"type": "string", "x": "\ud800"}, "x")


def test_numbers_of_chance_are_spread():
    assert {Chance(seed, "x").below(5) for seed in range(60)} == set(range(5))
