"""A client's connection: requests in, in order, responses out, in order."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, cast

import httptools

from mcp_tap.net.heads import RawHeaders, RequestLine, lines
from mcp_tap.net.upstream import MAX_HEAD, fault_of_ours, no_delay, reset_when_closed

if TYPE_CHECKING:
    from mcp_tap.core.records import How
    from mcp_tap.proxy.exchange import HttpExchange
    from mcp_tap.proxy.tap import Tap

MOST_PIPELINED = 16
_SPOKEN = ("1.1", "1.0")
_FRAMING = (b"content-length", b"transfer-encoding")
LINGER = 1.0
"""Seconds of silence after which a client that was still sending has read its answer."""
MOST_LINGERS = 30
"""How often a client may break that silence."""


class ClientConnection(asyncio.Protocol):
    """Parses what one client sends and starts its exchanges, one after the other."""

    def __init__(self, tap: Tap) -> None:
        """Belong to a tap."""
        self.tap = tap
        self.number = 0
        self.peer = ""
        self.broken = False
        """What the client sends cannot be understood as HTTP/1.1 any more."""
        self._parser = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport | None = None
        self._exchanges: deque[HttpExchange] = deque()
        self._incoming: HttpExchange | None = None
        self._paused_for: set[str] = set()
        self._closing = False
        self._full = False
        self._resumed = False
        self._head_size = 0
        self._heard = True
        """Something came lately."""
        self._lingers: asyncio.TimerHandle | None = None
        self._within = False
        """The parser is in the middle of a message."""
        self._first = b""
        """The bytes with which the message began."""
        self._begin()

    # what an exchange needs

    @property
    def full(self) -> bool:
        """The client takes no more for now."""
        return self._full

    def write(self, data: bytes) -> None:
        """Write to the client."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def pause(self, reason: str) -> None:
        """Stop reading from the client for a reason."""
        transport = self._transport
        if not (self._paused_for or transport is None or transport.is_closing()):
            transport.pause_reading()
        self._paused_for.add(reason)

    def resume(self, reason: str) -> None:
        """Read on, when no other reason stands against it."""
        if reason in self._paused_for:
            self._paused_for.discard(reason)
            transport = self._transport
            if transport is None or transport.is_closing() or self._closing or self._paused_for:
                return
            transport.resume_reading()

    def exchange_done(self, exchange: HttpExchange, *, cut: bool) -> None:
        """Go on with the next request, or end the connection."""
        if not self._exchanges or self._exchanges[0] is not exchange:
            if exchange in self._exchanges:
                self._exchanges.remove(exchange)
            return
        self._exchanges.popleft()
        self.resume("upstream")
        if cut or not exchange.keep_alive:
            self._close(unread=not exchange.request_done, cut=cut and exchange.to_eof)
            return
        if exchange.request_done:
            self._next()

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin with a new socket."""
        # uvloop's transports are none of asyncio's classes, and quack all the same.
        self._transport = transport = cast("asyncio.Transport", transport)
        no_delay(transport)
        peer = transport.get_extra_info("peername")
        self.peer = str(peer[0]) if isinstance(peer, tuple) else "local"
        if self.tap.stopping:
            self._closing = True
            transport.abort()
            return
        self.number = self.tap.client_came(self)

    def data_received(self, data: bytes) -> None:
        """Parse what came; exchanges are started and fed from the parser's callbacks."""
        self.tap.now()
        self._heard = True
        if not (self._within or self._exchanges or self._full or self.broken or self._closing):
            whole = self.tap.whole.find(data)
            if whole is not None:
                exchange = self.tap.begin(self, *whole)
                self._exchanges.append(exchange)
                exchange.start()
                exchange.flush()
                return
            self._first = data
        self._parse(data)
        if self._exchanges:
            self._exchanges[0].flush()

    def _parse(self, data: bytes) -> None:
        while data and not self.broken and not self._closing:
            try:
                self._parser.feed_data(data)
            except httptools.HttpParserUpgrade as upgrade:
                # The field was dropped, so the upstream answers in HTTP/1.1; read on after it.
                data = data[upgrade.args[0] :]
                if self._incoming is not None:
                    self._read_body_after_offer()
                continue
            except httptools.HttpParserCallbackError:
                raise  # a fault of ours, not of the client's
            except httptools.HttpParserError as error:
                self._broken(400, "bad-framing", str(error))
            else:
                if not self._head_done:
                    self._head_size += len(data)
                    if self._head_size > MAX_HEAD:
                        self._broken(431, "head-too-large", "the request's head passes 1 MiB")
            return

    def eof_received(self) -> None:
        """See the client's end: closing the request is the cancellation in revision 2026-07-28."""

    def connection_lost(self, exc: Exception | None) -> None:
        """End what was under way."""
        self._closing = True
        if self._lingers is not None:
            self._lingers.cancel()  # it would keep all that was this client's
        self.tap.now()
        self.tap.client_left(self)
        ours = fault_of_ours(exc)
        self.drop("tap_failed" if ours else "client_gone", ours)

    def pause_writing(self) -> None:
        """Pass the client's backpressure on."""
        self._full = True
        if self._exchanges:
            self._exchanges[0].client_writable(writable=False)

    def resume_writing(self) -> None:
        """Pass its end on."""
        self._full = False
        if self._exchanges:
            self._exchanges[0].client_writable(writable=True)
            self._next()

    # the tap

    def drop(self, how: How, why: str | None) -> None:
        """End all exchanges."""
        self._closing = True
        exchanges, self._exchanges = [*self._exchanges], deque()
        for exchange in exchanges:
            exchange.drop(how, why)

    def shut(self) -> None:
        """Stop serving: exchanges under way are cut."""
        cut = bool(self._exchanges) and self._exchanges[0].to_eof
        self.drop("shutdown", "the tap stopped")
        self._close(unread=False, cut=cut)

    def abort(self) -> None:
        """Close without waiting for what the client has not taken."""
        if self._transport is not None:
            self._transport.abort()

    # httptools

    def on_message_begin(self) -> None:
        """Begin a head."""
        if not self._resumed:
            self._begin()
            self._within = True

    def on_url(self, target: bytes) -> None:
        """Take the request target, or a part of it."""
        self._target += target

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a field; trailers are dropped, being hop by hop for our framing."""
        if not self._head_done:
            self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Start the exchange, or let it wait for the one before it."""
        if self._resumed or self._closing or self.broken:
            return
        self._head_done = True
        self._head_size = 0
        line = RequestLine(self._parser.get_method(), self._target, self._parser.get_http_version())
        exchange = self._open(line)
        # No proxy keeps a connection to a client of HTTP/1.0 (RFC 9112, section 9.3).
        exchange.keep_alive = line.version == "1.1" and self._parser.should_keep_alive()
        if line.version not in _SPOKEN:
            self._broken(400, "bad-framing", f"its version is {line.version}")
            return
        if line.method == b"CONNECT":
            exchange.refuse(400, "no-forward-proxy", "the tap is a reverse proxy, not CONNECT's")
        elif self._first and exchange.keep_alive and not self._parser.should_upgrade():
            self.tap.whole.learn(self._first, exchange.tape.head)
        self._first = b""
        if self._exchanges[0] is exchange and not self._full:
            exchange.start()
        elif len(self._exchanges) > MOST_PIPELINED:
            self.pause("pipeline")

    def on_body(self, data: bytes) -> None:
        """Feed the exchange."""
        if self._incoming is not None:
            self._incoming.request_data(data)

    def on_message_complete(self) -> None:
        """End the request."""
        exchange = self._incoming
        if exchange is not None and exchange.tape.head.has_body and self._parser.should_upgrade():
            return  # the parser takes the body for bytes of the protocol that was offered
        self._within = False
        self._first = b""
        if exchange is None:
            return
        self._incoming = None
        if exchange.done:  # answered before it was complete
            exchange.request_done = True
            self._next()
        else:
            exchange.request_end()

    def _open(self, line: RequestLine) -> HttpExchange:
        exchange = self.tap.begin(self, self.tap.heads.read(line, self._headers))
        self._incoming = exchange
        self._exchanges.append(exchange)
        return exchange

    def _next(self) -> None:
        if self._closing:
            return
        if len(self._exchanges) <= MOST_PIPELINED:
            self.resume("pipeline")
        first = self._exchanges[0] if self._exchanges else None
        if first is not None and not (first.started or self._full):
            first.start()
            first.flush()

    def _read_body_after_offer(self) -> None:
        """Let a new parser read the body that follows a head with an offer to upgrade."""
        framing = [f for f in self._headers if f[0].lower() in _FRAMING]
        self._parser = httptools.HttpRequestParser(self)
        self._resumed = True
        self._parser.feed_data(b"POST / HTTP/1.1\r\n%b\r\n" % lines(framing))
        self._resumed = False

    def _broken(self, status: int, code: str, why: str) -> None:
        """Answer what cannot be framed, and read no more from this connection."""
        self.broken = True
        if self._closing:
            return
        exchange = self._incoming
        if exchange is not None and exchange.done:
            self._close(unread=True)
            return
        if exchange is not None and exchange.responding:
            exchange.drop("client_gone", f"the client's body is framed wrongly: {why}")
            return
        if exchange is None:
            exchange = self._open(RequestLine(b"-", self._target, "1.1"))
        exchange.keep_alive = False
        exchange.refuse(status, code, f"the request's framing is no HTTP/1.1: {why}")
        if self._exchanges and self._exchanges[0] is exchange and not exchange.done:
            exchange.start()

    def _close(self, *, unread: bool, cut: bool = False) -> None:
        """Close; where the client is still sending, let it read the answer first.

        `cut`: by nothing but a reset can the client tell that the body is not whole.
        """
        self._closing = True
        transport = self._transport
        if transport is None:
            return
        if cut:
            reset_when_closed(transport)
            transport.close()
        elif unread and transport.can_write_eof():
            if self._paused_for:
                self._paused_for.clear()
                transport.resume_reading()
            try:
                transport.write_eof()
            except OSError:  # it has just gone
                transport.abort()
                return
            self._linger(transport)
        else:
            transport.close()

    def _linger(self, transport: asyncio.Transport, times: int = MOST_LINGERS) -> None:
        """Close when the client is silent: a close with bytes unread would take its answer away."""
        if times and (self._heard or transport.get_write_buffer_size()):
            self._heard = False
            loop = asyncio.get_running_loop()
            self._lingers = loop.call_later(LINGER, self._linger, transport, times - 1)
        else:
            transport.abort()

    def _begin(self) -> None:
        self._target = b""
        self._headers: RawHeaders = []
        self._head_done = False
