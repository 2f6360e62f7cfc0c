"""What becomes of a round, and how that is told in the capture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from msgspec import Struct

from mcp_tap.answers.book import Given, Missed, Unmatched
from mcp_tap.answers.question import Question
from mcp_tap.proxy.answering.asked import Asked

HOOK: Final = "answers"
_REFUSALS: Final = {"decline": "declined", "cancel": "cancelled"}


class Send(Struct):
    """The round is answered."""

    answers: dict[str, Given]


class Pass(Struct):
    """The client gets the round as it is."""

    why: str
    misses: Sequence[Missed] = ()


class Fail(Struct):
    """The client gets an error."""

    code: str
    why: str
    misses: Sequence[Missed] = ()


class Ask(Struct):
    """A person decides."""

    unmatched: Unmatched


Verdict: TypeAlias = Send | Pass | Fail | Ask


class Round(Struct, kw_only=True):
    """A round and what becomes of it."""

    asked: Asked
    asks: Sequence[Question]
    verdict: Verdict

    @property
    def passes(self) -> bool:
        """The client gets it."""
        return type(self.verdict) is Pass


class Told(NamedTuple):
    """A decision as it is recorded."""

    verdict: str
    why: str
    entry: str | None = None
    key: str | None = None


def told(round_: Round) -> Iterator[Told]:
    """Say what was decided, about each ask of a round."""
    verdict = round_.verdict
    if isinstance(verdict, Ask):
        return
    if isinstance(verdict, Send):
        if not round_.asks:
            yield Told("answered", "it asks for nothing but to come again")
        for ask in round_.asks:
            yield _given(ask.key, verdict.answers[ask.key])
        return
    word = "passed" if isinstance(verdict, Pass) else "failed"
    if not round_.asks:
        yield Told(word, verdict.why)
    missed = {miss.key: miss for miss in verdict.misses}
    for ask in round_.asks:
        miss = missed.get(ask.key)
        if isinstance(verdict, Pass):
            yield Told(word, miss.why if miss else verdict.why, None, ask.key)
        elif miss is not None:
            yield Told("unmatched", miss.why, miss.entry, ask.key)
        elif missed:
            yield Told("not-sent", "another ask of its round has no answer", None, ask.key)
        else:
            yield Told(word, verdict.why, None, ask.key)


def _given(key: str, given: Given) -> Told:
    if given.entry is not None:
        return Told("answered", f'by "{given.entry}"', given.entry, key)
    action = str(given.answer.get("action"))
    return Told(_REFUSALS.get(action, "answered"), "nothing in the script answers it", None, key)
