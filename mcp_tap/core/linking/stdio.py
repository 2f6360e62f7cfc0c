"""Messages without an exchange: lines of a stdio run, paired by JSON-RPC id.

The process is one session.  Each client message makes an exchange of its own, numbered here; a
server's line finds its exchange by id, by progress token, or by being about the only open call.

Where a tap answered, a line may stand for one side only.  What the tap asked the server makes an
exchange of its own, too; what the client got in its place, and what went to the server in the place
of the client's, changes nothing.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from mcp_tap.core import spec
from mcp_tap.core.linking.calls import from_client, payload_size
from mcp_tap.core.linking.client import ClientSide
from mcp_tap.core.linking.end import Endings
from mcp_tap.core.linking.server import ServerSide
from mcp_tap.core.linking.state import Change, Live, Session
from mcp_tap.core.model import Exchange
from mcp_tap.core.records import Message
from mcp_tap.core.values import id_key

MOST_WAITING = 10_000


class Stdio:
    """Gives lines the exchange they belong to."""

    def __init__(self, client: ClientSide, server: ServerSide, end: Endings) -> None:
        """Hand messages on to the two sides."""
        self._client = client
        self._server = server
        self._end = end
        # Plain dictionaries step over all that was taken out of them to find their oldest entry.
        self._waiting: OrderedDict[tuple[bool, str], Live] = OrderedDict()
        self._tokens: dict[tuple[bool, str], Live] = {}
        self._ours: set[tuple[bool, str]] = set()
        """Ids of what the tap itself asked the server."""
        self._held: OrderedDict[tuple[bool, str], Live] = OrderedDict()
        """Exchanges whose responses asked, and were kept from the client."""
        self._session = Session(id="stdio")
        self._exchanges = 0
        self.retired = 0
        self.touched: Live | None = None
        """What the newest line was about."""

    def take(self, record: Message, value: Any) -> Sequence[Change]:
        """Take one line."""
        if record.replaces is not None:
            self.touched = self._instead(record, value)
            return ()
        if from_client(record):
            return self._from_client(record, value)
        return self._from_server(record, value)

    def _instead(self, record: Message, value: Any) -> Live | None:
        """Say what a line is about that went in the place of another."""
        key = id_key(_member(value, "id"))
        return self._held.pop(key, None) if record.leg == "client" else self._waiting.get(key)

    def _from_client(self, record: Message, value: Any) -> Sequence[Change]:
        self.touched = live = self._new(record)
        live.exchange.request_seq = record.seq
        changes = self._client.take(live, record, value)
        exchange = live.exchange
        if exchange.kind != "request":
            exchange.how, exchange.end = "complete", record.t
            if exchange.kind == "notification":
                changes = [*changes, *self._cancelled(record, value)]
            return changes
        key = id_key(exchange.request_id)
        self._waiting.pop(key, None)
        self._waiting[key] = live
        if record.sender == "tap":
            self._ours.add(key)
        token = _member(value, "params", "_meta", "progressToken")
        if token is not None:
            live.token = id_key(token)
            self._tokens[live.token] = live
        if len(self._waiting) > MOST_WAITING:
            self._close(next(iter(self._waiting)))
            self.retired += 1
        return changes

    def _from_server(self, record: Message, value: Any) -> Sequence[Change]:
        self.touched = live = self._find(value)
        if live is None and record.sender == "tap":
            self.touched = live = self._held.pop(id_key(_member(value, "id")), None)
        if live is None:
            self.touched = live = self._new(record)
            live.exchange.era = "session" if self._session.version else "unknown"
            live.exchange.how, live.exchange.end = "complete", record.t
            return self._server.take(live, record, value)
        exchange = live.exchange
        size = payload_size(record)
        exchange.size += size
        if live.round is not None:
            live.round.size += size
        changes = self._server.take(live, record, value)
        if exchange.answered:
            exchange.how, exchange.end = "complete", record.t
            key = id_key(exchange.request_id)
            if record.leg == "upstream" and key not in self._ours:
                self._hold(key, live)
            self._close(key)
            settled = exchange.method == spec.INITIALIZE and "result" in value
            if settled and exchange.era == "session":
                self._session.version = exchange.version
                self._session.client = exchange.identity.name
        return changes

    def _new(self, record: Message) -> Live:
        self._exchanges += 1
        exchange = Exchange(number=self._exchanges, t=record.t, size=payload_size(record))
        return Live(exchange=exchange, session=self._session)

    def _find(self, value: Any) -> Live | None:
        if type(value) is not dict:
            return None
        if "method" not in value:
            return self._waiting.get(id_key(value.get("id")))
        method = value.get("method")
        if "id" in value:
            return None
        subscription = _member(value, "params", "_meta", spec.META_SUBSCRIPTION)
        if subscription is not None:
            return self._waiting.get(id_key(subscription))
        if method == spec.NOTE_PROGRESS:
            token = _member(value, "params", "progressToken")
            return self._tokens.get(id_key(token)) if token is not None else None
        return None

    def _cancelled(self, record: Message, value: Any) -> Sequence[Change]:
        """Let go of what is not waited for any more."""
        if _member(value, "method") != spec.NOTE_CANCELLED:
            return ()
        key = id_key(_member(value, "params", "requestId"))
        self._held.pop(key, None)
        live = self._waiting.get(key) if record.sender == "tap" else None
        if live is None:
            return ()
        exchange, track, round_ = live.exchange, live.track, live.round
        exchange.how, exchange.end = "timeout", record.t
        if key not in self._ours:
            self._hold(key, live)
        self._close(key)
        if track is not None:
            track.flying -= 1
        if round_ is not None and round_.end is None:
            round_.end = record.t
        return self._end.of(live)

    def _hold(self, key: tuple[bool, str], live: Live) -> None:
        self._held[key] = live
        if len(self._held) > MOST_WAITING:
            self._held.pop(next(iter(self._held)))
            self.retired += 1

    def _close(self, key: tuple[bool, str]) -> None:
        self._ours.discard(key)
        live = self._waiting.pop(key, None)
        if live is not None and live.token is not None:
            self._tokens.pop(live.token, None)


def _member(value: Any, *path: str) -> Any:
    for step in path:
        if type(value) is not dict:
            return None
        value = value.get(step)
    return value
