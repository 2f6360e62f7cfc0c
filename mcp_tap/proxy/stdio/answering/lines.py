"""Decides what becomes of each line: the answerer of a run over stdio.

Rules of this file:

- One look tells what a line is; of what nobody decides about no more is read.
- A fault of ours lets nobody wait: what it was about ends with an error, everything else passes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from mcp_tap.core import spec
from mcp_tap.proxy.answering.asked import (
    MOST_REPEATED,
    MOST_RESPONSE,
    is_id,
    is_json,
    may_ask,
)
from mcp_tap.proxy.answering.verdicts import Told
from mcp_tap.proxy.stdio.answering.board import Board, key_of
from mcp_tap.proxy.stdio.answering.calls import LineCall
from mcp_tap.proxy.stdio.answering.polls import LineListen, LinePoll, news
from mcp_tap.proxy.stdio.answering.pushed import LineSession
from mcp_tap.proxy.stdio.steps import Decided, Seen, ToClient, ToServer

if TYPE_CHECKING:
    from mcp_tap.proxy.answering.answering import Answering
    from mcp_tap.proxy.answering.request import Watched
    from mcp_tap.proxy.stdio.intake import Way
    from mcp_tap.proxy.stdio.steps import Step

_ID: Final = rb'"id"[ \t]*:[ \t]*("[^"\\]*"|-?[0-9]+)[ \t]*'
_AT_HEAD: Final = re.compile(rb'[ \t]*\{[ \t]*(?:"jsonrpc"[ \t]*:[ \t]*"2\.0"[ \t]*,[ \t]*)?' + _ID)
_AT_TAIL: Final = re.compile(_ID + rb'(?:,[ \t]*"jsonrpc"[ \t]*:[ \t]*"2\.0"[ \t]*)?\}[ \t\r\n]*$')
"""Where a line has its id that nobody reads whole: servers write it first, or last."""

_EDGE: Final = 256
"""Bytes at the end of a line in which its id is looked for."""


class _Outline(Struct, gc=False):
    id: Raw | UnsetType = UNSET
    method: str | UnsetType = UNSET


class _Cancelled(Struct, rename="camel"):
    request_id: Raw


class _Cancellation(Struct):
    params: _Cancelled


_outline: Final = msgspec.json.Decoder(_Outline)
_cancellation: Final = msgspec.json.Decoder(_Cancellation)


class Lines:
    """Answers for the client of a run over stdio.  Implements `proxy.stdio.steps.LineAnswerer`."""

    def __init__(self, answering: Answering) -> None:
        """Answer by these scripts, within these limits; nobody can be asked."""
        self._answering = answering
        self._board = Board(answering)
        self._session = LineSession(self._board)
        self._modern = False
        """The client speaks a revision without sessions."""

    def from_client(self, line: bytes, t: float) -> Sequence[Step]:
        """Take a line the client wrote."""
        try:
            return self._from_client(line, t)
        except (ValueError, RecursionError):  # it is no message, or its id is none
            return [ToServer(line)]
        except Exception as error:  # noqa: BLE001 (a top door: nobody must wait for ever)
            return [ToServer(line), _fault(error)]

    def from_server(self, line: bytes, t: float) -> Sequence[Step]:
        """Take a line the server wrote to its stdout."""
        try:
            outline = _outline.decode(line)
            if outline.id is not UNSET and outline.method is UNSET:
                return self._answered(bytes(outline.id), line, t)
            return self._spoken(outline, line, t)
        except (ValueError, RecursionError):
            return self._unread(line, t)
        except Exception as error:  # noqa: BLE001 (a top door: nobody must wait for ever)
            return [ToClient(line), _fault(error)]

    @property
    def busy(self) -> bool:
        """A server may still ask for a call."""
        calls = self._board.calls.values()
        return self._session.busy or not all(isinstance(call, LineListen) for call in calls)

    def passed(self, way: Way, head: bytes, tail: bytes, t: float) -> Sequence[Step]:
        """Take note of a line that passed unseen."""
        said = [Decided(Told("not-examined", f"a line has more than {MOST_RESPONSE} bytes"))]
        token = _id_in(head, tail)
        awaiting = None if way != "server" or token is None else self._board.answered(token)
        if awaiting is None:
            return said
        why = "the server's answer is too large to be passed on"
        return [*said, *awaiting.unread("answer-too-large", why, t)]

    def most(self, way: Way) -> int:
        """Say how many bytes of a line are waited for."""
        return MOST_REPEATED if way == "server" and self._board.asks else MOST_RESPONSE

    def client_eof(self, t: float) -> Sequence[Step]:
        """Take note that the client closed its end."""
        del t
        self._board.closed = True
        return self._of_each(lambda call: call.client_left())

    def server_eof(self, t: float) -> Sequence[Step]:
        """Take note that the server closed its stdout."""
        del t
        why = "the server closed its output before it gave a result"
        return self._of_each(lambda call: call.server_left(why))

    def tick(self, t: float) -> Sequence[Step]:
        """Let time pass."""
        return self._of_each(lambda call: call.tick(t))

    def _of_each(self, do: Callable[[LineCall], Sequence[Step]]) -> Sequence[Step]:
        """Do something with each call that is under way; one that it fails for ends by itself."""
        steps: list[Step] = []
        for call in list(self._board.calls.values()):
            try:
                steps += do(call)
            except Exception as error:  # noqa: BLE001 (a top door: the run goes on)
                steps += _ended_by(error, call)
        return steps

    # the client

    def _from_client(self, line: bytes, t: float) -> Sequence[Step]:
        watched = self._answering.reader.read(line, None)
        if watched is not None and is_id(watched.id):
            self._modern = True
            return self._watch(watched, line, t)
        outline = _outline.decode(line)
        if outline.method == spec.NOTE_CANCELLED:
            return self._cancelled(line)
        if outline.id is UNSET or outline.method is UNSET:
            return [ToServer(line)]
        if outline.method == spec.INITIALIZE:
            begins = self._session.begin(line)
            if begins is not None:
                self._modern = False
                return begins
        token = bytes(outline.id)
        if is_id(token) and not self._board.full:
            self._session.call(line, token)
        return [ToServer(line)]

    def _watch(self, watched: Watched, line: bytes, t: float) -> Sequence[Step]:
        if self._board.full:
            why = "more requests are under way than are looked at"
            return [ToServer(line), Decided(Told("not-examined", why))]
        if watched.method == spec.LISTEN:
            LineListen(self._board, watched)
        elif watched.method == spec.TASKS_GET:
            LinePoll(self._board, watched, t)
        else:
            LineCall(self._board, watched)
        if not watched.edited:
            return [ToServer(line)]
        seen = Seen(line, "client")
        return [seen, ToServer(watched.body, "tap", replaces=seen)]

    def _cancelled(self, line: bytes) -> Sequence[Step]:
        self._session.cancelled(line)
        try:
            token = bytes(_cancellation.decode(line).params.request_id)
            call = self._board.calls.get(key_of(token))
        except (ValueError, RecursionError):
            return [ToServer(line)]
        return [ToServer(line)] if call is None else call.cancelled(line)

    # the server

    def _answered(self, token: bytes, line: bytes, t: float) -> Sequence[Step]:
        """Take a response; one that comes twice is not for the client where it was kept before."""
        board = self._board
        awaiting = board.answered(token)
        if awaiting is None:
            kept = self._answering.gave(token) or key_of(token) in board.calls
            return [Seen(line, "server")] if kept else [ToClient(line)]
        try:
            return awaiting.came(line, t)
        except Exception as error:
            if not isinstance(awaiting, LineCall):
                raise
            return [Seen(line, "server"), *_ended_by(error, awaiting)]

    def _spoken(self, outline: _Outline, line: bytes, t: float) -> Sequence[Step]:
        """Take a request or a notification."""
        method = outline.method
        if outline.id is not UNSET:
            if method in spec.ASKING and not self._modern:
                return self._session.asked(line, t)
        elif method == spec.NOTE_TASK and may_ask(line):
            return news(self._board, line, t)
        elif method == spec.NOTE_CANCELLED and not self._modern:
            return self._session.withdrawn(line)
        return [ToClient(line)]

    def _unread(self, line: bytes, t: float) -> Sequence[Step]:
        """Let pass what is no message, or none that everybody reads alike."""
        token = _id_in(line, line[-_EDGE:])
        if token is not None and self._answering.gave(token):
            awaiting = self._board.answered(token)
            why = "the server's answer cannot be read, so its id cannot be put right"
            told = () if awaiting is None else awaiting.unread("cannot-pass-on", why, t)
            return [Seen(line, "server"), *told]
        if may_ask(line) and line.lstrip()[:1] == b"{" and not is_json(line):
            why = "what it says cannot be read for certain"
            return [ToClient(line), Decided(Told("not-examined", why))]
        return [ToClient(line)]


def _id_in(head: bytes, tail: bytes) -> bytes | None:
    """Find the id of a response that is not read, by its first and its last bytes."""
    found = _AT_HEAD.match(head) or _AT_TAIL.search(tail)
    return None if found is None else found[1]


def _fault(error: Exception) -> Decided:
    why = f"a fault of mcp-tap: {type(error).__name__}: {error}"
    return Decided(Told("tap-failed", why))


def _ended_by(error: Exception, call: LineCall) -> Sequence[Step]:
    """End a call that a fault of ours was about: its client must not wait for ever."""
    said = _fault(error)
    return [said, *call.fail("tap-failed", said.told.why)]
