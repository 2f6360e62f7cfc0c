"""The request of an exchange that the tap may answer for: held until whole, looked at, let go."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Self

from mcp_tap.core import spec
from mcp_tap.core.wire import spliced
from mcp_tap.net.heads import Head, RequestLine
from mcp_tap.proxy.answering.heads import with_length
from mcp_tap.proxy.answering.outlet import Outlet
from mcp_tap.proxy.answering.request import MOST_REQUEST, Watched
from mcp_tap.proxy.exchange import HttpExchange

if TYPE_CHECKING:
    from mcp_tap.core.records import How
    from mcp_tap.proxy.answering.answering import Answering
    from mcp_tap.proxy.answering.records import Records
    from mcp_tap.proxy.listener import ClientConnection


class Incoming(Outlet):
    """The way up."""

    answering: Answering
    _watching: bool
    """What comes back may ask."""
    _holding: bool
    """The request waits to be whole before it goes up."""
    _simple: bool
    """Nothing about what comes back matters but whether it asks, and that in one look at it."""
    _body: list[bytes]
    """What is held: of the request, then of the response."""
    _body_size = 0
    _flows: Callable[[bytes], bool] | None
    """Tells whether whole events have to be looked at one by one, in a stream that is not held."""
    _glances = True
    """All that matters in what comes is whether it asks."""

    def __init__(
        self, client: ClientConnection, head: Head[RequestLine], body: bytes | None = None
    ) -> None:
        """Begin with a request, or its head alone."""
        # All that nearly every exchange has, before what a few have: an object with more than some
        # thirty attributes, or with others than the first ones had, is a slow one.
        self.watched = None  # type: ignore[assignment] # where it is looked at, it is there
        self._watching = self._holding = self._simple = self.request_done = False
        self.started = self.responding = self.done = self.to_eof = self._out_chunked = False
        self._chain = self._flows = self._upstream = self._sent = self._first_byte = None
        self._asked_at = 0.0
        HttpExchange.__init__(self, client, head, body)
        if head.line.method != b"POST":
            self._without_message()
        elif head.fields.encoding is None:
            if body is not None:
                self._examine(body)
                return
            length = head.content_length()
            if length is None or length <= MOST_REQUEST:
                self._body = []
                self._holding = True

    @classmethod
    def of(cls, answering: Answering, records: Records) -> type[Self]:
        """Make the exchanges of a run."""
        return type(cls.__name__, (cls,), {"answering": answering, "records": records})

    def _go(self) -> None:
        if not self._holding:
            HttpExchange._go(self)  # noqa: SLF001 - its own base, named for its speed

    def request_data(self, data: bytes) -> None:
        """Keep what comes until all is there."""
        if not self._holding or self._reply is not None or self.done:
            super().request_data(data)
            return
        self.tap.report(self.tap.recording.request_data, self.tape, self.tap.t, data)
        self._body.append(data)
        self._body_size += len(data)
        if self._body_size > MOST_REQUEST:
            self._let_go(b"".join(self._body), whole=False)

    def request_end(self) -> None:
        """Look at the request, and let it go."""
        if not self._holding or self._reply is not None or self.done:
            super().request_end()
            return
        self.request_done = True
        self.tap.report(self.tap.recording.request_end, self.tape, self.tap.t)
        body = b"".join(self._body)
        self._kept = [body]
        self._examine(body)
        self._let_go(self.watched.body if self._watching else body, whole=True)

    def refuse(self, status: int, code: str, why: str, how: How = "refused") -> None:
        """Answer with an error of the tap's own."""
        if self._holding:
            self._holding = False
            self._kept = [b"".join(self._body)]
        super().refuse(status, code, why, how)

    def _without_message(self) -> None:
        """Begin with what is no POST."""

    def _examine(self, body: bytes) -> None:
        value = spliced(body)
        if not (self._holding or self.tape.seq):  # it came in one piece, and is not recorded yet
            self.tape.value = value
        watched = self.answering.reader.read(body, self.head, value)
        if watched is None:
            self._unwatched(body)
            return
        self.watched = watched
        self._watching = True
        if watched.edited:
            self._edit(watched)
        if watched.meta.tasks:
            self._glances = False
        if watched.method == spec.LISTEN:
            self._listens()
        self._simple = self._glances

    def _unwatched(self, body: bytes) -> None:
        """Let a request pass whose response is nothing to look at."""

    def _listens(self) -> None:
        """Let a stream pass on which no response comes."""

    def _edit(self, watched: Watched) -> None:
        """Let a request go up that is not quite what the client wrote."""
        self._waiting = [watched.body]
        self.head = with_length(self.head, len(watched.body))
        tape, tap = self.tape, self.tap
        if tape.value:
            tape.goes = watched.body, watched.meta.shown
        else:
            tap.report(self.records.edited, tape, tap.t, watched.body, watched.meta.shown)

    def _let_go(self, body: bytes, *, whole: bool) -> None:
        self._holding = False
        self._body = []
        if self.chunked:
            self._waiting = [b"%x\r\n%b\r\n" % (len(body), body)] if body else []
            if whole:
                self._waiting.append(b"0\r\n\r\n")
        else:
            self._waiting = [body]
        if self.started:
            super()._go()
            self.flush()

    def head_for(self, body: bytes) -> Head[RequestLine]:
        """Give the head of a repeat as it goes upstream."""
        return self.tap.upstream_head(with_length(self.tape.head, len(body)))
