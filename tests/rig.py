"""A tap between two ends that tests write by hand: raw bytes in, raw bytes out, nothing hidden.

`tapped(handler, folder)` gives a running tap before a scripted upstream.  Both ends speak through
`Wire`, which keeps every byte it read, so that a test can say what exactly passed.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, Literal

from mcp_tap.capture.reader import CaptureReader, open_path
from mcp_tap.core.finding import Finding
from mcp_tap.core.model import Call, Exchange
from mcp_tap.core.records import (
    AnyRecord,
    Closed,
    Decision,
    Header,
    HttpRequest,
    HttpResponse,
    Message,
)
from mcp_tap.proxy.run import HttpRun
from mcp_tap.proxy.settings import TapSettings
from tests.bounds import BOUND

HOST = b"Host: 127.0.0.1:7777\r\n"
PING = b'{"jsonrpc":"2.0","id":7,"method":"ping"}'
PONG = b'{"jsonrpc":"2.0","id":7,"result":{}}'
_BLOCK = 1 << 18


class Http:
    """One HTTP message as it came: its head as raw bytes, its body with the framing undone."""

    def __init__(self, head: bytes) -> None:
        self.head = head
        start, _, block = head[:-4].partition(b"\r\n")
        self.start = start
        self.fields = (
            [(line.partition(b": ")[0], line.partition(b": ")[2]) for line in block.split(b"\r\n")]
            if block
            else []
        )
        self.body = b""
        self.trailer = b""
        self.whole = True
        """The message ended as its framing says."""

    @property
    def status(self) -> int:
        return int(self.start.split(b" ", 2)[1])

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def all(self, name: bytes) -> list[bytes]:
        return [value for key, value in self.fields if key.lower() == name.lower()]

    def get(self, name: bytes) -> bytes | None:
        found = self.all(name)
        assert len(found) <= 1, f"{name!r} is there {len(found)} times"
        return found[0] if found else None


class Wire:
    """One end of a connection."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, keep: bool = True
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._keep = keep
        self._buffer = bytearray()
        self.received = bytearray()
        """Every byte that came, where the wire keeps them."""
        self.ended = False
        """The other end closed or broke the connection."""
        self.was_reset = False

    @property
    def socket(self) -> socket.socket:
        return self._writer.get_extra_info("socket")

    async def send(self, *parts: bytes) -> None:
        """Write, and wait till the socket takes more."""
        if self._writer.is_closing():
            raise ConnectionResetError
        self._writer.write(b"".join(parts))
        async with asyncio.timeout(BOUND * 2):
            await self._writer.drain()

    async def read(self, most: int = _BLOCK) -> bytes:
        """Give what is there or comes next; empty at the end."""
        if self._buffer:
            data = bytes(self._buffer[:most])
            del self._buffer[:most]
            return data
        data = b""
        if not self.ended:
            try:
                async with asyncio.timeout(BOUND):
                    data = await self._reader.read(most)
            except ConnectionError:
                self.was_reset = True
            self.ended = not data
            if self._keep:
                self.received += data
        return data

    async def until(self, mark: bytes) -> bytes:
        """Give everything up to and including `mark`; fail where the connection ends before."""
        taken = bytearray()
        searched = 0
        while (at := taken.find(mark, searched)) < 0:
            searched = max(0, len(taken) - len(mark))
            data = await self.read()
            if not data:
                raise EOFError(f"the connection ended in the middle of {bytes(taken[-300:])!r}")
            taken += data
        end = at + len(mark)
        self._buffer[:0] = taken[end:]
        return bytes(taken[:end])

    async def exactly(self, count: int) -> bytes:
        """Give so many bytes; fail where the connection ends before."""
        taken = bytearray()
        while len(taken) < count:
            data = await self.read(min(_BLOCK, count - len(taken)))
            if not data:
                raise EOFError(f"the connection ended {count - len(taken)} bytes early")
            taken += data
        return bytes(taken)

    async def rest(self) -> bytes:
        """Give everything up to the connection's end."""
        taken = bytearray()
        while data := await self.read():
            taken += data
        return bytes(taken)

    async def head(self) -> Http:
        """Read a head."""
        return Http(await self.until(b"\r\n\r\n"))

    async def message(self, *, no_body: bool = False) -> Http:
        """Read a request or a response; what is cut in its body is given as far as it came."""
        message = await self.head()
        if message.start.startswith(b"HTTP/") and (
            no_body or message.status < 200 or message.status in (204, 304)
        ):
            return message
        try:
            await self._body(message)
        except EOFError:
            message.whole = False
        return message

    async def _body(self, message: Http) -> None:
        length = message.get(b"content-length")
        codings = message.get(b"transfer-encoding")
        if codings is not None and codings.lower().endswith(b"chunked"):
            while True:
                size = int((await self.until(b"\r\n")).partition(b";")[0], 16)
                if not size:
                    while (line := await self.until(b"\r\n")) != b"\r\n":
                        message.trailer += line
                    return
                message.body += await self.exactly(size)
                assert await self.exactly(2) == b"\r\n"
        elif length is not None:
            message.body = await self.exactly(int(length))
        elif message.start.startswith(b"HTTP/"):
            message.body = await self.rest()

    async def end(self) -> bool:
        """Wait for the other end's end; tell whether it came without further bytes."""
        return await self.rest() == b""

    def finish(self) -> None:
        """Say that no more is written, and go on reading."""
        with contextlib.suppress(OSError, RuntimeError):  # the other end has just gone
            self._writer.write_eof()

    def reset(self) -> None:
        """End the connection with a reset instead of an orderly close."""
        if self._writer.is_closing():
            return
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    async def close(self) -> None:
        """Close in order."""
        self._writer.close()
        with contextlib.suppress(ConnectionError, TimeoutError):
            async with asyncio.timeout(BOUND):
                await self._writer.wait_closed()


