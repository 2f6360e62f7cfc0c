"""Requests of one client that have not been answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias

from mcp_tap.core.bounded import Bounded
from mcp_tap.core.facts.flow import MODERN
from mcp_tap.core.facts.topic import Topic
from mcp_tap.core.spec import INITIALIZE, NOTE_CANCELLED
from mcp_tap.core.values import SHORT, same_json, short

if TYPE_CHECKING:
    from mcp_tap.core.facts.flow import Flow
    from mcp_tap.core.facts.message import Message

MOST_OPEN: Final = 4096
MOST_OVER: Final = 4096
_LONGEST: Final = float("inf")

Key: TypeAlias = tuple[str | None, str | bytes | int | float]
"""Credential, and an id, which is short."""
State: TypeAlias = Literal["open", "answered", "cancelled"]

BATCHING: Final = "2025-03-26"
"""The only revision in which a message may be an array."""


class Pending(Topic):
    """Requests in flight, and, where one channel carries all of them, those that were."""

    wants: ClassVar = (
        "request",
        "result",
        "error",
        f"notification {NOTE_CANCELLED}",
        "closed",
    )
    steady: ClassVar = ("closed",)

    def __init__(self) -> None:
        """Begin with no request seen."""
        self.batches = False
        """`initialize` settled on the revision that knows batches."""
        self.legacy = False
        """A request of the session era was seen, or one of no known era."""
        self.started = False
        """A request was seen."""
        self._lowest: float | None = None
        self._highest = -1.0
        """Of the ids that are numbers; mostly they count up, and so are new without a look."""
        self._open: dict[Key, int] = {}
        self._forgot = False
        self._over: Bounded[Key, State] = Bounded(MOST_OVER, _LONGEST)

    def knows(self, request_id: Any) -> bool:
        """Tell whether an id nobody has seen cannot be that of a request.

        It can where the recording began later than the requests, or where so many of these were
        open at once that some were forgotten.
        """
        if not self.started or self._forgot:
            return False
        if type(request_id) is int or type(request_id) is float:
            return self._lowest is None or request_id > self._lowest
        return True

    def is_open(self, flow: Flow, request_id: Any) -> bool:
        """Tell whether a request of the same credential with this id waits for its response."""
        if type(request_id) is int and request_id > self._highest:
            return False
        key = _key(flow, request_id)
        return key is not None and key in self._open

    def state(self, flow: Flow, request_id: Any) -> State | None:
        """Say what is known of an id; None where it was never used."""
        key = _key(flow, request_id)
        if key is None:
            return None
        return "open" if key in self._open else self._over.get(key)

    def note(self, message: Message) -> None:
        """Take note of a request, its response, or its cancellation."""
        flow, event, number = message.flow, message.event, message.id
        if event == "request":
            self._request(flow, number)
            return
        if event == "notification":
            self._end(flow, message.params.get("requestId"), "cancelled", message.t)
            return
        request = flow.request
        if request is not None:
            asked = request.id
            is_plain = type(asked) is type(number) is int  # as nearly always
            if asked == number if is_plain else same_json(asked, number):
                flow.answered = True
        self._end(flow, number, "answered", message.t)
        if message.method == INITIALIZE and message.result is not None:
            self.batches = message.result.get("protocolVersion") == BATCHING

    def closed(self, flow: Flow) -> None:
        """Forget a request whose stream is over, whatever ended it."""
        if flow.answered:
            return
        key = _key(flow, flow.exchange.request_id)
        if key is not None:
            self._open.pop(key, None)

    def _request(self, flow: Flow, number: Any) -> None:
        self.started = True
        if flow.band != MODERN:
            self.legacy = True
        kind = type(number)
        if kind is not int and kind is not str and kind is not float:
            return
        lowest = self._lowest
        known = self._open
        if kind is str:
            key: Key = flow.credential, number if len(number) <= SHORT else short(number)
            known[key] = known.pop(key, 0) + 1
        elif number > self._highest:
            self._highest = number
            if lowest is None:
                self._lowest = number
            known[flow.credential, number] = 1
        else:
            if lowest is None or number < lowest:
                self._lowest = number
            key = flow.credential, number
            known[key] = known.pop(key, 0) + 1
        if len(known) > MOST_OPEN:
            del known[next(iter(known))]
            self._forgot = True

    def _end(self, flow: Flow, number: Any, state: State, t: float) -> None:
        kind = type(number)
        if kind is not int and kind is not str and kind is not float:
            return
        if kind is str and len(number) > SHORT:
            number = short(number)
        key = flow.credential, number
        waiting = self._open.pop(key, None)
        if waiting == 1 and flow.http:
            return  # nearly always
        if waiting is not None and waiting > 1 and state == "answered":
            self._open[key] = waiting - 1
        elif not flow.http and (waiting is not None or self._over.get(key) is not None):
            self._over.put(key, state, t)


def _key(flow: Flow, request_id: Any) -> Key | None:
    kind = type(request_id)
    if kind is int or kind is float:
        return flow.credential, request_id
    return (flow.credential, short(request_id)) if kind is str else None
