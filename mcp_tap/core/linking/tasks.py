"""Tasks: one call from the request that made the task to its terminal status (SEP-2663).

`tasks/get`, `tasks/update` and `tasks/cancel` for a known task are exchanges of its call, not calls
of their own.  Asks come with `tasks/get` or `notifications/tasks` and end the round; the update
that answers the last of them begins the next.  A task that was made before the capture began is not
known: requests about it stand for themselves.
"""

from __future__ import annotations

from typing import Any

from mcp_tap.core import spec
from mcp_tap.core.bounded import Bounded
from mcp_tap.core.linking.asks import asked_on
from mcp_tap.core.linking.calls import (
    MOST_WORDS,
    Book,
    answer_ask,
    asks_of,
    error_fault,
    tool_fault,
)
from mcp_tap.core.linking.said import said
from mcp_tap.core.linking.state import Change, ClientKey, Live, Track
from mcp_tap.core.model import Fault
from mcp_tap.core.records import Message

MOST_TASKS = 10_000
LONGEST_TASK = 24 * 3600.0


class Tasks:
    """Follows tasks by their id."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._tasks: Bounded[tuple[ClientKey, str], Track | None] = Bounded(
            MOST_TASKS, LONGEST_TASK
        )

    @property
    def retired(self) -> int:
        """Tasks that were let go."""
        return self._tasks.retired

    def expire(self, now: float) -> None:
        """Let go of what is too old."""
        self._tasks.expire(now)

    def tracks(self) -> list[Track]:
        """Give the calls that became tasks."""
        return [track for track in self._tasks.values() if track is not None]

    def create(self, track: Track, result: dict[str, Any], record: Message) -> None:
        """Take note of a task; of two open ones with one id, neither is followed."""
        task = result.get("taskId")
        if type(task) is not str:
            self._book.settle(track, "ok", record.t)
            return
        track.call.task = task
        self._book.reopen(track, record.t)
        key = (track.client, task)
        before = self._tasks.get(key)
        twice = before is not None and before is not track and not before.done
        self._tasks.put(key, None if twice else track, record.t)
        self._status(track, result, record)

    def request(
        self, live: Live, method: str, params: dict[str, Any], record: Message
    ) -> list[Change] | None:
        """Take a tasks/* request; None where its task is not known."""
        task = params.get("taskId")
        if type(task) is not str:
            return None
        track = self._tasks.get((live.client, task))
        if track is None:
            return None
        live.track, live.poll = track, method
        if method == spec.TASKS_UPDATE and self._update(track, live, params, record):
            live.exchange.call = track.call.number
        else:
            self._book.join(track, live)
        return [track.call]

    def response(self, live: Live, value: dict[str, Any], record: Message) -> list[Change]:
        """Take the answer to a tasks/* request."""
        track = live.track
        if track is None:
            return [live.exchange]
        error = value.get("error")
        result = value.get("result")
        if error is not None:
            if live.poll == spec.TASKS_GET and not track.done:
                self._fail(track, error_fault(error, record.sender), record)
        elif type(result) is dict:
            if live.poll == spec.TASKS_GET:
                self._status(track, result, record)
            elif live.poll == spec.TASKS_CANCEL and not track.done:
                self._book.settle(track, "cancelled", record.t, why="the client cancelled its task")
        return [track.call]

    def notice(self, live: Live, value: dict[str, Any], record: Message) -> list[Change]:
        """Take a `notifications/tasks` from a listen stream."""
        params = value.get("params")
        task = params.get("taskId") if type(params) is dict else None
        track = self._tasks.get((live.client, task)) if type(task) is str else None
        if track is None or type(params) is not dict:
            return []
        requests = params.get("inputRequests")
        for key in requests if type(requests) is dict else ():
            asked_on(live, track, str(key))
        self._status(track, params, record)
        return [track.call]

    def _update(self, track: Track, live: Live, params: dict[str, Any], record: Message) -> bool:
        """Take answers; tell whether they began a round."""
        answers = params.get("inputResponses")
        if type(answers) is not dict or track.done:
            return False
        answered = [key for key in answers if key in track.asked]
        for key in answered:
            answer_ask(track.asked.pop(key), answers[key], record)
        if not answered or track.asked:
            return False
        exchange = live.exchange
        self._book.reopen(track, record.t)
        round_ = self._book.go_on(track, record, exchange.number, exchange.request_id)
        round_.answers = answers
        round_.conn, round_.size = exchange.conn, exchange.size
        live.round = round_
        return True

    def _status(self, track: Track, task: dict[str, Any], record: Message) -> None:
        if track.done:
            return
        status = task.get("status")
        if status == spec.INPUT_REQUIRED:
            self._asks(track, task, record)
        elif status == "completed":
            result = task.get("result")
            fault = None
            if type(result) is dict and result.get("isError") is True:
                fault = tool_fault(result, record.sender)
            self._end(track, record, fault, result)
            self._book.settle(track, "error" if fault else "ok", record.t)
        elif status == "failed":
            self._end(track, record, error_fault(task.get("error"), record.sender))
            self._book.settle(track, "error", record.t)
        elif status == "cancelled":
            self._end(track, record, None)
            words = task.get("statusMessage")
            why = words[:MOST_WORDS] if type(words) is str and words else "its task was cancelled"
            self._book.settle(track, "cancelled", record.t, why=why)
        elif status == "working" and track.call.outcome in ("waiting", "error"):
            track.call.rounds[-1].fault = None
            self._book.reopen(track, record.t)

    def _asks(self, track: Track, task: dict[str, Any], record: Message) -> None:
        asks = {ask.key: ask for ask in asks_of(task.get("inputRequests"), record)}
        # The list is always whole: what it leaves out is no longer wanted.
        for key in [key for key in track.asked if key not in asks]:
            del track.asked[key]
        fresh = [ask for ask in asks.values() if ask.key not in track.task_keys]
        if fresh:
            last = track.call.rounds[-1]
            last.asks.extend(fresh)
            last.end = record.t
            for ask in fresh:
                track.task_keys.add(ask.key)
                track.asked[ask.key] = ask
        if track.asked and track.call.outcome != "waiting":
            self._book.wait(track, record.t)

    def _end(self, track: Track, record: Message, fault: Fault | None, result: Any = None) -> None:
        """Keep the terminal status with the call and, unless that has ended, its last round."""
        track.done = True
        track.call.task_seq = record.seq
        last = track.call.rounds[-1]
        last.fault = fault
        last.end = record.t
        if last.result is None:
            last.response_seq = record.seq
        if type(result) is dict:
            last.result = said(result, whole=not record.truncated)
            if last.result_type is None and type(result.get("resultType")) is str:
                last.result_type = result["resultType"]

    def _fail(self, track: Track, fault: Fault, record: Message) -> None:
        """End a call whose task the server says it does not have; a later status may revive it."""
        track.call.rounds[-1].fault = fault
        self._book.settle(track, "error", record.t)
