"""An exchange of either era: its response may ask, or what comes before the response may.

`exchange` deals with responses that ask, which is all there is since 2026-07-28.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Final

from mcp_tap.core import spec
from mcp_tap.core.wire import loads
from mcp_tap.net.heads import Head, StatusLine
from mcp_tap.proxy.answering import tasks
from mcp_tap.proxy.answering.asked import MOST_RESPONSE, Asked, may_ask
from mcp_tap.proxy.answering.exchange import AnsweringExchange
from mcp_tap.proxy.answering.gate import data_of
from mcp_tap.proxy.answering.heads import STREAM
from mcp_tap.proxy.answering.noticed import Notices
from mcp_tap.proxy.answering.pushed import Pushes, may_push
from mcp_tap.proxy.answering.records import Withheld
from mcp_tap.proxy.answering.session import Called, Session, server_name
from mcp_tap.proxy.answering.sessions import Facts
from mcp_tap.proxy.answering.tasked import TaskChain
from mcp_tap.proxy.exchange import HttpExchange

if TYPE_CHECKING:
    from mcp_tap.proxy.answering.repeat import Repeat
    from mcp_tap.proxy.answering.verdicts import Round

_EVENTS: Final = "text/event-stream"
_SESSION: Final = b"mcp-session-id"


class EitherExchange(AnsweringExchange):
    """A request whose client need not answer anything, whatever its era."""

    new_session: bytes | None = None
    """Session that the response opens."""
    _session: Session | None = None
    """The session it is in, in the era that has sessions."""
    _called: Called | None = None
    _looker: Pushes | Notices | None = None
    _copy: list[bytes] | None = None
    """The response to `initialize`, beside what is passed on."""

    def _without_message(self) -> None:
        method, sessions = self.line.method, self.answering.sessions
        if method == b"GET":
            key = sessions.key(self.tape.head, self.client.peer)
            self._session = sessions.find(key, self.tap.t)
            self._glances = False
        elif method == b"DELETE":
            sessions.closed(sessions.key(self.tape.head, self.client.peer))

    # the request

    def _listens(self) -> None:
        self._looker = Notices(self)
        self._glances = False

    def _examine(self, body: bytes) -> None:
        facts = self.answering.sessions.facts(self.tape.head)
        if facts.era == "session":
            self._in_session(facts, body)
        else:
            AnsweringExchange._examine(self, body)  # noqa: SLF001 - its own base

    def _unwatched(self, body: bytes) -> None:
        facts = self.answering.sessions.facts(self.tape.head)
        if facts.era != "stateless":
            self._in_session(facts, body)

    def _in_session(self, facts: Facts, body: bytes) -> None:
        """Look at a request of the era with sessions, as little as can be."""
        sessions, head = self.answering.sessions, self.tape.head
        if b"initialize" in body and self._begins(body):
            return
        key = facts.key if facts.key is not None else sessions.key(head, self.client.peer)
        self._session = session = sessions.find(key, self.tap.t)
        if b"cancelled" in body:
            session.cancelled(body)
        self._called = called = Called(self.tape.exchange, body)
        session.begin(called)

    def _begins(self, body: bytes) -> bool:
        """Declare for the client what the tap can answer, where it begins a session."""
        request = self.answering.sessions.edited(body)
        if request is None:
            return False
        self._session = self.answering.sessions.begun(request)
        self._called = Called(self.tape.exchange, body)
        self._copy, self._glances = [], False
        self.watched = request
        if request.edited:
            self._edit(request)
        return True

    def _let_go(self, body: bytes, *, whole: bool) -> None:
        if whole and self._copy is not None:
            body = self.watched.body
        super()._let_go(body, whole=whole)

    # the response

    def reads(self, body: bytes) -> Asked | None:
        """Read a response that asks; None for any other message."""
        if self.watched.method != spec.TASKS_GET:
            return super().reads(body)
        return tasks.read(body) if self.watched.name is not None else None

    def _round(self, asked: Asked) -> Round:
        if self._chain is None and self.watched.method == spec.TASKS_GET:
            task = self.answering.tasks.find(self.watched.name or "", self.tap.t)
            self._chain = TaskChain(self, task)
        return super()._round(asked)

    def _learn(self, body: bytes) -> None:
        """Take note of the task that a call becomes."""
        if self.watched.method in spec.MAY_ASK:
            chain = self._chain
            call = chain.call if chain is not None else self.tape.exchange
            self.answering.tasks.made(body, self.watched, call, self.tap.t)

    def relay_event(self, repeat: Repeat, block: bytes, data: bytes) -> None:
        """Pass an event of a repeat on."""
        self._learn(data)
        super().relay_event(repeat, block, data)

    def relay_whole(self, repeat: Repeat, raw: bytes, text: bytes | None) -> None:
        """End the response with that to a repeat."""
        if text is not None:
            self._learn(text)
        super().relay_whole(repeat, raw, text)

    def _release(self) -> None:
        if self._held_head is not None and self._held_head[0].fields.encoding is None:
            self._learn(b"".join(self._body))
        super()._release()

    def upstream_head(self, head: Head[StatusLine], *, to_eof: bool) -> None:
        """Look at a stream event by event."""
        if self._simple or self._session is None or head.line.status < 200:
            AnsweringExchange.upstream_head(self, head, to_eof=to_eof)
            return
        if self._copy is not None:
            self._opened(head)
        if not head.fields.content_type.startswith(_EVENTS):
            HttpExchange.upstream_head(self, head, to_eof=to_eof)
        elif head.length is None and head.fields.encoding is None:
            self._matters = _may_matter
            self._flow()
            HttpExchange.upstream_head(self, head, to_eof=to_eof)
        elif self._can_read(head):
            self._stream(head, to_eof=to_eof)
        else:
            HttpExchange.upstream_head(self, head, to_eof=to_eof)

    def upstream_whole(self, head: Head[StatusLine], body: bytes) -> bool:
        """Pass a complete response on in one go, where nothing in it can ask."""
        if self._simple and head.fields.encoding is None and not may_ask(body):
            return HttpExchange.upstream_whole(self, head, body)  # mostly
        if self._session is None:
            if not self._glances and self._watching and head.fields.encoding is None:
                self._learn(body)
            return AnsweringExchange.upstream_whole(self, head, body)
        if head.fields.content_type.startswith(_EVENTS) and (
            not self._glances or head.fields.encoding is not None or _may_matter(body)
        ):
            self.upstream_head(head, to_eof=False)
            self.upstream_data(body)
            whole = self.upstream_end()
            self.upstream_flush()
            return whole
        if self._copy is not None:
            self._opened(head)
            self._copy = [body]
        whole = HttpExchange.upstream_whole(self, head, body)
        self._leave()
        return whole

    def _pass(self, data: bytes) -> None:
        """Pass on, and look at what `initialize` brings."""
        if self._copy is not None:
            self._copy.append(data)
            self._body_size += len(data)
            if self._body_size > MOST_RESPONSE:
                self._copy = None
        super()._pass(data)

    def _block(self, block: bytes) -> None:
        if self._looker is None and self._session is not None:
            self._looker = Pushes(self, self._session, self._called)
            if self._called is not None and self._called.request is not None:
                self.watched = self._called.request
        if self._looker is not None and self._looker.takes(block):
            self._glances = False  # what comes behind it may end the call
            return
        if b"taskId" in block and self._watching:
            self._learn(data_of(block, MOST_RESPONSE))
        super()._block(block)

    def _opened(self, head: Head[StatusLine]) -> None:
        """Take note of the session that `initialize` opens."""
        if self._session is None or head.line.status >= 300:
            return
        for name, value in head.headers:
            if name.lower() == _SESSION:
                self.new_session = value
        sessions = self.answering.sessions
        key: Hashable = sessions.key(self.tape.head, self.client.peer)
        if self.new_session is not None:
            key = "session", self.new_session.decode("latin-1").strip()
        self._session = sessions.opened(key, self._session, self.tap.t)

    def initialized(self, message: dict[str, Any]) -> None:
        """Learn how the server calls itself."""
        name = server_name(message)
        if self._session is not None and name is not None:
            self._session.server = self.answering.server = name

    def _look_at_copy(self) -> None:
        body = b"".join(self._copy or ())
        self._copy = None
        if not body:
            return
        try:
            message = loads(body)
        except ValueError:
            return
        if type(message) is dict:
            self.initialized(message)

    # what pushed asks need

    def withhold(self, block: bytes, withheld: Withheld | None = None) -> None:
        """Keep an event from the client, for a while perhaps."""
        self._report_pieces()
        facts = (self.tape, self.tap.t, block, withheld)
        self.tap.report(self.records.withheld_event, *facts)

    def pass_on(self, block: bytes) -> None:
        """Give the client an event, and have it recorded before what is decided of it."""
        super()._block(block)
        self._report_pieces()

    def pass_late(self, withheld: Withheld) -> None:
        """Give the client an event that was kept from it."""
        if self.done:
            return
        self._report_pieces()
        if self._way is None:
            self._way = self.records.begin(STREAM, stream=True)
        facts = (withheld, self._way)
        self.tap.report(self.records.late_event, self.tape, self.tap.t, *facts)
        self._frame(withheld.block)
        self.write_out()

    # ends

    def placed(self, session: Session) -> None:
        """Take note of whose session this stream is."""
        self._session = session

    def _leave(self) -> None:
        """Wait for nothing any more."""
        if self._simple:
            return  # mostly
        if self._copy:
            self._look_at_copy()
        session, called = self._session, self._called
        if self._looker is not None:
            self._looker.close()
        elif session is not None and called is not None and session.endpoint is None:
            session.calls.pop(called.number, None)
            if called.rounds:
                self.answering.book.forget(called.number)


def _may_matter(data: bytes) -> bool:
    """Tell whether whole events have to be looked at one by one."""
    return may_push(data) or b"id:" in data
