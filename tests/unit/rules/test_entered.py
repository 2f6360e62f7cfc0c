"""What was entered into a form is judged by the form."""

from __future__ import annotations

import pytest

from tests.cases import answer, asking, call, exchange, fired, form, ids, result, traffic


def answered(question, given):
    """Ask, and answer with `given` as the whole answer."""
    retry = call(2, inputResponses={"q": given}, requestState="state-1")
    case = traffic(
        exchange(call(), answer(asking({"q": question}))),
        exchange(retry, answer(result(2, content=[], isError=True))),
    )
    return [f for f in fired(case, "ELIC") if f.blame == "client"]


def entered(schema, value, *, required=False):
    """Enter a value into a form of one field, `f`; say which rules fired."""
    question = form(f=schema)
    if required:
        question["params"]["requestedSchema"]["required"] = ["f"]
    given = {"action": "accept", "content": {} if value is ... else {"f": value}}
    return [f.rule for f in answered(question, given)]


STRING = {"type": "string"}
INTEGER = {"type": "integer", "minimum": 1, "maximum": 5}
CHOICE = {"type": "string", "enum": ["a", "b"]}
TITLED = {"type": "string", "oneOf": [{"const": "#F00", "title": "Red"}]}
SEVERAL = {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}, "minItems": 1}
TITLED_SEVERAL = {
    "type": "array",
    "items": {"anyOf": [{"const": "x", "title": "X"}, {"const": "y", "title": "Y"}]},
    "maxItems": 1,
}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (STRING, "x"),
        (STRING, ""),
        ({"type": "number"}, 0.5),
        ({"type": "number"}, 3),
        (INTEGER, 5.0),
        (INTEGER, 1),
        ({"type": "boolean"}, False),
        (CHOICE, "a"),
        (TITLED, "#F00"),
        (SEVERAL, ["a", "c"]),
        (SEVERAL, ["a", "a"]),
        (TITLED_SEVERAL, []),
        ({**STRING, "minLength": 2, "maxLength": 2}, "\U0001f600\U0001f600"),
        ({**STRING, "format": "email"}, "jörg+x@bücher.example"),
        ({**STRING, "format": "uri"}, "urn:isbn:1"),
        ({**STRING, "format": "date"}, "2028-02-29"),
        ({**STRING, "format": "date"}, ""),
        ({**STRING, "format": "date-time"}, "2028-02-29T10:00:00.5+02:00"),
        ({**STRING, "format": "uuid"}, "none"),
    ],
)
def test_what_fits_is_let_pass(schema, value):
    assert entered(schema, value) == []


