"""How exchanges end, and what that means for their calls.

A response that was delivered decides; how the connection ended afterwards does not matter.  A
stream of the session era that broke before its response may be taken up again: its call goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mcp_tap.core.linking.asks import Asks
from mcp_tap.core.linking.calls import Book
from mcp_tap.core.linking.rounds import Linker
from mcp_tap.core.linking.state import Change, Live, Track
from mcp_tap.core.linking.who import Who
from mcp_tap.core.model import Call, Fault, Outcome, Round
from mcp_tap.core.records import Closed

_ORDERLY = ("complete", "client_gone", "shutdown")
"""Ways in which a stream that waits for news may end without anything being wrong."""
_CANCELS = {"client_gone": "the client left", "shutdown": "the tap was stopped"}
"""Ends before a response that are nobody's fault, in words."""
_OURS = ("refused", "upstream_down", "timeout", "tap_failed")
"""Ends of which the tap itself has to tell, since no server did."""
_NO_WORDS = {
    "refused": "mcp-tap refused the request",
    "upstream_down": "no connection to the server",
    "upstream_cut": "the server broke off",
    "timeout": "no connection to the server in time",
    "tap_failed": "a fault of mcp-tap",
}
_SESSION_ENDED = "its session was ended"


class Endings:
    """Closes exchanges."""

    def __init__(
        self, *, who: Who, book: Book, linker: Linker, asks: Asks, live: dict[int, Live]
    ) -> None:
        """Work with the parts of one correlator; `live` is its table of open exchanges."""
        self._who = who
        self._book = book
        self._linker = linker
        self._asks = asks
        self._live = live

    def of(self, live: Live) -> Sequence[Change]:
        """Say what a change of an exchange is a change of."""
        exchange = live.exchange
        if exchange.call is None:
            return (exchange,)
        return (live.track.call,) if live.track is not None else ()

    def closed(self, live: Live, record: Closed) -> Sequence[Change]:
        """Close an exchange, and its call where no response came."""
        exchange = live.exchange
        exchange.how, exchange.why = record.how, record.why
        exchange.end, exchange.held = record.t, record.held
        exchange.sent = record.sent
        if record.first_byte is not None:
            exchange.first_byte = record.first_byte
        track, round_ = live.track, live.round
        if track is None:
            if exchange.kind == "http" and exchange.verb == "POST":
                self._who.identify(live, None, None, record.t)
            ended = self._ended_session(live, record.t) if exchange.verb == "DELETE" else []
            return (*ended, exchange) if exchange.call is None else ()
        if record.held > 0:
            _hold(live, track, record.t)
        changes: Sequence[Change] = ()
        if live.resumes:
            self._asks.broke(live, track, record.t)
        elif not exchange.answered and live.poll is None and round_ is not None:
            changes = self._unanswered(live, track, round_, record)
        live.retries = []
        if track.call.end is not None or track.origin is not live or exchange.era == "stateless":
            # Nothing comes back to this exchange: leave no cycle for the collector.
            live.track = None
        return changes

    def finish(self, tracks: Iterable[Track], now: float) -> Sequence[Call]:
        """Account for the time of open calls, the given ones included, up to `now`."""
        flying = (live.track for live in self._live.values() if live.track is not None)
        still = {t.call.number: t for t in (*flying, *tracks) if t.call.end is None}
        for track in still.values():
            self._book.pass_ball(track, track.ball, now)
        return [still[number].call for number in sorted(still)]

    def _unanswered(
        self, live: Live, track: Track, round_: Round, record: Closed
    ) -> Sequence[Change]:
        call = track.call
        track.flying -= 1
        outcome, fault, why = self._verdict(live, track, record)
        again: list[Call] = []
        if live.retries and outcome != "cancelled":
            lost = self._linker.lost(live.retries, call.number)
            again = self._book.take_back(lost, record.t)
        if live.event_id is not None and live.exchange.era != "stateless" and not track.done:
            ended = track.session is not None and track.session.ended
            if not ended:
                self._asks.broke(live, track, record.t)
                if record.how == "complete" and call.end is None:
                    track.flying += 1
                    return again
        if round_.end is None and call.end is None:
            round_.fault = fault
        if round_.end is None:
            round_.end = record.t
        if call.end is None and not track.done and track.flying <= 0:
            self._book.settle(track, outcome, record.t, why=why)
        return (call, *again)

    def _verdict(
        self, live: Live, track: Track, record: Closed
    ) -> tuple[Outcome, Fault | None, str | None]:
        """Say how a call ends whose response never came, by which fault or else why."""
        status = live.exchange.status
        failed = status is not None and status >= 400
        ended = track.session is not None and track.session.ended
        if track.call.kind == "stream" and record.how in _ORDERLY and not failed:
            return "ok", None, None
        if record.how == "complete" and ended:
            return "cancelled", None, _SESSION_ENDED
        if record.how in _CANCELS:
            return "cancelled", None, record.why or _CANCELS[record.how]
        code: int | str | None = status
        if record.how == "complete":
            words = live.said or live.reason or "no response"
            code = None if status == 200 else status
        else:
            words = record.why or live.said or _NO_WORDS.get(record.how, "")
            code = status if failed else record.how
        ours = live.exchange.from_tap or record.how in _OURS
        return "error", Fault(code=code, message=words, sender="tap" if ours else "server"), None

    def _ended_session(self, live: Live, t: float) -> list[Change]:
        """End the calls of a session that its client gave up, where no stream will do so."""
        status = live.exchange.status
        if live.session_id is None or status is None or not 200 <= status < 300:
            return []
        session = self._who.closed(live.session_id)
        if session is None:
            return []
        ended: list[Change] = []
        for track in list(session.active):
            origin = track.origin
            if origin is None or origin.exchange.number not in self._live:
                self._book.settle(track, "cancelled", t, why=_SESSION_ENDED)
                ended.append(track.call)
        return ended


def _hold(live: Live, track: Track, t: float) -> None:
    """Move what the tap itself held back from the server's share of the time to its own.

    Of that counts what was held after the request had come: before, its client was still sending.
    """
    call, exchange = track.call, live.exchange
    held, sent = exchange.held, exchange.sent
    if sent is not None and live.round is not None:
        come = call.t if track.origin is live else live.round.t
        held = min(held, max(0.0, sent - come))
    call.tap_s += held
    if track.ball == "server" and call.end is None:
        track.since = min(t, track.since + held)
    else:
        call.server_s = max(0.0, call.server_s - held)
