"""What servers send: responses, which end rounds; requests, which ask; notifications."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mcp_tap.core import spec
from mcp_tap.core.linking.asks import Asks, current
from mcp_tap.core.linking.calls import Book, asks_of, error_fault, tool_fault
from mcp_tap.core.linking.peek import peek
from mcp_tap.core.linking.rounds import Linker
from mcp_tap.core.linking.said import said
from mcp_tap.core.linking.state import Change, Live, Track
from mcp_tap.core.linking.tasks import Tasks
from mcp_tap.core.linking.who import Who
from mcp_tap.core.model import Round
from mcp_tap.core.records import Message
from mcp_tap.core.values import same_id, text_of


class ServerSide:
    """Takes the messages of servers."""

    def __init__(self, *, who: Who, book: Book, linker: Linker, asks: Asks, tasks: Tasks) -> None:
        """Work with the parts of one correlator."""
        self._who = who
        self._book = book
        self._linker = linker
        self._asks = asks
        self._tasks = tasks

    def take(self, live: Live, record: Message, value: Any) -> Sequence[Change]:
        """Take one message."""
        exchange = live.exchange
        exchange.messages += 1
        if record.sender == "tap":
            exchange.from_tap = True
        if type(value) is not dict and record.truncated:
            value = peek(record)
        if type(value) is not dict:
            return _changed(live)
        method = value.get("method")
        if type(method) is str:
            if "id" not in value:
                return self._notification(live, record, method, value)
            if not spec.asks(method):
                return _changed(live)
            return self._asks.ask(live, record, value)
        if "result" in value or "error" in value:
            return self._response(live, record, value)
        return _changed(live)

    def _response(self, live: Live, record: Message, value: dict[str, Any]) -> Sequence[Change]:
        exchange = live.exchange
        if live.poll is not None:
            exchange.answered = True
            exchange.response_seq = record.seq
            return self._tasks.response(live, value, record)
        if record.leg == "client":
            return self._given_up(live, record, value)
        request_id = value.get("id")
        own = live.track is not None and not live.resumes and not exchange.answered
        asked = exchange.request_id
        is_plain = type(asked) is type(request_id) is int  # as nearly always
        if not own or not (request_id == asked if is_plain else same_id(request_id, asked)):
            origin = self._elsewhere(live, request_id)
            if origin is not None:
                live = origin
            elif not own or (request_id is not None and _is_stream(live)):
                # Of nothing that waits; on a stream, the right one may still come.
                return _changed(live)
        track, round_ = live.track, live.round
        if track is None or round_ is None:
            return _changed(live)
        return self._answered(live, track, round_, record, value)

    def _given_up(self, live: Live, record: Message, value: dict[str, Any]) -> Sequence[Change]:
        """End a call that was asked, where the tap tells the client that it will not go on."""
        track = live.track
        if track is None:
            return _changed(live)
        call = track.call
        if call.end is None and track.flying <= 0:
            call.rounds[-1].fault = error_fault(value.get("error"), record.sender)
            self._linker.finish(track)
            track.done = True
            self._book.settle(track, "error", record.t)
        return (call,)

    def _elsewhere(self, live: Live, request_id: Any) -> Live | None:
        """Find the exchange of the same session that still waits for this response."""
        origin = None if live.session is None else live.session.active.waiting(request_id)
        if origin is None and live.resumes and live.track is not None:
            origin = live.track.origin
            if origin is not None and (
                origin.exchange.answered or not same_id(origin.exchange.request_id, request_id)
            ):
                return None
        return origin

    def _answered(
        self, live: Live, track: Track, round_: Round, record: Message, value: dict[str, Any]
    ) -> Sequence[Change]:
        """End a round with its response, and with it perhaps the call."""
        exchange = live.exchange
        call = track.call
        t = record.t
        exchange.answered = True
        exchange.response_seq = record.seq
        live.retries = []  # each holds a call, whose own hold older ones
        track.flying -= 1
        over = track.done or (call.end is not None and call.outcome == "cancelled")
        if round_.end is not None and not over:
            # It asked, and the answer did not come or was not waited for.
            round_ = current(self._book, track, record)
        round_.end = t
        round_.response_seq = record.seq
        error = value.get("error")
        if error is not None or "result" not in value:
            round_.fault = fault = error_fault(error, record.sender)
            if not over and track.flying <= 0:
                cancelled = fault.code == spec.REQUEST_CANCELLED
                self._book.settle(track, "cancelled" if cancelled else "error", t)
            return (call,)
        result = value["result"]
        if type(result) is not dict:
            result = {}
        kind = result.get("resultType")
        round_.result_type = kind if type(kind) is str else None
        round_.result = said(result, whole=not record.truncated)
        meta = result.get("_meta")
        if type(meta) is dict:
            self._book.serve(track, exchange.path, meta.get(spec.META_SERVER))
        if call.method == spec.INITIALIZE and exchange.era == "session":
            self._initialized(live, track, result, t)
        if not over:
            self._result(live, track, round_, result, record)
        return (call,)

    def _result(
        self, live: Live, track: Track, round_: Round, result: dict[str, Any], record: Message
    ) -> None:
        """Do what a result says: ask, go on as a task, or end the call."""
        kind = round_.result_type
        t = record.t
        if kind == spec.INPUT_REQUIRED and live.exchange.era != "session":
            self._ask(live, track, round_, result, record)
        elif kind == "task" and type(result.get("taskId")) is str:
            self._linker.finish(track)
            self._tasks.create(track, result, record)
        else:
            track.done = True
            if track.pending:
                self._linker.finish(track)
            if result.get("isError") is True:
                round_.fault = tool_fault(result, record.sender)
                self._book.settle(track, "error", t)
            else:
                self._book.settle(track, "ok", t)

    def _ask(
        self, live: Live, track: Track, round_: Round, result: dict[str, Any], record: Message
    ) -> None:
        state = result.get("requestState")
        round_.state = None if state is None else text_of(state)
        round_.asks = asks_of(result.get("inputRequests"), record)
        self._linker.issue(track, round_, live.principal, record.t)
        self._book.wait(track, record.t)

    def _initialized(self, live: Live, track: Track, result: dict[str, Any], t: float) -> None:
        version = result.get("protocolVersion")
        self._who.opened(live, version if type(version) is str else None, live.new_session, t)
        track.call.version = live.exchange.version
        track.call.identity = live.exchange.identity
        self._book.serve(track, live.exchange.path, result.get("serverInfo"))

    def _notification(
        self, live: Live, record: Message, method: str, value: dict[str, Any]
    ) -> Sequence[Change]:
        track = live.track
        if method in (spec.NOTE_PROGRESS, spec.NOTE_LOG):
            round_ = live.round
            if live.resumes and track is not None and track.origin is not None:
                round_ = track.origin.round
            if round_ is not None:
                if method == spec.NOTE_PROGRESS:
                    round_.progress += 1
                else:
                    round_.logs += 1
        elif method == spec.NOTE_TASK:
            return (*self._tasks.notice(live, value, record), *_changed(live))
        elif method == spec.NOTE_ELICITED:
            return self._asks.completed(live, value, record.t)
        elif method == spec.NOTE_CANCELLED:
            about = self._asks.withdraw(live, value, record.t)
            if about is not None:
                return (about.call,)
        return _changed(live)


def _changed(live: Live) -> Sequence[Change]:
    return (live.track.call,) if live.track is not None else (live.exchange,)


def _is_stream(live: Live) -> bool:
    return (live.exchange.content_type or "").lower().startswith("text/event-stream")
