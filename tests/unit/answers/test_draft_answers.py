"""An answer is spelled as an entry has it, or taken from the capture."""

from __future__ import annotations

import pytest

from mcp_tap.answers.draft_answers import Names, answered, made_up
from tests.asks import form, question, roots, sampling, url

MASK, OTHER = "mcp-tap:0123456789abcdef", "mcp-tap:fedcba9876543210"
FIELDS = form(a=None, b=None, api_key=None, **{"API key": None, "1": None})


def spelled(ask, answer, names=None):
    return answered(ask, answer, names or Names(), "run.jsonl")


def test_what_was_masked_comes_from_the_environment():
    names = Names()
    content = {"api_key": MASK, "API key": OTHER, "a": MASK, "1": "mcp-tap:1111222233334444"}
    found = spelled(FIELDS, {"action": "accept", "content": content}, names)
    assert found.members == {
        "content": {
            "api_key": {"env": "API_KEY"},
            "API key": {"env": "API_KEY_2"},
            "a": {"env": "API_KEY"},
            "1": {"env": "_1"},
        }
    }
    assert "API_KEY was masked in the capture" in found.notes
    assert not found.misfit


def test_null_is_left_out_and_told():
    found = spelled(FIELDS, {"action": "accept", "content": {"a": None, "b": "x"}})
    assert found.members == {"content": {"b": "x"}}
    assert "null for a" in found.notes[0]


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        (FIELDS, {"action": "accept", "content": {"a": {"b": 1}}}),
        (FIELDS, {"action": "accept", "content": {"a": [{"b": 1}]}}),
        (FIELDS, {"action": "accept", "content": {"a": "\ud800"}}),
        (FIELDS, {"action": "accept", "content": {"*": "x"}}),
        (FIELDS, {"action": "agree"}),
        (FIELDS, {}),
        (sampling("?"), {"content": {"type": "image", "data": ""}}),
        (sampling("?"), {"content": [{"type": "text", "text": "a"}, {"type": "text"}]}),
        (sampling("?"), {"content": {"type": "text", "text": MASK}}),
        (roots(), {"roots": [{"uri": 7}]}),
        (roots(), {"roots": [{"uri": MASK}]}),
        (roots(), {}),
    ],
)
def test_what_cannot_be_spelled_is_taken_from_the_capture(ask, answer):
    assert spelled(ask, answer).members == {"fill": ["capture"], "capture": "run.jsonl"}


@pytest.mark.parametrize(
    ("ask", "answer", "members"),
    [
        (FIELDS, {"action": "decline", "content": {"a": "x"}}, {"action": "decline"}),
        (FIELDS, {"action": "accept"}, {"action": "accept"}),
        (url("u:v"), {"action": "accept", "content": {}}, {"action": "accept"}),
        (sampling("?"), {"content": [{"type": "text", "text": "a"}]}, {"text": "a"}),
        (roots(), {"roots": []}, {"roots": []}),
        (roots(), {"roots": [{"uri": "file:///a", "name": ""}]}, {"roots": [{"uri": "file:///a"}]}),
    ],
)
def test_what_can_be_spelled_is(ask, answer, members):
    assert spelled(ask, answer).members == members


def test_a_misfit_is_told():
    found = spelled(form(n={"type": "integer"}), {"action": "accept", "content": {"n": "x"}})
    assert (found.misfit, found.notes) == (
        True, ["the client's answer did not fit the schema: content.n"],
    )  # fmt: skip


def test_names_are_used_once():
    names = Names()
    assert [names.entry("a"), names.entry("a"), names.entry("a")] == ["a", "a (2)", "a (3)"]


@pytest.mark.parametrize(
    ("ask", "members"),
    [
        (form(a={"type": "boolean", "default": True}), {"content": {"a": True}}),
        (form(a={"type": "string", "minLength": 10**9}), {"content": {}}),
        (url("u:v"), {"action": "decline"}),
        (sampling("?"), {"text": "..."}),
        (roots(), {"roots": []}),
    ],
)
def test_an_answer_is_made_up_for_what_nobody_answered(ask, members):
    assert made_up(ask).members == members
    assert made_up(question("x", "other")) is None
