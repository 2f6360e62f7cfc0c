"""Listen streams, their filters and acknowledgements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from mcp_tap.core.facts.progress import is_over
from mcp_tap.core.facts.topic import Topic
from mcp_tap.core.spec import LISTEN, NOTE_ACKNOWLEDGED, NOTE_CANCELLED
from mcp_tap.core.values import same_id

if TYPE_CHECKING:
    from mcp_tap.core.facts.message import Message
    from mcp_tap.core.model import Exchange

MOST: Final = 256
_ACKNOWLEDGED: Final = "acknowledged"


def is_acknowledged(message: Message) -> bool:
    """Tell whether the subscription a server's message belongs to was acknowledged before it."""
    return _ACKNOWLEDGED in message.flow.memo


class Subscriptions(Topic):
    """Subscriptions of one client; of those over HTTP, each stream knows enough by itself."""

    wants: ClassVar = (
        f"request {LISTEN}",
        f"server_notification {NOTE_ACKNOWLEDGED}",
        f"server_notification {NOTE_CANCELLED}",
    )

    def __init__(self) -> None:
        """Begin with none."""
        self._listening: list[tuple[Exchange, dict[str, Any]]] = []

    def note(self, message: Message) -> None:
        """Take note of a subscription's beginning, acknowledgement or end."""
        flow = message.flow
        if message.event == "request":
            if not flow.http:
                self._listening = [*self._open(), (flow.exchange, flow.memo)][-MOST:]
        elif message.method == NOTE_CANCELLED:
            ended = message.params.get("requestId")
            self._listening = [
                entry for entry in self._open() if not same_id(entry[0].request_id, ended)
            ]
        elif flow.request is not None:
            flow.memo[_ACKNOWLEDGED] = True
        else:
            waiting = [memo for _, memo in self._open() if _ACKNOWLEDGED not in memo]
            if len(waiting) == 1:  # it does not say which it is about
                waiting[0][_ACKNOWLEDGED] = True

    def any_open(self) -> bool:
        """Tell whether any subscription of a stdio run is open."""
        return bool(self._open())

    def _open(self) -> list[tuple[Exchange, dict[str, Any]]]:
        return [entry for entry in self._listening if not is_over(entry[0])]