Handler = Callable[[Wire], Awaitable[None]]


class Upstream:
    """A server whose every byte the test writes: `handler` is called for each connection."""

    def __init__(self, handler: Handler, *, keep: bool = True) -> None:
        self._handler = handler
        self._keep = keep
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.connections: list[Wire] = []
        self.errors: list[BaseException] = []
        self.port = 0

    async def start(self, port: int = 0) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", port, limit=_BLOCK)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        if self._server is None:
            return
        self._server.close()
        for task in [*self._tasks]:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for wire in self.connections:
            await wire.close()
        self._server = None

    @property
    def received(self) -> bytes:
        """All bytes of all connections, in the order these were opened."""
        return b"".join(bytes(wire.received) for wire in self.connections)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        wire = Wire(reader, writer, keep=self._keep)
        self.connections.append(wire)
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._handler(wire)
        except (ConnectionError, EOFError, asyncio.CancelledError):
            pass
        except Exception as error:  # noqa: BLE001 (a failed assertion, mostly: the test shall see it)
            self.errors.append(error)
        finally:
            self._tasks.discard(task)
            await wire.close()


class Looker:
    """A view that keeps what it is told."""

    def __init__(self) -> None:
        self.header: Header | None = None
        self.calls: dict[int, Call] = {}
        self.exchanges: dict[int, Exchange] = {}
        self.findings: list[Finding] = []
        self.notices: list[str] = []
        self.closed = False

    def start(self, header: Header) -> None:
        self.header = header

    def update(self, changes, now: float) -> None:
        for change in changes:
            if isinstance(change, Finding):
                self.findings.append(change)
            elif isinstance(change, Call):
                self.calls[change.number] = change
            else:
                self.exchanges[change.number] = change

    def notice(self, text: str) -> None:
        self.notices.append(text)

    def close(self) -> None:
        self.closed = True


