from __future__ import annotations

import pytest

from tests.cases import (
    fired,
    ids,
)
from tests.unit.rules.elicited import CHOICE, MINE, field, old

SEVERAL = {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}


@pytest.mark.parametrize("name", ["uuid", "time", "hostname", "Email", "", 5])
def test_other_formats_of_strings_are_unknown(name):
    assert ids(field(type="string", format=name), *MINE) == ["ELIC-022"]


@pytest.mark.parametrize("name", ["email", "uri", "date", "date-time"])
def test_four_formats_are_known(name):
    assert ids(field(type="string", format=name), *MINE) == []


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ({"type": "string", "const": "a"}, ["const"]),
        ({"type": "string", "const": None}, ["const"]),
        ({"type": "integer", "exclusiveMinimum": 0}, ["exclusiveMinimum"]),
        ({"type": "number", "exclusiveMaximum": 1}, ["exclusiveMaximum"]),
        ({"type": "number", "multipleOf": 0.5}, ["multipleOf"]),
        ({**SEVERAL, "uniqueItems": True}, ["uniqueItems"]),
        ({**SEVERAL, "uniqueItems": False}, []),
        ({"type": "string", "contains": {}}, ["contains"]),
        ({"type": "string", "properties": {}}, ["properties"]),
        ({"type": "boolean", "additionalProperties": False}, ["additionalProperties"]),
        ({"type": "string", "items": {}}, ["items"]),
        ({"type": "string", "contentEncoding": "base64"}, ["contentEncoding"]),
        ({"type": "string", "contentMediaType": "text/html"}, ["contentMediaType"]),
        ({"type": "string", "readOnly": True, "writeOnly": True}, ["readOnly", "writeOnly"]),
        ({"type": "string", "readOnly": False}, []),
        ({"type": "integer", "format": "int64"}, ["format"]),
        ({"type": "number", "format": "double"}, ["format"]),
        ({"type": "string", "title": "T", "description": "D", "default": "x"}, []),
        ({"type": "string", "examples": ["x"], "deprecated": True, "$comment": "c", "x-a": 1}, []),
    ],
)
def test_keywords_that_clients_ignore_are_told_of(found, words):
    assert [f.spot for f in fired(field(**found), "ELIC-023")] == words
    assert set(ids(field(**found), *MINE)) <= {"ELIC-023"}


def test_pattern_is_told_of_only_where_the_text_dropped_it():
    assert ids(field(type="string", pattern="^a$"), *MINE) == ["ELIC-024"]
    assert ids(field(type="string", pattern="(a+)+$", default="a" * 50 + "b"), *MINE) == [
        "ELIC-024"
    ]
    assert ids(old("2025-11-25", type="string", pattern="^a$"), *MINE) == []


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({"type": "string", "minLength": 2, "maxLength": 2}, []),
        ({"type": "string", "minLength": 0, "maxLength": 2.0}, []),
        ({"type": "number", "minimum": 0.5, "maximum": 0.5}, []),
        ({"type": "integer", "minimum": -3, "maximum": 1e9}, []),
        ({**SEVERAL, "minItems": 2, "maxItems": 9}, []),
        ({"type": "integer", "minLength": 1}, ["minLength"]),
        ({"type": "boolean", "maxLength": 1}, ["maxLength"]),
        ({"type": "string", "minimum": 1, "maximum": 2}, ["maximum", "minimum"]),
        ({"type": "string", "minItems": 1}, ["minItems"]),
        ({**SEVERAL, "maxLength": 1}, ["maxLength"]),
        ({"type": "string", "minLength": -1}, ["minLength"]),
        ({"type": "string", "maxLength": 1.5}, ["maxLength"]),
        ({"type": "string", "maxLength": "5"}, ["maxLength"]),
        ({"type": "string", "maxLength": None}, ["maxLength"]),
        ({"type": "string", "minLength": True}, ["minLength"]),
        ({"type": "number", "minimum": "0"}, ["minimum"]),
        ({"type": "number", "maximum": False}, ["maximum"]),
        ({**SEVERAL, "maxItems": -1}, ["maxItems"]),
        ({"type": "string", "minLength": 10, "maxLength": 5}, ["minLength"]),
        ({"type": "integer", "minimum": 2, "maximum": 1}, ["minimum"]),
        ({**SEVERAL, "minItems": 3}, ["minItems"]),
        ({"type": "array", "items": {"anyOf": CHOICE}, "minItems": 3}, ["minItems"]),
    ],
)
def test_bounds_make_sense(found, expected):
    assert [f.spot for f in fired(field(**found), "ELIC-025")] == expected


