from __future__ import annotations

import asyncio
import contextlib
import os
import re
import threading

import pytest

from mcp_tap.answers.book import Answered, Given, Missed, Unmatched
from mcp_tap.answers.entering import Refused
from mcp_tap.answers.question import Question
from mcp_tap.cli import asking
from mcp_tap.cli.asking import TerminalAsker, root_uri
from mcp_tap.cli.asking_terminal import Terminal
from mcp_tap.errors import ScriptError, UsageError
from mcp_tap.views.look import ASCII
from tests.bounds import BOUND
from tests.terminals import Person

NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


class Holder(Person):
    """Sees when the view's output is held for its sake."""

    def __init__(self):
        super().__init__()
        self.held = []

    @contextlib.contextmanager
    def hold(self):
        self.held.append(True)
        yield
        self.held.append(False)


@pytest.fixture
def person():
    made = Holder()
    yield made
    made.leave()


@contextlib.contextmanager
def asking_at(person):
    terminal = Terminal(os.dup(person.end), os.dup(person.end), color=False)
    one = TerminalAsker(terminal, upstream="http://x/mcp", glyphs=ASCII, hold=person.hold)
    try:
        yield one
    finally:
        one.close()
        assert not one._thread.is_alive()


def form(key="who", **given):
    params = {"message": f"What about {key}?", "requestedSchema": NAME}
    return Question(key=key, ask="form", params=params, method="tools/call", name="t", **given)


async def done(waiting):
    async with asyncio.timeout(BOUND):
        return await waiting


async def test_form_is_filled_at_the_terminal(person):
    with asking_at(person) as one:
        waiting = asyncio.ensure_future(one.answer([form()]))
        await person.types("name*: ", "Ada")
        await person.types("[accept] ", "")
        assert await done(waiting) == {"who": {"action": "accept", "content": {"name": "Ada"}}}
        await person.sees("accepted")
    assert person.held == [True, False]


async def test_questions_of_a_round_come_one_after_the_other(person):
    with asking_at(person) as one:
        waiting = asyncio.ensure_future(one.answer([form("a"), form("b")]))
        await person.types("(1 of 2)", "")
        await person.types("name*: ", ":d")
        await person.types("(2 of 2)", ":c")
        answers = await done(waiting)
        assert answers == {"a": {"action": "decline"}, "b": {"action": "cancel"}}
        assert list(answers) == ["a", "b"]


@pytest.mark.parametrize(("word", "said"), [(":p", "pass"), (":f", "fail")])
async def test_passing_or_failing_one_is_said_of_the_whole_round(person, word, said):
    with asking_at(person) as one:
        waiting = asyncio.ensure_future(one.answer([form("a"), form("b")]))
        await person.types("name*: ", word)
        assert await done(waiting) == said
        assert "about b?" not in person.look()


async def test_calls_that_ask_at_once_wait_for_their_turn(person):
    with asking_at(person) as one:
        calls = [asyncio.ensure_future(one.answer([form(f"k{n}")])) for n in range(3)]
        for n in range(3):
            await person.sees(f"about k{n}?")
            await person.types("name*: ", f"n{n}")
            await person.types("[accept] ", "a")
        for n, call in enumerate(calls):
            assert (await done(call))[f"k{n}"]["content"] == {"name": f"n{n}"}


async def test_loop_goes_on_while_the_person_thinks(person):
    with asking_at(person) as one:
        waiting = asyncio.ensure_future(one.answer([form()]))
        await person.sees("name*: ")
        for _ in range(100):
            await asyncio.sleep(0)
        assert not waiting.done()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting


async def test_client_that_leaves_takes_its_question_back_and_the_next_is_asked(person):
    with asking_at(person) as one:
        first = asyncio.ensure_future(one.answer([form("a")]))
        second = asyncio.ensure_future(one.answer([form("b")]))
        await person.sees("name*: ")
        os.write(person.there, b"half a na")
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        await person.sees("withdrawn")
        await person.sees("about b?")
        await person.sees("name*: ")
        os.write(person.there, b"\x15whole\n")
        await person.types("[accept] ", "a")
        assert (await done(second))["b"]["content"] == {"name": "whole"}


