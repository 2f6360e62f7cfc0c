"""Messages of a client as rules and memory see them, without records around them."""

from __future__ import annotations

from itertools import count
from typing import Any

from mcp_tap.core.facts.flow import MODERN, Flow
from mcp_tap.core.facts.message import Message
from mcp_tap.core.facts.seen import Run, Seen
from mcp_tap.core.model import Exchange
from mcp_tap.core.records import Message as Record

_numbers = count(1)


def seen_by(client: str, run: Run | None = None) -> Seen:
    """Begin the memory of a client."""
    return (run or Run()).client(client, 0.0)


def message(
    method: str,
    number: Any = ...,
    *,
    t: float = 0.0,
    http: bool = True,
    seen: Seen | None = None,
    **params: Any,
) -> Message:
    """Send a request, or without `number` a notification, in an exchange of its own."""
    value = {"jsonrpc": "2.0", "method": method, "params": params}
    exchange = Exchange(number=next(_numbers), t=t, kind="request", method=method)
    if number is not ...:
        value["id"] = exchange.request_id = number
    flow = Flow(exchange, seen or seen_by("a"), http=http, upstream="")
    flow.band = MODERN
    sent = Message(Record(seq=1, t=t, sender="client"), value, flow)
    if number is not ...:
        flow.request = sent
    return sent


def reply(sent: Message, t: float | None = None, **members: Any) -> Message:
    """Answer a request with a result."""
    value = {"jsonrpc": "2.0", "id": sent.id, "result": members}
    record = Record(seq=2, t=sent.t + 1 if t is None else t, sender="server")
    sent.flow.exchange.answered = True
    return Message(record, value, sent.flow)
