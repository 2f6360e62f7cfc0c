"""Connections to the upstream: one `asyncio.Protocol` each, pooled while they are fresh.

Rules of this file:

- Nothing is ever sent twice.  A connection that was idle for more than `IDLE` seconds, or has seen
  the upstream's end, is not used again (servers close idle ones after about five seconds, and a
  request sent into that moment is lost); what fails on the way is reported, not repeated.
- As many connections as there are exchanges: open streams must not starve calls.
- Bytes are handed on as they come, framing undone; memory is bounded by flow control.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable
from typing import TypeAlias, cast

import httptools

from mcp_tap.net.heads import HeadReader, RawHeaders, StatusLine
from mcp_tap.net.sink import ResponseSink
from mcp_tap.net.target import Target
from mcp_tap.net.whole import Whole

Dial: TypeAlias = Callable[[asyncio.Protocol], Awaitable[None]]
"""Connects a protocol to the upstream."""
IDLE = 4.0
"""Seconds for which an unused connection is kept; one that is closed has as long to be read."""
CONNECT_TIMEOUT = 60.0
"""Seconds a connection may take to be there."""
MAX_HEAD = 1 << 20
"""Bytes of a response's head."""


class UpstreamConnection(asyncio.Protocol):
    """One connection to the upstream, serving one exchange at a time."""

    def __init__(self, pool: UpstreamPool) -> None:
        """Belong to `pool`, which gets the connection back after each exchange."""
        self._pool = pool
        self._parser = httptools.HttpResponseParser(self)
        self._sink: ResponseSink | None = None
        self._no_body = False
        self._transport: asyncio.Transport | None = None
        self._in_head = 0
        self._within = False
        """The parser is in the middle of a message."""
        self._first = b""
        """The bytes with which the message began."""
        self._paused = False
        self.idle_since = 0.0
        self.closed = False
        self._begin()

    def begin(self, sink: ResponseSink, *, no_body: bool) -> None:
        """Begin an exchange; `no_body`: the response has none whatever its head says (HEAD)."""
        self._sink = sink
        self._no_body = no_body

    def write(self, data: bytes) -> None:
        """Write bytes of the request."""
        transport = self._transport
        if transport is not None and not (self.closed or transport.is_closing()):
            transport.write(data)

    def abort(self) -> None:
        """End the connection at once: the client went away."""
        self._sink = None
        self.closed = True
        if self._transport is not None:
            self._transport.abort()

    def pause(self) -> None:
        """Stop reading: the client takes no more for now."""
        transport = self._transport
        if not (transport is None or self.closed or self._paused or transport.is_closing()):
            self._paused = True
            transport.pause_reading()

    def resume(self) -> None:
        """Read on."""
        transport = self._transport
        if transport is not None and self._paused and not (self.closed or transport.is_closing()):
            self._paused = False
            transport.resume_reading()

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin with a new socket."""
        # uvloop's transports are none of asyncio's classes, and quack all the same.
        self._transport = transport = cast("asyncio.Transport", transport)
        no_delay(transport)

    def data_received(self, data: bytes) -> None:
        """Parse what came and hand it on."""
        sink = self._sink
        if sink is None:  # the upstream speaks without being asked
            self.abort()
            return
        if not (self._within or self._no_body):
            if self._took_whole(sink, data):
                return
            self._first = data
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserCallbackError:
            raise  # a fault of ours, not of the upstream's
        except httptools.HttpParserUpgrade:
            self._fail("the upstream switched protocols unasked")
        except httptools.HttpParserError as error:
            self._fail(f"the upstream's answer is no HTTP/1.1: {error}")
        else:
            if not self._headers_done:
                self._in_head += len(data)
                if self._in_head > MAX_HEAD:
                    self._fail("the head of the upstream's answer passes 1 MiB")
        sink.upstream_flush()

    def _took_whole(self, sink: ResponseSink, data: bytes) -> bool:
        whole = self._pool.whole.find(data)
        if whole is None:
            return False
        keep = sink.upstream_whole(*whole)
        self._sink = None  # not before: where that failed, it is told of it
        self._release(keep=keep)
        return True

    def eof_received(self) -> None:
        """See the upstream's end; the loop closes the transport."""
        self.closed = True

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the exchange how its response ended."""
        self.closed = True
        self._pool.forget(self)
        sink, self._sink = self._sink, None
        if sink is None:
            return
        if self._to_eof and exc is None:
            sink.upstream_end()
        else:
            ours = fault_of_ours(exc)
            cut = "in the middle of its answer" if self._headers_done else "without an answer"
            reason = f" ({exc})" if exc is not None and str(exc) else ""
            why = ours or f"the upstream closed the connection {cut}{reason}"
            sink.upstream_lost(why, "ours" if ours else "cut")
        sink.upstream_flush()

    def pause_writing(self) -> None:
        """Pass the upstream's backpressure on."""
        if self._sink is not None:
            self._sink.upstream_writable(writable=False)

    def resume_writing(self) -> None:
        """Pass its end on."""
        if self._sink is not None:
            self._sink.upstream_writable(writable=True)

    # httptools

    def on_message_begin(self) -> None:
        """Begin a head."""
        self._begin()
        self._within = True
        if self._sink is None:
            self.abort()  # it speaks unasked: what follows would be taken for the next answer

    def on_status(self, reason: bytes) -> None:
        """Take the reason phrase, or a part of it."""
        self._reason += reason

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a field of the head; trailers are dropped, being hop by hop for our framing."""
        if not self._headers_done:
            self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Hand the head over."""
        sink = self._sink
        if sink is None:
            return
        status = self._parser.get_status_code()
        if status < 100:
            self._fail(f"the upstream's answer is no HTTP/1.1: its status is {status}")
            return
        self._headers_done = status >= 200
        self._in_head = 0
        first, self._first = self._first, b""
        line = StatusLine(status, self._reason, self._parser.get_http_version())
        head = self._pool.heads.read(line, self._headers)
        framed = head.length is not None or head.fields.chunked
        self._to_eof = not (framed or self._no_body or status < 200 or status in (204, 304))
        usual = status >= 200 and status not in (204, 304)
        if first and usual and self._parser.should_keep_alive():
            self._pool.whole.learn(first, head)
        sink.upstream_head(head, to_eof=self._to_eof)
        if self._no_body and status >= 200:
            # The parser would wait for a body that a HEAD's answer announces and never sends.
            self._sink = None
            sink.upstream_end()
            self.abort()

    def on_body(self, data: bytes) -> None:
        """Hand body bytes over."""
        if self._sink is not None and self._headers_done:  # not of an interim response
            self._sink.upstream_data(data)

    def on_message_complete(self) -> None:
        """End the exchange; the connection goes back to the pool if it lives."""
        self._within = False
        self._first = b""
        sink = self._sink
        if sink is None or not self._headers_done or self._to_eof:
            return
        keep = self._parser.should_keep_alive()
        whole = sink.upstream_end()
        self._sink = None  # not before: where that failed, it is told of it
        self._release(keep=whole and keep and not self.closed)

    def _release(self, *, keep: bool) -> None:
        """Go back to the pool, or close; the upstream need not have read what it answered."""
        transport = self._transport
        unread = transport is not None and transport.get_write_buffer_size() > 0
        if keep and not unread:
            self._pool.put_back(self)
            return
        self.closed = True
        if transport is not None:
            transport.close()
            if unread:
                asyncio.get_running_loop().call_later(IDLE, transport.abort)

    def _begin(self) -> None:
        self._reason = b""
        self._headers: RawHeaders = []
        self._headers_done = False
        self._to_eof = False

    def _fail(self, why: str) -> None:
        sink = self._sink
        self.abort()
        if sink is not None:
            sink.upstream_lost(why, "garbled")


