from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_tap.answers.entering import LEFT_OUT, Refused
from mcp_tap.answers.fill import check_content
from mcp_tap.answers.person import Talk
from mcp_tap.answers.question import Question

DEPLOY = {
    "type": "object",
    "properties": {
        "proceed": {"type": "boolean", "title": "Go ahead"},
        "strategy": {"type": "string", "enum": ["rolling", "blue-green"], "default": "rolling"},
        "minutes": {"type": "integer", "minimum": 5, "maximum": 90},
    },
    "required": ["proceed"],
}


def form(schema=DEPLOY, **given):
    return Question(key="confirm", ask="form", params={"requestedSchema": schema}, **given)


def talk(question, *lines, **given):
    """Type these lines, and give the talk as it stands then."""
    made = Talk(question, **given)
    for line in lines:
        assert made.said is None, f"nothing was to be typed any more: {line}"
        made.enter(line)
    return made


def test_form_is_filled_field_by_field_and_sent_after_a_review():
    made = talk(form(), "y", "2")
    assert (made.prompt.where, made.prompt.field.name) == ("field", "minutes")
    made = talk(form(), "y", "2", "30")
    assert made.prompt.where == "review"
    assert made.said is None
    made.enter("a")
    content = {"proceed": True, "strategy": "blue-green", "minutes": 30}
    assert made.said == {"action": "accept", "content": content}


def test_empty_lines_take_defaults_and_leave_out_what_has_none():
    made = talk(form(), "n", "", "", "")
    content = {"proceed": False, "strategy": "rolling"}
    assert made.said == {"action": "accept", "content": content}


def test_field_with_a_default_can_be_left_out():
    assert talk(form(), "n", ":-", "", "a").said["content"] == {"proceed": False}


@pytest.mark.parametrize("line", ["", "  ", ":-"])
def test_required_field_has_to_be_filled(line):
    made = talk(form(), line)
    assert made.prompt.field.name == "proceed"
    assert made.prompt.required
    assert made.prompt.note == "it is required"


@pytest.mark.parametrize(
    ("schema", "line", "why"),
    [
        ({"type": "integer", "minimum": 5}, "4", "below its minimum of 5"),
        ({"type": "number", "maximum": 5}, "5.1", "above its maximum of 5"),
        ({"type": "number", "exclusiveMinimum": 5}, "5", "schema's exclusiveMinimum"),
        ({"type": "string", "minLength": 3}, "ab", "below its minLength of 3"),
        ({"type": "string", "pattern": "^[a-z]+$"}, "A", "schema's pattern"),
        ({"type": "string", "format": "email"}, "nobody", "no email"),
        ({"type": "string", "format": "date"}, "tomorrow", "no date"),
        ({"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 1}, "[]", "below its minIte"),
        ({"type": "object"}, '{"a": 1}', "no form can ask for"),
        ({"type": "integer"}, "many", "a whole number"),
    ],
)
def test_value_is_held_against_the_schema_as_it_is_typed(schema, line, why):
    made = talk(form({"type": "object", "properties": {"f": schema, "g": schema}}), line)
    assert made.prompt.field.name == "f"
    assert why in made.prompt.note
    assert made.content == {}


def test_default_that_does_not_fit_is_not_offered():
    bad = {"type": "object", "properties": {"n": {"type": "integer", "default": "lots"}}}
    made = talk(form(bad))
    assert made.prompt.offer is LEFT_OUT
    made.enter("")
    assert made.content == {}


def test_what_was_typed_can_be_gone_through_again():
    made = talk(form(), "y", "2", "30", "e")
    assert (made.prompt.field.name, made.prompt.offer) == ("proceed", True)
    for line in ("", "", "45", "accept"):
        made.enter(line)
    content = {"proceed": True, "strategy": "blue-green", "minutes": 45}
    assert made.said["content"] == content


def test_one_step_back_goes_one_field_back():
    made = talk(form(), "y", ":b")
    assert made.prompt.field.name == "proceed"
    assert talk(form(), ":b").prompt.field.name == "proceed"
    assert talk(form(), "y", "", "7", "b").prompt.field.name == "minutes"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([":d"], {"action": "decline"}),
        ([":c"], {"action": "cancel"}),
        ([":p"], "pass"),
        ([":f"], "fail"),
        (["y", ":decline"], {"action": "decline"}),
        (["y", "", "", "d"], {"action": "decline"}),
        (["y", "", "", ":c"], {"action": "cancel"}),
        (["y", "", "", "PASS"], "pass"),
    ],
)
def test_person_may_end_it_anywhere(lines, said):
    assert talk(form(), *lines).said == said


def test_text_that_looks_like_a_word_is_a_text():
    words = {"type": "object", "properties": {"f": {"type": "string"}}}
    for line in ("decline", "d", "p", "?", "a"):
        assert talk(form(words), line, "a").said["content"] == {"f": line}
    assert talk(form(words), '":d"', "a").said["content"] == {"f": ":d"}


