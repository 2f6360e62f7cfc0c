"""The load generator: closed loop, N keep-alive connections, every answer checked.

python -m benchmarks.load      one JSON job a line on stdin, one JSON outcome a line on stdout
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import sys
import time
from array import array
from typing import Any, cast

from benchmarks import traffic
from benchmarks.children import run_loop

BOUND = 120.0
"""Seconds after which a job has failed."""

_ids = itertools.count(traffic.FIRST_ID)
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)\r\n", re.IGNORECASE)
_STAMP = re.compile(rb"at:(\d+);")


class Job:
    """One measurement: what is sent where, until when, and what came of it."""

    def __init__(
        self, *, port: int, path: str, connections: int, seconds: float, limit: int
    ) -> None:
        self.head = traffic.request_head(path, port)
        self.port = port
        self.connections = connections
        self.seconds = seconds
        self.unsent = limit
        """Requests that may still be sent."""
        self.latencies = array("d")
        self.delays: list[float] = []
        """Seconds from the stamp in an event to its receipt."""
        self.wrong: str | None = None
        self.open = 0
        self.ended = 0.0
        self.deadline = 0.0
        self.done = asyncio.Event()

    async def run(self) -> dict[str, Any]:
        """Do it."""
        loop = asyncio.get_running_loop()
        clients = [
            (await loop.create_connection(lambda: Client(self), "127.0.0.1", self.port))[1]
            for _ in range(self.connections)
        ]
        self.open = len(clients)
        began = time.monotonic()
        self.deadline = began + self.seconds
        for client in clients:
            client.send()
        async with asyncio.timeout(self.seconds + BOUND):
            await self.done.wait()
        if self.wrong:
            raise ValueError(self.wrong)
        ranked = sorted(self.latencies)
        return {
            "count": len(ranked),
            "began": began,
            "ended": self.ended,
            "p50": ranked[len(ranked) // 2],
            "p99": ranked[int(len(ranked) * 0.99)],
            "delays": self.delays,
        }

    def answered(self, client: Client, took: float) -> None:
        """Note one answer, and send the next request if there is time."""
        self.latencies.append(took)
        self.ended = time.monotonic()
        if self.ended < self.deadline and self.unsent > 0:
            client.send()
        else:
            client.leave()

    def failed(self, why: str) -> None:
        """Give up: a wrong answer makes any figure worthless."""
        self.wrong = self.wrong or why
        self.done.set()

    def left_by(self) -> None:
        """Note that a connection is done."""
        self.open -= 1
        if not self.open:
            self.done.set()


class Client(asyncio.Protocol):
    """One connection with at most one request on it."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._buffer = b""
        self._need = 0
        """Bytes of the answer in all; 0 while unknown; -1 when it comes in chunks."""
        self._id = b""
        self._at = 0.0
        self._leaving = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail unless it is over."""
        if self._leaving:
            self._job.left_by()
        else:
            self._job.failed(f"connection lost before the answer ({exc})")

    def send(self) -> None:
        """Send the next request."""
        number = next(_ids)
        self._job.unsent -= 1
        self._id = b'"id":%d,' % number
        self._buffer, self._need = b"", 0
        self._at = time.monotonic()
        self._transport.write(self._job.head + traffic.request_body(number))

    def leave(self) -> None:
        """Close the connection."""
        self._leaving = True
        self._transport.close()

    def data_received(self, data: bytes) -> None:
        """Take the answer, and check it once it is whole."""
        buffer = self._buffer = self._buffer + data if self._buffer else data
        if b"at:" in data:
            now = time.monotonic_ns()
            self._job.delays += [(now - int(at)) / 1e9 for at in _STAMP.findall(data)]
        if not self._need:
            end = buffer.find(b"\r\n\r\n") + 4
            if end < 4:
                return
            if buffer[9:12] != b"200":
                self._job.failed(f"answered {buffer[:400]!r}")
                return
            found = _LENGTH.search(buffer, 0, end)
            self._need = end + int(found[1]) if found else -1
        whole = len(buffer) >= self._need if self._need > 0 else buffer.endswith(b"\r\n0\r\n\r\n")
        if not whole:
            return
        if self._id not in buffer:
            self._job.failed(f"the answer is not to {self._id!r}: {buffer[-300:]!r}")
            return
        self._job.answered(self, time.monotonic() - self._at)


async def stream(port: int, path: str, upload: int) -> dict[str, Any]:
    """Pass one big body through, down or (with `upload` bytes) up."""
    async with asyncio.timeout(BOUND):
        return await _stream(port, path, upload)


async def _stream(port: int, path: str, upload: int) -> dict[str, Any]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    began = time.monotonic()
    if upload:
        writer.write(traffic.upload_head(path, port, upload))
        piece = b"x" * (256 << 10)
        for at in range(0, upload, len(piece)):
            writer.write(piece[: upload - at])
            await writer.drain()
    else:
        writer.write(traffic.request_head(path, port) + traffic.request_body(next(_ids)))
    head = await reader.readuntil(b"\r\n\r\n")
    if head[9:12] != b"200":
        raise ValueError(f"answered {head!r}")
    found = _LENGTH.search(head)
    left = int(found[1]) if found else -1
    while left and (data := await reader.read(256 << 10)):
        if left > 0:
            left -= len(data)
        elif data.endswith(b"0\r\n\r\n"):
            break
    writer.close()
    return {"began": began, "ended": time.monotonic()}


async def main() -> None:
    """Do the jobs as they come."""
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        job = json.loads(line)
        try:
            work = stream(**job) if "upload" in job else Job(**job).run()
            outcome = await work
        except (OSError, ValueError, TimeoutError, asyncio.IncompleteReadError) as error:
            outcome = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(outcome), flush=True)


if __name__ == "__main__":
    run_loop(main())
