"""What was answered in a capture, for entries that say it again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from mcp_tap.answers.question import Question
from mcp_tap.core.model import Ask, AskKind, Call, Exchange
from mcp_tap.core.values import same_arguments, same_json

Pair: TypeAlias = tuple[Question, dict[str, Any]]
"""A question and its answer."""


class Recording:
    """The answers of one capture."""

    def __init__(self, pairs: Iterable[Pair]) -> None:
        """Keep them by what they were asked for."""
        self._by_place: dict[tuple[str | None, str | None, str], list[Pair]] = {}
        for question, answer in pairs:
            self._by_place.setdefault(_place(question), []).append((question, answer))

    def kinds(self) -> frozenset[AskKind]:
        """Give the kinds of questions it has answers to."""
        return frozenset(q.ask for pairs in self._by_place.values() for q, _ in pairs)

    def find(self, ask: Question) -> dict[str, Any] | None:
        """Give what was answered to the question most like this one.

        Alike is what was asked for the same tool, prompt or resource in the same kind, under the
        same key or, where keys say nothing, with the same message.  Of several the one counts whose
        call had the same arguments, then the same message, then the same form, then the same
        round; of those still left the last.
        """
        found = [
            (question, answer)
            for question, answer in self._by_place.get(_place(ask), ())
            if (question.message == ask.message if ask.pushed or question.pushed
                else question.key == ask.key)
        ]  # fmt: skip
        if not found:
            return None
        best = found[0]
        for pair in found[1:]:
            if _likeness(pair[0], ask) >= _likeness(best[0], ask):
                best = pair
        return best[1]


def _place(question: Question) -> tuple[str | None, str | None, str]:
    return question.method, question.name, question.ask


def _likeness(one: Question, other: Question) -> tuple[bool, bool, bool, bool]:
    return (
        same_arguments(one.arguments, other.arguments),
        one.message == other.message,
        same_json(one.schema, other.schema),
        one.round == other.round,
    )


def asked(call: Call | Exchange) -> list[tuple[Question, dict[str, Any] | None]]:
    """Give the questions of a call of a capture, each with its answer where one came.

    Of an exchange, they are those that belong to no call; each is a round of its own.
    """
    found: list[tuple[Question, dict[str, Any] | None]] = []
    if isinstance(call, Exchange):
        for number, ask in enumerate(call.asks, 1):
            question = Question(
                key=ask.key,
                ask=ask.kind,
                params=ask.params,
                call=("exchange", call.number),
                round=number,
                pushed=True,
            )
            found.append((question, _answer(ask)))
        return found
    for round_ in call.rounds:
        for ask in round_.asks:
            question = Question(
                key=ask.key,
                ask=ask.kind,
                params=ask.params,
                method=call.method,
                name=call.name,
                arguments=call.rounds[0].arguments,
                server=call.server,
                call=call.number,
                round=round_.number,
                pushed=ask.pushed,
            )
            found.append((question, _answer(ask)))
    return found


def _answer(ask: Ask) -> dict[str, Any] | None:
    answered = ask.action not in (None, "error") and isinstance(ask.answer, dict)
    return ask.answer if answered else None
