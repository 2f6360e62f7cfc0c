"""A call that is being answered: round after round, until a result, an error or a limit.

Rules of this file:

- What a round gets is decided first and carried out then, so that the records stand in order.
- One repeat is under way at a time, and none is ever sent again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from mcp_tap.answers.book import Given, Unmatched
from mcp_tap.net.heads import Head, StatusLine
from mcp_tap.proxy.answering import asked as reading
from mcp_tap.proxy.answering.deciding import let_person
from mcp_tap.proxy.answering.gate import data_of
from mcp_tap.proxy.answering.repeat import MOST, Repeat
from mcp_tap.proxy.answering.rounds import Rounds, secrets_of
from mcp_tap.proxy.answering.verdicts import HOOK, Ask, Fail, Pass, Round, Send, told
from mcp_tap.proxy.tape import Tape

if TYPE_CHECKING:
    from mcp_tap.core.records import How
    from mcp_tap.proxy.answering.exchange import AnsweringExchange


class Chain(Rounds):
    """Drives one call."""

    def __init__(self, exchange: AnsweringExchange) -> None:
        """Begin with the client's request, which has gone upstream."""
        super().__init__(exchange.answering, exchange.watched, exchange.tape.exchange)
        self.exchange = exchange
        self.records = exchange.records
        self.over = False
        self._passed = False
        """The client answers itself, so the call goes on."""
        self._repeat: Repeat | None = None
        self._older: list[Repeat] = []
        """Repeats that have asked and may still be open."""
        self._timer: asyncio.TimerHandle | None = None
        self._left = self.answering.longest
        """Seconds the call may still take when the clock goes on."""
        self._until = 0.0
        self._pause: asyncio.TimerHandle | None = None
        self._person: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()

    # carrying out

    def act(self, round_: Round, tape: Tape, deliver: Callable[[], None] | None = None) -> None:
        """Do what was decided.

        Args:
            round_: that asked.
            tape: of the exchange in which it asked.
            deliver: gives the round to the client, where a person may still want that.
        """
        self._start_clock()
        verdict = round_.verdict
        if isinstance(verdict, Send):
            self.answering.answered += 1
            if verdict.answers:
                self._again(round_, verdict.answers)
            else:
                self._pause = self._loop.call_later(self.pause_for(), self._after_pause, round_)
        elif isinstance(verdict, Fail):
            self.answering.fail(verdict.code)
            self.exchange.fail(200, verdict.code, verdict.why, "refused", no_answer=True)
        elif isinstance(verdict, Ask):
            self._person = self.exchange.tap.spawn(
                self._ask(round_, verdict.unmatched, tape, deliver)
            )
        else:
            self._passed = True
            self.hand_on(round_.asked, self.exchange.tap.t)
            self.end()

    def tell(self, round_: Round, tape: Tape) -> None:
        """Record what was decided about each ask."""
        tap = self.exchange.tap
        for facts in told(round_):
            tap.report(tap.recording.decision, tape, tap.t, HOOK, *facts)

    async def _ask(
        self,
        round_: Round,
        unmatched: Unmatched,
        tape: Tape,
        deliver: Callable[[], None] | None,
    ) -> None:
        self._stop_clock()  # it is not the server that lets wait
        round_.verdict = verdict = await let_person(self.answering, round_.asks, unmatched)
        self._person = None
        if self.over:
            return
        self.exchange.tap.now()
        self.tell(round_, self.exchange.tape)  # the one in which it asked may have ended long ago
        self.act(round_, tape)
        if isinstance(verdict, Pass) and deliver is not None:
            deliver()
        self.exchange.write_out()

    def _after_pause(self, round_: Round) -> None:
        self._pause = None
        self.exchange.tap.now()
        self._again(round_, {})
        self.exchange.write_out()

    def _again(self, round_: Round, answers: dict[str, Given]) -> None:
        token = self.answering.next_id()
        try:
            body = self.again(token, round_.asked, answers)
        except ValueError as error:  # also of what a person wrote that is no text
            self.answering.fail("cannot-repeat")
            why = f"the request cannot be repeated: {error}"
            self.exchange.fail(200, "cannot-repeat", why, no_answer=True)
            return
        if self._repeat is not None:
            self._older.append(self._repeat)
        self._repeat = Repeat(self, self.exchange.head_for(body), body, token, secrets_of(answers))

    # what repeats tell

    def stream_begins(self, repeat: Repeat, head: Head[StatusLine]) -> None:
        """Pass the head of a stream on where the client has none yet."""
        self.exchange.relay_head(repeat, head)

    def event(self, repeat: Repeat, block: bytes) -> None:
        """Pass an event on, unless it asks."""
        data = data_of(block, MOST)
        newest = repeat is self._repeat and not (self.over or self._pending())
        asked = self.exchange.reads(data) if data and newest else None
        if asked is not None:
            round_ = self.round(asked)
            self.tell(round_, repeat.tape)
            self.act(round_, repeat.tape, lambda: self.exchange.deliver(repeat, block, data))
            if not round_.passes:
                return
        if data and not repeat.answered and reading.is_response(data):
            repeat.answered = True
            if newest:
                self.end()
        self.exchange.relay_event(repeat, block, data)

    def whole(self, repeat: Repeat, raw: bytes, text: bytes | None) -> None:
        """Pass a response on that is no stream, unless it asks."""
        asked = self.exchange.reads(text) if text is not None else None
        if asked is None:
            repeat.finish()
            self.exchange.relay_whole(repeat, raw, text)
            return
        round_ = self.round(asked)
        self.tell(round_, repeat.tape)
        repeat.finish()
        self.act(round_, repeat.tape, lambda: self.exchange.relay_whole(repeat, raw, text))
        if round_.passes:
            self.exchange.relay_whole(repeat, raw, text)

    def rest(self, repeat: Repeat, block: bytes) -> None:
        """Pass on what a stream ended in the middle of, where the client's ends with it."""
        if self._is_last(repeat):
            self.exchange.relay_event(repeat, block, b"")

    def stream_ends(self, repeat: Repeat) -> None:
        """End the client's stream, where nothing goes on."""
        if self._is_last(repeat):
            self.exchange.conclude("complete")

    def lost(self, repeat: Repeat, why: str, code: str) -> None:
        """Tell the client that a repeat got no answer, or only a part of one."""
        if not self._is_last(repeat):
            return
        if repeat.answered:
            self.exchange.cut(why)
            return
        status = 504 if code == "upstream-timeout" else 502
        self.exchange.lost(status, code, why)

    # ends

    def stop(self, how: How, why: str | None) -> None:
        """End at once: the client left, or the tap stops."""
        self.end()
        for repeat in self._sent():
            repeat.drop(how, why)

    def close(self) -> None:
        """End, since the client has all it will get."""
        self.end()
        for repeat in self._sent():
            repeat.finish()

    def end(self) -> None:
        """Wait for nothing any more."""
        self.over = True
        self._stop_clock()
        if self._pause is not None:
            self._pause.cancel()
        if self._person is not None and self._person is not asyncio.current_task():
            self._person.cancel()
        if not self._passed:
            self.answering.book.forget(self.call)

    def _start_clock(self) -> None:
        if self._timer is None:
            self._until = self._loop.time() + self._left
            self._timer = self._loop.call_at(self._until, self._expire)

    def _stop_clock(self) -> None:
        if self._timer is not None:
            self._left = self._until - self._loop.time()
            self._timer.cancel()
            self._timer = None

    def _sent(self) -> list[Repeat]:
        newest = [self._repeat] if self._repeat is not None else []
        return [*self._older, *newest]

    def pause(self, *, paused: bool) -> None:
        """Let the upstream wait while the client takes no more."""
        for repeat in self._sent():
            repeat.pause(paused=paused)

    def _is_last(self, repeat: Repeat) -> bool:
        """Tell whether nothing comes behind a repeat."""
        return self._repeat is repeat and not self._pending()

    @property
    def goes_on(self) -> bool:
        """The client is still to get something that is no part of the first response."""
        return not self.over or (self._repeat is not None and not self._repeat.over)

    def _pending(self) -> bool:
        return self._pause is not None or self._person is not None

    def _expire(self) -> None:
        self.exchange.tap.now()
        longest = f"{self.answering.longest:g} s"
        why = f"no result within {longest} of the call's first ask (--answer-timeout)"
        self.stop("timeout", why)
        self.answering.fail("answers-timeout")
        self.exchange.fail(504, "answers-timeout", why, "timeout")
        self.exchange.write_out()
