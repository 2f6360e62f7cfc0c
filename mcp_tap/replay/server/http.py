"""The replay as an upstream: it stands where connections to a server would be.

So the tap in front of it listens, guards, records and judges as in front of any server, and no byte
goes through another socket.  Only what is forwarded to a real server has a real connection.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import httptools

from mcp_tap.core.records import Headers, Sse
from mcp_tap.core.spec import HEADER_LAST_EVENT, HEADER_SESSION
from mcp_tap.core.sse import comment as written_comment
from mcp_tap.core.sse import event
from mcp_tap.net.heads import (
    Head,
    HeadReader,
    RawHeaders,
    RequestLine,
    StatusLine,
    lines,
    replaced,
)
from mcp_tap.net.sink import ResponseSink, Upstream
from mcp_tap.net.target import Target, tls_context
from mcp_tap.net.upstream import UpstreamPool
from mcp_tap.net.whole import Whole
from mcp_tap.replay.server.play import Play
from mcp_tap.replay.server.player import Forward, Player, Request

_SESSION: Final = HEADER_SESSION.encode()
_LAST_EVENT: Final = HEADER_LAST_EVENT.encode()
_STREAM: Final = "text/event-stream"
_CHUNKED: Final = (b"Transfer-Encoding", b"chunked")
_UNSENDABLE: Final = re.compile(r"[\r\n\0]|[^\0-\xff]")
"""What no head has that was recorded; one that was written by hand may have it."""
_FRAMING: Final = (b"content-length", b"transfer-encoding", b"expect")


class ReplayPool:
    """Gives out connections to a replay; implements `net.sink.Pool`."""

    def __init__(
        self,
        player: Player,
        forward: Target | None = None,
        path: str = "/",
        *,
        real: UpstreamPool | None = None,
        forwarded: Callable[[ResponseSink], None] | None = None,
    ) -> None:
        """Serve from `player`.

        Args:
            player: who knows what to answer.
            forward: the server that gets what was not recorded.
            path: path of the tap's own URL, in whose place that server's is put.
            real: connections to that server, where they are no ordinary ones.
            forwarded: told of each request that goes there, by who gets its response.
        """
        self.player = player
        self.target = forward
        self.path = path.encode()
        context = tls_context(insecure=False, cacert=None) if forward and forward.tls else None
        if real is None and forward is not None:
            real = UpstreamPool(forward, context)
        self.real = real
        self.forwarded = forwarded
        self.heads = HeadReader()
        self.replies = HeadReader()
        self.whole: Whole[RequestLine] = Whole()
        self._tasks: set[asyncio.Task[None]] = set()

    def take(self) -> ReplayConnection:
        """Give a connection."""
        return ReplayConnection(self)

    async def connect(self) -> ReplayConnection:
        """Give a connection."""
        return self.take()

    def put_back(self, connection: Upstream) -> None:
        """Nothing is kept of a connection."""

    def close(self) -> None:
        """Close what there is of real connections."""
        for task in self._tasks:
            task.cancel()
        if self.real is not None:
            self.real.close()

    def send(self, data: bytes, sink: ResponseSink, begun: Callable[[Upstream], None]) -> None:
        """Send a request to the real server; `begun` gets its connection."""
        assert self.real is not None
        connection = self.real.take()
        if connection is not None:
            begun(connection)
            connection.begin(sink, no_body=False)
            connection.write(data)
            return
        task = asyncio.get_running_loop().create_task(self._connect(data, sink, begun))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connect(
        self, data: bytes, sink: ResponseSink, begun: Callable[[Upstream], None]
    ) -> None:
        assert self.real is not None
        try:
            connection = await self.real.connect()
        except OSError as error:
            words = error.strerror or str(error) or "none in time"
            where = self.target.origin if self.target is not None else "the server"
            sink.upstream_lost(f"no answer from {where} to forward to: {words}", "down")
            return
        begun(connection)
        connection.begin(sink, no_body=False)
        connection.write(data)


class ReplayConnection:
    """One exchange; implements `net.sink.Upstream` for the tap, and `Outlet` for the player."""

    def __init__(self, pool: ReplayPool) -> None:
        """Belong to a pool."""
        self._pool = pool
        self._sink: ResponseSink | None = None
        self._parser: httptools.HttpRequestParser | None = None
        self._play: Play | None = None
        self._real: Upstream | None = None
        self._line: StatusLine | None = None
        self._headers: RawHeaders = []
        self._streams = False
        self._body: list[bytes] = []
        self._asked: RawHeaders = []
        self._target = b""
        self._sent: list[bytes] = []
        self._raw: list[bytes] = []

    # net.sink.Upstream

    def begin(self, sink: ResponseSink, *, no_body: bool) -> None:  # noqa: ARG002 - as recorded
        """Begin an exchange."""
        self._sink = sink

    def write(self, data: bytes) -> None:
        """Take bytes of the request; it is answered once it is complete."""
        if self._parser is None:
            known = self._pool.whole.find(data)
            if known is not None:
                self._request(*known)
                return
            self._parser = httptools.HttpRequestParser(self)
        self._raw.append(data)
        self._parser.feed_data(data)

    def abort(self) -> None:
        """The client has gone."""
        self._sink = None
        if self._real is not None:
            self._real.abort()
        if self._play is not None:
            self._play.drop()

    def pause(self) -> None:
        """Let the real server wait; what was recorded is bounded."""
        if self._real is not None:
            self._real.pause()

    def resume(self) -> None:
        """Let the real server go on."""
        if self._real is not None:
            self._real.resume()

    # httptools

    def on_url(self, target: bytes) -> None:
        """Take the request target, or a part of it."""
        self._target += target

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a field."""
        self._asked.append((name, value))

    def on_body(self, data: bytes) -> None:
        """Take a part of the body."""
        self._sent.append(data)

    def on_message_complete(self) -> None:
        """Answer."""
        assert self._parser is not None
        line = RequestLine(self._parser.get_method(), self._target, "1.1")
        head = self._pool.heads.read(line, self._asked)
        if len(self._raw) == 1:
            self._pool.whole.learn(self._raw[0], head)
        self._raw = []
        self._request(head, b"".join(self._sent))

    def _request(self, head: Head[RequestLine], body: bytes) -> None:
        session = last_event = None
        for name, value in head.fields.headers:
            low = name.lower()
            if low == _SESSION:
                session = value.decode("latin-1")
            elif low == _LAST_EVENT:
                last_event = value.decode("latin-1")
        request = Request(
            verb=head.line.method.decode("latin-1"),
            path=head.line.target.decode("latin-1"),
            session=session,
            last_event=last_event,
            body=body,
        )
        try:
            self._play = self._pool.player.take(request, self)
        except Forward:
            self._forward(head, body)

    def _forward(self, head: Head[RequestLine], body: bytes) -> None:
        pool, sink = self._pool, self._sink
        assert pool.target is not None
        if sink is None:
            return
        if pool.forwarded is not None:
            pool.forwarded(sink)
        method, target, _ = head.line
        if target == pool.path:
            target = pool.target.path.encode()
        kept = [(n, v) for n, v in head.headers if n.lower() not in _FRAMING]
        fields = replaced(kept, [(b"Host", pool.target.authority.encode("latin-1"))])
        if body or head.has_body:
            fields.append((b"Content-Length", b"%d" % len(body)))
        data = b"%b %b HTTP/1.1\r\n%b\r\n%b" % (method, target, lines(fields), body)
        pool.send(data, sink, self._begun)

    def _begun(self, connection: Upstream) -> None:
        self._real = connection
        if self._sink is None:
            connection.abort()

    # Outlet

    def head(self, status: int, reason: str, headers: Headers) -> None:
        """Begin the response."""
        phrase = "" if _UNSENDABLE.search(reason) else reason
        self._line = StatusLine(status, phrase.encode("latin-1"), "1.1")
        self._headers, self._streams = _raw(tuple(headers))
        if self._streams and self._sink is not None:
            fields = [*self._headers, _CHUNKED]
            self._sink.upstream_head(self._pool.replies.read(self._line, fields), to_eof=False)

    def message(self, data: bytes, sse: Sse | None) -> None:
        """Send a message: as an event of a stream, else as the body."""
        self._write(event(data, sse) if self._streams else data)

    def other(self, data: bytes, sse: Sse | None, *, comment: bool) -> None:
        """Send what is no message."""
        if not self._streams:
            self._write(data)
        elif comment:
            self._write(written_comment(data))
        else:
            self._write(event(data, sse))

    def flush(self) -> None:
        """Let the client have what came."""
        if self._streams and self._sink is not None:
            self._sink.upstream_flush()

    def end(self) -> None:
        """End the response."""
        sink, self._sink = self._sink, None
        if sink is None:
            return
        if self._line is None:
            sink.upstream_lost("the head of the recorded response is not in the capture", "cut")
        elif self._streams:
            sink.upstream_end()
        else:
            body = b"".join(self._body)
            fields = self._headers
            if self._line.status != 204:
                fields = [*fields, (b"Content-Length", b"%d" % len(body))]
            sink.upstream_whole(self._pool.replies.read(self._line, fields), body)

    def cut(self) -> None:
        """Break off, as the recorded server did."""
        sink, self._sink = self._sink, None
        if sink is None:
            return
        if self._line is not None and not self._streams:
            fields = [*self._headers, _CHUNKED]
            sink.upstream_head(self._pool.replies.read(self._line, fields), to_eof=False)
            sink.upstream_data(b"".join(self._body))
            sink.upstream_flush()
        sink.upstream_lost("the recorded server broke off here", "cut")

    def _write(self, data: bytes) -> None:
        if not self._streams:
            self._body.append(data)
        elif self._sink is not None and data:
            self._sink.upstream_data(data)


@lru_cache(maxsize=512)
def _raw(headers: tuple[tuple[str, str], ...]) -> tuple[RawHeaders, bool]:
    """Give fields as they are written, and tell whether they begin a stream of events."""
    kinds = [value for name, value in headers if name.lower() == "content-type"]
    raw = [
        (name.encode("latin-1"), value.encode("latin-1"))
        for name, value in headers
        if not _UNSENDABLE.search(f"{name}{value}")
    ]
    return raw, any(kind.lower().startswith(_STREAM) for kind in kinds)
