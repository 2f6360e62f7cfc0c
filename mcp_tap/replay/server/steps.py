"""What a replay sends, one thing at a time."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from mcp_tap.core.records import Body, HttpResponse, Message, Noise

Sent = HttpResponse | Message | Body | Noise


class Step(Struct, frozen=True, kw_only=True):
    """One thing to send."""

    seq: int
    t: float
    record: Sent
    value: Any
    """Its payload, parsed."""
    aside: bool = False
    """It came on another stream."""

    @property
    def cut(self) -> bool:
        """It was not recorded whole."""
        return not isinstance(self.record, HttpResponse) and self.record.truncated


def is_response(step: Step) -> bool:
    """Tell whether it is a JSON-RPC response."""
    value = step.value
    return type(value) is dict and "method" not in value and ("result" in value or "error" in value)


def is_ask(step: Step) -> bool:
    """Tell whether it is a request that the client has to answer."""
    value = step.value
    return type(value) is dict and "id" in value and type(value.get("method")) is str
