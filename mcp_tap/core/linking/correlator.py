"""From records to exchanges, rounds and calls.

Feed it records in the order of their `seq`; it gives back what each one changed.  It has no clock,
reads no file and never raises, whatever the peers wrote.  Everything it keeps is bounded in number
and age; `retired` counts what it had to let go before its end was seen.

HTTP is keyed by exchange, never by JSON-RPC id: ids restart with every client and collide.  Only
where the protocol itself leaves the exchange (answers to pushed asks, resumed streams, stdio) are
ids looked up, within one session or client.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from msgspec import Raw

from mcp_tap.core.linking.asks import Asks, leave
from mcp_tap.core.linking.calls import MOST_WORDS, Book, from_client, host_of, payload_size
from mcp_tap.core.linking.client import ClientSide
from mcp_tap.core.linking.end import Endings
from mcp_tap.core.linking.rounds import Linker
from mcp_tap.core.linking.server import ServerSide
from mcp_tap.core.linking.state import Change, Live
from mcp_tap.core.linking.stdio import Stdio
from mcp_tap.core.linking.tasks import Tasks
from mcp_tap.core.linking.who import Who, response_facts
from mcp_tap.core.model import Exchange
from mcp_tap.core.records import (
    AnyRecord,
    Body,
    Closed,
    Decision,
    Header,
    HttpRequest,
    HttpResponse,
    Message,
    Noise,
)
from mcp_tap.core.wire import UNPARSED

MOST_LIVE = 65_536
"""Exchanges that may be open at once."""
EVERY = 30.0
"""Seconds of record time between two looks for what is too old."""

Handler: TypeAlias = Callable[[Any, Any], Sequence[Change]]
_NOTHING: Sequence[Change] = ()


class Correlator:
    """Links what belongs together."""

    def __init__(self, *, label: str | None = None) -> None:
        """Begin with nothing known; `label` names the server, else the capture's own label does."""
        self._labelled = label is not None
        self._live: dict[int, Live] = {}
        self._lost = 0
        self._look = EVERY
        self._now = 0.0
        self.touched: Live | None = None
        """What the newest record was about, for whoever judges; None where it was no exchange."""
        self._who = Who()
        self._book = Book(label)
        self._linker = Linker()
        self._asks = Asks(self._book)
        self._tasks = Tasks(self._book)
        parts: dict[str, Any] = {
            "who": self._who,
            "book": self._book,
            "linker": self._linker,
            "asks": self._asks,
            "tasks": self._tasks,
        }
        self._client = ClientSide(**parts, live=self._live)
        self._server = ServerSide(**parts)
        self._end = Endings(
            who=self._who,
            book=self._book,
            linker=self._linker,
            asks=self._asks,
            live=self._live,
        )
        self._stdio = Stdio(self._client, self._server, self._end)
        self._handlers: dict[type, Handler] = {
            HttpRequest: self._request,
            Message: self._message,
            HttpResponse: self._response,
            Closed: self._closed,
            Body: self._body,
            Noise: self._noise,
            Header: self._header,
            Decision: self._decision,
        }

    @property
    def retired(self) -> int:
        """How much was let go before its end was seen."""
        return (
            self._lost
            + self._book.retired
            + self._who.retired
            + self._linker.retired
            + self._asks.retired
            + self._tasks.retired
            + self._stdio.retired
        )

    def feed(self, record: AnyRecord, value: Any = UNPARSED) -> Sequence[Change]:
        """Take one record; give what it changed.

        Args:
            record: the next record of the run.
            value: its payload; `UNPARSED` where that has no value, or there is none.
        """
        self.touched = None
        handler = self._handlers.get(type(record))
        if handler is None:
            return _NOTHING
        self._now = t = record.t
        if t >= self._look:
            self.advance(t)
        return handler(record, value)

    def advance(self, now: float) -> None:
        """Let go of what is too old at `now`, looking once in a while."""
        if now < self._look:
            return
        self._look = now + EVERY
        for part in (self._who, self._linker, self._asks, self._tasks):
            part.expire(now)

    def finish(self) -> Sequence[Change]:
        """Bring the clocks of what is still open up to the last record; it stays open."""
        tracks = (*self._linker.tracks(), *self._tasks.tracks(), *self._who.tracks())
        return self._end.finish(tracks, self._now)

    def _header(self, record: Header, _: Any) -> Sequence[Change]:
        if not self._labelled:
            self._book.label = record.label
        self._book.host = host_of(record)
        return _NOTHING

    def _request(self, record: HttpRequest, _: Any) -> Sequence[Change]:
        if record.replaces is not None:
            return _NOTHING  # what went upstream instead
        self.touched = live = self._who.arrive(record)
        self._add(live)
        if record.method == "POST":
            return _NOTHING  # its message says what it is
        self._who.identify(live, None, None, record.t)
        if record.method == "GET":
            track = self._asks.take_up(live, record.t)
            if track is not None:
                return (track.call,)
        return (live.exchange,)

    def _response(self, record: HttpResponse, _: Any) -> Sequence[Change]:
        live = self._live.get(record.exchange)
        if live is None or record.status < 200 or record.replaces is not None:
            return _NOTHING
        self.touched = live
        response_facts(live, record)
        if live.exchange.verb == "POST":
            return _NOTHING
        return self._end.of(live)

    def _message(self, record: Message, value: Any) -> Sequence[Change]:
        if record.exchange is None:
            changes = self._stdio.take(record, value)
            self.touched = self._stdio.touched
            return changes
        if record.replaces is not None:
            self.touched = self._live.get(record.exchange)
            return _NOTHING
        self.touched = live = self._live.get(record.exchange) or self._unheard(record)
        body = record.body
        size = len(body) if type(body) is Raw and record.size is None else payload_size(record)
        live.exchange.size += size
        if record.sender == "client" or from_client(record):
            return self._client.take(live, record, value)
        if live.round is not None:
            live.round.size += size
        sse = record.sse
        if sse is not None and sse.id is not None and record.leg != "upstream":
            live.event_id = sse.id
        return self._server.take(live, record, value)

    def _body(self, record: Body, value: Any) -> Sequence[Change]:
        live = self._live.get(record.exchange) if record.exchange is not None else None
        if live is None or record.replaces is not None:
            return _NOTHING
        self.touched = live
        body = record.body
        size = len(body) if type(body) is Raw and record.size is None else payload_size(record)
        live.exchange.size += size
        if record.sender != "client":
            if live.round is not None:
                live.round.size += size
            live.said = _words(record, value)
            if record.sender == "tap":
                live.exchange.from_tap = True
        return _NOTHING

    def _noise(self, record: Noise, _: Any) -> Sequence[Change]:
        if record.sse is not None and record.exchange is not None:
            self.touched = live = self._live.get(record.exchange)
            if live is not None and record.sse.id is not None:
                live.event_id = record.sse.id
        return _NOTHING

    def _decision(self, record: Decision, _: Any) -> Sequence[Change]:
        # A line's decisions come right behind it.
        number = record.exchange
        live = self._stdio.touched if number is None else self._live.get(number)
        if live is None or record.key is None:
            return _NOTHING
        track = live.track
        if live.asked is not None:
            track = live.asked.pop(record.key, track)
        self.touched = live
        asks = live.exchange.asks
        if track is not None:
            asks = [ask for round_ in reversed(track.call.rounds) for ask in round_.asks]
        for ask in asks:
            if ask.key == record.key and ask.action is None:
                ask.entry = record.entry
                return (live.exchange,) if track is None else (track.call,)
        return _NOTHING

    def _closed(self, record: Closed, _: Any) -> Sequence[Change]:
        self.touched = live = self._live.pop(record.exchange, None)
        return _NOTHING if live is None else self._end.closed(live, record)

    def _add(self, live: Live) -> None:
        self._live[live.exchange.number] = live
        if len(self._live) > MOST_LIVE:
            lost = self._live.pop(next(iter(self._live)))
            lost.retries = []
            if lost.track is not None:
                leave(lost.track)
            self._lost += 1

    def _unheard(self, record: Message) -> Live:
        """Make do for an exchange whose beginning was lost."""
        number = record.exchange if record.exchange is not None else 0
        live = Live(exchange=Exchange(number=number, t=record.t))
        self._add(live)
        return live


def _words(record: Body, value: Any) -> str:
    """Give what a body says to a person: its own words for an error, else its beginning."""
    if type(value) is dict:
        for key in ("error_description", "message", "detail", "error", "title"):
            if type(value.get(key)) is str:
                return str(value[key])[:MOST_WORDS]
    return record.payload()[:MOST_WORDS].decode(errors="replace")
