"""Asks of tasks: they come with a task's state, and `tasks/update` answers them (SEP-2663).

Rules of this file:

- The client's poll is held until the tap has answered and the server says something new; the client
  gets the newest state as the server gave it, with its own id.  Nothing is made up for it.
- Each key of a task is answered once, however often the server repeats it.
- A server may take its time over an answer.  For as long as a person would wait it is polled again,
  in the pace it asked for.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from typing import TYPE_CHECKING

from mcp_tap.answers.book import Given
from mcp_tap.core import spec
from mcp_tap.core.splice import SpliceError
from mcp_tap.net.heads import RawHeaders
from mcp_tap.proxy.answering import tasks
from mcp_tap.proxy.answering.asked import Asked
from mcp_tap.proxy.answering.chain import Chain
from mcp_tap.proxy.answering.errand import Errand, Outcome, errand_head
from mcp_tap.proxy.answering.repeat import Repeat
from mcp_tap.proxy.answering.rounds import secrets_of
from mcp_tap.proxy.answering.tasks import Pauses, Task, polled
from mcp_tap.proxy.answering.verdicts import Ask, Pass, Round, Send

if TYPE_CHECKING:
    from mcp_tap.proxy.answering.eras import EitherExchange
    from mcp_tap.proxy.tape import Tape


class TaskChain(Chain):
    """Drives one poll of a task."""

    def __init__(self, exchange: EitherExchange, task: Task) -> None:
        """Begin with the client's poll, which has gone upstream."""
        super().__init__(exchange)
        self.task = task
        self._either = exchange
        self._passed = True  # the call goes on behind the poll
        self._errand: Errand | None = None
        self._asked_for: set[str] = set()
        """Keys of which a person decides for this poll."""
        self._answered_at = self._loop.time()
        self._pauses = Pauses()
        self.call = task.own_call

    def round(self, asked: Asked) -> Round:
        """Decide about what was not answered yet."""
        waited = self._loop.time() - self._answered_at
        return polled(self.answering, self.task, asked, self.watched.declared, waited)

    def tell(self, round_: Round, tape: Tape) -> None:
        """Record what was decided; that the server takes its time is no decision."""
        if round_.asks or not isinstance(round_.verdict, Send):
            super().tell(round_, tape)

    def act(self, round_: Round, tape: Tape, deliver: Callable[[], None] | None = None) -> None:
        """Do what was decided."""
        verdict, keys = round_.verdict, {ask.key for ask in round_.asks}
        if keys or not isinstance(verdict, Send):
            self.task.asking -= keys
            if isinstance(verdict, Ask):
                self.task.asking |= keys
                self._asked_for = keys
            elif isinstance(verdict, Pass):
                self.task.passed |= keys
            super().act(round_, tape, deliver)
            return
        self._stop_clock()
        self._left = self.answering.longest  # while the server talks, a person may still decide
        self._start_clock()
        delay = self._pauses.after(round_.asked)
        self._pause = self._loop.call_later(delay, self._after_pause, round_)

    def _again(self, round_: Round, answers: dict[str, Given]) -> None:
        del round_
        if answers:
            self._errand = update(self._either, self.task, answers, self._updated)
        else:
            self._poll()

    def _updated(self, outcome: Outcome) -> None:
        self._errand = None
        self._answered_at, self._pauses = self._loop.time(), Pauses()
        if self.over:
            return
        why = refusal(outcome)
        if why is None:
            self._poll()
        else:
            self.answering.fail("answer-not-taken")
            self.exchange.lost(502, "answer-not-taken", why)
        self.exchange.write_out()

    def _poll(self) -> None:
        token = self.answering.next_id()
        try:
            body = self.watched.again(token, None, None)
        except SpliceError as error:
            self.answering.fail("cannot-repeat")
            self.exchange.lost(502, "cannot-repeat", f"the poll cannot be repeated: {error}")
            return
        if self._repeat is not None:
            self._older.append(self._repeat)
        self._repeat = Repeat(self, self.exchange.head_for(body), body, token, ())

    def end(self) -> None:
        """Wait for nothing any more."""
        super().end()
        if self._asked_for:
            self.task.asking -= self._asked_for

    def _pending(self) -> bool:
        return self._errand is not None or super()._pending()


def update(
    exchange: EitherExchange, task: Task, answers: dict[str, Given], done: Callable[[Outcome], None]
) -> Errand:
    """Send answers to a task's asks, with the header fields and the `_meta` of a request."""
    answering, keys = exchange.answering, set(answers)
    body = tasks.update(task, answers, answering.next_id(), exchange.watched.body)
    named: RawHeaders = [(b"Mcp-Method", spec.TASKS_UPDATE.encode())]
    named.append((b"Mcp-Name", _header(task.id)))

    def ended(outcome: Outcome) -> None:
        if not outcome.sent:
            task.answered -= keys
        done(outcome)

    head = errand_head(exchange.tap, exchange.tape.head, len(body), named)
    tap, records, peer = exchange.tap, exchange.records, exchange.client.peer
    return Errand(tap, records, peer, head, body, ended, answering.errands, secrets_of(answers))


def refusal(outcome: Outcome) -> str | None:
    """Say why a server did not take answers; None where it did."""
    return tasks.refused(outcome.message if outcome.taken else None, outcome.why)


def _header(name: str) -> bytes:
    """Write a task's id as a header field, encoded where it could not be one (SEP-2243)."""
    plain = name.isascii() and name.isprintable() and name == name.strip() and bool(name)
    if plain and not (name.startswith("=?base64?") and name.endswith("?=")):
        return name.encode()
    return b"=?base64?" + b64encode(name.encode(errors="surrogatepass")) + b"?="
