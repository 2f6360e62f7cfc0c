"""What becomes of asks: what the scripts say of them, and where answering has an end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mcp_tap.answers.book import Answered, Decided, Unmatched
from mcp_tap.answers.question import Question
from mcp_tap.core.text import plural
from mcp_tap.errors import TapError
from mcp_tap.proxy.answering.verdicts import Ask, Fail, Pass, Send, Verdict

if TYPE_CHECKING:
    from mcp_tap.proxy.answering.answering import Answering


def decide(answering: Answering, asks: Sequence[Question]) -> Verdict:
    """Decide about the asks of a round, of which there is one at least."""
    if asks[0].round > answering.max_rounds:
        return too_many(answering)
    try:
        return weigh(answering, asks, answering.book.decide(asks))
    except Exception as error:  # noqa: BLE001 (a top door: nobody must wait for ever)
        return _fault(error)


async def let_person(
    answering: Answering, asks: Sequence[Question], unmatched: Unmatched
) -> Verdict:
    """Let a person decide, and say what follows; what nobody decides fails."""
    assert answering.person is not None
    try:
        verdict = weigh(answering, asks, await answering.person(asks, unmatched))
    except TapError as error:
        return Fail(error.code, str(error), unmatched.misses)
    except Exception as error:  # noqa: BLE001 (a top door: nobody must wait for ever)
        return _fault(error)
    if isinstance(verdict, Ask):
        return Fail(unmatched.error.code, unmatched.why, unmatched.misses)
    return verdict


def too_many(answering: Answering) -> Fail:
    """Say that a call had all the rounds it may have."""
    rounds = plural(answering.max_rounds, "round")
    return Fail("too-many-rounds", f"the server asks again after {rounds} (--max-rounds)")


def _fault(error: Exception) -> Fail:
    """Say that the tap failed, and its peers did nothing wrong."""
    return Fail("tap-failed", f"a fault of mcp-tap: {type(error).__name__}: {error}")


def weigh(answering: Answering, asks: Sequence[Question], decided: Decided) -> Verdict:
    """Say what follows from what a script, or a person, decided."""
    if isinstance(decided, Answered):
        again = answering.book.stop(asks, decided)
        return Send(decided.answers) if again is None else Fail("asks-again", again)
    if decided.how == "ask" and answering.person is not None:
        return Ask(decided)
    if decided.how == "pass" and all(ask.declared for ask in asks):
        return Pass(decided.why, decided.misses)
    if decided.how in ("decline", "cancel"):
        again = answering.book.stop(asks, Answered(answers=decided.answers))
        return Send(decided.answers) if again is None else Fail("asks-again", again)
    return Fail(decided.error.code, decided.why, decided.misses)