class Rig:
    """A running tap, its upstream, and what came of them."""

    def __init__(self, upstream: Upstream, run: HttpRun, view: Looker) -> None:
        self.upstream = upstream
        self.run = run
        self.view = view
        self._clients: list[Wire] = []
        self._stopped = False
        self._read: list[AnyRecord] | None = None

    @property
    def port(self) -> int:
        return self.run.port

    async def client(self, *, keep: bool = True) -> Wire:
        """Connect to the tap."""
        async with asyncio.timeout(BOUND):
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=_BLOCK)
        wire = Wire(reader, writer, keep=keep)
        self._clients.append(wire)
        return wire

    async def ask(self, *request: bytes, no_body: bool = False) -> Http:
        """Send a request on a connection of its own and read the response."""
        wire = await self.client()
        await wire.send(*request)
        response = await wire.message(no_body=no_body)
        await wire.close()
        return response

    async def raw(self, *request: bytes) -> bytes:
        """Send a request on a connection of its own; give every byte that came back."""
        wire = await self.client()
        await wire.send(*request)
        await wire.message()
        await wire.close()
        return bytes(wire.received)

    async def stop(self, how: Literal["end", "signal", "child"] = "end") -> None:
        """Stop the tap; what it recorded can be read then."""
        if not self._stopped:
            self._stopped = True
            await self.run.stop(how)
            for wire in self._clients:
                await wire.close()

    def reader(self) -> CaptureReader:
        assert self._stopped, "stop the tap before its capture is read"
        assert self.run.capture is not None
        return open_path(self.run.capture)

    def records(self, *kinds: type) -> list[Any]:
        """All records of these kinds; the capture is sound and gap-free."""
        if self._read is None:
            reader = self.reader()
            self._read = list(reader)
            assert reader.clean
            assert reader.torn is None
            assert [r.seq for r in self._read] == list(range(len(self._read)))
            times = [r.t for r in self._read]
            assert times == sorted(times)
        return [r for r in self._read if not kinds or isinstance(r, kinds)]

    def of(self, exchange: int, *kinds: type) -> list[Any]:
        return [r for r in self.records(*kinds) if getattr(r, "exchange", None) == exchange]

    def closed(self) -> list[Closed]:
        return self.records(Closed)

    def messages(self) -> list[Message]:
        return self.records(Message)

    def requests(self) -> list[HttpRequest]:
        return self.records(HttpRequest)

    def responses(self) -> list[HttpResponse]:
        return self.records(HttpResponse)

    def decisions(self) -> list[Decision]:
        return self.records(Decision)

    def capture_bytes(self) -> bytes:
        assert self.run.capture is not None
        return self.run.capture.read_bytes()


@contextlib.asynccontextmanager
async def tapped(
    handler: Handler,
    folder: Path,
    *,
    path: str = "/mcp",
    record: bool = True,
    keep: bool = True,
    up: bool = True,
    answering: Any = None,
    **settings: Any,
) -> AsyncIterator[Rig]:
    """Run a tap before an upstream that `handler` plays; faults of either fail the test."""
    troubles: list[dict[str, Any]] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: troubles.append(context))
    upstream = Upstream(handler, keep=keep)
    await upstream.start()
    if not up:
        await upstream.stop()
    view = Looker()
    folder.mkdir(exist_ok=True)  # noqa: ASYNC240 (a folder of the test)
    chosen = {"upstream": f"http://127.0.0.1:{upstream.port}{path}", "port": 0} | settings
    run = HttpRun(
        TapSettings(**chosen),
        capture=folder / "run.jsonl" if record else None,
        view=view,
        answering=answering,
    )
    await run.start()
    rig = Rig(upstream, run, view)
    try:
        yield rig
    finally:
        await rig.stop()
        await upstream.stop()
    assert upstream.errors == [], repr(upstream.errors)
    assert troubles == [], repr(troubles)


def post(body: bytes = PING, *lines: bytes, target: bytes = b"/mcp", length: bool = True) -> bytes:
    """Write a POST of a JSON body with these further header lines."""
    fields = [HOST, b"Content-Type: application/json\r\n"]
    fields += [line + b"\r\n" for line in lines]
    if length:
        fields.append(b"Content-Length: %d\r\n" % len(body))
    return b"POST %b HTTP/1.1\r\n%b\r\n%b" % (target, b"".join(fields), body)


def get(target: bytes = b"/mcp", *lines: bytes, method: bytes = b"GET") -> bytes:
    """Write a request without a body."""
    block = b"".join(line + b"\r\n" for line in lines)
    return b"%b %b HTTP/1.1\r\n%b%b\r\n" % (method, target, HOST, block)


def ok(body: bytes = PONG, *lines: bytes, status: bytes = b"200 OK") -> bytes:
    """Write a JSON response."""
    fields = [b"Content-Type: application/json\r\n"]
    fields += [line + b"\r\n" for line in lines]
    fields.append(b"Content-Length: %d\r\n" % len(body))
    return b"HTTP/1.1 %b\r\n%b\r\n%b" % (status, b"".join(fields), body)


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


SSE_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
)
LAST_CHUNK = b"0\r\n\r\n"


def event(body: bytes) -> bytes:
    return b"event: message\r\ndata: " + body + b"\r\n\r\n"


def always(response: bytes) -> Handler:
    """Answer each request of each connection with the same bytes."""

    async def handler(wire: Wire) -> None:
        while True:
            await wire.message()
            await wire.send(response)

    return handler


async def pong(wire: Wire) -> None:
    """Answer each request with a JSON-RPC result for its id."""
    while True:
        request = await wire.message()
        found = re.search(rb'"id":\s*(\d+|"[^"]*")', request.body)
        number = found[1] if found else b"null"
        await wire.send(ok(b'{"jsonrpc":"2.0","id":%b,"result":{}}' % number))