@pytest.mark.parametrize(
    ("schema", "value", "rule"),
    [
        (STRING, 3, "ELIC-037"),
        (STRING, True, "ELIC-037"),
        (STRING, ["a"], "ELIC-037"),
        ({"type": "number"}, "3", "ELIC-037"),
        ({"type": "number"}, True, "ELIC-037"),
        (INTEGER, 2.5, "ELIC-037"),
        ({"type": "boolean"}, "true", "ELIC-037"),
        ({"type": "boolean"}, 1, "ELIC-037"),
        (SEVERAL, "a", "ELIC-037"),
        (CHOICE, 1, "ELIC-037"),
        ({**STRING, "minLength": 3}, "ab", "ELIC-038"),
        ({**STRING, "maxLength": 1}, "ab", "ELIC-038"),
        (INTEGER, 0, "ELIC-039"),
        (INTEGER, 6, "ELIC-039"),
        ({"type": "number", "maximum": 0.5}, 0.75, "ELIC-039"),
        ({**STRING, "format": "email"}, "nobody", "ELIC-040"),
        ({**STRING, "format": "email"}, "@example.com", "ELIC-040"),
        ({**STRING, "format": "uri"}, "example.com/x", "ELIC-040"),
        ({**STRING, "format": "date"}, "29.02.2028", "ELIC-040"),
        ({**STRING, "format": "date"}, "2027-02-29", "ELIC-040"),
        ({**STRING, "format": "date-time"}, "2028-02-29T10:00", "ELIC-040"),
        ({**STRING, "format": "date-time"}, "2028-02-29T10:00:00", "ELIC-040"),
        (CHOICE, "A", "ELIC-041"),
        (TITLED, "Red", "ELIC-041"),
        (SEVERAL, ["a", "z"], "ELIC-041"),
        (TITLED_SEVERAL, ["X"], "ELIC-041"),
        (SEVERAL, [], "ELIC-042"),
        (TITLED_SEVERAL, ["x", "y"], "ELIC-042"),
        (STRING, {"a": 1}, "ELIC-044"),
        (STRING, [{}], "ELIC-044"),
        (SEVERAL, [1], "ELIC-044"),
        (STRING, None, "ELIC-045"),
        ({**STRING, "default": "x"}, ..., "ELIC-046"),
    ],
)
def test_what_does_not_fit_is_found_once(schema, value, rule):
    assert entered(schema, value) == [rule]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "object"}, "x"),
        ({"type": ["string", "null"]}, 1),
        ({"type": "file"}, 1),
        ({"type": "array", "items": {"type": "string"}}, "x"),
        ({**STRING, "minLength": 5, "maxLength": 2}, "abc"),
        ({**STRING, "minLength": -1, "maxLength": "2"}, "abc"),
        ({"type": "integer", "minimum": "7"}, 3),
        ({**STRING, "enum": "a"}, "b"),
        ({**STRING, "oneOf": [{"title": "Red"}]}, "b"),
        ({**STRING, "anyOf": [{"const": "a", "title": "A"}]}, "b"),
        ({**SEVERAL, "minItems": 9}, ["a"]),
    ],
)
def test_a_form_that_makes_no_sense_is_not_held_against_the_client(schema, value):
    assert entered(schema, value) == []


def test_a_required_field_that_is_left_out_is_found_whatever_its_default():
    found = entered({**STRING, "default": "x"}, ..., required=True)
    assert sorted(found) == ["ELIC-036", "ELIC-046"]


def test_an_empty_text_in_a_required_field_has_no_format():
    assert entered({**STRING, "format": "date"}, "", required=True) == ["ELIC-040"]


def test_each_required_field_is_found_by_name():
    question = form(a=STRING, b=STRING)
    question["params"]["requestedSchema"]["required"] = ["a", "b", "b", "nowhere", 7]
    found = answered(question, {"action": "accept", "content": {}})
    assert [(f.rule, f.path, f.spot) for f in found] == [
        ("ELIC-036", "/params/inputResponses/q/content/a", "a"),
        ("ELIC-036", "/params/inputResponses/q/content/b", "b"),
    ]


def test_a_field_of_no_form_is_a_warning_and_an_error_where_the_schema_is_closed():
    question = form(a=STRING)
    given = {"action": "accept", "content": {"debug": True}}
    assert [(f.rule, f.severity) for f in answered(question, given)] == [("ELIC-043", "warning")]
    question["params"]["requestedSchema"]["additionalProperties"] = False
    assert [(f.rule, f.severity) for f in answered(question, given)] == [("ELIC-043", "error")]


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_only_what_was_accepted_is_compared_with_the_form(action):
    found = answered(form(f=INTEGER), {"action": action, "content": {"f": "6"}})
    assert [f.rule for f in found] == ["ELIC-034"]


def test_what_was_entered_is_never_said():
    found = answered(form(f=CHOICE), {"action": "accept", "content": {"f": "hunter2"}})
    assert "hunter2" not in found[0].message


def test_a_masked_value_counts_as_entered_and_is_not_looked_at():
    masked = "mcp-tap:0123456789abcdef"
    question = form(f=CHOICE, g=INTEGER)
    question["params"]["requestedSchema"]["required"] = ["f", "g"]
    assert answered(question, {"action": "accept", "content": {"f": masked, "g": masked}}) == []


def test_very_much_content_is_looked_at_in_part():
    content = {f"k{i}": None for i in range(50_000)}
    case = traffic(
        exchange(call(), answer(asking({"q": form()}))),
        exchange(
            call(
                2,
                inputResponses={"q": {"action": "accept", "content": content}},
                requestState="state-1",
            ),
            answer(result(2, content=[])),
        ),
    )
    assert 0 < ids(case).count("ELIC-045") <= 200