def test_help_is_there_for_one_prompt():
    made = talk(form(), ":?")
    assert made.prompt.help
    made.enter("y")
    assert not made.prompt.help


def test_what_is_no_word_is_said_to_be_none():
    made = talk(form(), "y", "", "", "sure")
    assert "first letter" in made.prompt.note
    assert made.said is None
    made = talk(form(), "y", ":a")
    assert made.content == {"proceed": True}
    assert made.prompt.note is not None


def test_form_without_fields_is_agreed_to_by_a_word():
    for empty in ({"type": "object", "properties": {}}, None):
        made = talk(form(empty), "")
        assert (made.prompt.where, made.said) == ("consent", None)
        made.enter("a")
        assert made.said == {"action": "accept", "content": {}}


def test_form_that_nothing_can_fit_is_not_sent():
    schema = {"type": "object", "properties": {"f": {"type": "string"}}, "minProperties": 2}
    made = talk(form(schema), "x", "a")
    assert made.said is None
    assert "schema's minProperties" in made.prompt.note
    made.enter("d")
    assert made.said == {"action": "decline"}


def test_link_is_agreed_to_by_a_word_and_never_by_an_empty_line():
    link = Question(key="k", ask="url", params={"mode": "url", "url": "https://example.com/"})
    assert talk(link, "", "  ", "nope").said is None
    assert talk(link, "a").said == {"action": "accept"}
    assert talk(link, "d").said == {"action": "decline"}
    assert talk(link).prompt.commands == ("accept", "decline", "cancel", "pass")


def test_sampling_takes_lines_of_text():
    asked = Question(key="k", ask="sampling", params={"messages": []})
    made = talk(asked, "Paris.", "", "Yes.", ".")
    assert made.prompt.where == "review"
    made.enter("")
    assert made.said == {
        "role": "assistant",
        "content": {"type": "text", "text": "Paris.\n\nYes."},
        "model": "a person",
        "stopReason": "endTurn",
    }
    assert talk(asked, "one", ":b", "two", ".", "a").said["content"]["text"] == "two"
    assert talk(asked, "one", ".", "e", "two", ".", "a").said["content"]["text"] == "two"
    assert talk(asked, ":f").said == "fail"


@pytest.mark.parametrize("word", ["d", "c"])
def test_sampling_and_roots_have_nothing_to_decline(word):
    for kind, lines in (("sampling", ["x", "."]), ("roots", [""])):
        made = talk(Question(key="k", ask=kind), *lines, word)
        assert made.said is None
        assert "nothing to" in made.prompt.note


def test_roots_take_folders():
    def uri(text):
        if text == "nowhere":
            raise Refused("there is no such folder")
        return "file://" + text

    asked = Question(key="k", ask="roots")
    made = talk(asked, " /home/ada ", "nowhere", root=uri)
    assert made.prompt.note == "there is no such folder"
    made.enter("/srv")
    made.enter("")
    made.enter("a")
    assert made.said == {"roots": [{"uri": "file:///home/ada"}, {"uri": "file:///srv"}]}
    assert talk(asked, "", "a").said == {"roots": []}


def test_client_that_cannot_be_asked_is_not_passed_anything():
    made = talk(form(declared=False), ":p")
    assert made.said is None
    assert "never said that it can" in made.prompt.note
    assert "pass" not in made.prompt.commands


def test_question_of_no_known_kind_can_only_fail_or_be_passed():
    made = talk(Question(key="k", ask="other"))
    assert made.prompt.commands == ("fail", "pass")
    made.enter("a")
    assert made.said is None
    made.enter("f")
    assert made.said == "fail"


_VALUES = st.sampled_from(
    ["", "y", "n", "1", "2", "30", "-1", "x", ":-", ":b", "e", "a", "d", "?", ":?", '"', "[]"]
) | st.text(max_size=8)
_SCHEMAS = st.dictionaries(
    st.sampled_from(["a", "b", "c"]),
    st.sampled_from(
        [
            {"type": "string", "maxLength": 4},
            {"type": "integer", "minimum": 0, "default": 3},
            {"type": "boolean"},
            {"type": "string", "enum": ["1", "x"]},
            {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}, "maxItems": 1},
            {"type": "nonsense"},
            7,
        ]
    ),
)


@given(_SCHEMAS, st.lists(st.sampled_from(["a", "b"])), st.lists(_VALUES, max_size=12))
def test_whatever_is_typed_only_what_fits_is_ever_sent(properties, required, lines):
    asked = form({"type": "object", "properties": properties, "required": required})
    made = Talk(asked)
    for line in lines:
        assert made.prompt.where in ("field", "review", "consent")
        if made.said is None:
            made.enter(line)
    if isinstance(made.said, dict) and made.said["action"] == "accept":
        check_content(asked, made.said["content"])
