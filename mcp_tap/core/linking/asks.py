"""Asks of the session era: requests a server sends, answered by a POST of their own.

An ask belongs to the call on whose stream it came.  On a stream of no call it belongs to the only
open call of its session; if there are several, to none: the exchange keeps it.  One round per ask:
the ask ends the round, the answer begins the next.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from mcp_tap.core.bounded import Bounded
from mcp_tap.core.linking.calls import Book, answer_ask, ask_of
from mcp_tap.core.linking.state import MOST_ASKED, Change, Live, Track
from mcp_tap.core.model import Ask, Round
from mcp_tap.core.records import Message
from mcp_tap.core.values import id_key, same_id, text_of

MOST_ASKS = 10_000
LONGEST_ASK = 12 * 3600.0
MOST_STRAY = 100
"""Asks of one exchange that are kept, where they belong to no call."""


class Asked(Struct, eq=False):
    """An ask that was delivered."""

    track: Track
    ask: Ask
    id: Any


class Asks:
    """Pairs asks with answers."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._asked: Bounded[Any, list[Asked]] = Bounded(MOST_ASKS, LONGEST_ASK)
        self._stray: Bounded[Any, Ask] = Bounded(MOST_ASKS, LONGEST_ASK)
        self._urls: Bounded[Any, Asked] = Bounded(MOST_ASKS, LONGEST_ASK)
        self._streams: Bounded[Any, Track] = Bounded(MOST_ASKS, LONGEST_ASK, leave)

    @property
    def retired(self) -> int:
        """Asks that were let go unanswered, and broken streams nobody took up."""
        return self._asked.retired + self._streams.retired

    def expire(self, now: float) -> None:
        """Let go of what is too old."""
        self._asked.expire(now)
        self._stray.expire(now)
        self._urls.expire(now)
        self._streams.expire(now)

    def ask(self, live: Live, record: Message, value: dict[str, Any]) -> list[Change]:
        """Take a server's request; report the exchange where it belongs to no call."""
        track = owner(live)
        if track is None:
            self._strayed(live, record, value)
            return [live.track.call if live.track is not None else live.exchange]
        book = self._book
        key = text_of(value.get("id"))
        if key in track.asked or (live.resumes and _was_asked(track, key)):
            # Sent again on a stream that was taken up.
            return [track.call]
        asked_on(live, track, key)
        ask = ask_of(key, value["method"], value.get("params"), record)
        ask.pushed = True
        round_ = current(book, track, record)
        round_.asks.append(ask)
        round_.end = record.t
        round_.response_seq = record.seq
        track.asked[key] = ask
        book.wait(track, record.t)
        asked = Asked(track, ask, value.get("id"))
        at = (channel(live), id_key(value.get("id")))
        self._asked.put(at, [*(self._asked.get(at) or []), asked][-8:], record.t)
        if ask.kind == "url":
            self._urls.put(
                (channel(live), text_of(ask.params.get("elicitationId"))), asked, record.t
            )
        return [track.call]

    def answer(self, live: Live, record: Message, value: dict[str, Any]) -> list[Change]:
        """Take a client's response; report the exchange where nothing asked for it."""
        at = (channel(live), id_key(value.get("id")))
        waiting = [
            a
            for a in self._asked.get(at) or ()
            if a.ask.action is None and same_id(a.id, value.get("id"))
        ]
        if len(waiting) != 1:
            stray = self._stray.pop(at) if not waiting else None
            if stray is not None:
                error = "result" not in value
                said = value.get("error" if error else "result")
                answer_ask(stray, said, record, error=error)
            return [live.exchange]
        asked = waiting[0]
        self._asked.pop(at)
        track = asked.track
        self._book.join(track, live)
        error = "result" not in value
        answer_ask(asked.ask, value.get("error" if error else "result"), record, error=error)
        track.asked.pop(asked.ask.key, None)
        if not track.asked and track.call.end is None:
            self._book.reopen(track, record.t)
            current(self._book, track, record)
        return [track.call]

    def _strayed(self, live: Live, record: Message, value: dict[str, Any]) -> None:
        """Keep an ask that belongs to no call with the exchange it came in."""
        asks = live.exchange.asks
        ask = ask_of(text_of(value.get("id")), value["method"], value.get("params"), record)
        if ask.kind == "other" or len(asks) >= MOST_STRAY:
            return
        ask.pushed = True
        asks.append(ask)
        self._stray.put((channel(live), id_key(value.get("id"))), ask, record.t)

    def completed(self, live: Live, value: dict[str, Any], t: float) -> list[Change]:
        """Take note that a URL elicitation went through."""
        params = value.get("params")
        name = params.get("elicitationId") if type(params) is dict else None
        asked = self._urls.get((channel(live), text_of(name)))
        if asked is None:
            return [live.track.call if live.track is not None else live.exchange]
        asked.ask.completed_t = t
        return [asked.track.call]

    def withdraw(self, live: Live, value: dict[str, Any], t: float) -> Track | None:
        """Take note that a server no longer wants an answer; give the call it is about."""
        params = value.get("params")
        if type(params) is not dict or "requestId" not in params:
            return None
        asked = self._asked.pop((channel(live), id_key(params["requestId"]))) or []
        for entry in asked:
            track = entry.track
            track.asked.pop(entry.ask.key, None)
            if not track.asked and track.call.outcome == "waiting":
                self._book.reopen(track, t)
            return track
        return None

    def broke(self, live: Live, track: Track, t: float) -> None:
        """Remember where a stream broke, so that it can be taken up again."""
        if live.event_id is not None:
            self._streams.put((channel(live), live.event_id), track, t)

    def take_up(self, live: Live, t: float) -> Track | None:
        """Find the call whose broken stream a GET resumes."""
        if live.last_event is None:
            return None
        track = self._streams.get((channel(live), live.last_event))
        if track is None or track.done:
            return None
        live.track, live.resumes = track, True
        if track.origin is not None:
            track.origin.track = track
        self._book.join(track, live)
        if track.call.outcome in ("cancelled", "error"):
            self._book.reopen(track, t)
            track.flying += 1
            last = track.call.rounds[-1]
            if last.response_seq is None:
                last.end = last.fault = None
        return track