class UpstreamPool:
    """Connects to one target and keeps what is fresh."""

    def __init__(
        self, target: Target, tls: ssl.SSLContext | None, dial: Dial | None = None
    ) -> None:
        """Connect to `target`; `tls` where its scheme is https, `dial` where no address leads."""
        self._dial = dial
        self._target = target
        self._tls = tls
        self.heads = HeadReader()
        self.whole: Whole[StatusLine] = Whole()
        """What is known of the upstream's heads."""
        self._idle: list[UpstreamConnection] = []
        self._loop = asyncio.get_running_loop()
        self._sweep: asyncio.TimerHandle | None = None

    def take(self) -> UpstreamConnection | None:
        """Give a fresh idle connection, if there is one."""
        oldest = self._loop.time() - IDLE
        while self._idle:
            connection = self._idle.pop()
            if not connection.closed and connection.idle_since > oldest:
                return connection
            connection.abort()
        return None

    async def connect(self) -> UpstreamConnection:
        """Open a connection; raise `OSError` or `TimeoutError`."""
        if self._dial is not None:
            connection = UpstreamConnection(self)
            await self._dial(connection)
            return connection
        async with asyncio.timeout(CONNECT_TIMEOUT):
            _, connection = await self._loop.create_connection(
                lambda: UpstreamConnection(self),
                self._target.host,
                self._target.port,
                ssl=self._tls,
                server_hostname=self._target.host if self._tls else None,
            )
        return connection

    def put_back(self, connection: UpstreamConnection) -> None:
        """Keep a connection whose exchange ended well."""
        connection.idle_since = self._loop.time()
        connection.resume()
        self._idle.append(connection)
        if self._sweep is None:
            self._sweep = self._loop.call_later(IDLE, self._drop_stale)

    def forget(self, connection: UpstreamConnection) -> None:
        """Drop a connection that ended."""
        if connection in self._idle:
            self._idle.remove(connection)

    def close(self) -> None:
        """Close what is idle."""
        if self._sweep is not None:
            self._sweep.cancel()
        for connection in [*self._idle]:
            connection.abort()
        self._idle.clear()

    def _drop_stale(self) -> None:
        self._sweep = None
        oldest = self._loop.time() - IDLE
        stale = [c for c in self._idle if c.idle_since <= oldest]
        self._idle = [c for c in self._idle if c.idle_since > oldest]
        for connection in stale:
            connection.abort()
        if self._idle:
            self._sweep = self._loop.call_later(IDLE, self._drop_stale)


def fault_of_ours(exc: Exception | None) -> str | None:
    """Say that we failed, where a connection ended by anything but the network's doing."""
    if exc is None or isinstance(exc, OSError):
        return None
    root = exc.__context__ or exc  # the parser wraps what its callbacks raise
    return f"a fault of mcp-tap: {type(root).__name__}: {root}"


def no_delay(transport: asyncio.Transport) -> None:
    """Send small writes at once."""
    sock = transport.get_extra_info("socket")
    if sock is not None:
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError:  # a Unix socket, or gone already
            return


def reset_when_closed(transport: asyncio.Transport) -> None:
    """Let the other end see a reset in place of an orderly end, once all is written."""
    sock = transport.get_extra_info("socket")
    if sock is not None:
        with contextlib.suppress(OSError):  # gone already
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
