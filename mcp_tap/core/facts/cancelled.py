"""Which requests a client has sent, and which of them it cancelled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from msgspec import Struct

from mcp_tap.core.bounded import Recent
from mcp_tap.core.facts.flow import MODERN
from mcp_tap.core.facts.places import named
from mcp_tap.core.facts.progress import Token, is_over, token_key
from mcp_tap.core.facts.topic import Topic
from mcp_tap.core.spec import LISTEN, NOTE_CANCELLED

if TYPE_CHECKING:
    from mcp_tap.core.facts.flow import Flow
    from mcp_tap.core.facts.message import Message
    from mcp_tap.core.model import Exchange

MOST_ON_HTTP: Final = 512
MOST_ON_STDIO: Final = 16_384
"""Requests remembered of one client at most, and half as many at least."""


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
        self._sent: Recent[Token, Sent] | None = None
        self._highest = -1
        """Of the ids that are integers; mostly they count up, and so are new without a look."""

    @property
    def complete(self) -> bool:
        """Every request ever sent is remembered."""
        return self._sent is None or not self._sent.forgot

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
        if flow.asked is not None:
            flow.asked.exchange = None

    def _request(self, message: Message) -> None:
        flow, sent = message.flow, self._sent
        key = token_key(message.id)
        if key is None:
            return
        if sent is None:
            sent = self._sent = Recent(MOST_ON_HTTP if flow.http else MOST_ON_STDIO)
        if type(key) is int and key > self._highest:
            self._highest = key
            shared = False
        else:
            before = sent.get(key)
            shared = before is not None and not before.is_over
        exchange = flow.exchange
        new = Sent(exchange.number, exchange, named(message.method), flow.band == MODERN, shared)
        sent.put(key, new)
        flow.asked = new

    def get(self, request_id: Any) -> Sent | None:
        """Find a request by its id."""
        key = token_key(request_id)
        return None if key is None or self._sent is None else self._sent.get(key)

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
