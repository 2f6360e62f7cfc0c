"""Calls and their rounds: opening, whose turn it is, how they end.

The time of a call is split by whose turn it was.  The turn passes to the server when a request
arrives and to the client when asks are delivered; what the tap itself held back is taken off the
server's share when the exchange closes.  So the three shares add up to the duration.  A request
has arrived when its message has: how long a body was under way is in its exchange only.
"""

from __future__ import annotations

import contextlib
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from msgspec import Raw

from mcp_tap.core import spec
from mcp_tap.core.linking.state import MOST_ROUNDS, Ball, Live, Pending, Session, Track
from mcp_tap.core.model import Ask, Call, Fault, Outcome, Round
from mcp_tap.core.records import Header, Message, Payload, Sender
from mcp_tap.core.values import text_of

MOST_SERVERS = 1024
MOST_WORDS = 400
MOST_ASKS = 10_000
"""Asks read of one message."""
MOST_ACTIVE = 4096
"""Calls of one session that are open at once; of older ones nothing is found any more."""


class Book:
    """Numbers calls and keeps their state straight."""

    def __init__(self, label: str | None) -> None:
        self.label = label
        self.host: str | None = None
        self._servers: dict[str, str] = {}
        self._calls = 0
        self.retired = 0
        """Open calls that their session let go of."""

    def open(self, live: Live, method: str, name: str | None, t: float) -> Track:
        """Open a call with the request of an exchange, which has come by `t`."""
        exchange = live.exchange
        identity = exchange.identity
        self._calls += 1
        call = Call(
            number=self._calls,
            method=method,
            name=name,
            t=t,
            era=exchange.era,
            version=exchange.version,
            kind="stream" if method == spec.LISTEN else "call",
            identity=identity,
            client=identity.name or identity.user_agent,
            server=self.label or self._servers.get(exchange.path) or self.host,
        )
        track = Track(
            call=call,
            client=live.client,
            ball="server",
            since=t,
            session=live.session,
            origin=live,
        )
        if track.session is not None:
            self._enter(track, track.session)
        return track

    def _enter(self, track: Track, session: Session) -> None:
        """Have a session know a call that is open in it."""
        active = session.active
        active.add(track)
        if len(active) > MOST_ACTIVE:
            active.discard(active.oldest())
            self.retired += 1

    def begin(self, track: Track, live: Live, record: Message, params: dict[str, Any]) -> Round:
        """Begin a round with a client's request."""
        exchange = live.exchange
        exchange.call = track.call.number
        track.flying += 1
        round_ = Round(
            number=1,
            exchange=exchange.number,
            request_id=exchange.request_id,
            t=record.t,
            request_seq=record.seq,
            arguments=params.get("arguments"),
            by_tap=record.sender == "tap",
            conn=exchange.conn,
            size=exchange.size,
        )
        live.track = track
        live.round = round_
        self.add(track, round_)
        return round_

    def go_on(self, track: Track, record: Payload, exchange: int, request_id: Any) -> Round:
        """Begin a round that no request of its own opened: an answer to a pushed ask did."""
        round_ = Round(
            number=1,
            exchange=exchange,
            request_id=request_id,
            t=record.t,
            request_seq=record.seq,
            link="keys",
            by_tap=record.sender == "tap",
        )
        self.add(track, round_)
        round_.answers_round = round_.number - 1
        return round_

    def join(self, track: Track, live: Live) -> None:
        """Take an exchange that is no round of its own into a call."""
        live.exchange.call = track.call.number
        call = track.call
        if len(call.other_exchanges) < MOST_ROUNDS:
            call.other_exchanges += (live.exchange.number,)

    def add(self, track: Track, round_: Round) -> None:
        """Put a round at the end of its call."""
        call = track.call
        rounds = call.rounds
        if rounds:
            round_.number = rounds[-1].number + 1
            if len(rounds) >= MOST_ROUNDS:
                del rounds[1]
                call.dropped += 1
        rounds.append(round_)

    def pass_ball(self, track: Track, to: Ball, t: float) -> None:
        """Account for the time up to `t` and say whose turn it is from there."""
        spent = t - track.since
        if spent > 0:
            if track.ball == "server":
                track.call.server_s += spent
            else:
                track.call.client_s += spent
            track.since = t
        track.ball = to

    def bide(self, track: Track, t: float) -> None:
        """Account for the time up to `t`, in which not the client but the tap had the asks."""
        if track.ball == "client" and t > track.since:
            track.call.tap_s += t - track.since
            track.since = t

    def settle(self, track: Track, outcome: Outcome, t: float, *, why: str | None = None) -> None:
        """End a call; `why` says what cancelled it."""
        call = track.call
        self.pass_ball(track, "client", t)
        call.why = why
        call.outcome = "unlinked" if track.unlinked and outcome in ("ok", "error") else outcome
        call.end = t
        if track.session is not None:
            track.session.active.discard(track)
            origin = track.origin
            if origin is not None and origin.exchange.how is not None:
                origin.track = None

    def give_up(self, track: Track, t: float, reason: str | None) -> None:
        """End a call that its client no longer wants; for a stream that is the usual end."""
        last = track.call.rounds[-1]
        if last.end is None:
            last.end = t
        if track.call.kind == "stream":
            self.settle(track, "ok", t)
        else:
            why = "the client cancelled it" + (f": {reason[:MOST_WORDS]}" if reason else "")
            self.settle(track, "cancelled", t, why=why)

    def reopen(self, track: Track, t: float) -> None:
        """Give the server its turn, also in a call that had ended for the time being."""
        self.pass_ball(track, "server", t)
        track.call.end = track.call.why = None
        track.call.outcome = "open"
        if track.session is not None:
            self._enter(track, track.session)

    def wait(self, track: Track, t: float) -> None:
        """Give the client its turn: asks are delivered."""
        self.pass_ball(track, "client", t)
        track.call.end = track.call.why = None
        track.call.outcome = "waiting"

    def let_go(self, answered: list[Pending], t: float) -> list[Call]:
        """End calls that wait for what calls of their own have answered; give those that changed.

        Args:
            answered: rounds with as many ambiguous answers as there are such rounds.
            t: when the last of these came.
        """
        changed = []
        for pending in answered:
            call = pending.track.call
            if call.outcome == "waiting" and pending.round is call.rounds[-1]:
                self.settle(pending.track, "unlinked", t)
            changed.append(call)
        return changed

    def take_back(self, lost: list[Pending], t: float) -> list[Call]:
        """Let calls wait again whose ambiguous answers got no response; give those that changed."""
        changed = []
        for pending in lost:
            call = pending.track.call
            if call.outcome == "unlinked" and pending.round is call.rounds[-1]:
                self.wait(pending.track, t)
            changed.append(call)
        return changed

    def serve(self, track: Track, path: str, info: Any) -> None:
        """Take note of the name a server gives itself."""
        if self.label or type(info) is not dict:
            return
        name = info.get("name")
        if type(name) is not str or not name:
            return
        track.call.server = name
        if self._servers.get(path) != name:
            if len(self._servers) >= MOST_SERVERS:
                self._servers.clear()
            self._servers[path] = name


