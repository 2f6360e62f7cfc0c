"""Messages against the schema of their revision, where no other rule has a word to say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mcp_tap.core.facts.ask import Answer
from mcp_tap.core.facts.flow import MODERN
from mcp_tap.core.spec import INPUT_REQUIRED
from mcp_tap.core.text import cut, pointer_words
from mcp_tap.rules.base import ALL, Hit, Hits, rule
from mcp_tap.rules.wire_schemas import shape_of

if TYPE_CHECKING:
    from mcp_tap.core.facts.message import Message

_LONGEST_PATH: Final = 120


@rule(
    "RPC-012",
    severity="error",
    level="must",
    blames="sender",
    spec="specification/2026-07-28/basic#schema",
    on=(
        "request",
        "notification",
        "server_request",
        "server_notification",
        "result",
        "answer",
    ),
    versions=ALL,
    last_resort=True,
    steady=("request tools/call",),
    flat=("result tools/call",),
)
def schema_invalid_message(m: Message | Answer) -> Hits:
    """A message does not have the shape that the schema of its revision gives it.

    The params of requests and notifications are looked at by their method, and results by the
    method they answer.  A peer that reads messages into types refuses such a one as a whole: a
    content block without its `type` loses the entire result.

    This is the last resort: it stays silent where any other rule has found something in the same
    message.  It knows nothing of methods the specification does not define, of results of
    extensions or of results that ask for input, and it leaves to their own rules what these judge
    better: `_meta`, the result type, forms, the content of answers, and the presence of caching
    hints.  Whole numbers are not demanded anywhere, and further members are always allowed.
    """
    if isinstance(m, Answer):
        return _answer(m)
    event, method = m.event, m.method
    if method is None:
        return None
    shape = shape_of(m.flow.band, event, method)
    if shape is None:
        return None
    value: Any = m.params
    if event == "result":
        value = m.result
        if value is None or not _is_plain(m, value):
            return None
    if shape.is_valid(value):
        return None
    return _hit(shape.fault(value), m, "/result" if event == "result" else "/params")


def _is_plain(m: Message, result: dict[str, Any]) -> bool:
    """Tell a result of the core protocol from one that asks, or of an extension."""
    if m.flow.band == MODERN:
        return result.get("resultType") == "complete" and m.request is not None
    return "task" not in result and result.get("resultType") != INPUT_REQUIRED


def _answer(answer: Answer) -> Hits:
    ask = answer.ask
    if ask.origin != "pushed" or answer.error or ask.method is None:
        return None
    if type(answer.value) is not dict or "task" in answer.value:
        return None
    shape = shape_of(answer.flow.band, "answer", ask.method)
    if shape is None or shape.is_valid(answer.value):
        return None
    return _hit(shape.fault(answer.value), answer.message, answer.path, ask.method)


def _hit(
    fault: tuple[str, str] | None, m: Message, top: str, answered: str | None = None
) -> Hit | None:
    if fault is None:
        return None
    where, words = fault
    path = top + where
    kind = "result of " if top == "/result" else ""
    method = cut(answered or m.method or "", 60)
    said = cut(pointer_words(path), _LONGEST_PATH)
    return Hit(f"{m.sender} sent a {kind}{method} whose {said} {words}", path)
