"""Multi round-trip requests: how a `requestState` comes back."""

from __future__ import annotations

from typing import Any, Final

from mcp_tap.core.facts.message import Message, is_masked
from mcp_tap.core.facts.places import place_of, who_of
from mcp_tap.core.facts.retry import Retry
from mcp_tap.core.facts.states import Issued
from mcp_tap.core.model import Round
from mcp_tap.core.spec import MAY_ASK
from mcp_tap.core.text import fingerprint
from mcp_tap.core.values import same_json
from mcp_tap.rules.base import Hit, Hits, rule
from mcp_tap.rules.shown import succeeds, target

_MRTR: Final = "specification/2026-07-28/basic/patterns/mrtr"
_CLIENT: Final = f"{_MRTR}#client-requirements-basic-workflow"
_STATE: Final = "/params/requestState"


@rule("MRTR-015", severity="error", level="must", blames="client", spec=_CLIENT, on="retry")
def retry_state_missing(r: Retry) -> Hits:
    """A retry answers what was asked but does not bring the `requestState` back.

    A server without memory of its own keeps all it knows about the call in that value; without it
    the answers belong to nothing.  An empty string is a value to be echoed too, and `null` echoes
    nothing.  A request with neither answers nor state is a fresh call and is not judged.
    """
    issued = _issued(r)
    if type(issued) is not str or r.message.params.get("requestState") is not None:
        return None
    return Hit(
        f"client does not echo the requestState ({fingerprint(issued)}) of round "
        f"{r.answered.number}",
        "/params",
        "requestState",
    )


@rule("MRTR-016", severity="error", level="must", blames="client", spec=_CLIENT, on="retry")
def retry_state_modified(r: Retry) -> Hits:
    r"""A retry echoes another `requestState` than the one it was given.

    The value is the server's alone: clients must not read, trim, decode or re-serialise it.  One
    changed byte breaks a signature, and where nothing is signed it changes what the server
    believes.  What counts is the string, not how JSON spells it: `\u0041` and `A` are equal, two
    Unicode normal forms of a letter are not.  A value that this client was given elsewhere is not
    modified but misplaced, and judged as that.
    """
    issued, sent = _issued(r), r.message.params.get("requestState")
    if r.round.link != "keys" or type(issued) is not str or type(sent) is not str:
        return None
    if issued == sent or is_masked(issued) or is_masked(sent):
        return None
    if _elsewhere(r, sent):
        return None
    return Hit(
        f"client echoed another requestState ({fingerprint(sent)}) than round "
        f"{r.answered.number} gave ({fingerprint(issued)})",
        _STATE,
    )


@rule("MRTR-017", severity="error", level="must", blames="client", spec=_CLIENT, on="retry")
def retry_state_invented(r: Retry) -> Hits:
    """A retry brings a `requestState` although the round gave none.

    A server that hands out no state will try to read what it gets, or reject it.  Even an empty
    string is a value; only leaving the member out says that there was none.  A value that this
    client was given in another round is judged as misplaced.
    """
    sent = r.message.params.get("requestState")
    if sent is None or _issued(r) is not None or r.round.link == "state":
        return None
    if _elsewhere(r, sent):
        return None
    return Hit(f"client sends a requestState though round {r.answered.number} gave none", _STATE)


@rule("MRTR-018", severity="warning", level="must", blames="client", spec=_CLIENT, on="retry")
def state_only_retry_state_unknown(r: Retry) -> Hits:
    """After a round without questions the same call comes back with a state nobody issued.

    Nothing but the arguments ties such a retry to its round, so it counts only where exactly one
    round fits: same client, same target, equal arguments, still open.  The state was most likely
    changed on its way.  The same call without any state is simply a new one.
    """
    sent = r.message.params.get("requestState")
    issued = _issued(r)
    if r.round.link != "params" or issued is None or is_masked(sent):
        return None
    if r.flow.seen.run.states.issued(sent) is not None:
        return None
    return Hit(
        f"client sends a requestState ({_print(sent)}) that was never issued; round "
        f"{r.answered.number} of this call gave {_print(issued)}",
        _STATE,
    )


@rule("MRTR-019", severity="error", level="must", blames="client", spec=_CLIENT, on="retry")
def retry_state_stale(r: Retry) -> Hits:
    """A retry answers the newest round but echoes the state of an earlier one.

    Each round's state stands for all that was settled up to it, so an older one takes the call
    back to where it was, or loses an answer.  Sending an earlier answer again, with its own state,
    is how a client recovers from a lost response, and fine; so are servers that keep one state
    through all rounds.
    """
    sent, newest = r.message.params.get("requestState"), r.latest
    if type(sent) is not str or is_masked(sent) or newest.state == sent:
        return None
    older = [round_ for round_ in r.call.rounds if _gave(round_, sent, newest)]
    if not older or not _answers_newest(r, newest, older):
        return None
    return Hit(
        f"client echoed the requestState of round {older[-1].number} ({fingerprint(sent)}) "
        f"in its answer to round {newest.number}",
        _STATE,
    )