def leave(track: Track) -> None:
    """Take a call off its session's list without an end having been seen."""
    if track.session is not None:
        track.session.active.discard(track)


def asked_on(live: Live, track: Track, key: str) -> None:
    """Remember that the stream of an exchange asks for a call that is not its own."""
    if live.track is track:
        return
    if live.asked is None:
        live.asked = {}
    live.asked[key] = track
    if len(live.asked) > MOST_ASKED:
        live.asked.pop(next(iter(live.asked)))


def _was_asked(track: Track, key: str) -> bool:
    return any(ask.pushed and ask.key == key for r in track.call.rounds for ask in r.asks)


def channel(live: Live) -> Any:
    """Say within what JSON-RPC ids of a server are unique: a session, else a client."""
    if live.session is not None:
        return live.session.id
    return live.user_agent, live.peer, live.credential


def owner(live: Live) -> Track | None:
    """Say which call a server's message on this stream is about."""
    track = live.track
    if track is not None:
        return track if track.call.end is None and track.call.kind == "call" else None
    if live.session is None:
        return None
    calls = (track for track in live.session.active if track.call.kind == "call")
    first, second = next(calls, None), next(calls, None)
    return first if second is None else None


def current(book: Book, track: Track, record: Message) -> Round:
    """Give the round in progress; begin one where the last has ended."""
    last = track.call.rounds[-1]
    if last.end is None:
        return last
    round_ = book.go_on(track, record, last.exchange, last.request_id)
    round_.conn, round_.status = last.conn, last.status
    if track.origin is not None:
        track.origin.round = round_
    return round_
