from __future__ import annotations

import pytest

from tests.cases import (
    SESSION,
    call,
    exchange,
    fired,
    form,
    handshake,
    ids,
    note,
    post,
    result,
    stream,
    traffic,
)
from tests.unit.rules.elicited import asked

MINE = ("SEC-001", "SEC-002", "SEC-003", "SEC-006")
TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


def field(**schema):
    return asked(form("Please fill in the form.", q1=schema))


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, ["SEC-001"]),
        ({}, ["SEC-001"]),
        ({"type": ["string", "null"]}, ["SEC-001"]),
        ({"type": "array", "items": {"type": "string"}}, ["SEC-001"]),
        ({"type": "boolean"}, []),
        ({"type": "integer"}, []),
        ({"type": "object"}, []),
        ({"type": "string", "enum": ["vault", "env"]}, []),
        ({"type": "string", "oneOf": [{"const": "a", "title": "A"}]}, []),
        ({"type": "string", "const": "a"}, []),
        ({"type": "array", "items": {"enum": ["a"]}}, []),
    ],
)
def test_only_what_can_be_typed_is_a_secret(schema, expected):
    assert ids(asked(form("Please fill in the form.", password=schema)), *MINE) == expected


def test_a_number_is_a_secret_only_as_a_pin():
    assert ids(asked(form("Numbers", bank_pin={"type": "integer"})), *MINE) == ["SEC-001"]
    assert ids(asked(form("Numbers", pin={"type": "integer"})), *MINE) == []
    assert ids(asked(form("Numbers", token={"type": "integer"})), *MINE) == []
    assert ids(field(type="integer", title="Your PIN"), *MINE) == ["SEC-002"]
    assert ids(field(type="integer", title="Password"), *MINE) == []


def test_the_format_password_marks_a_secret():
    (found,) = fired(field(type="string", format="password"), *MINE)
    assert found.rule == "SEC-001"
    assert found.path == "/result/inputRequests/q/params/requestedSchema/properties/q1"
    assert found.spot == "q1"
    assert found.blame == "server"


def test_title_and_description_are_read_in_that_order():
    (found,) = fired(field(type="string", title="Пароль", description="Enter your password"), *MINE)
    assert found.rule == "SEC-002"
    assert found.path.endswith("/q1/title")
    (found,) = fired(field(type="string", title="Value", description="Enter your password"), *MINE)
    assert found.path.endswith("/q1/description")


def test_a_title_of_a_choice_is_not_read():
    assert ids(field(type="boolean", title="Reset the password?"), *MINE) == []
    assert ids(field(type="string", title="Password store", enum=["a"]), *MINE) == []


def test_a_message_asks_only_where_text_can_be_typed():
    text = "Please provide your API key to continue."
    assert ids(asked(form(text)), *MINE) == ["SEC-003"]
    assert ids(asked(form(text, ok={"type": "boolean"})), *MINE) == []
    assert ids(asked(form(text, count={"type": "integer"})), *MINE) == []
    link = {"mode": "url", "message": text, "url": "https://mcp.example.com/c"}
    assert ids(asked({"method": "elicitation/create", "params": link}), *MINE) == []


def test_a_message_beside_a_field_that_asks_is_not_told_again():
    case = asked(form("Please enter your password.", password={"type": "string"}))
    assert ids(case, *MINE) == ["SEC-001"]


def test_a_masked_text_is_not_read():
    assert ids(field(type="string", title="mcp-tap:0123456789abcdef password"), *MINE) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "default": TOKEN},
        {"type": "string", "enum": ["a", TOKEN]},
        {"type": "string", "const": TOKEN},
        {"type": "string", "oneOf": [{"const": TOKEN, "title": "mine"}]},
        {"type": "string", "oneOf": [{"const": "mine", "title": f"mine: {TOKEN}"}]},
        {"type": "array", "items": {"type": "string", "enum": [TOKEN]}},
        {"type": "array", "items": {"anyOf": [{"const": TOKEN, "title": "mine"}]}},
        {"type": "array", "items": {"type": "string"}, "default": [TOKEN]},
        {"type": "string", "enum": ["a"], "enumNames": [TOKEN]},
    ],
)
def test_a_credential_that_is_offered_is_found_and_not_shown(schema):
    (found,) = fired(field(**schema), "SEC-006")
    assert TOKEN not in found.message
    assert "GitHub token" in found.message


@pytest.mark.parametrize(
    "value",
    ["x" * 36, "ghp_" + "x" * 36, "<token>", "****************", "your-key-here", "my-project"],
)
def test_what_stands_for_a_credential_is_none(value):
    assert ids(field(type="string", default=value), "SEC-006") == []


def test_forms_of_sessions_and_tasks_are_judged_alike():
    pushed = {"jsonrpc": "2.0", "id": 9, **form("Form", password={"type": "string"})}
    del pushed["params"]["mode"]
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "create_tasks", "arguments": {}},
    }
    done = result(1, None, content=[])
    for version in ("2025-11-25", "2025-06-18"):
        case = traffic(
            *handshake(version),
            exchange(post(body, SESSION, version=version), stream(pushed, done)),
        )
        assert ids(case, *MINE) == ["SEC-001"], version
    state = {"taskId": "t", "status": "input_required"}
    asks = {"q": form("Form", password={"type": "string"})}
    told = note("notifications/tasks", **state, inputRequests=asks)
    case = traffic(exchange(call(), stream(told, result(1, content=[]))))
    assert ids(case, *MINE) == ["SEC-001"]
