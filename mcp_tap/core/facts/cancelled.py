"""Which requests a client has sent, and which of them it cancelled."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, ClassVar, Final

from msgspec import Struct

from mcp_tap.core.facts.flow import MODERN
from mcp_tap.core.facts.progress import Token, is_over, token_key
from mcp_tap.core.facts.topic import Topic
from mcp_tap.core.spec import LISTEN, NOTE_CANCELLED

if TYPE_CHECKING:
    from mcp_tap.core.facts.flow import Flow
    from mcp_tap.core.facts.message import Message
    from mcp_tap.core.model import Exchange

MOST_ON_HTTP: Final = 256
MOST_ON_STDIO: Final = 16_384
"""Requests remembered of one client."""


class Sent(Struct, eq=False):
    """A request, and what became of it."""

    number: int
    """Of its exchange."""
    exchange: Exchange | None
    """None once that is over: what is kept of a request must not keep all of it."""
    method: str | None
    modern: bool
    shared: bool
    """An unanswered one has the same id."""
    cancelled: float | None = None
    """When its client cancelled it, before it was answered."""
    is_task: bool = False
    """It was answered with a task."""

    @property
    def is_over(self) -> bool:
        """It is answered, or will never be."""
        return self.exchange is None or is_over(self.exchange)


class Cancelled(Topic):
    """Requests of one client by id, the newest of each."""

    wants: ClassVar = ("request", "result tools/call", f"notification {NOTE_CANCELLED}", "closed")
    steady: ClassVar = ("result tools/call",)

    def __init__(self) -> None:
        """Begin with none."""
        self._sent: OrderedDict[Token, Sent] = OrderedDict()
        self.complete = True
        """Every request ever sent is remembered."""

    def note(self, message: Message) -> None:
        """Take note of a request, its task, or its cancellation."""
        event = message.event
        if event == "request":
            self._request(message)
        elif event == "result":
            result, request = message.result, message.request
            if (
                request is not None
                and result is not None
                and (result.get("resultType") == "task" or type(result.get("task")) is dict)
            ):
                sent = self.of(request.flow.exchange)
                if sent is not None:
                    sent.is_task = True
        else:
            sent = self.get(message.params.get("requestId"))
            if sent is not None and sent.cancelled is None and not sent.is_over:
                sent.cancelled = message.t

    def closed(self, flow: Flow) -> None:
        """Let go of an exchange."""
        exchange = flow.exchange
        number = exchange.request_id
        sent = self._sent.get(number) if type(number) is int else self.get(number)
        if sent is not None and sent.exchange is exchange:
            sent.exchange = None

    def _request(self, message: Message) -> None:
        number, flow, sent = message.id, message.flow, self._sent
        key = number if type(number) is int else token_key(number)
        if key is None:
            return
        before = sent.pop(key, None)
        shared = before is not None and not before.is_over
        sent[key] = Sent(
            flow.exchange.number, flow.exchange, message.method, flow.band == MODERN, shared
        )
        if len(sent) > (MOST_ON_HTTP if flow.http else MOST_ON_STDIO):
            sent.popitem(last=False)
            self.complete = False

    def get(self, request_id: Any) -> Sent | None:
        """Find a request by its id."""
        key = token_key(request_id)
        return None if key is None else self._sent.get(key)

    def of(self, exchange: Exchange) -> Sent | None:
        """Find a request by its exchange."""
        sent = self.get(exchange.request_id)
        return sent if sent is not None and sent.number == exchange.number else None

    def since(self, exchange: Exchange) -> float | None:
        """Say when the request of an exchange was cancelled; None where it was not."""
        sent = self.of(exchange)
        return None if sent is None else sent.cancelled

    def foreign(self, request_id: Any) -> Sent | None:
        """Find the stateless request of that id, where it is certain and no subscription."""
        sent = self.get(request_id)
        if sent is None or sent.shared or not sent.modern or sent.method == LISTEN:
            return None
        return sent
