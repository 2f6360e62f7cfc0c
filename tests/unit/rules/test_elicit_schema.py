from __future__ import annotations

import pytest

from mcp_tap.core.forms import MOST_FIELDS
from tests.cases import answer, asking, call, exchange, fired, ids, traffic

MINE = tuple(f"ELIC-{n:03}" for n in (*range(1, 31), 49, 50, 51))
STRING = {"type": "string"}
CHOICE = [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]


def schema(root):
    params = {"mode": "form", "message": "?", "requestedSchema": root}
    entry = {"method": "elicitation/create", "params": params}
    return traffic(exchange(call(), answer(asking({"q": entry}))))


def field(found):
    return schema({"type": "object", "properties": {"f": found}})


def root(**more):
    return schema({"type": "object", "properties": {"a": STRING}, **more})


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({"type": "object", "properties": {}}, []),
        ({"type": "string"}, ["ELIC-013"]),
        ({"properties": {}}, ["ELIC-013"]),
        ({"type": ["object"], "properties": {}}, ["ELIC-013"]),
        ({"type": "Object", "properties": {}}, ["ELIC-013"]),
        ({"type": "object"}, ["ELIC-014"]),
        ({"type": "object", "properties": []}, ["ELIC-014"]),
        ({"type": "object", "properties": None, "required": ["a"]}, ["ELIC-014"]),
        ({}, ["ELIC-013"]),
    ],
)
def test_a_form_is_an_object_of_properties(found, expected):
    assert ids(schema(found), *MINE) == expected


@pytest.mark.parametrize(
    "word",
    [
        *("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "$ref", "dependencies"),
        *("patternProperties", "propertyNames", "dependentRequired", "dependentSchemas"),
        *("unevaluatedProperties", "minProperties", "maxProperties"),
    ],
)
def test_a_root_is_flat(word):
    (found,) = fired(root(**{word: {}}), *MINE)
    assert (found.rule, found.spot) == ("ELIC-015", word)


def test_what_generators_add_to_a_root_is_fine():
    more = {"$schema": "s", "title": "T", "description": "D", "$id": "i", "$comment": "c", "x-a": 1}
    assert ids(root(**more, **{"$defs": {"A": {"type": "object"}}}), *MINE) == []
    assert ids(root(additionalProperties=True), *MINE) == []
    assert ids(root(additionalProperties=False), *MINE) == []
    assert ids(root(additionalProperties={}), *MINE) == ["ELIC-015"]


@pytest.mark.parametrize(
    ("required", "expected"),
    [
        ([], []),
        (["a"], []),
        ("a", ["error"]),
        (None, ["error"]),
        (True, ["error"]),
        ({"a": True}, ["error"]),
        (["a", 1], ["error"]),
        (["a", "a"], ["warning"]),
        (["b"], ["warning"]),
        (["b", "a", "c"], ["warning", "warning"]),
    ],
)
def test_required_names_fields(required, expected):
    found = fired(root(required=required), *MINE)
    assert [f.severity for f in found] == expected
    assert {f.rule for f in found} <= {"ELIC-016"}


def test_required_inside_a_field_requires_nothing():
    assert ids(field({"type": "string", "required": True}), *MINE) == ["ELIC-016"]
    assert ids(field({"type": "object", "properties": {}, "required": []}), *MINE) == ["ELIC-019"]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (True, ["ELIC-017"]),
        (None, ["ELIC-017"]),
        ("string", ["ELIC-017"]),
        ({}, ["ELIC-017"]),
        ({"title": "T"}, ["ELIC-017"]),
        ({"enum": ["a", "b"]}, ["ELIC-017"]),
        ({"oneOf": CHOICE}, ["ELIC-017"]),
        ({"type": ["string", "null"]}, ["ELIC-018"]),
        ({"type": ["string"]}, ["ELIC-018"]),
        ({"type": "null"}, ["ELIC-018"]),
        ({"type": "date"}, ["ELIC-018"]),
        ({"type": "String"}, ["ELIC-018"]),
        ({"type": {}}, ["ELIC-018"]),
        ({"type": "object"}, ["ELIC-019"]),
        ({"type": "object", "properties": {"x": STRING}}, ["ELIC-019"]),
        ({"$ref": "#/$defs/Color"}, ["ELIC-021"]),
        ({"allOf": [{"$ref": "#/$defs/Color"}]}, ["ELIC-021"]),
        ({"not": {"type": "string"}}, ["ELIC-021"]),
        ({"anyOf": [STRING, {"type": "null"}]}, ["ELIC-021"]),
        ({"oneOf": [STRING, {"type": "integer"}]}, ["ELIC-021"]),
        ({"type": "string", "if": {"minLength": 2}}, ["ELIC-021"]),
        ({"type": "string", "$ref": "#/$defs/Color"}, ["ELIC-021"]),
        ({"type": "string", "anyOf": [{"format": "email"}, {"format": "uri"}]}, ["ELIC-021"]),
        (
            {"type": "string", "oneOf": [{"const": "a", "title": "A"}, {"type": "null"}]},
            ["ELIC-021"],
        ),
        ({"type": "string", "oneOf": {"const": "a"}}, ["ELIC-021"]),
        ({"type": "string", "oneOf": CHOICE}, []),
        ({"type": "boolean"}, []),
        ({"type": "number"}, []),
        ({"type": "integer"}, []),
    ],
)
def test_a_field_is_of_one_known_type(found, expected):
    assert ids(field(found), *MINE) == expected


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, ["ELIC-020"]),
        ({"items": True}, ["ELIC-020"]),
        ({"items": [STRING]}, ["ELIC-020"]),
        ({"items": {}}, ["ELIC-020"]),
        ({"items": STRING}, ["ELIC-020"]),
        ({"items": {"type": "number"}}, ["ELIC-020"]),
        ({"items": {"type": "object", "properties": {}}}, ["ELIC-020"]),
        ({"items": {"type": "array", "items": STRING}}, ["ELIC-020"]),
        ({"items": {"$ref": "#/$defs/Color"}}, ["ELIC-020"]),
        ({"items": {"anyOf": [STRING, {"type": "integer"}]}}, ["ELIC-020"]),
        ({"items": {"type": "string", "enum": ["a"]}, "prefixItems": [STRING]}, ["ELIC-020"]),
        ({"items": {"type": "string", "enum": ["a"]}, "contains": STRING}, ["ELIC-020"]),
        ({"items": {"type": "string", "enum": ["a"]}}, []),
        ({"items": {"type": "string", "enum": ["a"]}, "minItems": 1, "maxItems": 1}, []),
        ({"items": {"anyOf": CHOICE}}, []),
        ({"items": {"type": "string", "anyOf": CHOICE}}, []),
        ({"items": {"oneOf": CHOICE}}, ["ELIC-028"]),
    ],
)
def test_an_array_is_a_choice_of_several(more, expected):
    assert ids(field({"type": "array", **more}), *MINE) == expected


def test_a_finding_points_to_its_field():
    (found,) = fired(field({"type": "string", "allOf": []}), *MINE)
    assert found.path == "/result/inputRequests/q/params/requestedSchema/properties/f/allOf"


def test_more_fields_than_anybody_fills_in_are_not_read():
    many = {f"f{n}": {"type": "file"} for n in range(MOST_FIELDS + 5000)}
    found = fired(schema({"type": "object", "properties": many}), *MINE)
    assert 0 < len(found) <= MOST_FIELDS
