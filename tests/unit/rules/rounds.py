"""Calls of several rounds, for the tests of their rules."""

from __future__ import annotations

from typing import Any

from tests.cases import CAPABILITIES, answer, ask, asking, call, exchange, fired, form, result

BOTH = {**CAPABILITIES, "sampling": {}, "roots": {}}
YES = {"action": "accept", "content": {"name": "demo"}}
SAMPLED = {"role": "assistant", "content": {"type": "text", "text": "x"}, "model": "m"}
SAMPLING = {
    "method": "sampling/createMessage",
    "params": {"messages": [], "maxTokens": 5},
}
ROOTS = {"method": "roots/list"}
LINK = {
    "method": "elicitation/create",
    "params": {"mode": "url", "message": "Go", "url": "https://example.com/x"},
}
DONE = "done"
UNSET: Any = object()


def leg(
    number: Any,
    response: Any,
    *,
    keys: tuple[str, ...] = (),
    state: Any = UNSET,
    t: tuple[float, float] | None = None,
    closed_by: str | None = None,
    method: str = "tools/call",
    **more: Any,
) -> dict[str, Any]:
    """Play one exchange: its retry fields by `keys` and `state`, its response by `response`."""
    if keys:
        more.setdefault("inputResponses", dict.fromkeys(keys, YES))
    if state is not UNSET:
        more["requestState"] = state
    request = call(number, **more) if method == "tools/call" else ask(method, number, **more)
    reply = None
    if response is not None:
        body = {**response, "id": number}
        reply = answer(body)
        if closed_by is not None:
            reply["closed_by"] = closed_by
    return exchange(request, reply, t)


def asks(*keys: str, state: str | None = "s1", **more: Any) -> dict[str, Any]:
    """Write a result that asks for a form under each key; without keys it has a state only."""
    made = asking({key: form() for key in keys}, state)
    if not keys:
        del made["result"]["inputRequests"]
    made["result"].update(more)
    return made


def done(**more: Any) -> dict[str, Any]:
    return result(1, "complete", **{"content": [{"type": "text", "text": "ok"}], **more})


def failed() -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "Invalid"}}


def mrtr(*exchanges: dict[str, Any]) -> list[str]:
    """Give what the family found, as `ID` for errors, `ID:severity` for the rest, in order."""
    found = fired({"transport": "http", "exchanges": list(exchanges)}, "MRTR")
    return [f.rule if f.severity == "error" else f"{f.rule}:{f.severity}" for f in found]
