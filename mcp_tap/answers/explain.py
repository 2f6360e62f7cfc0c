"""Why an ask got the answer it got: which entry won, and what each of the others wanted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct

from mcp_tap.answers.book import Answered, Book, Given
from mcp_tap.answers.question import Question
from mcp_tap.core.facts.message import is_masked
from mcp_tap.core.records import pointer
from mcp_tap.core.values import same_json
from mcp_tap.errors import ScriptError

HIDDEN: Final = "(from the environment)"
_UNSAID: Final = ("stopReason", "_meta")
"""What a client may add to an answer, and a script cannot."""
"""Printed in place of a value."""


class Tried(Struct, frozen=True, kw_only=True):
    """One entry, seen from one ask."""

    script: str
    number: int
    name: str
    won: bool = False
    why: str | None = None
    """What it wants that the ask has not; None where it matches."""


class Explained(Struct, frozen=True, kw_only=True):
    """One ask of a round."""

    question: Question
    tried: list[Tried]
    """All entries, in their order."""
    given: Given | None = None
    """What it gets."""
    error: ScriptError | None = None
    """Why it gets nothing from an entry."""
    held: bool = False
    """It would have an answer, but another ask of its round has none."""

    @property
    def failed(self) -> bool:
        """It gets no answer."""
        return self.given is None

    @property
    def winner(self) -> Tried | None:
        """The entry that answers it."""
        return next((tried for tried in self.tried if tried.won), None)


def explain(book: Book, asks: Sequence[Question]) -> list[Explained]:
    """Decide about the asks of a round and say why; the book counts it as a live one."""
    tried = [_tried(book, ask) for ask in asks]
    decided = book.decide(asks)
    errors: dict[str, ScriptError] = {}
    if not isinstance(decided, Answered):
        errors = {missed.key: missed.error for missed in decided.misses}
    return [
        Explained(
            question=ask,
            tried=entries,
            given=decided.answers.get(ask.key),
            error=errors.get(ask.key),
            held=bool(errors) and ask.key not in errors and ask.key not in decided.answers,
        )
        for ask, entries in zip(asks, tried, strict=True)
    ]


def _tried(book: Book, ask: Question) -> list[Tried]:
    winner = book.winner(ask)
    return [
        Tried(
            script=entry.script,
            number=entry.number,
            name=entry.name,
            won=place == winner,
            why=book.why_not(place, ask),
        )
        for place, entry in enumerate(book.entries)
    ]


def shown(given: Given) -> dict[str, Any]:
    """Give an answer as it may be printed: without what came from the environment."""
    found = dict(given.answer)
    content = found.get("content")
    if given.secrets and isinstance(content, dict):
        found["content"] = {
            name: HIDDEN if pointer("content", name) in given.secrets else value
            for name, value in content.items()
        }
    return found


def agrees(given: dict[str, Any], recorded: dict[str, Any]) -> bool:
    """Tell whether an answer is the recorded one.

    What was masked there may be anything, and what no script can say does not count.
    """
    pairs: list[tuple[Any, Any]] = [(_sayable(given), _sayable(recorded))]
    while pairs:
        one, other = pairs.pop()
        if is_masked(other):
            continue
        if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
            pairs += [(one[name], value) for name, value in other.items()]
        elif not same_json(one, other):
            return False
    return True


def _sayable(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name not in _UNSAID}
