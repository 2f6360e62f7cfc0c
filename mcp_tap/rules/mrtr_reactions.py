"""Multi round-trip requests: how servers react to retries, and how long calls go on."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from mcp_tap.core.contents import is_valid
from mcp_tap.core.facts.ask import Ask
from mcp_tap.core.facts.message import Message
from mcp_tap.core.facts.retry import Retry
from mcp_tap.core.forms import is_form
from mcp_tap.core.spec import INPUT_REQUIRED
from mcp_tap.core.text import brief
from mcp_tap.core.values import same_json
from mcp_tap.rules.base import Hit, Hits, registered, rule
from mcp_tap.rules.shown import listed, succeeds

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

MOST_ROUNDS: Final = 10
"""Rounds common clients go along with."""
MOST_POLLS: Final = 20
POLLING: Final = 5.0
"""Seconds within which more than `MOST_POLLS` retries make a hot loop."""
TAMPERED: Final = frozenset({"MRTR-016", "MRTR-018", "MRTR-019", "MRTR-020"})
BROKEN: Final = frozenset({"MRTR-027", "MRTR-028", "MRTR-029"})
RECOVERABLE: Final = frozenset({"MRTR-024", "MRTR-026"})

_MRTR: Final = "specification/2026-07-28/basic/patterns/mrtr"
_SERVER: Final = f"{_MRTR}#server-requirements-basic-workflow"
_ERRORS: Final = f"{_MRTR}#error-handling"
_NOTHING: Final[frozenset[str]] = frozenset()


@rule(
    "MRTR-034",
    severity="warning",
    level="heuristic",
    blames="server",
    spec=_SERVER,
    on="after",
    consequence=True,
)
def tampered_state_accepted(m: Message) -> Hits:
    """A server goes on with a call although the state was visibly not the one it issued.

    A state comes back through the client, so servers must take it for an attacker's input and
    reject what fails verification with an error.  One that goes on, or asks the next question, does
    not seem to look.  This is a suspicion: protection may be left out where a changed state can do
    no harm, and the wire does not tell.
    """
    fired = _fired(m) & TAMPERED
    if not fired or not succeeds(m, "complete", "task", INPUT_REQUIRED):
        return None
    does = "asks on" if succeeds(m, INPUT_REQUIRED) else "completes the call"
    return Hit(
        f"server {does} although the requestState is not the one it issued ({_ids(fired)}); "
        "harmless only if a changed state can do nothing but fail",
        "/result",
        "requestState",
    )


@rule(
    "MRTR-035",
    severity="warning",
    level="should",
    blames="server",
    spec=_ERRORS,
    on="after",
    consequence=True,
)
def malformed_answers_accepted(m: Message) -> Hits:
    """A server completes a call although the answers were structurally broken.

    Servers should check that what comes back is a map of results of the kind that was asked for.
    One that succeeds all the same has worked with something nobody said.  An error, a tool's own
    failure or the question once more would be right.  Wrong values in a well-formed answer are
    another rule's.
    """
    fired = _fired(m) & BROKEN
    if not fired or not _retried(m) or not succeeds(m, "complete"):
        return None
    return Hit(
        f"server completes the call although inputResponses was broken ({_ids(fired)})",
        "/result",
        "inputResponses",
    )


@rule(
    "MRTR-036",
    severity="note",
    level="should",
    blames="server",
    spec=_ERRORS,
    on="after",
    consequence=True,
)
def recoverable_answers_rejected(m: Message) -> Hits:
    """A server rejects missing or superfluous answers with an error.

    It should ask again for what is missing, and overlook what it does not know: both can be mended
    within the call, while an error ends it.  Found only where nothing else is wrong with the retry,
    and a note, since the error may have another cause.
    """
    fired = _fired(m)
    found = fired & RECOVERABLE
    if not found or m.event != "error" or not _retried(m):
        return None
    if not fired <= RECOVERABLE | _notes():
        return None
    return Hit(
        f"server rejects a retry for answers it could ask for again or overlook ({_ids(found)})",
        "/error",
        "inputResponses",
    )


@rule(
    "MRTR-037",
    severity="warning",
    level="heuristic",
    blames="server",
    spec=_SERVER,
    on=("input_required", "retry"),
)
def too_many_rounds(subject: Message | Retry) -> Hits:
    """A call needs more rounds than common clients go along with.

    The SDKs for Python, TypeScript, Go and C# give up after ten retries, so the eleventh question
    of a call is one most users never see.  Rounds without questions count too.  A client that
    retries more than 20 times within 5 seconds where nothing was asked is in a hot loop, and at
    fault itself: the server asked for time.
    """
    if type(subject) is Retry:
        return _hot_loop(subject)
    m: Message = subject  # type: ignore[assignment]
    call = m.flow.call
    chain = m.flow.seen.run.states.chain(call.number) if call is not None else None
    if call is None or chain is None or chain.asked < MOST_ROUNDS:
        return None
    return Hit(
        f"server asks for the {chain.asked + 1}th time in one call; common clients give up "
        f"after {MOST_ROUNDS} rounds",
        "/result",
        "resultType",
        once=("rounds", call.number),
    )


def _hot_loop(r: Retry) -> Hits:
    if r.asks:
        return None
    chain = r.flow.seen.run.states.chain(r.call.number)
    if chain is None or len(chain.polls) < MOST_POLLS:
        return None
    if r.message.t - chain.polls[0] > POLLING:
        return None
    return Hit(
        f"client retries more than {MOST_POLLS} times within {POLLING:.0f} seconds where "
        "nothing was asked",
        "/params",
        "requestState",
        blame="client",
        once=("polls", r.call.number),
    )


@rule(
    "MRTR-038",
    severity="warning",
    level="heuristic",
    blames="server",
    spec=_SERVER,
    on="ask form",
)
def identical_question_loop(ask: Ask) -> Hits:
    """A server asks the very same question for the third time although it was answered.

    A person who has answered twice learns nothing from the same words once more: say what was
    wrong, or give an error.  Found where the same key has an equal form three rounds in a row and
    both answers were accepted with content that fits the schema.  Another message or schema, and a
    decline or cancel, begin anew.  Asking for a URL again is how its outcome is waited for.
    """
    if ask.origin != "input_required" or not is_form(ask):
        return None
    now = ask
    for _ in range(2):
        before = _before(now)
        if before is None:
            return None
        now = before
    call = ask.flow.call
    number = call.number if call is not None else None
    return Hit(
        f"server asks {brief(ask.key, 40)} for the third time in a row although it was "
        "answered validly",
        ask.path,
        ask.key,
        once=("loop", number, ask.key),
    )


def _before(ask: Ask) -> Ask | None:
    """Give the ask one round before, where it was the same and was answered validly."""
    for answer in ask.before:
        asked = answer.ask
        if asked.key != ask.key or asked.origin != ask.origin:
            continue
        valid = is_valid(asked, answer.value, answer.flow.band)
        return asked if valid and same_json(_words(asked), _words(ask)) else None
    return None


def _words(ask: Ask) -> dict[str, Any]:
    return {name: value for name, value in ask.params.items() if name != "_meta"}


def _fired(m: Message) -> AbstractSet[str]:
    """Give the rules that fired on the request a response is for."""
    request = m.request
    return (request.fired or _NOTHING) if request is not None else _NOTHING


def _retried(m: Message) -> bool:
    """Tell whether a response is for the linked retry of a round."""
    return m.flow.retry is not None


def _ids(fired: AbstractSet[str]) -> str:
    return listed(sorted(fired)).replace('"', "")


@cache
def _notes() -> frozenset[str]:
    return frozenset(found.id for found in registered() if found.severity == "note")
