"""Which requests a client has sent, and which of them it cancelled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from mcp_tap.core.facts.progress import Token, is_over, token_key
from mcp_tap.core.facts.topic import Topic
from mcp_tap.core.spec import LISTEN, NOTE_CANCELLED

if TYPE_CHECKING:
    from mcp_tap.core.facts.message import Message
    from mcp_tap.core.model import Exchange

MOST_ON_HTTP: Final = 256
MOST_ON_STDIO: Final = 16_384
"""Requests remembered of one client."""


class Sent:
    """A request, and what became of it."""

    __slots__ = ("cancelled", "exchange", "is_task", "method", "modern", "shared")

    def __init__(self, message: Message, *, shared: bool) -> None:
        """Remember one; `shared`: an unanswered one has the same id."""
        self.exchange: Exchange = message.flow.exchange
        self.method = message.method
        self.modern = message.flow.modern
        self.shared = shared
        self.cancelled: float | None = None
        """When its client cancelled it, before it was answered."""
        self.is_task = False
        """It was answered with a task."""


class Cancelled(Topic):
    """Requests of one client by id, the newest of each."""

    wants: ClassVar = ("request", "result tools/call", f"notification {NOTE_CANCELLED}")

    def __init__(self) -> None:
        """Begin with none."""
        self._sent: dict[Token, Sent] = {}
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
            if sent is not None and sent.cancelled is None and not is_over(sent.exchange):
                sent.cancelled = message.t

    def _request(self, message: Message) -> None:
        key = token_key(message.id)
        if key is None:
            return
        before = self._sent.pop(key, None)
        shared = before is not None and not is_over(before.exchange)
        self._sent[key] = Sent(message, shared=shared)
        if len(self._sent) > (MOST_ON_HTTP if message.flow.http else MOST_ON_STDIO):
            del self._sent[next(iter(self._sent))]
            self.complete = False

    def get(self, request_id: Any) -> Sent | None:
        """Find a request by its id."""
        key = token_key(request_id)
        return None if key is None else self._sent.get(key)

    def of(self, exchange: Exchange) -> Sent | None:
        """Find a request by its exchange."""
        sent = self.get(exchange.request_id)
        return sent if sent is not None and sent.exchange is exchange else None

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
