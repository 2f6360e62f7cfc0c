"""What `mcp-tap answers` prints: of a dry run, and of a look through a script."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from mcp_tap.answers.explain import agrees, explain, shown
from mcp_tap.answers.recall import asked
from mcp_tap.cli.common import output
from mcp_tap.cli.output import dumped
from mcp_tap.core.text import brief, cut, plural, safe

if TYPE_CHECKING:
    from mcp_tap.answers.book import Book
    from mcp_tap.answers.explain import Explained
    from mcp_tap.answers.lint import Remark
    from mcp_tap.answers.question import Question
    from mcp_tap.core.model import Call, Exchange
    from mcp_tap.errors import ScriptError
    from mcp_tap.views.look import Row


class Trial:
    """A script tried on the calls of a capture."""

    def __init__(self, book: Book, *, whole: bool = True) -> None:
        """Begin with a fresh book; `whole`: all calls of the capture will be tried."""
        self.book = book
        self._whole = whole
        self.asks: list[tuple[Explained, dict[str, Any] | None]] = []
        """Each with what the client answered."""

    def add(self, call: Call | Exchange) -> None:
        """Try it on a call, or on an exchange that asks for none, round by round."""
        every = asked(call)
        for _, pairs in groupby(every, key=lambda pair: pair[0].round):
            of_round = list(pairs)
            found = explain(self.book, [question for question, _ in of_round])
            self.asks += zip(found, (answer for _, answer in of_round), strict=True)
        for question, _ in every[:1]:
            self.book.forget(question.call)

    @property
    def failed(self) -> int:
        """Count the asks that no entry answers, those of the same rounds included."""
        return sum(found.failed for found, _ in self.asks)

    def summary(self) -> str:
        """Say how it went, in a line."""
        count = len(self.asks)
        said = f"{plural(count, 'ask')}, {count - self.failed} answered"
        if self.failed:
            said += f", {self.failed} not"
        other = sum(differs(found, answer) for found, answer in self.asks)
        if other:
            said += f"; {other} not as the client did"
        unused = self.book.unused() if self._whole else []
        if unused:
            said += f"; never matched: {', '.join(map(brief, unused))}"
        return said


def differs(found: Explained, answer: dict[str, Any] | None) -> bool:
    """Tell whether an ask would get another answer than the client gave."""
    given = found.given
    return given is not None and answer is not None and not agrees(given.answer, answer)


def trial_rows(trial: Trial) -> Iterator[Row]:
    """Describe each ask: what won, what it gets, and what each other entry wanted."""
    for found, answer in trial.asks:
        question = found.question
        yield [
            (f"{_asked_for(question)}  ", ""),
            (f"{cut(safe(question.key), 60)} ({question.ask})", "ask"),
            (f"  {brief(question.message, 80)}" if question.message else "", "dim"),
        ]
        yield _verdict(found, answer)
        if found.given is None and found.error is not None and found.error.code != "no-answer":
            yield [(f"    {safe(found.error.where)}: {safe(found.error.why)}", "")]
        if not output().quiet:
            for tried in found.tried:
                if not tried.won:
                    why = tried.why or "matches, too, but comes later"
                    yield [(f"    {brief(tried.name)} {safe(why)}", "dim")]


def _asked_for(question: Question) -> str:
    number = question.call
    return f"#{number} {safe(question.place)}" if isinstance(number, int) else "for no call"


def _verdict(found: Explained, answer: dict[str, Any] | None) -> Row:
    winner, error = found.winner, found.error
    name = brief(winner.name) if winner is not None else "no entry"
    if found.given is None:
        if error is None:
            why = " would answer it, but not all asks of the round have answers"
            return [("  ! ", "bad"), (name, "strong"), (why, "")]
        code = "no answer" if error.code == "no-answer" else error.code
        return [("  ! ", "bad"), (f"{code}: ", "bad"), (safe(error.what), "")]
    row: Row = [("  + ", "ok"), (name, "strong")]
    if found.given.entry is None:
        row = [("  - ", "wait"), ("unmatched", "strong")]
    row.append((f"  {_words(shown(found.given))}", ""))
    if answer is None:
        row.append(("  nobody answered it", "dim"))
    elif agrees(found.given.answer, answer):
        row.append(("  as the client did", "dim"))
    else:
        row.append((f"  the client: {_words(answer)}", "wait"))
    return row


def _words(answer: dict[str, Any]) -> str:
    action = answer.get("action")
    if isinstance(action, str):
        return f"{safe(action)} {brief(answer['content'], 80)}" if "content" in answer else action
    content = answer.get("content")
    text = content.get("text") if isinstance(content, dict) else None
    return brief(answer.get("roots", answer) if text is None else text, 80)


def trial_document(trial: Trial, scripts: Sequence[str], capture: str) -> bytes:
    """Give a dry run as JSON."""
    return dumped(
        {
            "version": 1,
            "scripts": list(scripts),
            "capture": capture,
            "asks": [_ask(found, answer) for found, answer in trial.asks],
            "answered": len(trial.asks) - trial.failed,
            "failed": trial.failed,
            "unused": trial.book.unused(),
        }
    )


def _ask(found: Explained, answer: dict[str, Any] | None) -> dict[str, Any]:
    question, winner, error = found.question, found.winner, found.error
    return {
        "call": question.call if isinstance(question.call, int) else None,
        "round": question.round,
        "method": question.method,
        "name": question.name,
        "key": question.key,
        "kind": question.ask,
        "entry": winner.name if winner is not None else None,
        "answer": shown(found.given) if found.given is not None else None,
        "client": answer,
        "same": None if found.given is None or answer is None else not differs(found, answer),
        "error": None if error is None else _error(error),
        "held": found.held,
        "tried": [
            {"script": t.script, "number": t.number, "name": t.name, "won": t.won, "why": t.why}
            for t in found.tried
        ],
    }


def _error(error: ScriptError) -> dict[str, str]:
    return {
        "code": error.code,
        "what": error.what,
        "where": error.where,
        "why": error.why,
        "help": error.help,
    }


def lint_rows(remarks: Iterable[Remark]) -> Iterator[Row]:
    """Describe what a look through a script found."""
    from mcp_tap.views.found import LETTERS, STYLES

    for remark in remarks:
        yield [
            (f"{LETTERS[remark.severity]} ", STYLES[remark.severity]),
            (f"{safe(remark.where)}: ", "strong"),
            (f"{safe(remark.what)}", ""),
            (f"  [{remark.code}]", "dim"),
        ]
        if remark.help:
            yield [(f"    {safe(remark.help)}", "dim")]


def lint_document(errors: Iterable[ScriptError], remarks: Iterable[Remark]) -> bytes:
    """Give a look through scripts as JSON."""
    found = [{"severity": "error", **_error(error)} for error in errors]
    found += [
        {
            "severity": remark.severity,
            "code": remark.code,
            "what": remark.what,
            "where": remark.where,
            "why": "",
            "help": remark.help,
        }
        for remark in remarks
    ]
    return dumped({"version": 1, "remarks": found})
