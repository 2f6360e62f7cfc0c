"""What is sent is what the entry says; what cannot be sent is said, and no secret with it."""

from __future__ import annotations

import pytest

from mcp_tap.answers.recall import Recording
from tests.asks import book, form, given, of, refusal, roots, sampling, url

SECRET = "hunter2-hunter2"
NUMBERS = {"n": {"type": "integer"}, "x": {"type": "number"}, "b": {"type": "boolean"}}


def answer(lines):
    return f'[[answer]]\nname = "who are you"\n{lines}'


def captured(*pairs):
    return {("a.toml", "c.jsonl"): Recording(pairs)}


CAPTURE = 'capture = "c.jsonl"\nfill = '


def test_content_is_sent_as_it_is_written():
    text = answer('content = { a = "NO", l = ["x"] }')
    ask = form(a=None, l={"type": "array", "items": {"type": "string", "enum": ["x", "y"]}})
    assert given(text, ask) == {"action": "accept", "content": {"a": "NO", "l": ["x"]}}


def test_a_misfit_is_not_sent():
    error = refusal(
        answer('content = { name = "o" }'), form(name={"type": "string", "minLength": 3})
    )
    assert str(error) == (
        'error[answer-misfit]: answer "who are you" does not fit the schema it was asked to fill\n'
        '  where: a.toml, answer 1, content.name, for ask "confirm" of tools/call deploy, round 1\n'
        '  why:  1 character for "name", below its minLength of 3; nothing was sent\n'
        "  help: check = false sends it anyway"
    )


@pytest.mark.parametrize(
    ("content", "fields", "required", "why"),
    [
        ("a = 1", {"a": None}, (), "an integer for"),
        ("", {"a": None}, ("a",), "which is required"),
        ("b = 'x'", {"a": None}, (), "which the form does not define"),
        ("a = 'z'", {"a": {"type": "string", "enum": ["x"]}}, (), "none of its options"),
        ("a = 7", {"a": {"type": "integer", "maximum": 5}}, (), "above its maximum"),
        ("a = [1]", {"a": {"type": "array", "items": {"type": "string"}}}, (), "an array of"),
        ("a = 'x'", {"a": {"type": "string", "pattern": "^y"}}, (), "pattern refuses"),
        ("a = 3", {"a": {"type": "integer", "multipleOf": 2}}, (), "multipleOf refuses"),
    ],
)
def test_what_does_not_fit_is_said(content, fields, required, why):
    error = refusal(answer(f"content = {{ {content} }}"), form(required=required, **fields))
    assert error.code == "answer-misfit"
    assert why in error.why


def test_a_misfit_can_be_sent_on_purpose():
    text = answer('content = { n = "three", more = [1, 2] }\ncheck = false')
    assert given(text, form(n={"type": "integer"}))["content"] == {"n": "three", "more": [1, 2]}


def test_a_form_without_a_schema_takes_anything():
    ask = of(form(), params={"message": "?"})
    assert given(answer("content = { a = 1 }"), ask)["content"] == {"a": 1}


# environment


def test_a_value_comes_from_the_environment_and_is_marked():
    decided = book(answer('content = { "a/b" = { env = "T" }, c = "x" }'), {"T": SECRET}).decide(
        [form(**{"a/b": None, "c": None})]
    )
    found = decided.answers["confirm"]
    assert found.answer["content"] == {"a/b": SECRET, "c": "x"}
    assert found.secrets == ("/content/a~1b",)


def test_a_variable_that_is_no_text_is_named():
    error = refusal(answer('content = { a = { env = "T" } }'), form(a=None), {"T": "s\udcff"})
    assert error.code == "answer-misfit"
    assert "needs T, which is no UTF-8" in error.what + (error.why or "")
    assert "udcff" not in str(error)