async def test_client_that_leaves_before_its_turn_is_never_asked(person):
    with asking_at(person) as one:
        calls = [asyncio.ensure_future(one.answer([form(k)])) for k in "abc"]
        await person.sees("about a?")
        calls[1].cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await person.types("name*: ", ":d")
        await person.types("name*: ", ":c")
        assert (await done(calls[2]))["c"] == {"action": "cancel"}
        assert "about b?" not in person.look()
        with pytest.raises(asyncio.CancelledError):
            await calls[1]


async def test_end_of_input_is_walking_away(person):
    with asking_at(person) as one:
        waiting = asyncio.ensure_future(one.answer([form()]))
        await person.sees("name*: ")
        os.write(person.there, b"\x04")
        assert await done(waiting) == {"who": {"action": "cancel"}}
        waiting = asyncio.ensure_future(one.answer([Question(key="r", ask="roots")]))
        await person.sees("folder: ")
        os.write(person.there, b"\x04")
        assert await done(waiting) == "fail"


async def test_calls_fail_once_the_terminal_is_gone(person):
    with asking_at(person) as one:
        waiting = asyncio.ensure_future(one.answer([form()]))
        await person.sees("name*: ")
        os.close(person.there)
        assert await done(waiting) in ("fail", {"who": {"action": "cancel"}})
        assert await done(one.answer([form()])) == "fail"
        assert await done(one.answer([form()])) == "fail"


async def test_who_waits_when_it_is_closed_is_told(person):
    with asking_at(person) as one:
        calls = [asyncio.ensure_future(one.answer([form(k)])) for k in "ab"]
        await person.sees("name*: ")
        one.close()
        for call in calls:
            assert await done(call) == "fail"
    assert await done(one.answer([form()])) == "fail"


async def test_fault_of_our_own_leaves_nobody_waiting(person, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("a bug")

    hooked = []
    monkeypatch.setattr(threading, "excepthook", hooked.append)
    monkeypatch.setattr(asking, "question_rows", broken)
    with asking_at(person) as one:
        assert await done(one.answer([form()])) == "fail"
        assert await done(one.answer([form()])) == "fail"
        one._thread.join(BOUND)
    assert [str(each.exc_value) for each in hooked] == ["a bug"]


def unmatched(*missed, **answers):
    error = ScriptError("no-answer", "nothing answers")
    given = {k: Given(entry="e", answer=v, kind="form") for k, v in answers.items()}
    return Unmatched(how="ask", misses=[Missed(key=k, error=error) for k in missed], answers=given)


async def test_person_is_asked_only_what_no_entry_answers(person):
    with asking_at(person) as one:
        waiting = asyncio.ensure_future(
            one.decide([form("a"), form("b")], unmatched("a", b={"action": "decline"}))
        )
        await person.types("name*: ", "Ada")
        await person.types("[accept] ", "")
        decided = await done(waiting)
        assert isinstance(decided, Answered)
        assert [(k, g.entry) for k, g in decided.answers.items()] == [("a", "a person"), ("b", "e")]
        assert "about b?" not in person.look()


@pytest.mark.parametrize(("word", "how"), [(":p", "pass"), (":f", "fail")])
async def test_person_may_leave_a_round_undecided(person, word, how):
    with asking_at(person) as one:
        waiting = asyncio.ensure_future(one.decide([form("a")], unmatched("a")))
        await person.types("name*: ", word)
        decided = await done(waiting)
        assert isinstance(decided, Unmatched)
        assert decided.how == how
        assert decided.misses[0].key == "a"
        if how == "fail":
            assert re.search(r"nobody at the terminal answered ask \"a\" of", decided.why)


def test_without_a_terminal_it_is_refused_with_a_hint(monkeypatch):
    monkeypatch.setattr(asking, "open_terminal", lambda **_: None)
    with pytest.raises(UsageError) as error:
        asking.find_terminal(color=False)
    assert error.value.code == "no-terminal"
    assert "--unmatched fail" in error.value.help


def test_folder_becomes_a_uri(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a b").mkdir()
    assert root_uri("a b") == (tmp_path / "a b").as_uri()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert root_uri("~") == tmp_path.as_uri()
    assert root_uri("file:///anywhere/at%20all") == "file:///anywhere/at%20all"
    with pytest.raises(Refused, match="no such folder"):
        root_uri("nowhere")
    with pytest.raises(Refused, match="a root is a folder"):
        root_uri("https://example.com")
