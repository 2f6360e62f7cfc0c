from __future__ import annotations

import pytest

from mcp_tap.answers.entering import Option, Refused, entered, options_of
from mcp_tap.core.forms import Field

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}
NUMBER = {"type": "number"}
TRUTH = {"type": "boolean"}
COLOR = {"type": "string", "enum": ["red", "green"]}
TITLED = {
    "type": "string",
    "oneOf": [{"const": "#f00", "title": "Red"}, {"const": "#0f0", "title": "Green"}],
}
NUMBERS = {"type": "string", "enum": ["2", "1", "30"]}
SEVERAL = {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}}
FREE = {"type": "array", "items": {"type": "string"}}


@pytest.mark.parametrize(
    ("schema", "line", "value"),
    [
        (TEXT, "hello  world ", "hello  world "),
        (TEXT, "007", "007"),
        (TEXT, "true", "true"),
        (TEXT, '""', ""),
        (TEXT, '" "', " "),
        (TEXT, '":d"', ":d"),
        (TEXT, r'"two\nlines"', "two\nlines"),
        (TEXT, '"', '"'),
        (TEXT, ":)", ":)"),
        (WHOLE, " 3 ", 3),
        (WHOLE, "-3", -3),
        (WHOLE, "+3", 3),
        (WHOLE, "12345678901234567890", 12345678901234567890),
        (NUMBER, "2.5", 2.5),
        (NUMBER, "3", 3),
        (NUMBER, "1e3", 1000.0),
        (TRUTH, "Y", True),
        (TRUTH, "yes", True),
        (TRUTH, "True", True),
        (TRUTH, "0", False),
        (TRUTH, "no", False),
        (COLOR, "1", "red"),
        (COLOR, "#2", "green"),
        (COLOR, "green", "green"),
        (COLOR, '"green"', "green"),
        (TITLED, "Red", "#f00"),
        (TITLED, "#0f0", "#0f0"),
        (TITLED, "2", "#0f0"),
        (NUMBERS, "#1", "2"),
        (NUMBERS, '"1"', "1"),
        (NUMBERS, "30", "30"),
        (NUMBERS, "3", "30"),
        (SEVERAL, "1, c", ["a", "c"]),
        (SEVERAL, "a,a,1", ["a"]),
        (SEVERAL, "[]", []),
        (SEVERAL, '["b"]', ["b"]),
        (FREE, 'x, "y"', ["x", "y"]),
        ({"type": "object"}, '{"a": 1}', {"a": 1}),
        ({"type": ["string", "null"]}, "word", "word"),
        ({}, "4", 4),
    ],
)
def test_what_is_typed_is_the_value_that_is_meant(schema, line, value):
    found = entered(Field("f", schema), line)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("schema", "line", "why"),
    [
        (TEXT, '"a" b"', "read as JSON"),
        (WHOLE, "2.5", "a whole number"),
        (WHOLE, "1_000", "a whole number"),
        (WHOLE, "three", "a whole number"),
        (WHOLE, "٣", "a whole number"),
        (NUMBER, "1,5", "a number"),
        (NUMBER, "nan", "a number"),
        (NUMBER, "1e999", "too large"),
        (TRUTH, "maybe", "y or n"),
        (COLOR, "3", "a number from 1 to 2"),
        (COLOR, "0", "a number from 1 to 2"),
        (COLOR, "#3", "a number from 1 to 2"),
        (COLOR, "Red", "a number from 1 to 2"),
        (COLOR, '"1"', "a number from 1 to 2"),
        (NUMBERS, "1", "may be two of them"),
        (SEVERAL, "a,,b", "commas between"),
        (SEVERAL, "a, d", "a number from 1 to 3"),
        (SEVERAL, "[a]", "read as JSON"),
    ],
)
def test_what_is_no_value_is_refused_with_what_to_write(schema, line, why):
    with pytest.raises(Refused, match=why):
        entered(Field("f", schema), line)


def test_title_that_several_options_have_is_not_guessed():
    two = [{"const": "a", "title": "Same"}, {"const": "b", "title": "Same"}]
    with pytest.raises(Refused, match="several have that title"):
        entered(Field("f", {"type": "string", "oneOf": two}), "Same")


def test_options_keep_the_servers_order_and_titles():
    assert options_of(Field("f", TITLED)) == [Option("#f00", "Red"), Option("#0f0", "Green")]
    assert options_of(Field("f", SEVERAL)) == [Option("a"), Option("b"), Option("c")]
    named = {"type": "string", "enum": ["b", "a"], "enumNames": ["Bee"]}
    assert options_of(Field("f", named)) == [Option("b", "Bee"), Option("a")]
    many = {"type": "array", "items": {"anyOf": [{"const": "x", "title": "X!"}]}}
    assert options_of(Field("f", many)) == [Option("x", "X!")]
    assert options_of(Field("f", TEXT)) == []