def error_fault(error: Any, sender: Sender) -> Fault:
    """Read a JSON-RPC error, whatever it looks like."""
    if type(error) is not dict:
        return Fault(code=None, message=text_of(error)[:MOST_WORDS], sender=sender)
    code, message = error.get("code"), error.get("message")
    if type(code) is not int and type(code) is not str:
        code = None
    words = message if type(message) is str else ""
    return Fault(code=code, message=words[:MOST_WORDS], sender=sender)


def tool_fault(result: dict[str, Any], sender: Sender) -> Fault:
    """Read what a tool says about its own failure: its first text."""
    content = result.get("content")
    for block in content if type(content) is list else ():
        text = block.get("text") if type(block) is dict else None
        if type(text) is str:
            return Fault(code="isError", message=text[:MOST_WORDS], sender=sender)
    return Fault(code="isError", message="", sender=sender)


def asks_of(requests: Any, record: Message) -> list[Ask]:
    """Read `inputRequests`; entries that are no requests become asks of kind `other`.

    No more than `MOST_ASKS`: a map of a hundred thousand would hold up everything else.
    """
    found: list[Ask] = []
    if type(requests) is dict:
        for key, entry in islice(requests.items(), MOST_ASKS):
            entry_ = entry if type(entry) is dict else {}
            found.append(ask_of(str(key), entry_.get("method"), entry_.get("params"), record))
    return found


def ask_of(key: str, method: Any, params: Any, record: Message) -> Ask:
    """Make an ask of what a server sent."""
    known = params if type(params) is dict else {}
    return Ask(
        key=key,
        method=method if type(method) is str else "",
        kind=spec.ask_kind(method, known),
        params=known,
        seq=record.seq,
        t=record.t,
    )


def answer_ask(ask: Ask, answer: Any, record: Message, *, error: bool = False) -> None:
    """Keep an answer with the ask it is for."""
    action = answer.get("action") if type(answer) is dict and not error else None
    if error:
        ask.action = "error"
    elif type(action) is str and ask.kind in ("form", "url", "other"):
        ask.action = action
    else:
        ask.action = "answered"
    ask.answer = answer
    ask.answered_by = "tap" if record.sender == "tap" else "client"
    ask.answer_seq = record.seq
    ask.answer_t = record.t


def host_of(header: Header) -> str:
    """Name a server that has no other name by where it is: its host, or its command."""
    if header.transport == "http":
        with contextlib.suppress(ValueError):  # it may be masked
            return urlsplit(header.upstream).netloc or header.upstream
    return header.upstream


def from_client(record: Payload) -> bool:
    """Tell whether it is a client's part of the talk; the tap itself may have written that."""
    return record.sender == "client" or (record.sender == "tap" and record.leg == "upstream")


def payload_size(record: Payload) -> int:
    """Give the bytes of a payload, of the whole one where only a prefix is kept."""
    if record.size is not None:
        return record.size
    body = record.body
    if type(body) is Raw:
        return len(body)
    if record.text is not None:
        text = record.text
        return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))
    return len(record.b64 or b"")