def _gave(round_: Round, state: str, newest: Round) -> bool:
    asked = round_.result_type == "input_required"
    return asked and round_.state == state and round_.number < newest.number


def _answers_newest(r: Retry, newest: Round, older: list[Round]) -> bool:
    """Tell whether a retry with an older state is for the newest round, beyond doubt."""
    known = {ask.key for round_ in older for ask in round_.asks}
    if any(ask.key in r.answers and ask.key not in known for ask in newest.asks):
        return True
    if newest.asks and not any(ask.key in r.answers for ask in newest.asks):
        return False
    if not newest.asks and not known.isdisjoint(r.answers):
        return False
    chain = r.flow.seen.run.states.chain(r.call.number)
    if chain is None or chain.round != newest.number or not chain.delivered:
        return False  # the newest round may never have reached the client
    return not any(
        round_ is not r.round
        and round_.sent_state == r.round.sent_state
        and same_json(round_.answers or {}, r.answers)
        for round_ in r.call.rounds
        if r.answers
    )


@rule("MRTR-020", severity="error", level="must", blames="client", spec=_CLIENT, on="retrying")
def state_used_on_other_request(m: Message) -> Hits:
    """A `requestState` comes with another request than the one it was issued for.

    A state belongs to the retry of one request, and to no other method, tool, prompt or resource.
    A server that trusts it would act on what was agreed for something else.  Values that several
    targets share prove nothing: what was ever issued for this request's own target is not found.
    """
    known = _known(m)
    if known is None:
        return None
    place = place_of(m)
    if known.common or known.fits(place):
        return None
    others = [other for other in known.places if other[0] == place[0]]
    if not others:
        return None
    return Hit(
        f"client sends a requestState ({_print(m.params['requestState'])}) that was issued "
        f"for {target(min(others, key=str))}",
        _STATE,
    )


@rule("MRTR-021", severity="warning", level="must", blames="client", spec=_CLIENT, on="retrying")
def state_reused_after_completion(m: Message) -> Hits:
    """A `requestState` is presented again although its call is over.

    The call it was issued for has its final result, so there is nothing left to continue: a server
    that accepts it does the work twice.  Not found are answers sent again because the response was
    lost on its way or was an error, and constant values that a newer round has issued again.
    """
    known = _known(m)
    if known is None or known.common:
        return None
    place = place_of(m)
    here = [chain for chain in known.chains if chain.place[1:] == place[1:]]
    if not here or not all(chain.over and chain.delivered for chain in here):
        return None
    if all(chain.place != place for chain in here):
        return None
    return Hit(
        f"client sends a requestState ({_print(m.params['requestState'])}) whose call has "
        "its final result",
        _STATE,
    )


@rule(
    "MRTR-033",
    severity="warning",
    level="heuristic",
    blames="sender",
    spec=f"{_MRTR}#server-requirements-basic-workflow",
    on=("retrying", "after"),
    consequence=True,
)
def state_crosses_principals(m: Message) -> Hits:
    """A `requestState` issued to one user is presented by another.

    Where users share a client, a state that was mixed up, or stolen, lets one act on what another
    has confirmed.  Servers should bind states to the principal; one that completes such a call is
    named as well.  Only credentials that name somebody are compared: two JWTs by issuer and
    subject, two Basic credentials by user.  Opaque tokens change when they are refreshed, and a
    request without credentials says nothing.
    """
    if m.event == "request":
        return _crosses(m)
    request = m.request
    if request is None or "MRTR-033" not in (request.fired or ()) or not succeeds(m, "complete"):
        return None
    return Hit(
        "server completes a call with a requestState it issued to another user",
        "/result",
        "requestState",
    )


def _crosses(m: Message) -> Hits:
    sent = m.params.get("requestState")
    known = m.flow.seen.run.states.issued(sent)
    who = who_of(m.flow)
    if known is None or known.common or who is None:
        return None
    if any(other is None or other == who or other[0] != who[0] for other in known.whom):
        return None
    return Hit(
        f"client presents a requestState ({_print(sent)}) that was issued to another user", _STATE
    )


def _issued(r: Retry) -> Any:
    """Give the state of the round a retry answers, as it was on the wire."""
    result = r.asking.message.result
    return None if result is None else result.get("requestState")


def _elsewhere(r: Retry, sent: Any) -> bool:
    """Tell whether a state was issued to this client, though not by the round it answers."""
    known = r.flow.seen.run.states.issued(sent)
    return known is not None and known.known_to(r.flow.seen.number)


def _known(m: Message) -> Issued | None:
    """Say what is known of the state of a request that can be a retry, and is not ambiguous."""
    round_ = m.flow.round
    if m.method not in MAY_ASK or round_ is None or round_.link in ("state", "ambiguous"):
        return None
    return m.flow.seen.run.states.issued(m.params.get("requestState"))


def _print(state: Any) -> str:
    return fingerprint(state) if type(state) is str else "no string"