def test_a_variable_that_is_missing_is_named():
    error = refusal(answer('content = { a = { env = "OTP_CODE" } }'), form(a=None), {"X": SECRET})
    assert error.code == "env-missing"
    assert "needs OTP_CODE" in error.what
    assert error.help == "export OTP_CODE=..."


@pytest.mark.parametrize(
    "field",
    [
        {"type": "string", "maxLength": 3},
        {"type": "string", "enum": ["a"]},
        {"type": "string", "pattern": "^a$"},
        {"type": "string", "format": "email"},
        {"type": "integer"},
        {"type": "boolean"},
        {"type": "array", "items": {"type": "string", "enum": ["a"]}},
    ],
)
def test_no_error_holds_a_value_of_the_environment(field):
    error = refusal(answer('content = { a = { env = "T" } }'), form(a=field), {"T": SECRET})
    assert error.code == "answer-misfit"
    assert "hunter2" not in f"{error}{error.why}{error.where}"


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [("n", "42", 42), ("x", "1.5", 1.5), ("x", "7", 7), ("b", "true", True), ("b", "FALSE", False)],
)
def test_a_value_of_the_environment_is_read_as_its_field_takes_it(name, text, value):
    found = given(answer(f'content = {{ {name} = {{ env = "T" }} }}'), form(**NUMBERS), {"T": text})
    assert found["content"] == {name: value}


def test_a_choice_of_several_is_read_between_commas():
    field = {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}
    text = answer('content = { l = { env = "T" } }')
    assert given(text, form(l=field), {"T": "a, b"})["content"] == {"l": ["a", "b"]}


@pytest.mark.parametrize("text", ["nan", "inf", "1e999", "x"])
def test_what_is_no_number_of_json_stays_a_text_and_does_not_fit(text):
    found = refusal(answer('content = { x = { env = "T" } }'), form(**NUMBERS), {"T": text})
    assert "a string for" in found.why


# defaults


def test_the_others_get_their_defaults():
    text = answer('content = { region = "eu-north-1", "*" = { default = true } }')
    ask = form(region=None, size={"type": "integer", "default": 3}, note=None)
    assert given(text, ask)["content"] == {"region": "eu-north-1", "size": 3}


def test_the_others_need_a_default_where_they_are_required():
    text = answer('content = { "*" = { default = true } }')
    error = refusal(text, form(required=["note"], note=None))
    assert error.code == "cannot-fill"
    assert error.what == 'answer "who are you" cannot fill "note", which is required'
    assert error.why == "it has no default that fits"


def test_a_default_that_is_asked_for_must_be_there():
    text = answer("content = { a = { default = true } }")
    assert given(text, form(a={"type": "string", "default": "x"}))["content"] == {"a": "x"}
    assert refusal(text, form(a=None)).code == "no-default"
    assert refusal(text, form(b=None)).code == "no-default"


def test_all_others_can_get_one_value():
    text = answer('content = { a = "1", "*" = "2" }')
    assert given(text, form(a=None, b=None, c=None))["content"] == {"a": "1", "b": "2", "c": "2"}


# fill


def test_ways_to_fill_are_tried_in_their_order_for_each_field():
    text = answer('fill = ["default", "generate"]\nseed = 7\ncontent = { c = "mine" }')
    ask = form(a={"type": "string", "default": "A"}, b={"type": "boolean"}, c=None)
    found = given(text, ask)["content"]
    assert (found["a"], found["c"]) == ("A", "mine")
    assert isinstance(found["b"], bool)


def test_a_default_that_does_not_fit_is_not_taken():
    text = answer('fill = ["default", "generate"]')
    found = given(text, form(n={"type": "integer", "default": 9, "maximum": 5}))["content"]
    assert found["n"] <= 5


def test_without_a_way_that_fits_an_optional_field_is_left_out():
    assert given(answer('fill = ["default"]'), form(a=None))["content"] == {}


