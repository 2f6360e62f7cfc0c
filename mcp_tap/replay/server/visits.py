"""Requests that carry no message: streams that are opened or taken up again, sessions that end."""

from __future__ import annotations

from typing import Any

from mcp_tap.replay.index import Index
from mcp_tap.replay.recorded import RecordedExchange
from mcp_tap.replay.server.caller import Caller
from mcp_tap.replay.server.outlets import Outlet, say
from mcp_tap.replay.server.play import Clock, Play
from mcp_tap.replay.server.scripts import Scripts
from mcp_tap.replay.server.sessions import Session, Stream


class Turns:
    """The exchanges that are not matched by what they say; each is served in its turn."""

    def __init__(self, index: Index) -> None:
        """Sort the exchanges of an index."""
        self._exchanges: dict[tuple[str, str], list[RecordedExchange]] = {}
        self._turns: dict[Any, int] = {}
        for capture in index.captures:
            for exchange in capture.exchanges.values():
                if not exchange.by_tap:
                    self._sort(exchange)

    def _sort(self, exchange: RecordedExchange) -> None:
        if exchange.kind in ("notification", "response"):
            name: tuple[str, str] = exchange.kind, exchange.method or ""
        elif exchange.kind == "http" and exchange.verb:
            name = exchange.verb, exchange.path
        else:
            return
        self._exchanges.setdefault(name, []).append(exchange)

    def next(self, name: tuple[str, str], session: Session) -> RecordedExchange | None:
        """Choose the next of those that are equal, the recorded session's own first."""
        exchanges = self._exchanges.get(name, [])
        own = [e for e in exchanges if e.session == session.recorded] or exchanges
        if not own:
            return None
        at = self._turns.get((name, session.recorded), 0)
        self._turns[name, session.recorded] = at + 1
        return own[min(at, len(own) - 1)]


class Visits:
    """Answers them."""

    def __init__(self, index: Index, scripts: Scripts, turns: Turns, clock: Clock) -> None:
        """Play what an index holds."""
        self._scripts = scripts
        self._turns = turns
        self._clock = clock
        self._transports = [capture.header.transport for capture in index.captures]
        self._origins = {
            (call.capture, number): call.rounds[0].exchange.number
            for call in index.calls
            for number in call.others
        }
        """Exchanges beside those of rounds -> the one their call began with."""

    def get(self, path: str, last: str | None, session: Session, outlet: Outlet) -> Play | None:
        """Open a stream, or take one up behind its event `last`."""
        resumed = None
        if last is not None:
            recorded = session.events.recorded.get(last, last)
            resumed = self._scripts.resumed.get((session.capture, recorded))
            for stream in (session.stream, *session.streams):
                if stream.holds(last) and (resumed is None or not stream.ended):
                    _attach(stream, outlet, last)
                    return None
        if resumed is not None:
            return self._resume(session, resumed, outlet)
        exchange = self._turns.next(("GET", path), session)
        if exchange is None and session.id is not None and self._of_lines(session):
            _attach(session.stream, outlet, None)
            return None
        if exchange is None:
            status = (405, "Method Not Allowed") if session.id else (404, "Not Found")
            say(outlet, *status)
            return None
        script = self._scripts.of(exchange)
        play = Play(script, outlet, None, self._clock, events=session.events)
        if exchange.status == 200 and exchange.era == "session":
            play.hold(session.stream)
        play.advance()
        return play

    def _of_lines(self, session: Session) -> bool:
        """Tell whether a session was one over stdio, which had all that came on a stream."""
        return self._transports[session.capture] == "stdio"

    def _resume(self, session: Session, exchange: RecordedExchange, outlet: Outlet) -> Play:
        """Play what a recorded client got when it took up a stream."""
        origin = self._origins.get((exchange.capture, exchange.number))
        token = session.ids.get(origin) if origin is not None else None
        script, caller = self._scripts.of(exchange), Caller({}, token, None, {})
        play = Play(script, outlet, caller, self._clock, session=session, events=session.events)
        play.advance()
        return play

    def other(self, verb: str, path: str, outlet: Outlet, session: Session) -> Play | None:
        """Answer any other method."""
        exchange = self._turns.next((verb, path), session)
        if exchange is not None:
            play = Play(self._scripts.of(exchange), outlet, None, self._clock)
            play.advance()
            return play
        ended = verb == "DELETE" and session.id is not None
        say(outlet, *((200, "OK") if ended else (405, "Method Not Allowed")))
        return None


def _attach(stream: Stream, outlet: Outlet, after: str | None) -> None:
    outlet.head(200, "OK", [("Content-Type", "text/event-stream")])
    stream.attach(outlet, after)
    if stream.ended:
        outlet.end()
        stream.outlet = None
    else:
        outlet.flush()
