from __future__ import annotations

import pytest

from mcp_tap.core.forms import (
    MOST_FIELDS,
    Field,
    Form,
    bounds,
    check_format,
    choices,
    has_type,
    is_composition,
    json_type,
    styles,
)

CHOICE = [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]


@pytest.mark.parametrize(
    ("name", "text", "fits"),
    [
        ("email", "a@b.c", True),
        ("email", "почта@пример.рф", True),
        ("email", '"a@b"@c.d', True),
        ("email", "a@b@c", False),
        ("email", "@b.c", False),
        ("email", "a@", False),
        ("email", "a.b.c", False),
        ("uri", "https://a.b", True),
        ("uri", "urn:isbn:1", True),
        ("uri", "a.b/c", False),
        ("uri", "/a", False),
        ("date", "2024-02-29", True),
        ("date", "2023-02-29", False),
        ("date", "1900-02-29", False),
        ("date", "2024-13-01", False),
        ("date", "2024-1-1", False),
        ("date", "٢٠٢٤-01-01", False),
        ("date-time", "2024-02-29T23:59:60Z", True),
        ("date-time", "2024-02-29t00:00:00.5+23:59", True),
        ("date-time", "2024-02-29T12:00", False),
        ("date-time", "2024-02-29T12:00:00", False),
        ("date-time", "2024-02-30T12:00:00Z", False),
        ("date-time", "2024-02-29T24:00:00Z", False),
        ("uuid", "anything", True),
    ],
)
def test_a_format_is_broken_only_by_clear_violations(name, text, fits):
    assert check_format(name, text) is fits


@pytest.mark.parametrize(
    ("kind", "value", "fits"),
    [
        ("string", "", True),
        ("string", 1, False),
        ("number", 0.25, True),
        ("number", True, False),
        ("integer", 5.0, True),
        ("integer", 5.5, False),
        ("integer", False, False),
        ("integer", float("inf"), False),
        ("boolean", True, True),
        ("boolean", 1, False),
        ("array", [], True),
        ("array", {}, False),
        ("file", None, True),
        (None, None, True),
    ],
)
def test_types_are_those_of_json(kind, value, fits):
    assert has_type(kind, value) is fits


def test_types_have_names():
    values = [None, True, "", [], {}, 5, 5.0, 0.5]
    names = "null,a boolean,a string,an array,an object,an integer,an integer,a number"
    assert [json_type(value) for value in values] == names.split(",")


@pytest.mark.parametrize(
    ("schema", "offered"),
    [
        ({"type": "string", "enum": ["a", "b"]}, ("a", "b")),
        ({"enum": ["a"]}, ("a",)),
        ({"type": "string", "oneOf": CHOICE}, ("a", "b")),
        ({"type": "string", "enum": ["c"], "oneOf": CHOICE}, ("c", "a", "b")),
        ({"type": "array", "items": {"type": "string", "enum": ["a"]}}, ("a",)),
        ({"type": "array", "items": {"anyOf": CHOICE}}, ("a", "b")),
        ({"type": "string"}, None),
        ({"type": "string", "anyOf": CHOICE}, None),
        ({"type": "string", "enum": []}, None),
        ({"type": "string", "enum": ["a", 1]}, None),
        ({"type": "string", "enum": "a"}, None),
        ({"type": "string", "oneOf": [{"title": "A"}]}, None),
        ({"type": "integer", "enum": [1]}, None),
        ({"type": "array", "items": [1]}, None),
    ],
)
def test_choices_are_those_of_sound_lists_where_clients_look(schema, offered):
    assert choices(schema) == offered


def test_a_list_under_the_wrong_keyword_still_makes_a_field_no_free_text():
    assert styles({"type": "string", "anyOf": CHOICE}) == ("anyOf",)
    assert not Field("f", {"type": "string", "anyOf": CHOICE}).free
    assert Field("f", {"type": "string"}).free
    assert not Field("f", {"type": "boolean"}).free


def test_bounds_that_are_none_do_not_count():
    assert bounds({"minLength": 2, "maxLength": -1}, "string") == (2, None)
    assert bounds({"minimum": "1", "maximum": 2.5}, "integer") == (None, 2.5)
    assert bounds({"minItems": True, "maxItems": 3.0}, "array") == (None, 3.0)
    assert bounds({"minLength": 2}, "file") == (None, None)


def test_options_that_lack_something_are_no_composition():
    assert not is_composition([{"title": "A"}, "b"])
    assert not is_composition([{"const": "a", "type": "string"}])
    assert is_composition([{"const": "a"}, {"type": "null"}])
    assert is_composition({"type": "string"})


def test_of_a_form_no_more_fields_are_read_than_there_is_room_for():
    assert 300 < MOST_FIELDS < 10_000
    for count, whole in ((MOST_FIELDS, True), (MOST_FIELDS + 1, False)):
        form = Form({"properties": {f"f{n}": {"type": "string"} for n in range(count)}})
        assert (len(form.fields), form.whole) == (MOST_FIELDS, whole)
