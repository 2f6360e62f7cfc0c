"""Calls for tests of comparing: what they said, without records."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from mcp_tap.replay.compare.said import SaidAnswer, SaidAsk, SaidCall, SaidNote, SaidRound

SCHEMA = {
    "type": "object",
    "properties": {"proceed": {"type": "boolean"}, "reason": {"type": "string", "maxLength": 80}},
    "required": ["proceed"],
}


def ask(key: str = "confirm", **given: Any) -> SaidAsk:
    params = {"message": f"What about {key}?", "requestedSchema": SCHEMA}
    answer = {"action": "accept", "content": {"proceed": True}}
    fields: dict[str, Any] = {
        "key": key,
        "method": "elicitation/create",
        "kind": "form",
        "params": params,
        "at": ("result", "inputRequests", key, "params") if key else ("params",),
        "answer": SaidAnswer(value=answer, at=("params", "inputResponses", key)),
    }
    return SaidAsk(**(fields | given))


def note(progress: int) -> SaidNote:
    return SaidNote(method="notifications/progress", params={"progress": progress, "total": 3})


def asking(number: int, *asks: SaidAsk, **given: Any) -> SaidRound:
    fields: dict[str, Any] = {"end": "asks", "said": {}, "status": 200, "has_state": True}
    return SaidRound(number=number, asks=asks, **(fields | given))


def done(number: int, text: str = "done", **given: Any) -> SaidRound:
    said = {"content": [{"type": "text", "text": text}], "isError": False}
    fields: dict[str, Any] = {"end": "result", "said": said, "status": 200}
    return SaidRound(number=number, **(fields | given))


def failed(number: int, code: int = -32602, **given: Any) -> SaidRound:
    fields: dict[str, Any] = {"end": "error", "said": {"code": code, "message": "no"}}
    return SaidRound(number=number, at=("error",), status=200, **(fields | given))


def call(*rounds: SaidRound, number: int = 1, name: str = "deploy", **given: Any) -> SaidCall:
    if not rounds:
        rounds = (
            asking(1, ask("confirm")),
            asking(2, ask("window")),
            done(3, notes=(note(1), note(2), note(3))),
        )
    params = {"name": name, "arguments": given.pop("arguments", {"service": "billing"})}
    fields: dict[str, Any] = {"method": "tools/call", "target": name, "params": params}
    return SaidCall(number=number, rounds=rounds, **(fields | given))


def with_round(made: SaidCall, at: int, **given: Any) -> SaidCall:
    """Change a round of a call."""
    rounds = list(made.rounds)
    rounds[at] = replace(rounds[at], **given)
    return replace(made, rounds=tuple(rounds))


def with_ask(made: SaidCall, at: int, index: int = 0, **given: Any) -> SaidCall:
    """Change an ask of a round."""
    asks = list(made.rounds[at].asks)
    asks[index] = replace(asks[index], **given)
    return with_round(made, at, asks=tuple(asks))
