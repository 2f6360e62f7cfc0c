"""An exchange of either era: its response may ask, or what comes before the response may.

`exchange` deals with responses that ask, which is all there is since 2026-07-28.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Final

from mcp_tap.core import spec
from mcp_tap.core.wire import loads
from mcp_tap.net.heads import Head, StatusLine
from mcp_tap.proxy.answering import tasked
from mcp_tap.proxy.answering.asked import MOST_RESPONSE, Asked
from mcp_tap.proxy.answering.exchange import AnsweringExchange
from mcp_tap.proxy.answering.gate import data_of
from mcp_tap.proxy.answering.heads import STREAM, field
from mcp_tap.proxy.answering.noticed import Notices
from mcp_tap.proxy.answering.pushed import Pushes, may_push
from mcp_tap.proxy.answering.records import Withheld
from mcp_tap.proxy.answering.sessions import Called, at_endpoint
from mcp_tap.proxy.answering.tasked import TaskChain

if TYPE_CHECKING:
    from mcp_tap.core.records import How
    from mcp_tap.net.sink import Loss
    from mcp_tap.proxy.answering.repeat import Repeat
    from mcp_tap.proxy.answering.verdicts import Round

_EVENTS: Final = "text/event-stream"
_VERSION: Final = b"mcp-protocol-version"
_SESSION: Final = b"mcp-session-id"


class EitherExchange(AnsweringExchange):
    """A request whose client need not answer anything, whatever its era."""

    new_session: bytes | None = None
    """Session that the response opens."""
    _pushes: Pushes | None = None
    _notices: Notices | None = None
    _copy: list[bytes] | None = None
    """The response to `initialize`, beside what is passed on."""

    def _without_message(self) -> None:
        method = self.line.method
        if method == b"GET":
            session = self.answering.sessions.find(self._key(), self.tap.t)
            self._glances = False
            self._pushes = Pushes(self, session, None)
        elif method == b"DELETE":
            self.answering.sessions.closed(self._key())

    def _key(self) -> Hashable:
        """Say whose session it is."""
        head = self.tape.head
        session = field(head, _SESSION)
        if session is not None:
            return "session", session
        place = at_endpoint(head.line.target)
        if self.answering.sessions.has(place):
            return place
        return self.client.peer, field(head, b"user-agent"), field(head, b"authorization")

    # the request

    def _listens(self) -> None:
        self._notices = Notices(self)
        self._glances = False

    def _unwatched(self, body: bytes) -> None:
        """Look at a request of the era before."""
        version = field(self.tape.head, _VERSION)
        if version is not None and spec.era_of(version) == "stateless":
            return
        sessions = self.answering.sessions
        request = sessions.read(body)
        if request is None:
            return
        called = Called(number=self.tape.exchange, request=request)
        if request.method == spec.INITIALIZE:
            session = sessions.begun(request)
            self._copy = []
        else:
            session = sessions.find(self._key(), self.tap.t)
            session.begin(called)
        self.watched = request
        self._glances = False
        self._pushes = Pushes(self, session, called)
        if request.edited:
            self._edit(request)

    def _let_go(self, body: bytes, *, whole: bool) -> None:
        if whole and self._pushes is not None and self._pushes.called is not None:
            body = self.watched.body
        super()._let_go(body, whole=whole)

    # the response

    def reads(self, body: bytes) -> Asked | None:
        """Read a response that asks; None for any other message."""
        if self.watched.method != spec.TASKS_GET:
            return super().reads(body)
        return tasked.read(body) if self.watched.name is not None else None

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
        if self._pushes is None or head.line.status < 200:
            super().upstream_head(head, to_eof=to_eof)
            return
        self._opened(head)
        if head.fields.content_type.startswith(_EVENTS) and self._can_read(head):
            self._stream(head, to_eof=to_eof)
        else:
            super().upstream_head(head, to_eof=to_eof)

    def upstream_whole(self, head: Head[StatusLine], body: bytes) -> bool:
        """Pass a complete response on in one go, where nothing in it can ask."""
        pushes = self._pushes
        if pushes is None:
            if not self._glances and self._watching and head.fields.encoding is None:
                self._learn(body)
            return AnsweringExchange.upstream_whole(self, head, body)
        stream = head.fields.content_type.startswith(_EVENTS)
        learns = self._copy is not None or head.fields.encoding is not None
        if stream and (learns or may_push(body)):
            self.upstream_head(head, to_eof=False)
            self.upstream_data(body)
            whole = self.upstream_end()
            self.upstream_flush()
            return whole
        self._opened(head)
        if self._copy is not None:
            self._copy = [body]
            self._look_at_copy()
        whole = super().upstream_whole(head, body)
        pushes.close()
        return whole

    def _pass(self, data: bytes) -> None:
        """Pass on, and look at what `initialize` brings."""
        if self._copy is not None:
            self._copy.append(data)
        super()._pass(data)

    def _block(self, block: bytes) -> None:
        looker = self._pushes or self._notices
        if looker is not None and looker.takes(block):
            return
        if b"taskId" in block and self._watching:
            self._learn(data_of(block, MOST_RESPONSE))
        super()._block(block)

    def _opened(self, head: Head[StatusLine]) -> None:
        """Take note of the session that `initialize` opens."""
        pushes = self._pushes
        if pushes is None or head.line.status >= 300:
            return
        pushes.elsewhere = head.line.status == 202
        if self._copy is None:
            return
        for name, value in head.headers:
            if name.lower() == _SESSION:
                self.new_session = value
        key = self._key()
        if self.new_session is not None:
            key = "session", self.new_session.decode("latin-1").strip()
        pushes.session = self.answering.sessions.opened(key, pushes.session, self.tap.t)

    def initialized(self, message: dict[str, Any]) -> None:
        """Learn how the server calls itself."""
        result = message.get("result")
        info = result.get("serverInfo") if type(result) is dict else None
        name = info.get("name") if type(info) is dict else None
        if self._pushes is not None and type(name) is str:
            self._pushes.session.server = self.answering.server = name

    def _look_at_copy(self) -> None:
        body = b"".join(self._copy or ())
        self._copy = None
        if not body or len(body) > MOST_RESPONSE:
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

    def upstream_lost(self, why: str, loss: Loss) -> None:
        """Let the client see the cut."""
        if self._copy is not None:
            self._copy = None
        super().upstream_lost(why, loss)

    def _finish(self, how: How, why: str | None = None, *, sender_is_tap: bool = False) -> None:
        if self._copy is not None:
            self._look_at_copy()
        super()._finish(how, why, sender_is_tap=sender_is_tap)
        looker = self._pushes or self._notices
        if looker is not None:
            looker.close()
