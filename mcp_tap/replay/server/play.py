"""One script being played to one client."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from msgspec import Struct

from mcp_tap.core import spec
from mcp_tap.core.records import Headers, HttpResponse, Message, Noise, Sse
from mcp_tap.core.values import same_id
from mcp_tap.net.heads import HOP_BY_HOP
from mcp_tap.replay.keys import params_of
from mcp_tap.replay.server.caller import Caller
from mcp_tap.replay.server.outlets import Handle, Later, Outlet
from mcp_tap.replay.server.scripts import Script
from mcp_tap.replay.server.sessions import Asked, Events, Session, Stream
from mcp_tap.replay.server.steps import Step, is_ask, is_response
from mcp_tap.replay.splicing import (
    CANCELLED,
    ID,
    SUBSCRIPTION,
    TOKEN,
    Tokens,
    answering,
    news,
    respliced,
)

_LEFT_OUT: Final = {
    *(name.decode() for name in HOP_BY_HOP),
    *("content-length", "transfer-encoding", "content-encoding", "date"),
}


class Clock(Struct):
    """When steps are due."""

    later: Later
    pace: float | None
    """Recorded seconds of a second; None: everything is due at once."""


class Play:
    """Sends the steps of a script, each when it is its turn."""

    def __init__(
        self,
        script: Script,
        outlet: Outlet,
        caller: Caller | None,
        clock: Clock,
        *,
        session: Session | None = None,
        events: Events | None = None,
        delivered: Callable[[Step], Tokens] | None = None,
        branch: Callable[[Play, dict[str, Any]], Script | None] | None = None,
    ) -> None:
        """Begin; `advance()` sends.

        Args:
            script: what to send.
            outlet: where to.
            caller: whose request it answers; None: no request's.
            clock: when.
            session: the session it is in.
            events: event ids of its client; None: they are sent as they were recorded.
            delivered: told of the response before it is sent; gives what it is to carry.
            branch: finds the script to go on with after an answer that is not this one's.
        """
        self.script = script
        self._caller = caller
        self._clock = clock
        self._session = session
        self._events = events
        self._delivered = delivered
        self._branch = branch
        self._at = 0
        self._waits = {wait.seq: wait.until for wait in script.waits}
        self._now = script.exchange.t
        self._timer: Handle | None = None
        self._over = self._responded = False
        self._first = outlet
        self._direct: Outlet | None = outlet
        """Where what is said goes, if it has no stream of its own."""
        self._stream = Stream(outlet) if session is not None else None
        self.asked: list[tuple[Step, Any]] = []
        """What was asked so far, each with what was answered."""
        self._held: Stream | None = None
        self._asks: dict[int, bytes] = {}
        """Ids that its asks have here, by record."""
        if session is not None and self._stream is not None:
            session.streams.append(self._stream)

    @property
    def caller_id(self) -> Any:
        """JSON-RPC id of the request it answers."""
        return None if self._caller is None else self._caller.value.get("id")

    def hold(self, stream: Stream) -> None:
        """Let a stream that is no request's read on here, once the script is through."""
        self._held = stream

    @property
    def _outlet(self) -> Outlet | None:
        """Who is listening: that may be another one than at first, where a stream was lost."""
        return self._direct if self._stream is None else self._stream.outlet

    @property
    def stream(self) -> Stream | None:
        """Its stream, in the session era."""
        return self._stream

    def advance(self) -> None:
        """Send what can be sent."""
        if self._timer is not None or self._over:
            return
        steps = self.script.steps
        while self._at < len(steps):
            step = steps[self._at]
            if self._waits and min(self._waits.values()) <= step.seq:
                self._flush()
                return
            if self._not_due(step.t):
                return
            self._at += 1
            self._send(step)
        if self._waits:
            self._flush()
        else:
            self._finish()

    def drop(self) -> None:
        """The client is gone, or does not want it any more."""
        if self._stream is not None and not self._over:
            if self._stream.outlet is self._first:  # else somebody has taken it up already
                self._stream.outlet = None
            return
        if self._held is not None and self._held.outlet is self._first:
            self._held.outlet = None
        self._over = True
        if self._timer is not None:
            self._timer.cancel()

    def cancelled(self) -> None:
        """Take note that the client cancelled the request."""
        self._waits.pop(0, None)
        self.advance()

    def answer(self, seq: int, response: dict[str, Any]) -> None:
        """Take the client's answer to an ask; go on as that client whose answer it was."""
        self.asked = [(s, response if s.seq == seq else a) for s, a in self.asked]
        other = self._branch(self, response) if self._branch is not None else None
        if other is not None:
            self.script = other
            count = len(self.asked)
            asks = [step.seq for step in other.steps if is_ask(step)][:count]
            done = set(asks)
            self._waits = {w.seq: w.until for w in other.waits if w.seq not in done}
            until = max((w.until for w in other.waits if w.seq in done), default=0)
            self._at = next((i for i, s in enumerate(other.steps) if s.seq > until), 0)
            if self._at == 0:
                self._at = len(other.steps)
            self._now = other.steps[self._at - 1].t
        else:
            self._waits.pop(seq, None)
        self.advance()

    def fail(self, data: bytes) -> None:
        """End with an error in the place of what would come."""
        if self._over:
            return
        self._message(data, None)
        self._close()

    def _not_due(self, t: float) -> bool:
        pace = self._clock.pace
        delay = 0.0 if pace is None else max(0.0, t - self._now) / pace
        self._now = max(self._now, t)
        if delay <= 0:
            return False
        self._flush()
        self._timer = self._clock.later(delay, self._due)
        return True

    def _due(self) -> None:
        self._timer = None
        self.advance()

    def _send(self, step: Step) -> None:
        record = step.record
        if isinstance(record, HttpResponse):
            self._head(record)
        elif isinstance(record, Message):
            self._said(step, record)
        elif self._outlet is not None:
            comment = isinstance(record, Noise) and record.sse is None
            data, sse = record.payload(), self._event(step)
            if self._stream is not None and isinstance(record, Noise) and sse is not None:
                self._stream.sent.append((b"", sse))
            self._outlet.other(data, sse, comment=comment)

    def _head(self, record: HttpResponse) -> None:
        if self._outlet is None:
            return
        session = None if self._session is None else self._session.id
        headers = served(tuple(record.headers), session)
        self._outlet.head(record.status, record.reason, headers)

    def _said(self, step: Step, record: Message) -> None:
        """Send a message with this client's tokens in it."""
        value, data = step.value, record.payload()
        if is_ask(step):
            if self._session is not None:  # else no script waits for the answer
                data = respliced(data, {ID: self._ask(step, self._session)})
        elif is_response(step):
            data = self._response(step, data)
        elif type(value) is dict:
            moved = self._notification(value, data)
            if moved is None:
                return
            data = moved
        if step.aside and self._session is not None and self._session.id is not None:
            if self._responded:
                self._end()  # nobody gets what came after a response before it
            self._session.stream.message(data, self._event(step))
            self._session.stream.flush()
        else:
            self._message(data, self._event(step))

    def _event(self, step: Step) -> Sse | None:
        """Give the fields of its event, with an id that this client does not know yet."""
        sse = getattr(step.record, "sse", None)
        if self._events is None:
            return sse
        return self._events.of(self.script.exchange.capture, step.seq, sse)

    def _response(self, step: Step, data: bytes) -> bytes:
        tokens: dict[tuple[str, ...], bytes] = {}
        if self._caller is not None and self._caller.id is not None:
            tokens[ID] = self._caller.id
            self._responded = True
        if self._delivered is not None:
            tokens.update(self._delivered(step))
        return answering(data, tokens)

    def _notification(self, value: dict[str, Any], data: bytes) -> bytes | None:
        """Put this client's tokens into a notification; None: it did not ask for such."""
        caller, method = self._caller, value.get("method")
        if caller is None:
            return data
        if method == spec.NOTE_PROGRESS:
            return None if caller.progress is None else respliced(data, {TOKEN: caller.progress})
        if method == spec.NOTE_CANCELLED:
            wanted = params_of(value).get("requestId")
            for step, _ in self.asked:
                if same_id(step.value.get("id"), wanted) and step.seq in self._asks:
                    return respliced(data, {CANCELLED: self._asks[step.seq]})
        elif caller.id is not None:
            more = news(params_of(value), caller.tasks) if caller.tasks else {}
            return respliced(data, {SUBSCRIPTION: caller.id, **more})
        return data

    def _ask(self, step: Step, session: Session) -> bytes:
        self.asked.append((step, None))
        token = session.ask(step.value.get("id"), Asked(step.seq, self.answer))
        self._asks[step.seq] = token
        return token

    def _message(self, data: bytes, sse: Any) -> None:
        if self._stream is not None:
            self._stream.message(data, sse)
        elif self._outlet is not None:
            self._outlet.message(data, sse)

    def _flush(self) -> None:
        if self._outlet is not None:
            self._outlet.flush()

    def _finish(self) -> None:
        """End as the recorded exchange ended; what its client left stays open."""
        exchange = self.script.exchange
        how = exchange.how
        if self._held is not None and self._outlet is not None:
            self._held.attach(self._outlet)
            self._outlet.flush()
            return
        ended = exchange.end is not None and not self.script.answered
        if ended and self._not_due(exchange.end or 0.0):
            return
        if self.script.ends:
            if how == "upstream_cut" and not self.script.answered:
                self._over = True
                if self._outlet is not None:
                    self._outlet.cut()
            else:
                self._close()
        else:
            self._flush()

    def _close(self) -> None:
        self._over = True
        self._end()

    def _end(self) -> None:
        """End what answers the request."""
        outlet, self._direct = self._outlet, None
        if self._stream is not None:
            self._stream.ended, self._stream.outlet = True, None
        if outlet is not None:
            outlet.end()


@lru_cache(maxsize=512)
def served(headers: tuple[tuple[str, str], ...], session: str | None) -> Headers:
    """Give the fields of a recorded response that a client gets."""
    found = []
    for name, value in headers:
        low = name.lower()
        if low == spec.HEADER_SESSION:
            if session is not None:
                found.append((name, session))
        elif low not in _LEFT_OUT:
            found.append((name, value))
    return found
