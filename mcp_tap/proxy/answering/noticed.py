"""Asks that come as news of a task, on the stream of `subscriptions/listen`.

The client does not see news that asks for what the tap answers: the server will tell more.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcp_tap.answers.book import Given, Unmatched
from mcp_tap.answers.question import Question
from mcp_tap.proxy.answering.asked import MOST_RESPONSE, may_ask
from mcp_tap.proxy.answering.deciding import decide, let_person
from mcp_tap.proxy.answering.errand import Outcome
from mcp_tap.proxy.answering.gate import data_of
from mcp_tap.proxy.answering.records import Withheld
from mcp_tap.proxy.answering.tasked import refusal, update
from mcp_tap.proxy.answering.tasks import Task, TaskAsked, fresh, read
from mcp_tap.proxy.answering.verdicts import HOOK, Fail, Pass, Round, Send, Verdict, told

if TYPE_CHECKING:
    from mcp_tap.proxy.answering.eras import EitherExchange


class Notices:
    """What servers tell of tasks on one stream."""

    def __init__(self, exchange: EitherExchange) -> None:
        """Look at the stream that answers a request."""
        self.exchange = exchange
        self._answering = exchange.answering
        self._persons: set[asyncio.Task[None]] = set()

    def takes(self, block: bytes) -> bool:
        """Look at an event; tell whether it is not for the client, or was given to it already."""
        if not may_ask(block):
            return False
        asked = read(data_of(block, MOST_RESPONSE), notice=True)
        if asked is None or asked.task is None:
            return False
        exchange = self.exchange
        task = self._answering.tasks.find(asked.task, exchange.tap.t)
        asks = fresh(self._answering, task, asked, exchange.watched.declared)
        if not asks:
            if task.passed.intersection(asked.requests) or not asked.requests:
                return False
            exchange.withhold(block)
            return True
        verdict = decide(self._answering, asks)
        withheld = Withheld(block=block)
        if isinstance(verdict, Pass):
            exchange.pass_on(block)
        else:
            exchange.withhold(block, withheld)
        self._act(task, asked, asks, verdict, withheld)
        return True

    def _act(
        self,
        task: Task,
        asked: TaskAsked,
        asks: list[Question],
        verdict: Verdict,
        withheld: Withheld,
    ) -> None:
        exchange = self.exchange
        tap = exchange.tap
        for facts in told(Round(asked=asked, asks=asks, verdict=verdict)):
            tap.report(tap.recording.decision, exchange.tape, tap.t, HOOK, *facts)
        keys = {ask.key for ask in asks}
        task.asking -= keys
        if isinstance(verdict, Send):
            self._answering.answered += 1
            self._send(task, verdict.answers)
        elif isinstance(verdict, Pass):
            task.passed |= keys
        elif isinstance(verdict, Fail):
            self._answering.fail(verdict.code)
            exchange.fail(200, verdict.code, verdict.why, "refused", no_answer=True)
        else:
            task.asking |= keys
            work = self._ask(task, asked, asks, verdict.unmatched, withheld)
            running = tap.spawn(work)
            self._persons.add(running)
            running.add_done_callback(self._persons.discard)

    def _send(self, task: Task, answers: dict[str, Given]) -> None:
        def done(outcome: Outcome) -> None:
            why = refusal(outcome)
            if why is not None and not self.exchange.done:
                self._answering.fail("answer-not-taken")
                self.exchange.lost(502, "answer-not-taken", why)
                self.exchange.write_out()

        update(self.exchange, task, answers, done)

    async def _ask(
        self,
        task: Task,
        asked: TaskAsked,
        asks: list[Question],
        unmatched: Unmatched,
        withheld: Withheld,
    ) -> None:
        try:
            verdict = await let_person(self._answering, asks, unmatched)
        finally:
            task.asking.difference_update(ask.key for ask in asks)
        self.exchange.tap.now()
        if isinstance(verdict, Pass):
            self.exchange.pass_late(withheld)
        self._act(task, asked, asks, verdict, withheld)
        self.exchange.write_out()

    def close(self) -> None:
        """Take note that the stream ended."""
        for work in [*self._persons]:
            if work is not asyncio.current_task():
                work.cancel()
