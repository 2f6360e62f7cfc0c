"""A person at the terminal answers what no script answers (`--unmatched ask`).

Rules of this file:

- The person is asked on a thread of its own, one question after the other: traffic never waits, and
  neither does a call that asks nothing.
- The questions of a round are one job.  Who leaves takes its job back, also in mid-sentence.
- Where the terminal is gone, calls fail; nothing waits for a person who cannot answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Final

from mcp_tap.answers.book import Answered, Decided, Given, Missed, Unmatched
from mcp_tap.answers.entering import Refused
from mcp_tap.answers.person import Answers, Talk
from mcp_tap.answers.question import Question
from mcp_tap.cli.asking_concerns import concerns
from mcp_tap.cli.asking_rows import label, outcome_row, prompt_rows, question_rows
from mcp_tap.cli.asking_terminal import Gone, Terminal, Withdrawn, open_terminal
from mcp_tap.core.text import brief
from mcp_tap.errors import ScriptError, UsageError
from mcp_tap.views.look import Glyphs

PERSON: Final = "a person"
"""What stands where else the name of a script's entry does."""
JOIN: Final = 2.0
"""Seconds the thread has to end."""


def _unanswered(question: Question) -> Missed:
    error = ScriptError(
        "no-answer",
        f"nobody at the terminal answered ask {brief(question.key)} of {question.place}",
        why="the person chose to fail, or the terminal is gone",
    )
    return Missed(key=question.key, error=error, entry=PERSON)


class _Job:
    """The questions of one round, and who waits for the answers."""

    def __init__(self, questions: Sequence[Question], loop: asyncio.AbstractEventLoop) -> None:
        self.questions = questions
        self.withdrawn = False
        self._loop = loop
        self.answers: asyncio.Future[Answers] = loop.create_future()

    def answer(self, answers: Answers) -> None:
        """Hand the answers over, from the thread."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
            self._loop.call_soon_threadsafe(self._settle, answers)

    def _settle(self, answers: Answers) -> None:
        if not self.answers.done():
            self.answers.set_result(answers)


class TerminalAsker:
    """Asks the person at a terminal."""

    def __init__(
        self,
        terminal: Terminal,
        *,
        upstream: str,
        glyphs: Glyphs,
        hold: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        """Begin to wait for questions.

        Args:
            terminal: where to ask; it is closed with this.
            upstream: URL of the server.
            glyphs: to draw with.
            hold: entered while a person is asked: others keep from writing to the same terminal
                meanwhile.  Called on the thread.
        """
        self._terminal = terminal
        self._upstream = upstream
        self._glyphs = glyphs
        self._hold = hold
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._current: _Job | None = None
        self._gone = False
        self._thread = threading.Thread(target=self._work, name="asking", daemon=True)
        self._thread.start()

    async def answer(self, questions: Sequence[Question]) -> Answers:
        """Have the questions of one round answered; cancelled, they are withdrawn."""
        if self._gone:
            return "fail"
        job = _Job(questions, asyncio.get_running_loop())
        self._jobs.put(job)
        try:
            return await job.answers
        finally:
            self._withdraw(job)

    async def decide(self, questions: Sequence[Question], unmatched: Unmatched) -> Decided:
        """Have a round decided on: asked is what no entry of a script answers."""
        open_ = [each for each in questions if each.key not in unmatched.answers]
        said = await self.answer(open_)
        if said == "pass":
            return Unmatched(how="pass", misses=unmatched.misses)
        if said == "fail":
            return Unmatched(how="fail", misses=[_unanswered(each) for each in open_])
        given = {
            each.key: Given(entry=PERSON, answer=said[each.key], kind=each.ask) for each in open_
        }
        whole = {**unmatched.answers, **given}
        return Answered(answers={each.key: whole[each.key] for each in questions})

    def close(self) -> None:
        """Ask no more, and give the terminal back."""
        self._gone = True
        self._jobs.put(None)
        with self._lock:
            if self._current is not None:
                self._current.withdrawn = True
                self._terminal.wake()
        self._thread.join(JOIN)
        if not self._thread.is_alive():
            self._terminal.close()

    def _withdraw(self, job: _Job) -> None:
        with self._lock:
            job.withdrawn = True
            if self._current is job:
                self._terminal.wake()

    def _work(self) -> None:
        self._terminal.own_thread()
        try:
            while (job := self._jobs.get()) is not None:
                with self._lock:
                    self._current = None if self._gone or job.withdrawn else job
                try:
                    if self._current is not None:
                        with self._hold():
                            self._handle(job)
                finally:  # whatever happened here, nobody waits for ever; what was said is said
                    job.answer("fail")
        finally:
            self._gone = True
            while not self._jobs.empty():
                late = self._jobs.get()
                if late is not None:
                    late.answer("fail")

    def _handle(self, job: _Job) -> None:
        try:
            job.answer(self._round(job))
        except Withdrawn:
            self._say("withdrawn: nobody waits for the answer any more")
        except Gone:
            self._gone = True
        finally:
            with self._lock:
                self._current = None
                self._terminal.settle()

    def _say(self, words: str) -> None:
        with contextlib.suppress(Gone):
            self._terminal.show([[("", "")], [(f"  {words}", "wait")]])

    def _round(self, job: _Job) -> Answers:
        """Ask the questions of a round, one after the other."""
        answers: dict[str, dict[str, object]] = {}
        self._terminal.forget()
        for number, question in enumerate(job.questions, 1):
            talk = Talk(question, root=root_uri)
            of = len(job.questions)
            doubts = concerns(question, self._upstream)
            self._terminal.show(
                question_rows(question, self._glyphs, number=number, of=of, concerns=doubts)
            )
            self._talk(talk, job)
            self._terminal.show([outcome_row(talk)])
            if not isinstance(talk.said, dict):
                return talk.said or "fail"
            answers[question.key] = talk.said
        return answers

    def _talk(self, talk: Talk, job: _Job) -> None:
        while talk.said is None:
            prompt = talk.prompt
            self._terminal.show(prompt_rows(talk, prompt))
            if job.withdrawn:
                raise Withdrawn
            try:
                line = self._terminal.ask(label(prompt))
            except EOFError:  # as who closes a window
                line = ":c" if talk.question.mode is not None else ":f"
                self._terminal.show([[("", "")]])
            talk.enter(line)


def find_terminal(*, color: bool) -> Terminal:
    """Open the terminal to ask at.

    Raises:
        UsageError: there is none.
    """
    terminal = open_terminal(color=color)
    if terminal is None:
        raise UsageError(
            "no-terminal",
            "unmatched = ask needs a terminal, and there is none",
            why="nobody could be asked what no script answers",
            help="--unmatched fail (or pass, decline, cancel)",
        )
    return terminal


def root_uri(text: str) -> str:
    """Make the URI of a folder that was typed.

    Raises:
        Refused: it names none.
    """
    if text.startswith("file://"):
        return text
    if "://" in text:
        raise Refused("a root is a folder: write its path, or a file:// URI")
    path = Path(text).expanduser().absolute()
    if not path.exists():
        raise Refused("there is no such folder here; a file:// URI is taken as it is")
    return path.as_uri()
