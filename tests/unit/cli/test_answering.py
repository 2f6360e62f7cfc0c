from __future__ import annotations

import contextlib

import click
import pytest

from mcp_tap.answers.book import Book
from mcp_tap.answers.reading import load
from mcp_tap.cli import answering, asking
from mcp_tap.cli.answering import LiveAnswers, live_answers
from mcp_tap.cli.common import Output
from mcp_tap.errors import UsageError
from mcp_tap.proxy.answering.answering import MAX_ROUNDS
from mcp_tap.views.base import NullView

SCRIPT = """
version = 1
[[answer]]
name = "yes"
match = { tool = "deploy" }
content = { proceed = true }
"""
TYPED = click.Context(click.Command("http"))
"""Of a command all whose options stand on the command line, as far as it knows."""
NOTHING = {
    "answers": (),
    "unmatched": None,
    "advertise": None,
    "max_rounds": 10,
    "answer_timeout": 600.0,
    "strict_answers": False,
}


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text(SCRIPT)
    return str(path)


def test_without_a_script_nothing_is_answered():
    made = live_answers(TYPED, NOTHING)
    made.prepare(Output())
    assert made.begin(NullView(), "http://x/", Output()) is None
    made.close()
    assert made.code(Output()) == 0


def test_script_and_options_reach_the_answerer(script):
    options = {"answers": (script,), "unmatched": "decline", "advertise": ""}
    made = live_answers(TYPED, NOTHING | options | {"max_rounds": 3, "answer_timeout": 1.5})
    found = made.begin(NullView(), "http://x/", Output())
    assert found is not None
    assert (found.max_rounds, found.longest, found.person) == (3, 1.5, None)
    assert (found.book.unmatched, found.book.kinds()) == ("decline", frozenset())
    assert [entry.name for entry in found.book.entries] == ["yes"]


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        (None, {"form"}),
        ("elicitation.form, roots", {"form"}),
        ("roots", set()),
        (" ", set()),
    ],
)
def test_only_what_is_advertised_and_can_be_answered_is_declared(script, words, kinds):
    made = live_answers(TYPED, NOTHING | {"answers": (script,), "advertise": words})
    found = made.begin(NullView(), "http://x/", Output())
    assert found is not None
    assert found.book.kinds() == kinds


def test_what_is_unmatched_needs_no_script():
    made = live_answers(TYPED, NOTHING | {"unmatched": "cancel"})
    found = made.begin(NullView(), "http://x/", Output())
    assert found is not None
    assert found.book.unmatched == "cancel"


@pytest.mark.parametrize("option", [{"strict_answers": True}, {"advertise": "roots"}])
def test_options_about_scripts_want_one(option):
    with pytest.raises(UsageError, match="without --answers"):
        live_answers(TYPED, NOTHING | option)


def test_person_is_asked_at_a_terminal_that_is_looked_for_first(monkeypatch):
    monkeypatch.setattr(asking, "open_terminal", lambda **_: None)
    made = live_answers(TYPED, NOTHING | {"unmatched": "ask"})
    assert made.asks
    with pytest.raises(UsageError) as error:
        made.prepare(Output())
    assert error.value.code == "no-terminal"


def test_person_decides_where_a_terminal_was_found(monkeypatch):
    class Terminal:
        own_thread = close = lambda self: None

    monkeypatch.setattr(asking, "open_terminal", lambda **_: Terminal())
    made = live_answers(TYPED, NOTHING | {"unmatched": "ask"})
    made.prepare(Output())
    found = made.begin(NullView(), "http://x/", Output())
    assert found is not None
    assert found.person is not None
    made.close()


def test_others_keep_quiet_while_a_person_is_asked():
    told = []

    def hold(name):
        @contextlib.contextmanager
        def held():
            told.append(f"{name} waits")
            yield
            told.append(f"{name} goes on")

        return held

    made = live_answers(TYPED, NOTHING | {"unmatched": "ask"})
    made.quiet(hold("server"))
    made.quiet(hold("view"))
    with made._held():
        assert told == ["server waits", "view waits"]
    assert told[2:] == ["view goes on", "server goes on"]


def ended(script, *, answered=0, failed=(), strict=False):
    book = Book([load(SCRIPT, script)], env={})
    made = LiveAnswers(book, max_rounds=10, longest=600.0, strict=strict)
    found = made.begin(NullView(), "http://x/", Output())
    assert found is not None
    found.answered = answered
    for code in failed:
        found.fail(code)
    return made.code(Output())


def test_calls_without_an_answer_fail_the_run(script, capsys):
    assert ended(script, answered=2, failed=["no-answer"]) == 1
    assert "2 rounds answered, 1 call FAILED for want of an answer" in capsys.readouterr().err


def test_calls_that_went_on_too_long_are_told_from_those_without_an_answer(script, capsys):
    limits = ["answers-timeout", "too-many-rounds", "asks-again"]
    assert ended(script, answered=2, failed=limits) == 1
    assert capsys.readouterr().err.startswith(
        "mcp-tap  2 rounds answered, 3 calls FAILED at a limit\n"
    )


@pytest.mark.parametrize("time", [0.0, -1.0])
def test_no_call_can_do_without_time(script, time):
    with pytest.raises(UsageError, match="--answer-timeout must be more than 0"):
        live_answers(TYPED, NOTHING | {"answers": (script,), "answer_timeout": time})


def test_entries_that_were_never_used_are_told_and_fail_the_run_where_that_is_wanted(
    script, capsys
):
    assert ended(script) == 0
    assert 'warning: answer "yes" was never used' in capsys.readouterr().err
    assert ended(script, strict=True) == 1
    assert 'error[answer-unused]: answer "yes" was never used' in capsys.readouterr().err


def test_number_of_rounds_is_the_answerers_own():
    assert answering.MAX_ROUNDS == MAX_ROUNDS
