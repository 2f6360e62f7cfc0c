"""docs/answers.md: its example works entry by entry, and it names every setting there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mcp_tap.answers import book, fill, match, reading, reading_steps
from mcp_tap.answers.book import Answered, Book
from mcp_tap.answers.lint import lint
from mcp_tap.answers.reading import load
from mcp_tap.answers.recall import Recording
from tests.asks import form, of, roots, sampling, url

PAGE = (Path(__file__).parents[2] / "docs" / "answers.md").read_text(encoding="utf-8")
(EXAMPLE,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
SCRIPT = load(EXAMPLE, "answers.toml")
TEXT = {"type": "string"}
SAID = {"action": "accept", "content": {"seat": "4A"}}
SEAT = of(form("seat", seat=None), name="book_flight")


def a_book():
    recorded = {("answers.toml", "captures/booking.jsonl"): Recording([(SEAT, SAID)])}
    return Book([SCRIPT], env={"OTP_CODE": "123456"}, recorded=recorded)


def accept(**content):
    return {"action": "accept", "content": content}


SANDBOX = of(form("x", a={"type": "string", "default": "A"}, b={"type": "boolean"}),
             name="sandbox_1")  # fmt: skip
CASES = [
    ("confirm deploys", form("confirm", proceed={"type": "boolean"}, reason=None),
     accept(proceed=True, reason="planned release")),
    ("who are you", form("login", message="Your GitHub username?", name=None),
     accept(name="octocat")),
    ("anything that asks for a region",
     form("where", region=None, size={"type": "integer", "default": 3}, note=None),
     accept(region="eu-north-1", size=3)),
    ("never share contacts", of(form("who", email=None), name="crm.lookup"),
     {"action": "decline"}),
    ("walk away from surveys", form("survey_2026", stars=None), {"action": "cancel"}),
    ("consent page", url("https://auth.example.com/consent?x=1"), {"action": "accept"}),
    ("wrong code, then the right one", of(form("otp", code=None), name="login"),
     accept(code="000000")),
    ("what the human said last Tuesday", SEAT, accept(seat="4A")),
    ("canned model", sampling("What is the capital of France?"),
     {"role": "assistant", "content": {"type": "text", "text": "Paris."}, "model": "scripted",
      "stopReason": "endTurn"}),
    ("workspace", roots(), {"roots": [{"uri": "file:///home/ada/shop", "name": "shop"}]}),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "ask", "answer"), CASES, ids=[case[0] for case in CASES])
def test_each_entry_of_the_example_answers_as_it_reads(entry, ask, answer):
    decided = a_book().decide([ask])
    assert isinstance(decided, Answered), decided.error
    given = decided.answers[ask.key]
    assert (given.entry, given.answer) == (entry, answer)


def test_the_entry_that_makes_values_up_fills_every_field():
    first, second = (a_book().decide([SANDBOX]).answers["x"] for _ in range(2))
    assert first == second
    assert first.entry == "defaults where the schema has them, made-up values elsewhere"
    assert first.answer["content"]["a"] == "A"
    assert isinstance(first.answer["content"]["b"], bool)


def test_the_entry_with_rounds_says_the_right_code_next_and_marks_it_as_secret():
    found = a_book()
    ask = of(form("otp", code=None), name="login")
    found.decide([ask])
    given = found.decide([ask]).answers["otp"]
    assert (given.answer, given.secrets) == (accept(code="123456"), ("/content/code",))
    assert found.decide([ask]).error.code == "answers-used-up"


def test_every_entry_of_the_example_is_tried_here():
    tried = {case[0] for case in CASES} | {a_book().decide([SANDBOX]).answers["x"].entry}
    assert tried == {entry.name for entry in SCRIPT.entries}


def test_the_example_has_nothing_against_it_but_a_variable():
    assert [remark.code for remark in lint(SCRIPT, {})] == ["env-missing"]


def test_the_example_declares_what_it_can_answer():
    assert a_book().advertised() == {
        "elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {},
    }  # fmt: skip


def test_the_page_names_every_setting_and_condition():
    settings = {*reading.TOP, *reading.ENTRY, *match.KEYS} - {"answer"}
    tables = "\n".join(line for line in PAGE.splitlines() if line.startswith("| "))
    assert sorted(name for name in settings if f"`{name}`" not in tables) == []
    assert set(reading_steps.STEP) <= set(reading.ENTRY)


def test_the_page_names_every_code_of_an_answer_that_is_not_given():
    source = "".join(Path(m.__file__).read_text(encoding="utf-8") for m in (book, fill))
    codes = set(re.findall(r'(?:NoAnswer|ScriptError)\(\s*"([a-z-]+)"', source))
    assert {"no-answer", "answer-misfit", "answers-used-up"} <= codes
    assert sorted(code for code in codes if f"| `{code}` |" not in PAGE) == []
