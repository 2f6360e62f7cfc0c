"""Questions and scripts for tests of what answers them."""

from __future__ import annotations

from typing import Any

from mcp_tap.answers.book import Book
from mcp_tap.answers.question import Question
from mcp_tap.answers.reading import load, read

TWO = """
[[answer]]
name = "first"
match = { key = "a*" }
content = { x = "1" }
[[answer]]
name = "second"
content = { x = "2" }
"""
OTP = """
[[answer]]
name = "otp"
match = { key = "otp" }
each_round = [{ content = { code = "000000" } }, { content = { code = "123456" } }]
"""


def form(key: str = "confirm", *, message: str = "Really?", required=None, **fields: Any):
    """A form; what its fields do not say is a text."""
    properties = {name: found or {"type": "string"} for name, found in fields.items()}
    schema = {"type": "object", "properties": properties, "required": list(required or ())}
    return question(key, "form", mode="form", message=message, requestedSchema=schema)


def url(address: str, key: str = "signin", message: str = "Sign in"):
    return question(key, "url", mode="url", message=message, url=address, elicitationId="e1")


def sampling(*texts: str, key: str = "motto"):
    messages = [{"role": "user", "content": {"type": "text", "text": text}} for text in texts]
    return question(key, "sampling", messages=messages, maxTokens=9)


def roots(key: str = "workspace"):
    return question(key, "roots")


def question(key: str, kind: str, **params: Any) -> Question:
    return Question(
        key=key,
        ask=kind,
        params=params,
        method="tools/call",
        name="deploy",
        arguments={"service": "billing"},
        server="billing",
        call=1,
    )


def of(ask: Question, **changes: Any) -> Question:
    """The same question, but for these members."""
    members = {name: getattr(ask, name) for name in ask.__struct_fields__}
    return Question(**{**members, **changes})


def script(text: str, name: str = "a.toml"):
    return load(text, name)


def mistakes(text: str, name: str = "a.toml"):
    found, problems = read(text, name)
    assert (found is None) == bool(problems)
    return problems


def book(text: str, env=None, **options: Any) -> Book:
    return Book([script(text)], env=env or {}, **options)


def given(text: str, ask: Question, env=None, **options: Any) -> dict[str, Any]:
    """What a script answers to one question."""
    decided = book(text, env, **options).decide([ask])
    assert not hasattr(decided, "how"), decided.error
    return decided.answers[ask.key].answer


def refusal(text: str, ask: Question, env=None, **options: Any):
    """Why a script does not answer a question."""
    decided = book(text, env, **options).decide([ask])
    assert decided.how == "fail", decided
    return decided.error
