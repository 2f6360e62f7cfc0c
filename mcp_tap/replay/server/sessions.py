"""Sessions of the session era as they are replayed: streams, pushed asks, ids.

A stream that its client loses goes on without it: the protocol says that a lost connection cancels
nothing (2025-11-25, basic/transports#resumability-and-redelivery).  What comes meanwhile is kept,
for a client that takes it up with `Last-Event-ID`.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from mcp_tap.core.records import Sse
from mcp_tap.core.values import id_key
from mcp_tap.core.wire import dumps
from mcp_tap.replay.server.outlets import Outlet

MOST_KEPT: Final = 10_000
"""Messages kept for a stream that is not being read, or may be taken up again."""
MOST_ASKS: Final = 10_000
MOST_REQUESTS: Final = 10_000


class Stream(Struct, eq=False):
    """One stream of a session: what answers a request, or what comes of itself."""

    outlet: Outlet | None = None
    sent: deque[tuple[bytes, Sse | None]] = field(default_factory=lambda: deque(maxlen=MOST_KEPT))
    """What was sent, as far as it has an event id."""
    waiting: deque[tuple[bytes, Sse | None]] = field(
        default_factory=lambda: deque(maxlen=MOST_KEPT)
    )
    """What came while nobody read."""
    ended: bool = False

    def message(self, data: bytes, sse: Sse | None) -> None:
        """Send a message, or keep it until somebody reads."""
        if sse is not None and sse.id is not None:
            self.sent.append((data, sse))
        if self.outlet is None:
            self.waiting.append((data, sse))
        else:
            self.outlet.message(data, sse)

    def flush(self) -> None:
        """Let the reader have what was sent."""
        if self.outlet is not None:
            self.outlet.flush()

    def attach(self, outlet: Outlet, after: str | None = None) -> None:
        """Let somebody read on, from behind the event `after` where that is given."""
        self.outlet = outlet
        if after is not None:
            sent = list(self.sent)
            at = next((i for i, (_, sse) in enumerate(sent) if sse and sse.id == after), -1)
            for data, sse in sent[at + 1 :]:
                outlet.message(data, sse)
        else:
            for data, sse in self.waiting:
                outlet.message(data, sse)
        self.waiting.clear()

    def holds(self, event: str) -> bool:
        """Tell whether an event was sent on it."""
        return any(sse is not None and sse.id == event for _, sse in self.sent)


class Events(Struct, eq=False):
    """Event ids of one client: unique over all its streams, where the recorded ones were.

    See 2025-11-25, basic/transports#resumability-and-redelivery.
    """

    sent: OrderedDict[str, tuple[int, int]] = field(default_factory=OrderedDict)
    """Event id -> capture and `seq` of the record that was first sent with it."""
    recorded: OrderedDict[str, str] = field(default_factory=OrderedDict)
    """Event id that was made here -> the recorded one."""

    def of(self, capture: int, seq: int, sse: Sse | None) -> Sse | None:
        """Give the fields that an event has here: a new id if the same one was sent before."""
        if sse is None or not sse.id:
            return sse
        place, name, count = (capture, seq), sse.id, 1
        if self.sent.get(name) != place and name not in self.recorded:
            self._note(self.sent, name, place)  # also where the recorded server gave it twice
            return sse
        while name in self.sent:
            count += 1
            name = f"{sse.id}-{count}"
        self._note(self.sent, name, place)
        self._note(self.recorded, name, sse.id)
        return replace(sse, id=name)

    def _note(self, names: OrderedDict[str, Any], name: str, meant: Any) -> None:
        names.setdefault(name, meant)
        if len(names) > MOST_KEPT:
            names.popitem(last=False)


class Asked(Struct, eq=False):
    """An ask that waits for its answer."""

    seq: int
    answer: Callable[[int, Any], None]
    """Takes the `seq` and the client's response."""


class Session(Struct, eq=False):
    """What one client of the session era has going on."""

    id: str | None
    recorded: str | None = None
    """The session it plays."""
    capture: int = 0
    stream: Stream = field(default_factory=Stream)
    """What comes of itself."""
    streams: deque[Stream] = field(default_factory=lambda: deque(maxlen=256))
    """Streams of requests, which may be taken up again."""
    events: Events = field(default_factory=Events)
    asks: OrderedDict[tuple[bool, str], Asked] = field(default_factory=OrderedDict)
    used: set[int] = field(default_factory=set)
    """Ids that asks have had."""
    cancels: OrderedDict[tuple[bool, str], Callable[[], None]] = field(default_factory=OrderedDict)
    """Requests, by id, and what a cancellation calls."""
    ids: OrderedDict[int, bytes] = field(default_factory=OrderedDict)
    """Recorded exchange -> id of this client's request."""

    def began(self, key: tuple[bool, str], cancel: Callable[[], None]) -> None:
        """Take note of a request that can be cancelled."""
        self.cancels[key] = cancel
        if len(self.cancels) > MOST_REQUESTS:
            self.cancels.popitem(last=False)

    def numbered(self, exchange: int, token: bytes) -> None:
        """Take note of the id that the request of a recorded exchange has here."""
        self.ids[exchange] = token
        if len(self.ids) > MOST_REQUESTS:
            self.ids.popitem(last=False)

    def ask(self, recorded: Any, asked: Asked) -> bytes:
        """Number an ask: as it was recorded, unless that number is taken."""
        key = id_key(recorded)
        number = recorded
        if key in self.asks or (type(recorded) is int and recorded in self.used):
            number = max(self.used, default=-1) + 1
            key = id_key(number)
        if type(number) is int:
            self.used.add(number)
        self.asks[key] = asked
        if len(self.asks) > MOST_ASKS:
            self.asks.popitem(last=False)
        return dumps(number)

    def answered(self, response: dict[str, Any]) -> bool:
        """Hand a client's response to who asked; tell whether anybody did."""
        asked = self.asks.pop(id_key(response.get("id")), None)
        if asked is None:
            return False
        asked.answer(asked.seq, response)
        return True

    def end(self) -> None:
        """End its streams."""
        for stream in (self.stream, *self.streams):
            if stream.outlet is not None:
                stream.outlet.end()
                stream.outlet = None
