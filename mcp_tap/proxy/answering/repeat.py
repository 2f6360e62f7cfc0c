"""The tap's own request: the client's once more, with answers in it.  An exchange of its own.

It goes upstream once.  Whatever comes back, or does not, is told to the call it belongs to.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcp_tap.core.coding import CodingError, Decoder, decoder
from mcp_tap.net.heads import Head, RequestLine, StatusLine, request_head
from mcp_tap.net.sink import Loss
from mcp_tap.net.upstream import UpstreamConnection
from mcp_tap.proxy.answering.gate import Gate
from mcp_tap.proxy.tape import Tape

if TYPE_CHECKING:
    from mcp_tap.core.records import How
    from mcp_tap.proxy.answering.chain import Chain

MOST = 64 << 20
"""Bytes of a response, or of one event, that are held: its id must be changed before it goes on."""


class Repeat:
    """One request and its response.  Implements `net.sink.ResponseSink`."""

    def __init__(
        self,
        chain: Chain,
        head: Head[RequestLine],
        body: bytes,
        token: bytes,
        secrets: tuple[tuple[str, ...], ...],
    ) -> None:
        """Write down what will be sent.

        Args:
            chain: the call it belongs to.
            head: as it goes upstream.
            body: likewise.
            token: its id.
            secrets: where in the body values stand that must not be recorded.
        """
        self.chain = chain
        self.tap = tap = chain.exchange.tap
        self.token = token
        self.tape = Tape(tap.next_exchange(), 0, chain.exchange.client.peer, head)
        self.head: Head[StatusLine] | None = None
        """Head of the response."""
        self.to_eof = False
        self.gate: Gate | None = None
        """Cuts the response into events, where it is a stream."""
        self.streams = False
        self.answered = False
        """Its result has been passed on."""
        self._body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body) if head.fields.chunked else body
        self._connection: UpstreamConnection | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._asked_at = tap.t
        self._sent: float | None = None
        self._first_byte: float | None = None
        self._held = 0.0
        self._pieces: list[bytes] = []
        self._size = 0
        self._decoder: Decoder | None = None
        self.over = False
        """It has ended, whatever way."""
        self._told = False
        tap.report(chain.records.repeat, self.tape, tap.t, body, secrets)

    def start(self) -> None:
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
            late = isinstance(error, TimeoutError)
            words = "in time" if late else error.strerror or str(error) or type(error).__name__
            why = f"no connection to {self.tap.target.url}: {words}"
            self._end("timeout" if late else "upstream_down", why)
            self.chain.lost(self, why, "upstream-timeout" if late else "upstream-down")
        else:
            self.tap.now()
            if self.over:
                self.tap.pool.put_back(connection)
            else:
                self._send_on(connection)

    def _send_on(self, connection: UpstreamConnection) -> None:
        self._sent = now = self.tap.t
        self._held = round(max(0.0, now - self._asked_at), 6)
        self._connection = connection
        connection.begin(self, no_body=False)
        if self.chain.exchange.client.full:
            connection.pause()
        connection.write(request_head(self.tape.head) + self._body)
        self._body = b""

    def pause(self, *, paused: bool) -> None:
        """Let the upstream wait while the client takes no more."""
        if self._connection is not None:
            if paused:
                self._connection.pause()
            else:
                self._connection.resume()

    def drop(self, how: How, why: str | None) -> None:
        """End at once; the upstream learns it by the close."""
        if not self.over:
            if self._connection is not None:
                self._connection.abort()
                self._connection = None
            self._end(how, why)

    def abandon(self) -> None:
        """Hear no more: all that matters of the response has come."""
        if not self.over:
            if self._connection is not None:
                self._connection.abort()
                self._connection = None
            self._end("complete", None)

    # net.sink.ResponseSink

    def upstream_head(self, head: Head[StatusLine], *, to_eof: bool) -> None:
        """Take the head; a stream goes on at once."""
        now = self.tap.now()
        self.tap.report(self.tap.recording.response_head, self.tape, now, head, "server")
        if head.line.status < 200:
            return
        self._first_byte = now
        self.head, self.to_eof = head, to_eof
        fields = head.fields
        self.streams = fields.content_type.startswith("text/event-stream")
        if fields.encoding:
            self._decoder = decoder(fields.encoding, MOST, stream=self.streams)
        if self.streams:
            self.gate = Gate(MOST)
            self.chain.stream_begins(self, head)

    def upstream_whole(self, head: Head[StatusLine], body: bytes) -> bool:
        """Take a complete response."""
        self.upstream_head(head, to_eof=False)
        self.upstream_data(body)
        self.upstream_end()
        return True

    def upstream_data(self, data: bytes) -> None:
        """Take bytes of the body."""
        if self.over:
            return
        if self.gate is None:
            self._pieces.append(data)
            self._size += len(data)
            self.tap.report(self.tap.recording.response_data, self.tape, self.tap.now(), data)
            if self._size > MOST:
                self._give_up(f"the server's answer passes {MOST >> 20} MiB")
            return
        plain = data
        if self._decoder is not None:
            self.tap.report(self.tap.recording.response_data, self.tape, self.tap.now(), data)
            try:
                plain = self._decoder.feed(data)
            except CodingError as error:
                self._give_up(f"the server's answer is not what its Content-Encoding says: {error}")
                return
        for block in self.gate.feed(plain):
            if not self.over:
                self._event(block)

    def _event(self, block: bytes) -> None:
        """Take a block of the stream; recorded one by one, so that all is in order."""
        tap = self.tap
        if self._decoder is None:
            tap.report(tap.recording.response_data, self.tape, tap.now(), block)
        self.chain.event(self, block)

    def _give_up(self, why: str) -> None:
        self.drop("tap_failed", why)
        self.chain.lost(self, why, "answer-too-large")

    def upstream_flush(self) -> None:
        """Write what one read brought."""
        self.chain.exchange.write_out()

    def upstream_end(self) -> bool:
        """Take note that the response is complete."""
        self._connection = None
        if self.over:
            return True
        if self.gate is not None:
            rest = self.gate.finish()
            if rest:
                self._event(rest)
            self._end("complete", None)
            self.chain.stream_ends(self)
        else:
            raw = b"".join(self._pieces)
            self._pieces = []
            self._end_body(whole=True)
            self.chain.whole(self, raw, self._decoded(raw))
        self.chain.exchange.write_out()
        return True

    def _decoded(self, raw: bytes) -> bytes | None:
        """Undo the coding of a body; None where that cannot be."""
        head = self.head
        if head is None or not head.fields.encoding:
            return raw
        if self._decoder is None:
            return None
        try:
            plain = self._decoder.feed(raw)
        except CodingError:
            return None
        return None if self._decoder.stopped else plain

    def upstream_lost(self, why: str, loss: Loss) -> None:
        """Take note that the response is not whole."""
        self.tap.now()
        self._connection = None
        if not self.over:
            self._end("tap_failed" if loss == "ours" else "upstream_cut", why)
            self.chain.lost(self, why, "upstream-lost")
            self.chain.exchange.write_out()

    def upstream_writable(self, *, writable: bool) -> None:
        """Do nothing: the request was written as a whole."""

    def finish(self) -> None:
        """Record that it is complete."""
        self._end("complete", None)

    def _end(self, how: How, why: str | None) -> None:
        if self.over:
            return
        self.over = True
        tap, now = self.tap, self.tap.t
        if self._connecting is not None and self._connecting is not asyncio.current_task():
            self._connecting.cancel()
        self._end_body(whole=how == "complete")
        facts = (how, why, self._sent, self._first_byte, self._held)
        tap.report(tap.recording.closed, self.tape, now, *facts)

    def _end_body(self, *, whole: bool) -> None:
        """Record what came of the response, once."""
        if self.head is not None and not self._told:
            self._told = True
            self.tap.report(self.tap.recording.response_end, self.tape, self.tap.t, "server", whole)
