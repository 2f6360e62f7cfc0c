"""Conditions hold for what they say, and for nothing else."""

from __future__ import annotations

from datetime import date

import pytest

from mcp_tap.answers.match import Unusable, condition, conditions, field_of
from tests.asks import form, of, roots, sampling, url

ASK = form("otp_1", message="Your GitHub username, please", amount={"type": "number"}, note=None)


@pytest.mark.parametrize(
    ("key", "value", "ask"),
    [
        ("server", "billing", ASK),
        ("server", "bil*", ASK),
        ("server", ["x", "billing"], ASK),
        ("tool", "deploy", ASK),
        ("tool", "d?ploy", ASK),
        ("name", "deploy", ASK),
        ("name", "file:///*", of(ASK, method="resources/read", name="file:///a?b")),
        ("method", "tools/*", ASK),
        ("key", "otp*", ASK),
        ("message", "(?i)github user ?name", ASK),
        ("message", "capital of France", sampling("What is the capital of France?")),
        ("message", ["nothing", "GitHub"], ASK),
        ("mode", "form", ASK),
        ("mode", "url", url("https://a.example/")),
        ("url", "https://auth.example.com/*", url("https://auth.example.com/x/y?z=1")),
        ("field", "note", ASK),
        ("field", "amount:number", ASK),
        ("field", ["amount:number", "note"], ASK),
        ("ask", "form", ASK),
        ("ask", ["roots", "sampling"], roots()),
        ("arguments", {"service": "billing"}, ASK),
        ("arguments", {"n": 1}, of(ASK, arguments={"n": 1.0, "m": 2})),
    ],
)
def test_a_condition_holds_for_what_is_as_it_says(key, value, ask):
    assert condition(key, value).test(ask)


@pytest.mark.parametrize(
    ("key", "value", "ask"),
    [
        ("server", "billing", of(ASK, server=None)),
        ("server", "b*", of(ASK, server=None)),
        ("tool", "deploy", of(ASK, method="prompts/get")),
        ("tool", "dep", ASK),
        ("key", "otp", ASK),
        ("key", "OTP*", ASK),
        ("message", "github", ASK),
        ("mode", "form", roots()),
        ("url", "https://auth.example.com/*", url("https://auth.example.com.evil.example/")),
        ("url", "*", ASK),
        ("field", "amount:integer", ASK),
        ("field", "amoun", ASK),
        ("field", ["amount", "more"], ASK),
        ("field", "note", url("https://a.example/")),
        ("field", "note", of(ASK, params={"requestedSchema": {"properties": []}})),
        ("field", "note", of(ASK, params={"requestedSchema": {"properties": {"note": 7}}})),
        ("ask", "roots", ASK),
        ("arguments", {"service": "search"}, ASK),
        ("arguments", {"n": 1}, of(ASK, arguments={"n": True})),
        ("arguments", {"n": 1}, of(ASK, arguments=None)),
    ],
)
def test_a_condition_does_not_hold_for_anything_else(key, value, ask):
    assert not condition(key, value).test(ask)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("key", "confirm", 'key "confirm"'),
        ("key", ["a", "b"], 'key "a" or "b"'),
        ("field", ["a", "b:number"], 'field "a" and "b:number"'),
        ("arguments", {"n": 1}, "arguments n = 1"),
    ],
)
def test_it_says_what_it_wants(key, value, words):
    assert condition(key, value).wants == words


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("key", 7, "takes a text"),
        ("key", "", "takes a text"),
        ("key", [], "takes a text"),
        ("key", ["a", 1], "takes a text"),
        ("message", "(", "is no expression"),
        ("message", r"(a)\1", "backreferences"),
        ("mode", "html", "cannot be"),
        ("ask", "elicitation", "cannot be"),
        ("arguments", "x", "takes a table"),
        ("arguments", {}, "takes a table"),
        ("arguments", {"a": [{"b": date(2026, 12, 31)}]}, "as a date, which JSON has not"),
        ("arguments", {"a": float("nan")}, "is no number in JSON"),
        ("key", "a*" * 5000, "too long"),
    ],
)
def test_what_cannot_be_a_condition_is_refused(key, value, why):
    with pytest.raises(Unusable, match=why):
        condition(key, value)


def test_conditions_keep_their_order_and_leave_out_what_is_unknown():
    assert [c.key for c in conditions({"tool": "a", "huh": 1, "key": "b"})] == ["tool", "key"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a", ("a", None)),
        ("a:number", ("a", "number")),
        ("ns:a", ("ns:a", None)),
        ("ns:a:array", ("ns:a", "array")),
    ],
)
def test_a_type_stands_behind_the_last_colon(text, found):
    assert field_of(text) == found


def test_an_expression_that_would_take_for_ever_elsewhere_takes_no_time():
    assert not condition("message", "(a+)+$").test(form(message="a" * 60_000 + "b"))
