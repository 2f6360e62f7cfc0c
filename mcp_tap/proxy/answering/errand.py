"""A request of the tap's own whose response no client gets: an answer on its way to the server.

It goes upstream once, and does not end when the client leaves: what was decided is delivered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct

from mcp_tap.core.coding import CodingError, decoder
from mcp_tap.net.heads import Head, RawHeaders, RequestLine, StatusLine, replaced, request_head
from mcp_tap.net.sink import Loss
from mcp_tap.net.upstream import UpstreamConnection
from mcp_tap.proxy.answering import asked as reading
from mcp_tap.proxy.answering.gate import Gate, data_of
from mcp_tap.proxy.tape import Tape

if TYPE_CHECKING:
    from mcp_tap.core.records import How
    from mcp_tap.proxy.answering.records import Records
    from mcp_tap.proxy.tap import Tap

WITHIN: Final = 60.0
"""Seconds a server has to say that it got an answer."""
MOST: Final = 4 << 20
"""Bytes of its response that are looked at."""
_OWN: Final = frozenset(
    {
        b"accept",
        b"content-encoding",
        b"content-length",
        b"content-type",
        b"expect",
        b"last-event-id",
        b"mcp-method",
        b"mcp-name",
        b"transfer-encoding",
    }
)
"""Fields of a request that do not hold for what is sent beside it."""


class Outcome(Struct, frozen=True, kw_only=True):
    """What came of it."""

    status: int | None
    """None where no response came."""
    message: bytes | None = None
    """The JSON-RPC response, where there was one."""
    why: str | None = None
    """What went wrong, in words."""
    sent: bool = True
    """The server may have it."""

    @property
    def taken(self) -> bool:
        """The server says that it has it."""
        return self.status is not None and 200 <= self.status < 300


Done: TypeAlias = Callable[[Outcome], None]


class Errand:
    """One request and its response.  Implements `net.sink.ResponseSink`."""

    def __init__(  # noqa: PLR0917 (one place for each)
        self,
        tap: Tap,
        records: Records,
        peer: str,
        head: Head[RequestLine],
        body: bytes,
        done: Done,
        among: set[Errand],
        secrets: tuple[tuple[str, ...], ...] = (),
    ) -> None:
        """Write down what will be sent.

        Args:
            tap: that sends it.
            records: where it is recorded.
            peer: address of the client for which it is sent.
            head: as it goes upstream.
            body: likewise.
            done: is told what came of it, once.
            among: holds it for as long as it is under way.
            secrets: where in the body values stand that must not be recorded.
        """
        self.tap = tap
        self.tape = Tape(tap.next_exchange(), 0, peer, head)
        self._body = body
        self._done: Done | None = done
        self._among = among
        among.add(self)
        self._connection: UpstreamConnection | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._head: Head[StatusLine] | None = None
        self._gate: Gate | None = None
        self._pieces: list[bytes] = []
        self._size = 0
        self._asked_at = tap.t
        self._sent: float | None = None
        self._first_byte: float | None = None
        self._over = False
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(WITHIN, self._expire)
        tap.report(records.repeat, self.tape, tap.t, body, secrets)
        loop.call_soon(self._start)  # a connection that is being given back is free by then

    def _start(self) -> None:
        if self._over:
            return
        self.tap.now()
        connection = self.tap.pool.take()
        if connection is not None:
            self._send_on(connection)
        else:
            self._connecting = self.tap.spawn(self._connect())

    async def _connect(self) -> None:
        try:
            connection = await self.tap.pool.connect()
        except OSError as error:
            self.tap.now()
            late = isinstance(error, TimeoutError)
            words = "in time" if late else error.strerror or str(error) or type(error).__name__
            why = f"no connection to {self.tap.target.url}: {words}"
            self._end("timeout" if late else "upstream_down", why)
        else:
            self.tap.now()
            if self._over:
                self.tap.pool.put_back(connection)
            else:
                self._send_on(connection)

    def _send_on(self, connection: UpstreamConnection) -> None:
        self._sent = self.tap.t
        self._connection = connection
        connection.begin(self, no_body=False)
        connection.write(request_head(self.tape.head) + self._body)
        self._body = b""

    def drop(self, how: How, why: str | None) -> None:
        """End at once, and tell nobody."""
        self._done = None
        if not self._over:
            self._end(how, why)

    # net.sink.ResponseSink

    def upstream_head(self, head: Head[StatusLine], *, to_eof: bool) -> None:
        """Take the head."""
        del to_eof
        now = self.tap.now()
        self.tap.report(self.tap.recording.response_head, self.tape, now, head, "server")
        if head.line.status < 200:
            return
        self._first_byte = now
        self._head = head
        if head.fields.content_type.startswith("text/event-stream") and not head.fields.encoding:
            self._gate = Gate(MOST)

    def upstream_whole(self, head: Head[StatusLine], body: bytes) -> bool:
        """Take a complete response."""
        self.upstream_head(head, to_eof=False)
        if body:
            self.upstream_data(body)
        return self.upstream_end()

    def upstream_data(self, data: bytes) -> None:
        """Take bytes of the body."""
        if self._over:
            return
        self.tap.report(self.tap.recording.response_data, self.tape, self.tap.now(), data)
        if self._gate is not None:
            for block in self._gate.feed(data):
                message = data_of(block, MOST)
                if message and reading.is_response(message):
                    self._tell(Outcome(status=self._status, message=message))
            return
        self._size += len(data)
        if self._size <= MOST:
            self._pieces.append(data)

    def upstream_flush(self) -> None:
        """Do nothing: nobody waits for single reads."""

    def upstream_end(self) -> bool:
        """Take note that the response is complete."""
        self._connection = None
        if not self._over:
            self._end("complete", None)
        return True

    def upstream_lost(self, why: str, loss: Loss) -> None:
        """Take note that the response is not whole."""
        self.tap.now()
        self._connection = None
        if not self._over:
            self._end("tap_failed" if loss == "ours" else "upstream_cut", why)

    def upstream_writable(self, *, writable: bool) -> None:
        """Do nothing: the request was written as a whole."""

    # ends

    @property
    def _status(self) -> int | None:
        return self._head.line.status if self._head is not None else None

    def _expire(self) -> None:
        self.tap.now()
        self._end("timeout", f"the server has not answered within {WITHIN:g} s")

    def _end(self, how: How, why: str | None) -> None:
        self._over = True
        self._among.discard(self)
        self._timer.cancel()
        if self._connection is not None:
            self._connection.abort()
            self._connection = None
        if self._connecting is not None and self._connecting is not asyncio.current_task():
            self._connecting.cancel()
        tap, now = self.tap, self.tap.t
        sent = self._sent
        if self._head is not None:
            tap.report(tap.recording.response_end, self.tape, now, "server", how == "complete")
        held = round(max(0.0, sent - self._asked_at), 6) if sent is not None else 0.0
        facts = (how, why, sent, self._first_byte, held)
        tap.report(tap.recording.closed, self.tape, now, *facts)
        status = self._status
        if status is not None and status >= 400:
            why = f"the server answered with status {status}"
        message = self._message() if how == "complete" else None
        self._tell(Outcome(status=status, message=message, why=why, sent=sent is not None))

    def _message(self) -> bytes | None:
        head = self._head
        if head is None or not self._pieces or self._size > MOST:
            return None
        body = b"".join(self._pieces)
        coded = head.fields.encoding
        if coded:
            undo = decoder(coded, MOST)
            if undo is None:
                return None
            try:
                body = undo.feed(body)
            except CodingError:
                return None
        return body if reading.is_response(body) else None

    def _tell(self, outcome: Outcome) -> None:
        done, self._done = self._done, None
        if done is not None:
            done(outcome)


def errand_head(
    tap: Tap,
    head: Head[RequestLine],
    length: int,
    own: RawHeaders,
    target: bytes | None = None,
) -> Head[RequestLine]:
    """Make the head of what is sent beside a request: with its fields, as far as they hold for it.

    Args:
        tap: that sends it.
        head: of the client's request.
        length: of the body.
        own: further fields.
        target: where it goes; None: where the request went.
    """
    fields = [f for f in head.headers if f[0].lower() not in _OWN]
    wanted = [
        (b"Accept", b"application/json, text/event-stream"),
        (b"Content-Type", b"application/json"),
        (b"Content-Length", b"%d" % length),
        *own,
    ]
    line = RequestLine(b"POST", target or head.line.target, "1.1")
    return tap.upstream_head(tap.heads.read(line, replaced(fields, wanted)))
