"""Multi round-trip requests: what a retry must bring, and must leave as it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final, TypeAlias

from mcp_tap.core.facts.ask import Answer
from mcp_tap.core.facts.message import NONE, is_masked
from mcp_tap.core.facts.retry import Retry
from mcp_tap.core.records import pointer
from mcp_tap.core.spec import CLIENT_CAPABILITIES, has_mode
from mcp_tap.core.text import brief, cut, pointer_words, safe
from mcp_tap.core.values import same_id
from mcp_tap.rules.base import Hit, Hits, rule
from mcp_tap.rules.shown import MEMBERS, MOST_ANSWERS, has_shape, listed

DEEPEST: Final = 4
"""Levels to which a difference is pointed at."""
MOST_COMPARED: Final = 10_000
"""Values compared of the params of one retry."""
LONGEST: Final = 200
"""Characters of a name that is part of a pointer."""

Place: TypeAlias = tuple[Any, ...]
"""Where a value stands: the place of what holds it, and the step from there; empty at the top."""

_MRTR: Final = "specification/2026-07-28/basic/patterns/mrtr"
_CLIENT: Final = f"{_MRTR}#client-requirements-basic-workflow"
_ANSWERS: Final = "/params/inputResponses"
_OWN: Final = ("_meta", "inputResponses", "requestState")
"""Params that differ between a request and its retry by right."""


@rule("MRTR-013", severity="error", level="must", blames="client", spec=_CLIENT, on="retry")
def retry_reuses_request_id(r: Retry) -> Hits:
    """A retry has the JSON-RPC id of the request it retries.

    Each round is a request of its own.  With one id for two of them a server, a proxy or a log
    cannot tell the second response from the first.  Ids are compared with their type: 1 and "1"
    are two.  That the id of some other, finished request is used again is fine.
    """
    used = r.message.id
    if same_id(used, r.first.id):
        which = "the initial request"
    elif same_id(used, r.answered.request_id):
        which = f"round {r.answered.number}, which it answers"
    else:
        return None
    return Hit(f"client retries with id {brief(used, 40)}, the id of {which}", "/id")


@rule(
    "MRTR-014",
    severity="warning",
    level="should",
    blames="client",
    spec=f"{_MRTR}#multi-round-trip-requests",
    on="retry",
)
def retry_params_changed(r: Retry) -> Hits:
    """A retry does not repeat the params of the initial request.

    A retry is the original request once more, with answers.  The server asked about those
    arguments; others make its state, and what a person has agreed to, mean something else.  They
    are compared as JSON values: key order and 3 or 3.0 do not matter, absent arguments equal `{}`,
    and `_meta` may change freely.  Masked values are not compared.
    """
    path = _difference(_lasting(r.first.params), _lasting(r.message.params))
    if path is None:
        return None
    where = cut(safe(pointer_words("/params" + path)), 80)
    return Hit(
        f"client retries with {where} changed from the initial request",
        "/params" + path,
    )


def _lasting(params: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in params.items() if name not in _OWN}
    if kept.get("arguments") is None:
        kept["arguments"] = NONE
    return kept


def _difference(first: Any, now: Any) -> str | None:
    """Point to where two values differ, in what is not masked.

    None where they do not, or where `MOST_COMPARED` values do not show it.
    """
    pairs: list[tuple[Any, Any, Place]] = [(first, now, ())]
    compared = 0
    while pairs:
        one, other, place = pairs.pop()
        if one is other or is_masked(one) or is_masked(other):
            continue
        below: list[tuple[Any, Any, Place]] = []
        if type(one) is dict and type(other) is dict:
            if one.keys() != other.keys():
                missing = [name for name in one if name not in other]
                missing = missing or [name for name in other if name not in one]
                return _path((place, missing[0]))
            for name, value in islice(one.items(), MOST_COMPARED - compared):
                below.append((value, other[name], (place, name)))
        elif type(one) is list and type(other) is list:
            if len(one) != len(other):
                return _path(place)
            for index, value in enumerate(one[: MOST_COMPARED - compared]):
                below.append((value, other[index], (place, index)))
        elif type(one) is bool or type(other) is bool or one != other:
            return _path(place)
        compared += len(below)
        pairs.extend(reversed(below))
    return None


def _path(place: Place) -> str:
    """Point to a place, no deeper than `DEEPEST`, and without steps longer than `LONGEST`."""
    steps: list[Any] = []
    while place:
        place, step = place
        steps.append(step)
    return pointer(*(step for step in steps[::-1][:DEEPEST] if len(str(step)) <= LONGEST))


@rule("MRTR-024", severity="error", level="must", blames="client", spec=_CLIENT, on="retry")
def retry_answers_incomplete(r: Retry) -> Hits:
    """A retry answers only some of what was asked.

    A client constructs all requested inputs before it retries; what nobody wants to answer is
    declined or cancelled, and that is an answer.  A server can only ask again for the rest.
    Answers for a task may come one by one and are not judged.
    """
    missing = [key for key in r.asks if key not in r.answers]
    if not missing or len(missing) == len(r.asks):
        return None
    return Hit(
        f"client answers {len(r.asks) - len(missing)} of {len(r.asks)} input requests of "
        f"round {r.answered.number}: {listed(missing)} missing",
        _ANSWERS,
        missing[0],
    )


@rule("MRTR-025", severity="error", level="must", blames="client", spec=_CLIENT, on="retry")
def retry_answers_absent(r: Retry) -> Hits:
    """A retry echoes the state of a round that asked, but brings none of the answers.

    The server is as wise as before and asks again: loops come from this.  Found where
    `inputResponses` is absent, empty, or has none of the keys that were asked (often they are
    spelled otherwise).  A round that asked nothing needs no answers.
    """
    if r.round.link != "state" or not r.asks:
        return None
    params = r.message.params
    if "inputResponses" in params and type(params["inputResponses"]) is not dict:
        return None
    if any(key in r.answers for key in r.asks):
        return None
    path = _ANSWERS if "inputResponses" in params else "/params"
    return Hit(
        f"client retries round {r.answered.number} without an answer to {listed(list(r.asks))}",
        path,
        "inputResponses",
    )


@rule(
    "MRTR-026",
    severity="warning",
    level="should",
    blames="client",
    spec=f"{_MRTR}#inputresponses",
    on="retry",
)
def answer_key_unknown(r: Retry) -> Hits:
    """`inputResponses` has a key the call never asked for.

    Answers are found by their keys, so one under another spelling is lost; servers ignore what
    they do not know.  Answers of earlier rounds of the same call may be repeated.  Where
    `inputRequests` was no map there are no keys to compare with.
    """
    if all(key in r.asks for key in r.answers):
        return None
    result = r.asking.message.result or NONE
    if "inputRequests" in result and type(result["inputRequests"]) is not dict:
        return None
    known = {ask.key for round_ in r.call.rounds for ask in round_.asks}
    looked_at = islice(r.answers, MOST_ANSWERS)
    unknown = [key for key in looked_at if key not in known and key not in r.asks]
    return _unknown(unknown) if unknown else None


def _unknown(keys: list[str]) -> Iterator[Hit]:
    for key in keys:
        yield Hit(
            f"client answers {brief(key, 40)}, which the call never asked for",
            _ANSWERS + pointer(key),
            key,
        )


@rule(
    "MRTR-027",
    severity="error",
    level="must",
    blames="client",
    spec=f"{_MRTR}#inputresponses",
    on=("answer form", "answer url", "answer sampling", "answer roots"),
)
def answer_kind_mismatch(a: Answer) -> Hits:
    """An answer has the shape of another kind of input.

    What stands under a key must be the result of the request under that key: an elicitation's has
    an `action`, sampling gives a message (`role`, `content`, `model`), roots a list of `roots`.
    Schemas of the union of all three let a swap pass, so it surfaces deep inside the server.  Only
    an object with none of the members of its kind is found; one in the envelope of a JSON-RPC
    response is another rule's.
    """
    value = a.value
    if type(value) is not dict or a.error or a.ask.origin == "pushed":
        return None
    if has_shape(value, a.ask.kind):
        return None
    wanted = MEMBERS[a.ask.kind]
    return Hit(
        f"client answers {a.ask.method} under {brief(a.ask.key, 40)} with the shape of another "
        f"kind; its own has {', '.join(wanted)}",
        a.path,
        a.ask.key,
    )


@rule(
    "MRTR-032",
    severity="warning",
    level="must",
    blames="client",
    spec="specification/2026-07-28/client/elicitation#capabilities",
    on="retry",
)
def retry_drops_capability(r: Retry) -> Hits:
    """A retry answers a request whose capability it no longer declares.

    Capabilities are declared anew in every request, retries included: by its own words this
    client cannot have produced the answer.  For elicitation the mode counts as well.  Declaring
    more than before is fine, and a retry that declares nothing at all is found elsewhere.
    """
    now = r.message.meta.get(CLIENT_CAPABILITIES)
    asked = r.asking.message.request
    before = asked.meta.get(CLIENT_CAPABILITIES) if asked is not None else None
    if type(now) is not dict or type(before) is not dict or not r.answers:
        return None
    kinds = {ask.kind for key, ask in r.asks.items() if _is_answer(r.answers.get(key), ask.kind)}
    dropped = [
        kind
        for kind in ("form", "url", "sampling", "roots")
        if kind in kinds and _declares(before, kind) and not _declares(now, kind)
    ]
    return _dropped(dropped) if dropped else None


def _dropped(kinds: Sequence[str]) -> Iterator[Hit]:
    path = "/params/_meta" + pointer(CLIENT_CAPABILITIES)
    for kind in kinds:
        name = f"elicitation.{kind}" if kind in ("form", "url") else kind
        yield Hit(f"client answers with {name} but no longer declares that capability", path, name)


def _is_answer(value: Any, kind: str) -> bool:
    return type(value) is dict and has_shape(value, kind)


def _declares(capabilities: dict[str, Any], kind: str) -> bool:
    """Tell whether capabilities include a kind of ask."""
    if kind not in ("form", "url"):
        return kind in capabilities
    modes = capabilities.get("elicitation")
    return type(modes) is dict and has_mode(modes, kind)