@pytest.mark.parametrize(
    "found",
    [
        {"type": "string", "default": ""},
        {"type": "string", "minLength": 3, "default": ""},
        {"type": "string", "format": "email", "default": ""},
        {"type": "string", "format": "email", "default": "a@b.c"},
        {"type": "integer", "default": 5.0},
        {"type": "number", "minimum": 1, "maximum": 1, "default": 1},
        {"type": "boolean", "default": False},
        {"type": "string", "enum": ["a"], "default": "a"},
        {"type": "string", "oneOf": CHOICE, "default": "b"},
        {"type": "array", "items": {"anyOf": CHOICE}, "default": []},
        {**SEVERAL, "default": ["b", "a"]},
        {"type": "string", "default": "mcp-tap:0123456789abcdef", "enum": ["a"]},
    ],
)
def test_a_default_may_fit(found):
    assert ids(field(**found), "ELIC-030") == []


@pytest.mark.parametrize(
    "found",
    [
        {"type": "string", "default": None},
        {"type": "string", "default": 5},
        {"type": "integer", "default": "5"},
        {"type": "integer", "default": 2.5},
        {"type": "integer", "default": True},
        {"type": "boolean", "default": "false"},
        {"type": "boolean", "default": 0},
        {"type": "string", "enum": ["a"], "default": "A"},
        {"type": "string", "enum": ["a"], "default": ""},
        {"type": "string", "oneOf": CHOICE, "default": "A"},
        {"type": "array", "items": {"anyOf": CHOICE}, "default": ["A"]},
        {**SEVERAL, "default": "a"},
        {**SEVERAL, "default": ["a", "c"]},
        {**SEVERAL, "default": ["a", None]},
        {**SEVERAL, "minItems": 2, "default": ["a"]},
        {**SEVERAL, "maxItems": 1, "default": ["a", "b"]},
        {"type": "number", "minimum": 1, "default": 0.5},
        {"type": "integer", "maximum": 5, "default": 9},
        {"type": "string", "minLength": 3, "default": "ab"},
        {"type": "string", "maxLength": 1, "default": "ab"},
        {"type": "string", "format": "email", "default": "nobody"},
        {"type": "string", "format": "uri", "default": "example.com"},
        {"type": "string", "format": "date", "default": "today"},
        {"type": "string", "format": "date-time", "default": "2026-07-28T12:00"},
    ],
)
def test_a_default_must_fit(found):
    (hit,) = fired(field(**found), "ELIC-030")
    assert (hit.spot, hit.severity, hit.blame) == ("f", "error", "server")


def test_a_default_of_what_cannot_be_told_is_not_judged():
    for found in (
        {"type": ["string", "null"], "default": None},
        {"type": "string", "enum": ["a", 1], "default": "c"},
        {"type": "string", "anyOf": CHOICE, "default": "c"},
    ):
        assert "ELIC-030" not in ids(field(**found))


def test_defaults_of_old_sessions_are_another_rules():
    assert ids(old("2025-06-18", type="integer", default="5"), "ELIC-030") == []
    assert ids(old("2025-11-25", type="integer", default="5"), "ELIC-030") == ["ELIC-030"]
