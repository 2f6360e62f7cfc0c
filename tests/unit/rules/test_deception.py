from __future__ import annotations

import pytest

from tests.cases import RESULT, answer, asking, call, exchange, fired, form, ids, traffic
from tests.unit.rules.elicited import asked

URL = {
    "method": "elicitation/create",
    "params": {"mode": "url", "message": "Sign in", "url": "https://mcp.example.com/c"},
}
ROOTS = {"method": "roots/list"}


def needing(**properties):
    entry = form("Name?", **properties)
    entry["params"]["requestedSchema"]["required"] = list(
        entry["params"]["requestedSchema"]["properties"]
    )
    return entry


def answered(entry, after, action="accept", content=None):
    given = {"action": action} if content is None else {"action": action, "content": content}
    retry = call(2, inputResponses={"q": given}, requestState="state-1")
    return traffic(
        exchange(call(), answer(asking({"q": entry})), (0, 1)),
        exchange(retry, answer({**RESULT, "id": 2}), (1 + after, 3 + after)),
    )


def test_a_link_accepted_at_once_was_read_by_nobody():
    (found,) = fired(answered(URL, 0.04), "SEC-020")
    assert (found.severity, found.blame) == ("note", "client")
    assert found.path == "/params/inputResponses/q/action"
    assert "40ms" in found.message
    assert ids(answered(URL, 0.31), "SEC-020") == []
    assert ids(answered(URL, 4), "SEC-020") == []


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_who_refuses_may_be_a_policy(action):
    assert ids(answered(URL, 0.01, action), "SEC-020") == []


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, ["SEC-020"]),
        ({"type": "integer"}, ["SEC-020"]),
        ({"type": "string", "default": "x"}, []),
        ({"type": "string", "enum": ["x"]}, []),
        ({"type": "boolean"}, []),
    ],
)
def test_a_form_needs_a_person_where_something_must_be_entered(schema, expected):
    assert ids(answered(needing(q1=schema), 0.05, content={"q1": "x"}), "SEC-020") == expected
    assert ids(answered(form("Name?", q1=schema), 0.05, content={"q1": "x"}), "SEC-020") == []


def test_roots_and_sampling_are_answered_by_programs():
    assert ids(answered(ROOTS, 0.01), "SEC-020") == []


@pytest.mark.parametrize(
    "text",
    [
        *("Open \u202emoc.elpmaxe\u202c", "a\u2066b\u2069", "a\x1b[31mb", "a\x00b", "a\x7fb"),
        *("git\u200bhub", "pay\u2060pal", "é\ufeffé", "a\rb", "a\u200d\u200db"),
    ],
)
def test_characters_that_mislead_are_told(text):
    for entry in (
        form(text),
        form("Name?", q={"type": "string", "title": text}),
        form("Name?", q={"type": "string", "description": text}),
        form("Name?", q={"type": "string", "oneOf": [{"const": "a", "title": text}]}),
        form("Name?", q={"type": "array", "items": {"anyOf": [{"const": "a", "title": text}]}}),
        form("Name?", q={"type": "string", "enum": ["a"], "enumNames": [text]}),
        {**URL, "params": {**URL["params"], "message": text}},
        {**URL, "params": {**URL["params"], "url": "https://mcp.example.com/" + text}},
    ):
        (found,) = fired(asked(entry), "SEC-021")
        assert found.message.isprintable()


@pytest.mark.parametrize(
    "text",
    [
        *(
            "👩\u200d💻 کدام پروژه را می\u200cخواهید؟",
            "נא לבחור פרויקט",
            "Which?\n\t(see list)\r\n",
        ),
        *("Donau\u00addampf", "क\u094d\u200dष", "\ufeffName", "a \u200b b", "\u200e"),
    ],
)
def test_characters_a_script_needs_are_fine(text):
    assert ids(asked(form(text)), "SEC-021") == []


def test_the_finding_points_to_the_text():
    entry = form("Name?", q={"type": "string", "oneOf": [{"const": "a", "title": "a\u202eb"}]})
    (found,) = fired(asked(entry), "SEC-021")
    assert found.path.endswith("/params/requestedSchema/properties/q/oneOf/0/title")
    assert "U+202E" in found.message


def test_the_texts_of_a_whole_form_count_too():
    entry = form("Name?")
    entry["params"]["requestedSchema"]["title"] = "a\u202eb"
    (found,) = fired(asked(entry), "SEC-021")
    assert found.path.endswith("/requestedSchema/title")
