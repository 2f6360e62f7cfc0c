"""Whatever a call said: it equals itself, and one thing changed in it is told as exactly that."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mcp_tap.core.records import pointer
from mcp_tap.replay.compare.calls import compare_calls
from mcp_tap.replay.compare.said import SaidAnswer, SaidAsk, SaidCall, SaidNote, SaidRound
from mcp_tap.replay.compare.values import Rules

words = st.text(alphabet="abcdefgh ", max_size=8)
names = st.text(alphabet="abcdefgh", min_size=1, max_size=4)
scalars = st.none() | st.booleans() | st.integers(-99, 99) | words
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=6,
)
objects = st.dictionaries(names, values, max_size=4)
fields = st.fixed_dictionaries(
    {"type": st.sampled_from(["string", "integer", "boolean"])}, optional={"title": words}
)
PLANTED = "planted"


@st.composite
def asks(draw, key: str) -> SaidAsk:
    properties = draw(st.dictionaries(names, fields, max_size=4))
    required = (
        draw(st.lists(st.sampled_from(sorted(properties)), unique=True)) if properties else []
    )
    form = {"type": "object", "properties": properties, "required": required}
    content = draw(objects)
    return SaidAsk(
        key=key,
        method="elicitation/create",
        kind="form",
        params={"message": f"{key}? {draw(words)}", "requestedSchema": form},
        at=("result", "inputRequests", key, "params"),
        answer=SaidAnswer(
            value={"action": "accept", "content": content}, at=("params", "inputResponses", key)
        ),
    )


@st.composite
def calls(draw) -> SaidCall:
    keys = draw(st.lists(names, unique=True, min_size=1, max_size=5))
    rounds = []
    while keys:
        count = draw(st.integers(1, 2))
        mine, keys = keys[:count], keys[count:]
        rounds.append(
            SaidRound(
                number=len(rounds) + 1,
                asks=tuple(draw(asks(key)) for key in mine),
                end="asks",
                said={},
                status=200,
                has_state=True,
            )
        )
    progress = draw(st.lists(st.integers(0, 99), unique=True, max_size=5))
    rounds.append(
        SaidRound(
            number=len(rounds) + 1,
            notes=tuple(
                SaidNote(method="notifications/progress", params={"progress": n}) for n in progress
            ),
            end="result",
            said={"content": draw(values), "structuredContent": draw(objects)},
            status=200,
        )
    )
    return SaidCall(
        number=1,
        method="tools/call",
        target="deploy",
        params={"name": "deploy", "arguments": draw(objects)},
        rounds=tuple(rounds),
    )


def places(value: Any, at: tuple = ()) -> list[tuple]:
    """List the places of all values inside of one, those of objects and lists as well."""
    found = [at]
    if isinstance(value, dict):
        found += [p for key, inner in value.items() for p in places(inner, (*at, key))]
    elif isinstance(value, list):
        found += [p for index, inner in enumerate(value) for p in places(inner, (*at, index))]
    return found


def at_place(value: Any, at: tuple) -> Any:
    for step in at:
        value = value[step]
    return value


def planted(draw, value: Any, root: tuple) -> tuple[Any, str, str | None]:
    """Change one thing in a value; say how, and where where that is told by the change alone."""
    made = copy.deepcopy(value)
    at = draw(st.sampled_from([p for p in places(value) if p] or [()]))
    holder = at_place(made, at[:-1])
    inside = at_place(made, at) if at else made
    ways = ["change"] if at else []
    if at and isinstance(holder, dict):
        ways.append("remove")
    if isinstance(inside, dict | list):
        ways.append("add")
    way = draw(st.sampled_from(ways))
    if way == "change":
        holder[at[-1]] = PLANTED
        return made, "changed", pointer(*root, *at)
    if way == "remove":
        del holder[at[-1]]
        return made, "removed", pointer(*root, *at)
    if isinstance(inside, dict):
        inside[PLANTED] = None
        return made, "added", pointer(*root, *at, PLANTED)
    index = draw(st.integers(0, len(inside)))
    inside.insert(index, PLANTED)
    return made, "added", pointer(*root, *at, index)


def in_round(call: SaidCall, index: int, **given: Any) -> SaidCall:
    rounds = list(call.rounds)
    rounds[index] = replace(rounds[index], **given)
    return replace(call, rounds=tuple(rounds))


def in_ask(call: SaidCall, index: int, nth: int, **given: Any) -> SaidCall:
    changed = list(call.rounds[index].asks)
    changed[nth] = replace(changed[nth], **given)
    return in_round(call, index, asks=tuple(changed))


@st.composite
def mutations(draw) -> tuple:  # noqa: C901, PLR0911, PLR0912, PLR0915 - a table of what can change
    """Give a call, the same with one thing changed, and what has to be told of that."""
    call = draw(calls())
    last = len(call.rounds) - 1
    r = draw(st.integers(0, last - 1))
    n = draw(st.integers(0, len(call.rounds[r].asks) - 1))
    ask = call.rounds[r].asks[n]
    schema = ask.params["requestedSchema"]
    at = pointer(*ask.at)
    fresh = replace(
        ask,
        key=PLANTED,
        params={"message": PLANTED},
        at=("result", "inputRequests", PLANTED, "params"),
    )

    def form(**given: Any) -> SaidCall:
        return in_ask(call, r, n, params={**ask.params, "requestedSchema": schema | given})

    match draw(st.sampled_from(KINDS)):
        case "arguments":
            value, change, where = planted(draw, call.params["arguments"], ("params", "arguments"))
            changed = replace(call, params=call.params | {"arguments": value})
            return call, changed, ("arguments", change, where, None, "")
        case "result":
            value, change, where = planted(draw, call.rounds[last].said, ("result",))
            return call, in_round(call, last, said=value), ("result", change, where, last + 1, "")
        case "error":
            changed = in_round(call, last, end="error", said={"code": -1}, at=("error",))
            return call, changed, ("outcome", "changed", "", last + 1, "")
        case "status":
            return call, in_round(call, r, status=500), ("status", "changed", "", r + 1, "")
        case "state":
            where = "/result/requestState"
            return call, in_round(call, r, has_state=False), ("state", "removed", where, r + 1, "")
        case "round":
            at_round = draw(st.integers(0, last))
            rest = (*call.rounds[:at_round], *call.rounds[at_round + 1 :])
            return call, replace(call, rounds=rest), ("round", "removed", "", at_round + 1, "")
        case "another round":
            more = SaidRound(number=r + 1, asks=(fresh,), end="asks", said={}, has_state=True)
            rest = (*call.rounds[:r], more, *call.rounds[r:])
            return call, replace(call, rounds=rest), ("round", "added", "", r + 1, "")
        case "renamed":
            changed = in_ask(call, r, n, key=PLANTED, at=fresh.at)
            where = pointer(*ask.at[:-1])
            return call, changed, ("ask", "renamed", where, r + 1, ask.key)
        case "another ask":
            changed = in_round(call, r, asks=(*call.rounds[r].asks, fresh))
            return call, changed, ("ask", "added", pointer(*fresh.at[:-1]), r + 1, PLANTED)
        case "kind":
            changed = in_ask(call, r, n, kind="url", params={"message": "m", "url": "u"})
            return call, changed, ("ask", "changed", f"{at}/mode", r + 1, ask.key)
        case "message":
            changed = in_ask(call, r, n, params=ask.params | {"message": PLANTED})
            return call, changed, ("ask", "changed", f"{at}/message", r + 1, ask.key)
        case "field":
            properties = {**schema["properties"], PLANTED: {"type": "string"}}
            needed = [*schema["required"], PLANTED] if draw(st.booleans()) else schema["required"]
            where = f"{at}/requestedSchema/properties/{PLANTED}"
            changed = form(properties=properties, required=needed)
            return call, changed, ("ask", "added", where, r + 1, ask.key)
        case "required":
            properties = {**schema["properties"], PLANTED: {}}
            call = form(properties=properties)
            where = f"{at}/requestedSchema/required"
            changed = in_ask(call, r, n, params=ask.params | {"requestedSchema": schema | {
                "properties": properties, "required": [PLANTED, *schema["required"]]}})  # fmt: skip
            return call, changed, ("ask", "added", where, r + 1, ask.key)
        case "action":
            answer = replace(ask.answer, value={"action": "decline"})
            where = pointer(*ask.answer.at, "action")
            changed = in_ask(call, r, n, answer=answer)
            return call, changed, ("answer", "changed", where, r + 1, ask.key)
        case "content":
            value, change, where = planted(
                draw, ask.answer.value["content"], (*ask.answer.at, "content")
            )
            answer = replace(ask.answer, value=ask.answer.value | {"content": value})
            changed = in_ask(call, r, n, answer=answer)
            return call, changed, ("answer", change, where, r + 1, ask.key)
        case "no answer":
            changed = in_ask(call, r, n, answer=None)
            return call, changed, ("answer", "removed", pointer(*ask.answer.at), r + 1, ask.key)
    notes = list(call.rounds[last].notes)
    notes.insert(
        draw(st.integers(0, len(notes))), SaidNote(method="notifications/message", params={})
    )
    changed = in_round(call, last, notes=tuple(notes))
    return call, changed, ("notification", "added", "", last + 1, "notifications/message")


KINDS = (
    "arguments", "result", "error", "status", "state", "round", "another round", "renamed",
    "another ask", "kind", "message", "field", "required", "action", "content", "no answer",
    "notification",
)  # fmt: skip


@given(calls())
def test_a_call_is_equal_to_itself(call):
    rules = Rules()
    assert compare_calls(call, copy.deepcopy(call), rules) == []
    assert not rules.matched


@given(mutations())
def test_one_thing_changed_is_one_difference_exactly_that_and_gone_when_ignored(made):
    before, after, expected = made
    (there,) = compare_calls(before, after, Rules())
    assert (there.what, there.change, there.at, there.round, there.name) == expected
    (back,) = compare_calls(after, before, Rules())
    turned = {"added": "removed", "removed": "added"}
    assert (back.what, back.change) == (there.what, turned.get(there.change, there.change))
    if back.what not in ("outcome", "round"):
        assert (back.left, back.right) == (there.right, there.left)
    if there.at and not there.at[-1].isdigit():  # an entry gone from a list moves the others
        assert compare_calls(before, after, Rules(ignore=[there.at])) == []
