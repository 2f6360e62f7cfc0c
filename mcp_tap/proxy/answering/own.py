"""A request of the tap's own: an exchange that no client began.

Rules of this file:

- It goes upstream once.  Whatever becomes of it is recorded once, and then told to who sent it.
- Its response is read whole, or event by event where it is a stream; never more than a limit.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcp_tap.core.coding import CodingError, Decoder, decoder
from mcp_tap.net.heads import Head, RequestLine, StatusLine, request_head
from mcp_tap.net.sink import Loss, Upstream
from mcp_tap.proxy.answering.gate import Gate, Part
from mcp_tap.proxy.replies import unconnected
from mcp_tap.proxy.tape import Tape

if TYPE_CHECKING:
    from mcp_tap.core.records import How
    from mcp_tap.proxy.answering.records import Records
    from mcp_tap.proxy.tap import Tap


class OwnRequest:
    """One request and its response.  Implements `net.sink.ResponseSink`."""

    def __init__(  # noqa: PLR0917 (one place for each)
        self,
        tap: Tap,
        records: Records,
        peer: str,
        head: Head[RequestLine],
        body: bytes,
        secrets: tuple[tuple[str, ...], ...],
        most: int,
    ) -> None:
        """Write down what will be sent.

        Args:
            tap: that sends it.
            records: where it is recorded.
            peer: address of the client for which it is sent.
            head: as it goes upstream.
            body: likewise.
            secrets: where in the body values stand that must not be recorded.
            most: bytes of a response, or of one event, that are held.
        """
        self.tap = tap
        self.tape = Tape(tap.next_exchange(), 0, peer, head)
        self.head: Head[StatusLine] | None = None
        """Head of the response."""
        self.to_eof = False
        self.over = False
        """It has ended, whatever way."""
        self._body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body) if head.fields.chunked else body
        self._most = most
        self._connection: Upstream | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._asked_at = tap.t
        self._sent: float | None = None
        self._first_byte: float | None = None
        self._held = 0.0
        self._gate: Gate | None = None
        """Cuts the response into events, where it is a stream."""
        self._decoder: Decoder | None = None
        self._pieces: list[bytes] = []
        self._size = 0
        self._body_ended = False
        tap.report(records.repeat, self.tape, tap.t, body, secrets)
        # A connection that is being given back is free by then.
        asyncio.get_running_loop().call_soon(self._start)

    def _start(self) -> None:
        """Send it, if it is still wanted."""
        if self.over:
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
            _, code, why, how = unconnected(error, self.tap.target.url)
            self._lost(how, code, why)
        else:
            self.tap.now()
            if self.over:
                self.tap.pool.put_back(connection)
            else:
                self._send_on(connection)

    def _send_on(self, connection: Upstream) -> None:
        self._sent = now = self.tap.t
        self._held = round(max(0.0, now - self._asked_at), 6)
        self._connection = connection
        connection.begin(self, no_body=False)
        connection.write(request_head(self.tape.head) + self._body)
        self._body = b""

    # net.sink.ResponseSink

    def upstream_head(self, head: Head[StatusLine], *, to_eof: bool) -> None:
        """Take the head."""
        now = self.tap.now()
        self.tap.report(self.tap.recording.response_head, self.tape, now, head, "server")
        if head.line.status < 200:
            return
        self._first_byte = now
        self.head, self.to_eof = head, to_eof
        fields = head.fields
        streams = fields.content_type.startswith("text/event-stream")
        if fields.encoding:
            self._decoder = decoder(fields.encoding, self._most, stream=streams)
        if streams and fields.encoding and self._decoder is None:
            why = f"the server's answer has a coding nobody reads here: {fields.encoding}"
            self._lost("tap_failed", "cannot-pass-on", why)
        elif streams:
            self._gate = Gate(self._most)

    def upstream_whole(self, head: Head[StatusLine], body: bytes) -> bool:
        """Take a complete response."""
        self.upstream_head(head, to_eof=False)
        if body:
            self.upstream_data(body)
        return self.upstream_end()

    def upstream_data(self, data: bytes) -> None:
        """Take bytes of the body."""
        if self.over:
            return
        if self._gate is None:
            self._record(data)
            self._pieces.append(data)
            self._size += len(data)
            if self._size > self._most:
                self._give_up(f"the server's answer passes {self._most >> 20} MiB")
            return
        if self._decoder is not None:
            self._record(data)
            try:
                data = self._decoder.feed(data)
            except CodingError as error:
                self._give_up(f"the server's answer is not what its Content-Encoding says: {error}")
                return
            if self._decoder.stopped:
                self._give_up(f"the server's answer passes {self._most >> 20} MiB when decoded")
                return
        for block in self._gate.feed(data):
            if not self.over:
                self._take(block)

    def upstream_flush(self) -> None:
        """Do nothing: nobody waits for single reads."""

    def upstream_end(self) -> bool:
        """Take note that the response is complete."""
        self._connection = None
        if self.over:
            return True
        if self._gate is None:
            raw = b"".join(self._pieces)
            self._pieces = []
            self._end_body(whole=True)
            self._whole(raw, self._decoded(raw))
        else:
            rest = self._gate.finish()
            if rest:
                self._note(rest)
                self._rest(rest)
            self._stream_ends()
        self.upstream_flush()
        return True

    def upstream_lost(self, why: str, loss: Loss) -> None:
        """Take note that the response is not whole."""
        self.tap.now()
        self._connection = None
        if loss == "ours":  # whatever was done before
            self._lost("tap_failed", "tap-failed", why)
        elif not self.over:
            self._lost("upstream_cut", "upstream-lost", why)
        self.upstream_flush()

    def upstream_writable(self, *, writable: bool) -> None:
        """Do nothing: the request was written as a whole."""

    # what becomes of it

    def _event(self, block: bytes) -> None:
        """Take a block of the stream."""

    def _rest(self, block: bytes) -> None:
        """Take what the stream ended in the middle of."""

    def _stream_ends(self) -> None:
        """See the stream end in order."""
        self._end("complete", None)

    def _whole(self, raw: bytes, text: bytes | None) -> None:
        """Take the body of what is no stream: as it came, and decoded where that could be."""
        raise NotImplementedError

    def _lost(self, how: How, code: str, why: str) -> None:
        """See that the response did not come, or not whole; `code`: of an error that says so."""
        del code
        self._end(how, why)

    # within

    def _take(self, block: bytes) -> None:
        self._note(block)
        if type(block) is Part:
            self._give_up(f"an event of the server's answer passes {self._most >> 20} MiB")
        else:
            self._event(block)

    def _note(self, block: bytes) -> None:
        if self._decoder is None:
            self._record(block)  # one by one, so that all is in order

    def _record(self, data: bytes) -> None:
        self.tap.report(self.tap.recording.response_data, self.tape, self.tap.now(), data)

    def _give_up(self, why: str) -> None:
        self._lost("tap_failed", "answer-too-large", why)

    def _decoded(self, raw: bytes) -> bytes | None:
        """Undo the coding of a body; None where that cannot be."""
        if self.head is None or not self.head.fields.encoding:
            return raw
        if self._decoder is None:
            return None
        try:
            plain = self._decoder.feed(raw)
        except CodingError:
            return None
        return None if self._decoder.stopped else plain

    def _end(self, how: How, why: str | None) -> None:
        """End, and record it; the upstream learns by the close that nobody listens any more."""
        if self.over:
            return
        self.over = True
        tap = self.tap
        if self._connection is not None:
            self._connection.abort()
            self._connection = None
        if self._connecting is not None and self._connecting is not asyncio.current_task():
            self._connecting.cancel()
        self._end_body(whole=how == "complete")
        facts = (how, why, self._sent, self._first_byte, self._held)
        tap.report(tap.recording.closed, self.tape, tap.t, *facts)

    def _end_body(self, *, whole: bool) -> None:
        """Record what came of the response, once."""
        if self.head is None or self._body_ended:
            return
        self._body_ended = True
        if not whole and self._gate is not None and self._decoder is None:
            rest = self._gate.finish()
            if rest:  # of an event that was cut
                self._record(rest)
        self.tap.report(self.tap.recording.response_end, self.tape, self.tap.t, "server", whole)
