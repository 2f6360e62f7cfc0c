"""One exchange on its way through the tap: the request up, the response down.

Rules of this file:

- Bytes go on as soon as they can; reports are left at the desk, which works on them afterwards.
- A request goes upstream once.  Whatever fails after that is told to the client, never tried again.
- The way a response ends is part of it: what the upstream cut is cut for the client too.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from mcp_tap.net.heads import (
    Head,
    RequestLine,
    StatusLine,
    request_head,
    response_head,
    without_chunking,
)
from mcp_tap.net.sink import Loss, Upstream
from mcp_tap.proxy.replies import Reply, make_reply, unconnected
from mcp_tap.proxy.tape import Tape

if TYPE_CHECKING:
    from mcp_tap.core.records import How
    from mcp_tap.proxy.listener import ClientConnection

KEPT_FOR_REPLY = 1 << 20
"""Bytes of a request that are kept so that the tap's own error can carry its id."""
WAITING_BODY = 256 << 10
"""Bytes of a request that may wait for its upstream connection before the client must wait."""


class HttpExchange:
    """A request and its response.  Implements `net.sink.ResponseSink`."""

    # How an exchange begins; on the class, since most of it stays so for most exchanges.
    keep_alive = True
    request_done = False
    responding = False
    done = False
    started = False
    to_eof = False
    _upstream: Upstream | None = None
    _connecting: asyncio.Task[None] | None = None
    _waiting_size = 0
    _kept_size = 0
    _reply: Reply | None = None
    _reply_how: How = "refused"
    _out_chunked = False
    _sent: float | None = None
    _first_byte: float | None = None
    _held = 0.0
    _asked_at = 0.0

    def __init__(
        self,
        client: ClientConnection,
        head: Head[RequestLine],
        body: bytes | None = None,
    ) -> None:
        """Begin with a request, or its head alone (`body` None); `start()` sends it."""
        self.client = client
        self.tap = tap = client.tap
        number = tap.next_exchange()
        self.tape = Tape(number, client.number, client.peer, head)
        self.head = head
        self.line = head.line
        self.chunked = head.fields.chunked
        self._up: list[bytes] = []
        self._waiting: list[bytes] = []
        self._kept: list[bytes] = []
        self._out: list[bytes] = []
        self._pieces: list[bytes] = []
        if body is None:
            tap.report(tap.recording.request_head, self.tape, tap.t)
        else:
            tap.report(tap.recording.request, self.tape, tap.t, body)
            self.request_done = True
            self._waiting = self._kept = [body]

    # the request

    def start(self) -> None:
        """Begin to forward: this exchange is the first of its connection that is not done."""
        self.started = True
        if self._reply is None:
            fields = self.tape.head.fields
            if not fields.allowed:
                refusal = self.tap.guard.refusal(fields)
                fields.allowed = refusal is None
                if refusal is not None:
                    self.refuse(403, "foreign-host", refusal)
        if self._reply is not None:
            self._answer_if_due(at_once=self.tape.head.fields.expect)
            return
        if self.tape.head.fields.expect and not self.request_done and self.line.version == "1.1":
            self.client.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self._go()

    def _go(self) -> None:
        self._asked_at = self.tap.t
        connection = self.tap.pool.take()
        if connection is not None:
            self._send_on(connection)
        else:
            self._connecting = self.tap.spawn(self._connect())

    def request_data(self, data: bytes) -> None:
        """Take body bytes from the client."""
        if self.done:
            return
        self.tap.report(self.tap.recording.request_data, self.tape, self.tap.t, data)
        if not self.responding and self._kept_size < KEPT_FOR_REPLY:
            self._kept.append(data)
            self._kept_size += len(data)
        if self._reply is not None:
            self._answer_if_due()
            return
        framed = b"%x\r\n%b\r\n" % (len(data), data) if self.chunked else data
        if self._upstream is not None:
            self._up.append(framed)
            return
        self._waiting.append(framed)
        self._waiting_size += len(framed)
        if self._waiting_size > WAITING_BODY:
            self.client.pause("upstream")

    def request_end(self) -> None:
        """The request is complete."""
        if self.done:
            return
        self.request_done = True
        self.tap.report(self.tap.recording.request_end, self.tape, self.tap.t)
        if self.chunked:
            (self._waiting if self._upstream is None else self._up).append(b"0\r\n\r\n")
        self._answer_if_due()

    def refuse(self, status: int, code: str, why: str, how: How = "refused") -> None:
        """Answer with an error of the tap's own, once the request has come in."""
        if self.responding or self.done or self._reply is not None:
            return
        self._reply = make_reply(status, code, why)
        self._reply_how = how
        self.tap.refused(self, code, why)
        self._answer_if_due()

    async def _connect(self) -> None:
        try:
            connection = await self.tap.pool.connect()
        except OSError as error:
            self.tap.now()
            self._down(*unconnected(error, self.tap.target.url))
        else:
            self.tap.now()
            if self.done:
                self.tap.pool.put_back(connection)
            else:
                self._send_on(connection)
                self.flush()

    def _down(self, status: int, code: str, why: str, how: How) -> None:
        self.client.resume("upstream")
        self.refuse(status, code, why, how)

    def _send_on(self, connection: Upstream) -> None:
        tap = self.tap
        self._sent = now = tap.t
        if now > self._asked_at:
            self._held = round(now - self._asked_at, 6)
        head = tap.upstream_head(self.head)
        if head is not self.head:
            tap.report(tap.recording.upstream_request_head, self.tape, now, head)
        self._upstream = connection
        connection.begin(self, no_body=self.line.method == b"HEAD")
        self._up = [request_head(head), *self._waiting]
        self._waiting = []
        self.client.resume("upstream")

    def flush(self) -> None:
        """Send on what one read brought."""
        up = self._up
        if up and self._upstream is not None:
            self._up = []
            self._upstream.write(up[0] if len(up) == 1 else b"".join(up))

    # the response: net.sink.ResponseSink

    def upstream_head(self, head: Head[StatusLine], *, to_eof: bool) -> None:
        """Pass the head on, before anything else of the response."""
        tap = self.tap
        now = tap.now()
        tap.report(tap.recording.response_head, self.tape, now, head, "server")
        status = head.line.status
        if status < 200:
            if self.line.version == "1.1" and status > 101:  # its own, or a switch nobody asked for
                self._out.append(response_head(head.line, head.block(), close=False))
            return
        self._first_byte = now
        self._respond(head, to_eof=to_eof)

    def _respond(self, head: Head[StatusLine], *, to_eof: bool) -> None:
        self.responding = True
        self._kept = []
        block = head.block()
        no_body = self.line.method == b"HEAD" or head.line.status in (204, 304)
        if head.fields.chunked and not no_body:
            if self.line.version == "1.1":
                self._out_chunked = True
            else:  # a client of HTTP/1.0 knows no chunks: its body ends with the connection
                to_eof = True
                block = without_chunking(head)
        self.to_eof = to_eof
        if to_eof:
            self.keep_alive = False
        self._out.append(response_head(head.line, block, close=not self.keep_alive))

    def upstream_whole(self, head: Head[StatusLine], body: bytes) -> bool:
        """Pass a complete response on in one go."""
        tap = self.tap
        if not self.request_done:
            self.upstream_head(head, to_eof=False)
            self.upstream_data(body)
            return self.upstream_end()
        now = tap.now()
        self.responding = self.done = True
        self._upstream = None
        facts = (head, body, self._sent, self._held)
        tap.report(tap.recording.response, self.tape, now, *facts)
        self.client.write(response_head(head.line, head.block(), close=not self.keep_alive) + body)
        self.client.exchange_done(self, cut=False)
        return True

    def upstream_data(self, data: bytes) -> None:
        """Pass body bytes on."""
        self._pieces.append(data)
        if self._out_chunked:
            self._out += (b"%x\r\n" % len(data), data, b"\r\n")
        else:
            self._out.append(data)

    def upstream_flush(self) -> None:
        """Write what one read brought."""
        self._report_pieces()
        self._write()

    def _report_pieces(self) -> None:
        pieces = self._pieces
        if pieces:
            self._pieces = []
            tap = self.tap
            tap.report(tap.recording.response_data, self.tape, tap.now(), *pieces)

    def _write(self) -> None:
        out = self._out
        if out:
            self._out = []
            self.client.write(out[0] if len(out) == 1 else b"".join(out))

    def upstream_end(self) -> bool:
        """End the response as the upstream did; tell whether the whole request had gone up."""
        self._upstream = None
        if self._out_chunked:
            self._out.append(b"0\r\n\r\n")
        sent_whole = self.request_done
        self._finish("complete")
        return sent_whole

    def upstream_lost(self, why: str, loss: Loss) -> None:
        """Let the client see the cut, unless what came cannot be passed on, being no HTTP/1.1."""
        self.tap.now()
        self._upstream = None
        if loss == "garbled" and not self.responding:
            self._down(502, "upstream-garbled", why, "upstream_cut")
        elif loss == "down" and not self.responding:
            self._down(502, "upstream-down", why, "upstream_down")
        elif not self.done:
            self._finish("tap_failed" if loss == "ours" else "upstream_cut", why)

    def upstream_writable(self, *, writable: bool) -> None:
        """Let the client wait while the upstream takes no more."""
        if writable:
            self.client.resume("upstream")
        else:
            self.client.pause("upstream")

    # the client

    def client_writable(self, *, writable: bool) -> None:
        """Let the upstream wait while the client takes no more."""
        if self._upstream is not None:
            if writable:
                self._upstream.resume()
            else:
                self._upstream.pause()

    def drop(self, how: How, why: str | None = None) -> None:
        """End at once: the client left, or the tap stops; the upstream learns it by the close."""
        if not self.done:
            self._finish(how, why)

    def _answer_if_due(self, *, at_once: bool = False) -> None:
        reply = self._reply
        if reply is None or not self.started or self.responding or self.done:
            return
        due = at_once or self.request_done or self.client.broken
        if not due and self._kept_size < KEPT_FOR_REPLY:
            return  # its id may still come
        if self.request_done:
            reply = make_reply(reply.status, reply.code, reply.why, b"".join(self._kept))
        self.responding = True
        self.keep_alive = self.keep_alive and self.request_done
        tap = self.tap
        now = tap.t
        head = tap.own_heads.read(reply.line, reply.headers)
        tap.report(tap.recording.response_head, self.tape, now, head, "tap")
        body = b"" if self.line.method == b"HEAD" else reply.body
        if body:
            tap.report(tap.recording.response_data, self.tape, now, body)
        self._out.append(reply.head(close=not self.keep_alive) + body)
        self._finish(self._reply_how, reply.why, sender_is_tap=True)

    def _finish(self, how: How, why: str | None = None, *, sender_is_tap: bool = False) -> None:
        """Report the end, then write what is left: with `--sync` the client has it recorded."""
        self.done = True
        self._report_pieces()
        tap = self.tap
        now = tap.t
        if self._connecting is not None:
            self._connecting.cancel()
        if self._upstream is not None:
            self._upstream.abort()
            self._upstream = None
        if not self.request_done:
            tap.report(tap.recording.cut_request, self.tape, now)
        if self.responding:
            sender = "tap" if sender_is_tap else "server"
            whole = how == "complete" or sender_is_tap
            tap.report(tap.recording.response_end, self.tape, now, sender, whole)
        facts = (how, why, self._sent, self._first_byte, self._held)
        tap.report(tap.recording.closed, self.tape, now, *facts)
        self._write()
        self.client.exchange_done(self, cut=how != "complete" and not sender_is_tap)
