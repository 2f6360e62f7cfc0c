"""The upstream of the benchmark: as fast as Python allows, so that it is not what is measured.

python -m benchmarks.stub      prints its port, serves until it is ended
"""

from __future__ import annotations

import asyncio
import time
from typing import cast
from urllib.parse import parse_qs, urlsplit

from benchmarks import traffic
from benchmarks.children import run_loop, until_ended

FILL = b"x" * (64 << 10)


class Stub(asyncio.Protocol):
    """One connection; answers one request after the other."""

    def __init__(self) -> None:
        self._buffer = b""
        self._skip = 0
        """Bytes of an uploaded body that are still to come."""
        self._after = b""
        self._feeder: _Feeder | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast("asyncio.Transport", transport)

    def pause_writing(self) -> None:
        """Let the receiver catch up."""
        if self._feeder:
            self._feeder.paused = True

    def resume_writing(self) -> None:
        """Go on."""
        if self._feeder:
            self._feeder.paused = False
            self._feeder.feed()

    def data_received(self, data: bytes) -> None:
        """Answer each request as soon as it is whole."""
        if self._skip:
            self._skip -= len(data)
            if self._skip <= 0:
                self._skip = 0
                self._transport.write(traffic.json_answer(b"1"))
            return
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = self._buffer[:end]
            lower = head.lower()
            at = lower.find(b"content-length:")
            if at < 0:
                # Sent in chunks: whole once the last one is there.
                if b"chunked" in lower and not self._buffer.endswith(traffic.LAST_CHUNK):
                    if len(self._buffer) > (1 << 20):
                        self._buffer = self._buffer[: end + 4] + self._buffer[-16:]
                    return
                body, self._buffer = self._buffer[end + 4 :], b""
            else:
                size = int(lower[at + 15 :].split(b"\r\n", 1)[0])
                if len(self._buffer) < end + 4 + size:
                    if size > (1 << 20):
                        self._skip = end + 4 + size - len(self._buffer)
                        self._buffer = b""
                    return
                body = self._buffer[end + 4 : end + 4 + size]
                self._buffer = self._buffer[end + 4 + size :]
            self._answer(head.split(b" ", 2)[1], body)

    def _answer(self, target: bytes, body: bytes) -> None:
        at = body.find(b'"id":') + 5
        request_id = body[at : body.find(b",", at)]
        write = self._transport.write
        if target == b"/mcp":
            write(traffic.json_answer(request_id))
        elif target == b"/mcp/sse":
            write(traffic.SSE_HEAD)
            for number in (1, 2, 3):
                write(traffic.progress(request_id, number))
            write(traffic.last_event(request_id) + traffic.LAST_CHUNK)
        else:
            url = urlsplit(target.decode())
            query = {k: v[0] for k, v in parse_qs(url.query).items()}
            if url.path == traffic.PACED:
                write(traffic.SSE_HEAD)
                self._paced(request_id, int(query["n"]), float(query["ms"]) / 1000)
            else:
                self._feeder = _Feeder(self._transport, int(query["mb"]) << 20, query["type"])
                self._feeder.feed()

    def _paced(self, request_id: bytes, left: int, gap: float) -> None:
        if self._transport.is_closing():
            return
        if not left:
            self._transport.write(traffic.last_event(request_id) + traffic.LAST_CHUNK)
            return
        stamp = b"at:%d;" % time.monotonic_ns()
        self._transport.write(traffic.progress(request_id, _MANY - left, stamp))
        asyncio.get_running_loop().call_later(gap, self._paced, request_id, left - 1, gap)


_MANY = 1_000_000
"""Progress grows, whatever is left."""


class _Feeder:
    """Writes a big body as fast as the receiver takes it."""

    def __init__(self, transport: asyncio.Transport, size: int, kind: str) -> None:
        self.paused = False
        self._transport = transport
        opening, closing = b'{"jsonrpc":"2.0","id":1,"result":{"x":"', b'"}}'
        self._left = size - len(opening) - len(closing)
        self._closing = closing
        transport.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n"
            % (kind.encode(), size)
        )
        transport.write(opening)

    def feed(self) -> None:
        """Write until the transport says stop, or all is written."""
        while self._left and not self.paused:
            piece = min(self._left, len(FILL))
            self._left -= piece
            self._transport.write(FILL[:piece])
        if not self._left and self._closing:
            self._transport.write(self._closing)
            self._closing = b""


async def serve() -> None:
    """Serve until the parent goes."""
    server = await asyncio.get_running_loop().create_server(Stub, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await until_ended()
    server.close()


if __name__ == "__main__":
    run_loop(serve())
