"""Asks of the era to 2025-11-25: requests that a server sends on a stream, answered by a POST.

Rules of this file:

- Who answers is decided once for each ask.  The script comes first, whatever the client declared;
  what nothing in it answers goes to a client that has declared the kind, if `unmatched` says so.
- What the tap deals with, the client does not see: neither the ask, nor its repetition on a stream
  that is taken up again, nor the server's word that it is not wanted any more.
- The stream goes on meanwhile: nothing but the ask waits.
- Where no answer can be given, the server gets a JSON-RPC error in its place, so that it can go on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from mcp_tap.answers.book import Given, Unmatched
from mcp_tap.answers.question import Question
from mcp_tap.core import spec
from mcp_tap.core.splice import SpliceError, find
from mcp_tap.core.values import id_key, text_of
from mcp_tap.core.wire import dumps, loads
from mcp_tap.net.heads import RawHeaders
from mcp_tap.proxy.answering.asked import MOST_RESPONSE, Asked
from mcp_tap.proxy.answering.deciding import decide, let_person
from mcp_tap.proxy.answering.errand import Errand, Outcome, errand_head
from mcp_tap.proxy.answering.gate import data_of
from mcp_tap.proxy.answering.records import Withheld
from mcp_tap.proxy.answering.rounds import steps
from mcp_tap.proxy.answering.session import Called, Session, pushed_ask, refusal
from mcp_tap.proxy.answering.sessions import endpoint_at
from mcp_tap.proxy.answering.verdicts import (
    HOOK,
    Ask,
    Fail,
    Pass,
    Round,
    Send,
    Told,
    Verdict,
    told,
)

if TYPE_CHECKING:
    from mcp_tap.proxy.answering.eras import EitherExchange


class _Outline(Struct):
    id: Raw | UnsetType = UNSET
    method: Raw | UnsetType = UNSET


_outline: Final = msgspec.json.Decoder(_Outline)


class Pushed(Withheld, kw_only=True):
    """A request that a server sent."""

    id: bytes
    """Token of its id."""
    key: str
    """The id as text."""
    mark: Hashable
    """What tells it from all others of its session."""
    ask: Question


class Pushes:
    """What servers ask on the stream of one exchange."""

    def __init__(self, exchange: EitherExchange, session: Session, called: Called | None) -> None:
        """Begin with a request.

        Args:
            exchange: whose response is the stream.
            session: of the client.
            called: its request; None for a GET.
        """
        self.exchange = exchange
        self.session = session
        self.called = called
        self._answering = exchange.answering
        self._waiting: dict[Hashable, tuple[Pushed, asyncio.Task[None]]] = {}
        """Asks of which a person decides, by id."""
        self._numbered = False
        """Events have ids, so that the stream can be taken up again."""

    def takes(self, block: bytes) -> bool:
        """Look at an event; tell whether it is not for the client, or was given to it already."""
        if not self._numbered:
            self._numbered = block.find(b"id:", 0, 200) >= 0
        if self.called is None and b"endpoint" in block[:24]:
            placed = endpoint_at(self.exchange.line.target, data_of(block, MOST_RESPONSE))
            if placed is not None:
                self.session = self._answering.sessions.placed(placed, self.exchange.tap.t)
                self.exchange.placed(self.session)
            return False
        if not may_push(block):
            if b'"result"' in block or b'"error"' in block:
                self._answered(data_of(block, MOST_RESPONSE))
            return False
        data = data_of(block, MOST_RESPONSE)
        message = _message(data)
        if not message:
            self.exchange.doubt(data)
        method = message.get("method")
        if method == spec.NOTE_CANCELLED:
            return self._withdrawn(message, block)
        if method in spec.ASKING and message.get("id") is not None:
            return self._asked(message, block)
        if method is None:
            self._answered(data)
        return False

    def _answered(self, data: bytes) -> None:
        """Take note of a response."""
        try:
            outline = _outline.decode(data)
            if outline.id is UNSET or outline.method is not UNSET:
                return
            called = self.session.answered(loads(bytes(outline.id)))
        except (ValueError, RecursionError):
            return
        if called is not None:
            self._over(called)
        if b"serverInfo" in data:
            self.exchange.initialized(_message(data))

    # asks

    def _asked(self, message: dict[str, Any], block: bytes) -> bool:
        pushed = self._read(message, block)
        if pushed is None:
            self.exchange.unexamined("it names a member twice")
            return False
        fate = self.session.asks.get(pushed.mark)
        if fate is not None:
            if fate == "taken":
                self.exchange.withhold(block, pushed)
                self._say(Told("repeated", "it was answered before", None, pushed.key))
            return fate == "taken"
        verdict = decide(self._answering, [pushed.ask])
        taken = not isinstance(verdict, Pass)
        self.session.asks.put(pushed.mark, "taken" if taken else "passed", self.exchange.tap.t)
        if taken:
            self.exchange.withhold(block, pushed)
        else:
            self.exchange.pass_on(block)
        self._act(pushed, verdict)
        return True

    def _read(self, message: dict[str, Any], block: bytes) -> Pushed | None:
        data = data_of(block, MOST_RESPONSE)
        try:
            span = find(data, "id")
        except SpliceError:
            return None
        if span is None:
            return None
        exchange, session = self.exchange, self.session
        key = text_of(message["id"])
        called = self.called if self.called is not None else session.only()
        server = self._answering.label or session.server or self._answering.server_name
        digest = blake2b(data, digest_size=16).digest()
        return Pushed(
            id=data[span.start : span.end],
            key=key,
            mark=(
                id_key(message["id"]),
                digest,
                None if self._has_id() else exchange.tape.exchange,
            ),
            ask=pushed_ask(session, called, key, message, server),
            block=block,
        )

    def _has_id(self) -> bool:
        """Tell whether the session has an id, so that ids of its asks are its own."""
        key = self.session.key
        return isinstance(key, tuple) and key[0] in ("session", "endpoint")

    def _act(self, pushed: Pushed, verdict: Verdict) -> None:
        for facts in told(Round(asked=_NO_RESULT, asks=[pushed.ask], verdict=verdict)):
            self._say(facts)
        if isinstance(verdict, Send):
            self._answering.answered += 1
            given = verdict.answers[pushed.key]
            self._send(pushed, b"result", dumps(given.answer), given)
        elif isinstance(verdict, Fail):
            self._answering.fail(verdict.code)
            self.exchange.tap.say_once(verdict.code, verdict.why)
            self._send(pushed, b"error", dumps(refusal(self.session, pushed.ask, verdict)))
        elif isinstance(verdict, Ask):
            work = self._ask(pushed, verdict.unmatched)
            self._waiting[id_key(loads(pushed.id))] = pushed, self.exchange.tap.spawn(work)

    async def _ask(self, pushed: Pushed, unmatched: Unmatched) -> None:
        longest = self._answering.longest
        verdict: Verdict
        try:
            async with asyncio.timeout(longest):
                verdict = await let_person(self._answering, [pushed.ask], unmatched)
        except TimeoutError:
            why = f"nobody answered within {longest:g} s (--answer-timeout)"
            verdict = Fail("answers-timeout", why)
        self._waiting.pop(id_key(loads(pushed.id)), None)
        self.exchange.tap.now()
        if isinstance(verdict, Pass):
            self.session.asks.put(pushed.mark, "passed", self.exchange.tap.t)
            self.exchange.pass_late(pushed)
        self._act(pushed, verdict)

    def _withdrawn(self, message: dict[str, Any], block: bytes) -> bool:
        """Tell whether a server takes back what the client has not seen."""
        params = message.get("params")
        number = params.get("requestId") if type(params) is dict else None
        if number is None:
            return False
        waiting = self._waiting.pop(id_key(number), None)
        if waiting is None:
            return False
        waiting[1].cancel()
        self.exchange.withhold(block)
        self._say(Told("withdrawn", "the server does not want it any more", None, text_of(number)))
        return True

    # what goes out

    def _say(self, facts: Told) -> None:
        tap = self.exchange.tap
        tap.report(tap.recording.decision, self.exchange.tape, tap.t, HOOK, *facts)

    def _send(
        self, pushed: Pushed, member: bytes, token: bytes, given: Given | None = None
    ) -> None:
        exchange = self.exchange
        body = b'{"jsonrpc":"2.0","id":%b,"%b":%b}' % (pushed.id, member, token)
        secrets = tuple(("result", *steps(at)) for at in given.secrets) if given else ()
        own: RawHeaders = []
        if exchange.new_session is not None:
            own.append((b"Mcp-Session-Id", exchange.new_session))
        endpoint = self.session.endpoint
        head = errand_head(exchange.tap, exchange.tape.head, len(body), own, endpoint)

        def done(outcome: Outcome) -> None:
            if not outcome.taken:
                self._not_taken(pushed, outcome)

        facts = (exchange.client.peer, head, body, done, self._answering.errands, secrets)
        Errand(exchange.tap, exchange.records, *facts)

    def _not_taken(self, pushed: Pushed, outcome: Outcome) -> None:
        """End a call whose server did not get its answer: it would wait for it."""
        why = f"the server did not get the answer to {pushed.key}: {outcome.why}"
        if not outcome.sent:
            self.session.asks.pop(pushed.mark)
        exchange = self.exchange
        self._say(Told("not-taken", why, None, pushed.key))
        exchange.tap.say_once("answer-not-taken", why)
        self._answering.fail("answer-not-taken")
        called = self.called
        if called is None or called.answered or called.request is None:
            return
        if not exchange.done:
            exchange.lost(502, "answer-not-taken", why)
            exchange.write_out()

    # ends

    def close(self) -> None:
        """Take note that the exchange ended.

        What was decided is delivered all the same: leaving is no cancellation in this era, and a
        stream whose events have ids can be taken up again.  What was not is decided then.
        """
        for pushed, work in self._waiting.values():
            if work is not asyncio.current_task():
                work.cancel()
                self.session.asks.pop(pushed.mark)
        if self.called is not None and not self._numbered:
            self._over(self.called)

    def _over(self, called: Called) -> None:
        called.answered = True
        self.session.calls.pop(called.number, None)
        self._answering.book.forget(called.number)


def may_push(body: bytes) -> bool:
    """Tell whether bytes may hold such a request, or what has to do with one."""
    return (
        b"elicitation" in body
        or b"createMessage" in body
        or b"roots" in body
        or b"cancelled" in body
        or (b"\\" in body and b"\\u" in body)  # one byte is found much faster
    )


def _message(data: bytes) -> dict[str, Any]:
    """Read a message; empty for what is none."""
    try:
        value = loads(data)
    except ValueError:
        return {}
    return value if type(value) is dict else {}


_NO_RESULT: Final = Asked(requests={}, state=None, server=None)
