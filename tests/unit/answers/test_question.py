"""Questions are read off whatever stands where questions stand."""

from __future__ import annotations

import pytest

from mcp_tap.answers.question import described, questions
from tests.asks import form, of, question, roots, sampling, url

FORM = {"method": "elicitation/create", "params": {"message": "Who?", "requestedSchema": {}}}


def test_each_entry_of_a_map_is_a_question():
    asks = questions(
        {"a": FORM, "b": {"method": "roots/list"}, "c": {"method": "sampling/createMessage"}},
        method="tools/call",
        name="deploy",
        call=7,
        round=2,
        declared={"form"},
    )
    assert [(ask.key, ask.ask, ask.declared) for ask in asks] == [
        ("a", "form", True), ("b", "roots", False), ("c", "sampling", False),
    ]  # fmt: skip
    assert {(ask.tool, ask.call, ask.place) for ask in asks} == {
        ("deploy", 7, "tools/call deploy, round 2")
    }


@pytest.mark.parametrize("requests", [None, [], "x", 7, {}])
def test_what_is_no_map_asks_nothing(requests):
    assert questions(requests) == []


@pytest.mark.parametrize("entry", [None, [], "x", {"method": 7}, {"method": "x", "params": []}])
def test_what_is_no_ask_is_of_no_kind(entry):
    (ask,) = questions({"a": entry})
    assert (ask.ask, ask.message, ask.url, ask.schema, ask.mode) == ("other", "", None, None, None)


def test_only_a_form_has_a_schema_and_only_a_url_ask_a_url():
    assert form(n=None).schema["properties"] == {"n": {"type": "string"}}
    assert url("https://x.example/").schema is None
    assert url("https://x.example/").url == "https://x.example/"
    assert of(form(), params={"url": "https://x.example/"}).url is None
    assert form(n=None, required=["n"]).form.required == {"n"}
    assert [q.mode for q in (form(), url("u:v"), roots())] == ["form", "url", None]


def test_the_message_of_sampling_is_what_its_messages_say():
    assert sampling("What is", "the capital?").message == "What is\nthe capital?"
    blocks = [{"type": "image"}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}, 7]
    ask = question("m", "sampling", messages=[{"content": blocks}, None, {"content": 7}])
    assert ask.message == "a\nb"


def test_only_tools_have_the_name_of_a_tool():
    assert of(form(), method="prompts/get").tool is None
    assert of(form(), method=None, name=None).place == "round 1"


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (url("https://a.example/"), "url"),
        (roots(), "roots"),
        (question("x", "other"), "something no client knows"),
        (form(), "form without fields"),
        (form(**{f"f{n}": None for n in range(20)}), "form, fields f0, f1, "),
    ],
)
def test_an_ask_is_described_in_a_line(ask, words):
    assert described(ask).startswith(words)
