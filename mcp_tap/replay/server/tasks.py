"""Tasks as they are replayed: who polls one sees it go on, and answers what it asks.

Rules of this file:

- A task is what a call became that was served; of several served from one recorded call each has an
  id and a progress of its own.
- The n-th poll gets what the n-th recorded one got.  What follows an update or a cancellation of
  the recorded client waits for this one's; polls beyond get the newest state so far once more.
- The answers of an update choose how the task goes on, as those of a retry do for a call.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from mcp_tap.core import spec
from mcp_tap.core.records import Message
from mcp_tap.core.wire import dumps
from mcp_tap.replay.fitting import fits
from mcp_tap.replay.index import Index
from mcp_tap.replay.keys import params_of
from mcp_tap.replay.recorded import (
    NO_ASKS,
    RecordedCall,
    RecordedExchange,
    RecordedRound,
)
from mcp_tap.replay.server.matching import Book, Given, Node, asked
from mcp_tap.replay.server.misses import Misses
from mcp_tap.replay.splicing import TASK, Tokens

MOST_TASKS: Final = 10_000


class Task(Struct, eq=False):
    """A task that was made of a call here."""

    id: str
    """The id this client knows."""
    first: Node
    """How its call began."""
    call: RecordedCall
    """The one as which it goes on."""
    at: int = 0
    """What comes next of what was recorded about it."""
    polled: RecordedExchange | None = None
    """The newest poll since the last update."""


class Tasks:
    """Knows the tasks that were made, and what was recorded about each."""

    def __init__(self, index: Index, book: Book, misses: Misses) -> None:
        """Sort what clients did about tasks."""
        self._index = index
        self._book = book
        self._misses = misses
        self._live: OrderedDict[str, Task] = OrderedDict()
        self._recorded: dict[str, str] = {}
        """Id that was made here -> the recorded one."""
        self._about: dict[tuple[int, int], list[RecordedExchange]] = {}
        """By capture and number of a call."""
        for call in index.calls:
            if not call.others and len(call.rounds) == 1:
                continue
            about = sorted(self._requests(call), key=lambda exchange: exchange.seqs[0])
            if about:
                self._about[call.capture, call.number] = about

    def _requests(self, call: RecordedCall) -> Iterator[RecordedExchange]:
        exchanges = self._index.captures[call.capture].exchanges
        numbers = {*call.others, *(r.exchange.number for r in call.rounds[1:])}
        for exchange in map(exchanges.get, numbers):
            if exchange is None or exchange.by_tap:
                continue
            if exchange.method in spec.TASK_METHODS:
                yield exchange

    def made(self, path: tuple[Node, ...], result: dict[str, Any]) -> Tokens:
        """Take note of a result that makes a task; give the id it has, where that is a new one."""
        recorded = result.get("taskId")
        if result.get("resultType") != "task" or type(recorded) is not str:
            return {}
        name, count = recorded, 1
        while name in self._live:
            count += 1
            name = f"{recorded}-{count}"
        self._live[name] = Task(name, path[0], path[-1].call)
        if len(self._live) > MOST_TASKS:
            self._recorded.pop(self._live.popitem(last=False)[0], None)
        if name == recorded:
            return {}
        self._recorded[name] = recorded
        return {TASK: dumps(name)}

    def find(self, given: Given) -> tuple[Task, RecordedExchange] | None:
        """Find what a request about a task gets; None: it was not made here.

        Raises:
            Miss: nobody was recorded who did so.
        """
        method, name = given.target
        task = self._live.get(name or "")
        if method not in spec.TASK_METHODS or task is None:
            return None
        exchange = self._poll(task) if method == spec.TASKS_GET else self._act(task, given)
        if exchange is None:
            after = [self._node(task.call, e) for e in self._of(task.call) if e.method == method]
            if method == spec.TASKS_UPDATE:
                raise self._misses.answers(given, after)
            raise self._misses.call(given)
        return task, exchange

    def meant(self, value: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        """Give a request for news with recorded ids, and what each stands for."""
        notes = params_of(value).get("notifications")
        if not self._recorded or type(notes) is not dict:
            return value, {}
        given = notes.get("taskIds")
        if type(given) is not list:
            return value, {}
        names = {self._recorded.get(n, n): n for n in given if type(n) is str}
        params = {**value["params"], "notifications": {**notes, "taskIds": list(names)}}
        return {**value, "params": params}, names

    def _of(self, call: RecordedCall) -> list[RecordedExchange]:
        return self._about.get((call.capture, call.number), [])

    def _poll(self, task: Task) -> RecordedExchange | None:
        about = self._of(task.call)
        if task.at < len(about) and about[task.at].method == spec.TASKS_GET:
            task.polled = about[task.at]
            task.at += 1
        return task.polled

    def _act(self, task: Task, given: Given) -> RecordedExchange | None:
        """Find an update or a cancellation, and go on behind it; one sent again changes nothing."""
        found = self._next(task.call, task.at, given)
        if found is None:
            earlier = self._next(task.call, 0, given)
            if earlier is not None:
                return self._of(task.call)[earlier]
            for other in self._alike(task):
                found = self._next(other, 0, given)
                if found is not None and self._asked(other, found) == self._asked_of(task):
                    self._book.changed(task.first, other)
                    task.call = other
                    break
            else:
                return None
        task.at, task.polled = found + 1, None
        return self._of(task.call)[found]

    def _next(self, call: RecordedCall, at: int, given: Given) -> int | None:
        """Find the next time a recorded client did this, from a place on."""
        for place, exchange in enumerate(self._of(call)[at:], at):
            if exchange.method == given.target[0]:
                recorded = self._book.answers(self._node(call, exchange))
                if fits(recorded or {}, given.answers or {}):
                    return place
        return None

    def _alike(self, task: Task) -> Iterator[RecordedCall]:
        for node in self._book.equal(task.first):
            if node.call is not task.call:
                yield node.call

    def _asked_of(self, task: Task) -> bytes | None:
        return self._asked(task.call, task.at)

    def _asked(self, call: RecordedCall, at: int) -> bytes | None:
        """Sum up what the newest poll before a place had asked."""
        polls = [e for e in self._of(call)[:at] if e.method == spec.TASKS_GET]
        return asked(self._book.result(self._node(call, polls[-1]))) if polls else None

    def _node(self, call: RecordedCall, exchange: RecordedExchange) -> Node:
        """Look at an exchange as at a round."""
        request = response = None
        for record in self._index.messages(exchange):
            if isinstance(record, Message):
                if record.sender == "client":
                    request = record.seq
                else:
                    response = record.seq
        round_ = RecordedRound(
            number=0,
            exchange=exchange,
            asks=NO_ASKS,
            request_seq=exchange.seqs[0] if request is None else request,
            response_seq=response,
        )
        return Node(call, round_)


def renamed(task: Task, result: Any) -> Tokens:
    """Give the id of a task as this client knows it, where a result names it."""
    known = type(result) is dict and "taskId" in result and result["taskId"] != task.id
    return {TASK: dumps(task.id)} if known else {}
