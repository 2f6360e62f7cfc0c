"""Multi round-trip requests: answers and states that belong to nothing, or stand elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from mcp_tap.core.facts.message import NONE, Message, is_masked
from mcp_tap.core.facts.places import place_of
from mcp_tap.core.facts.states import short_keys
from mcp_tap.core.forms import json_type
from mcp_tap.core.records import pointer
from mcp_tap.core.spec import MAY_ASK, TASKS_UPDATE
from mcp_tap.core.text import brief
from mcp_tap.rules.base import Hit, Hits, rule
from mcp_tap.rules.shown import MEMBERS, MOST_ANSWERS, has_shape, listed, target

CORE: Final = frozenset(
    {
        "server/discover",
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "subscriptions/listen",
        "completion/complete",
    }
)
"""Requests of the protocol itself that are never answered with `input_required`."""

_MRTR: Final = "specification/2026-07-28/basic/patterns/mrtr"
_CLIENT: Final = f"{_MRTR}#client-requirements-basic-workflow"
_ANSWERS: Final = "/params/inputResponses"
_STATE: Final = "/params/requestState"
_WRAPPERS: Final = ("result", "error", "jsonrpc")
_ANY: Final = tuple(dict.fromkeys(name for names in MEMBERS.values() for name in names))
_REQUESTS: Final = tuple(f"request {method}" for method in sorted(MAY_ASK))


@rule("MRTR-022", severity="note", level="heuristic", blames="client", spec=_CLIENT, on="retrying")
def unsolicited_mrtr_fields(m: Message) -> Hits:
    """A request brings answers or a state that nothing in the capture asked for.

    It may all be in order: the capture began too late, a call was taken up again after days, or a
    test probes the server.  So it is a note, and says why this call counts as unlinked.  `null` and
    an empty `inputResponses` ask for nothing and are ignored.
    """
    flow = m.flow
    state, answers = m.params.get("requestState"), m.params.get("inputResponses")
    if not _is_stray(m) or (state is None and not answers) or is_masked(answers):
        return None
    states = flow.seen.run.states
    if states.issued(state) is not None or states.untyped(place_of(m)) is not None:
        return None
    if type(answers) is dict and answers:
        if states.was_asked(place_of(m), answers):
            return None
        keys = short_keys(answers)
        waiting = states.waiting(flow.seen.number)
        if any(chain.keys is None or not chain.keys.isdisjoint(keys) for chain in waiting):
            return None
    what = "a requestState" if state is not None else "inputResponses"
    return Hit(
        f"client sends {what} that nothing in this capture asked for",
        _STATE if state is not None else _ANSWERS,
    )


@rule("MRTR-023", severity="warning", level="must", blames="client", spec=_CLIENT, on="retrying")
def answers_used_on_other_request(m: Message) -> Hits:
    """Answers to one request are attached to another.

    What a person has agreed to for one tool is used for a second.  Found where the keys are exactly
    those of a round of this client that waits for another method or target, while nothing of this
    request's own target waits.  Generic keys that fit an own round too, or one that is over, prove
    nothing.
    """
    flow = m.flow
    state, answers = m.params.get("requestState"), m.params.get("inputResponses")
    if not _is_stray(m) or type(answers) is not dict or not answers:
        return None
    states = flow.seen.run.states
    if states.issued(state) is not None:
        return None
    place, keys, other = place_of(m), short_keys(answers), None
    if len(answers) > len(keys) or states.was_asked(place, answers):
        return None
    for chain in states.waiting(flow.seen.number):
        if chain.place == place:
            return None
        if chain.keys == keys:
            other = chain.place
    if other is None:
        return None
    return Hit(
        f"client attaches answers ({listed(list(answers))}) that {target(other)} asked for",
        _ANSWERS,
    )


def _is_stray(m: Message) -> bool:
    round_ = m.flow.round
    return m.method in MAY_ASK and round_ is not None and round_.link == "none"


@rule(
    "MRTR-028",
    severity="error",
    level="must",
    blames="client",
    spec=f"{_MRTR}#inputresponses",
    on="retrying",
)
def answer_wrapped_in_envelope(m: Message) -> Hits:
    """An answer is wrapped in a JSON-RPC response instead of being the bare result.

    Under a key stands the result itself.  An envelope is a leftover of pushed requests; and an
    error in place of an answer has no meaning: a client that cannot answer does not retry, or
    declines.  A bare result with members beside it (`resultType`, `_meta`) is fine.
    """
    answers = islice(_answers(m).items(), MOST_ANSWERS)
    wrapped = [key for key, value in answers if type(value) is dict and _wraps(value)]
    return _wrapped(m, wrapped) if wrapped else None


def _wraps(value: dict[str, Any]) -> bool:
    return "result" in value or "error" in value or "jsonrpc" in value


def _wrapped(m: Message, keys: list[str]) -> Iterator[Hit]:
    answers, retry = _answers(m), m.flow.retry
    asks = retry.asks if retry is not None else NONE
    for key in keys:
        value, ask = answers[key], asks.get(key)
        if ask is not None and ask.kind in MEMBERS:
            fits = has_shape(value, ask.kind)
        else:
            fits = any(name in value for name in _ANY)
        if fits:
            continue
        what = next(name for name in _WRAPPERS if name in value)
        yield Hit(
            f"client answers {brief(key, 40)} with a JSON-RPC envelope ({what}) instead of "
            "the bare result",
            _ANSWERS + pointer(key),
            key,
        )


@rule(
    "MRTR-029",
    severity="error",
    level="must",
    blames="client",
    spec=f"{_MRTR}#inputresponses",
    on="retrying",
)
def input_responses_wrong_type(m: Message) -> Hits:
    """`inputResponses`, or an answer in it, is no JSON object.

    It is a map from the keys of `inputRequests` to results, and every result is an object.  Lists,
    strings and `null` are found; an empty map is a map.  A client without answers leaves it out.
    """
    if "inputResponses" not in m.params or not _may_answer(m):
        return None
    answers = m.params["inputResponses"]
    if type(answers) is not dict:
        if is_masked(answers):
            return None
        return Hit(
            f"client sends {json_type(answers)} as inputResponses instead of a map", _ANSWERS
        )
    looked_at = islice(answers.items(), MOST_ANSWERS)
    wrong = [key for key, value in looked_at if type(value) is not dict]
    return _wrong(answers, wrong) if wrong else None


def _wrong(answers: dict[str, Any], keys: list[str]) -> Iterator[Hit]:
    for key in keys:
        if not is_masked(answers[key]):
            yield Hit(
                f"client answers {brief(key, 40)} with {json_type(answers[key])} instead of "
                "an object",
                _ANSWERS + pointer(key),
                key,
            )


def _may_answer(m: Message) -> bool:
    return m.method in MAY_ASK or m.method == TASKS_UPDATE


def _answers(m: Message) -> dict[str, Any]:
    found = m.params.get("inputResponses")
    return found if type(found) is dict and _may_answer(m) else NONE


@rule(
    "MRTR-030",
    severity="warning",
    level="heuristic",
    blames="client",
    spec=f"{_MRTR}#supported-requests",
    on="retrying",
)
def mrtr_fields_on_other_method(m: Message) -> Hits:
    """Answers or a state come with a method that is never asked for input.

    Servers answer `tools/call`, `prompts/get` and `resources/read` with questions, so only these
    have a retry.  `tasks/update` carries answers by design, and what methods of an extension or a
    vendor may carry is not known; neither is found.
    """
    if m.method not in CORE:
        return None
    name = "requestState" if "requestState" in m.params else "inputResponses"
    return Hit(
        f"client sends {name} with {m.method}, which is never asked for input", f"/params/{name}"
    )


@rule(
    "MRTR-031",
    severity="warning",
    level="heuristic",
    blames="client",
    spec="specification/2026-07-28/server/tools#input-required-tool-results",
    on=_REQUESTS,
)
def mrtr_fields_misplaced(m: Message) -> Hits:
    """A retry puts `inputResponses` or `requestState` where servers do not look.

    Both stand in `params`, beside `name` and `arguments`; inside `arguments`, `_meta` or (a state)
    `inputResponses` they are lost, and the server sees a fresh call.  Found only while a round of
    the same target waits.  A tool that has an argument of that name, by its schema or because the
    call was made with it in the first place, is left alone.
    """
    params = m.params
    arguments = params.get("arguments")
    if type(arguments) is not dict:
        arguments = NONE
    meta = m.meta
    if (
        "requestState" not in arguments
        and "inputResponses" not in arguments
        and "requestState" not in meta
        and "inputResponses" not in meta
        and "inputResponses" not in params
    ):
        return None
    return _misplaced(m, arguments)


def _misplaced(m: Message, arguments: dict[str, Any]) -> Hits:
    params, meta = m.params, m.meta
    found: tuple[str, str] | None = None
    for name in ("requestState", "inputResponses"):
        if name in params:
            continue
        if name in arguments:
            found = name, "arguments"
        elif name in meta:
            found = name, "_meta"
        elif name == "requestState" and type(_answers(m).get(name)) is str:
            found = name, "inputResponses"
        if found is not None:
            break
    if found is None or not _waits(m, *found):
        return None
    name, where = found
    return Hit(
        f"client puts {name} into {where} instead of params", f"/params/{where}/{name}", name
    )


def _waits(m: Message, name: str, where: str) -> bool:
    """Tell whether a round of this request's target waits, and has no such argument itself."""
    flow, place = m.flow, place_of(m)
    states = flow.seen.run.states
    waiting = [chain for chain in states.waiting(flow.seen.number) if chain.place == place]
    if flow.retry is not None and flow.call is not None:
        linked = states.chain(flow.call.number)
        waiting += [linked] if linked is not None else []
    if not waiting:
        return False
    if where != "arguments":
        return True
    return not (any(name in chain.own for chain in waiting) or states.is_argument(place[2], name))