def test_what_is_made_up_follows_the_seed_and_the_key():
    ask = form(a=None, b={"type": "integer"})
    texts = [answer(f'fill = ["generate"]\nseed = {seed}') for seed in (1, 1, 2)]
    one, same, other = (given(text, ask)["content"] for text in texts)
    assert one == same != other
    assert given(texts[0], of(ask, key="else"))["content"] != one
    assert given(texts[0], of(ask, call=9, round=4))["content"] == one


def test_a_field_nothing_can_be_made_up_for_is_named():
    ask = form(required=["a"], a={"type": "string", "minLength": 10**9})
    error = refusal(answer('fill = ["default", "generate"]'), ask)
    assert error.why == "it has no default that fits; nothing made up fits it"


# capture


def test_what_was_said_is_said_again():
    ask = form(a=None, b=None)
    text = answer(CAPTURE + '["capture"]')
    said = {"action": "accept", "content": {"a": "1", "gone": "x"}}
    assert given(text, ask, recorded=captured((ask, said)))["content"] == {"a": "1"}
    declined = captured((ask, {"action": "decline"}))
    assert given(text, ask, recorded=declined) == {"action": "decline"}


def test_an_action_that_is_written_counts_more_than_the_captures():
    ask = form(a=None)
    text = answer(CAPTURE + '["capture"]\naction = "accept"')
    recorded = captured((ask, {"action": "decline", "content": {"a": "x"}}))
    assert given(text, ask, recorded=recorded) == {"action": "accept", "content": {"a": "x"}}


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (url("https://a.example/"), {"action": "cancel"}),
        (sampling("?"), {"role": "assistant", "content": {"type": "image"}, "model": "m"}),
        (roots(), {"roots": [{"uri": "file:///a"}]}),
    ],
)
def test_every_kind_of_answer_can_be_said_again(ask, said):
    assert given(answer(CAPTURE + '["capture"]'), ask, recorded=captured((ask, said))) == said


def test_what_was_not_recorded_is_said_or_filled_in_other_ways():
    ask = form(a={"type": "string", "default": "d"})
    assert refusal(answer(CAPTURE + '["capture"]'), ask, recorded=captured()).code == "not-recorded"
    assert refusal(answer(CAPTURE + '["capture"]'), ask).code == "not-recorded"
    text = answer(CAPTURE + '["capture", "default"]')
    assert given(text, ask, recorded=captured())["content"] == {"a": "d"}


def test_what_was_masked_cannot_be_said_again():
    mask = "mcp-tap:0123456789abcdef"
    ask = form(required=["a"], a=None)
    text = answer(CAPTURE + '["capture"]')
    found = refusal(
        text, ask, recorded=captured((ask, {"action": "accept", "content": {"a": mask}}))
    )
    assert found.code == "cannot-fill"
    said = {"role": "assistant", "content": {"type": "text", "text": mask}}
    assert refusal(text, sampling("?"), recorded=captured((sampling("?"), said))).code == "masked"


# other kinds


def test_url_asks_are_accepted_declined_or_cancelled():
    for action in ("accept", "decline", "cancel"):
        assert given(answer(f'action = "{action}"'), url("https://a.example/")) == {
            "action": action
        }


def test_a_form_that_is_accepted_without_content_gets_an_empty_one():
    assert given(answer('action = "accept"'), form()) == {"action": "accept", "content": {}}


def test_a_model_says_what_is_written():
    assert given(answer('text = "Paris."'), sampling("?")) == {
        "role": "assistant",
        "content": {"type": "text", "text": "Paris."},
        "model": "scripted",
        "stopReason": "endTurn",
    }
    assert given(answer('text = "a"\nmodel = "m"'), sampling("?"))["model"] == "m"


def test_roots_are_listed():
    text = answer('roots = [{ uri = "file:///a", name = "A" }, { uri = "file:///b" }]')
    assert given(text, roots()) == {
        "roots": [{"uri": "file:///a", "name": "A"}, {"uri": "file:///b"}]
    }
