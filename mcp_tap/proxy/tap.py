"""What all exchanges of a run share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from time import perf_counter
from typing import TYPE_CHECKING, Any

from mcp_tap.net.guard import Guard
from mcp_tap.net.heads import Head, HeadReader, RawHeaders, RequestLine, replaced
from mcp_tap.net.sink import Pool
from mcp_tap.net.target import Target
from mcp_tap.net.whole import Whole
from mcp_tap.proxy.exchange import HttpExchange
from mcp_tap.proxy.recording import Recording

if TYPE_CHECKING:
    from mcp_tap.proxy.listener import ClientConnection


class Tap:
    """Settings, counters and doors of one run, as the data path sees them."""

    def __init__(
        self,
        *,
        target: Target,
        pool: Pool,
        guard: Guard,
        recording: Recording,
        report: Callable[..., None],
        notice: Callable[[str], None],
        extra_headers: RawHeaders,
        upstream_host: bytes | None,
        started: float,
        begin: Callable[..., HttpExchange] = HttpExchange,
    ) -> None:
        """Tie the parts together.

        Args:
            target: the upstream.
            pool: connections to it.
            guard: who may speak to the listener.
            recording: makes records of reports.
            report: leaves a report at the desk: a method of `recording` and its arguments.
            notice: takes words for the user.
            extra_headers: fields put into each request upstream.
            upstream_host: `Host` for upstream, where the client's is not kept.
            started: `perf_counter()` at the run's start.
            begin: makes an exchange of a client's connection, a head and perhaps a body.
        """
        self.begin = begin
        self.target = target
        self.pool = pool
        self.guard = guard
        self.recording = recording
        self.report = report
        self.t = 0.0
        """When the bytes that are being worked on came."""
        self.heads = HeadReader(b"expect")
        """What is known of the clients' heads."""
        self.whole: Whole[RequestLine] = Whole()
        """The heads that are known well enough to be told by their bytes."""
        self.own_heads = HeadReader()
        self._changes: RawHeaders = list(extra_headers)
        if upstream_host is not None:
            self._changes.append((b"Host", upstream_host))
        self.clients: set[ClientConnection] = set()
        self.stopping = False
        """No client is served any more."""
        self.deserted = asyncio.Event()
        """No client is connected."""
        self.deserted.set()
        self._notice = notice
        self._loop = asyncio.get_running_loop()
        self._started = started
        self._connections = 0
        self._exchanges = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._said: set[str] = set()

    def now(self) -> float:
        """Read the clock: seconds since the run's start, to the microsecond; kept in `t`.

        Read once for all that one read from a socket brings.  Not the loop's clock: uvloop's has a
        resolution of a millisecond.
        """
        # As `round(.., 6)` does, in half the time.
        self.t = t = int((perf_counter() - self._started) * 1e6 + 0.5) / 1e6
        return t

    def upstream_head(self, head: Head[RequestLine]) -> Head[RequestLine]:
        """Give the head to send upstream: the client's own, where nothing is to be changed."""
        if not self._changes:
            return head
        return self.heads.read(head.line, replaced(head.headers, self._changes))

    def next_exchange(self) -> int:
        """Number a new exchange."""
        self._exchanges += 1
        return self._exchanges

    def client_came(self, client: ClientConnection) -> int:
        """Count a client's connection; return its number."""
        self._connections += 1
        self.clients.add(client)
        self.deserted.clear()
        return self._connections

    def client_left(self, client: ClientConnection) -> None:
        """Forget a client's connection."""
        self.clients.discard(client)
        if not self.clients:
            self.deserted.set()

    def refused(self, exchange: HttpExchange, code: str, why: str) -> None:
        """Record that the tap itself answers, and say the first of each kind."""
        self.report(self.recording.decision, exchange.tape, self.t, "tap", code, why)
        self.say_once(code, why)

    def say_once(self, code: str, why: str) -> None:
        """Tell the user of a trouble, the first time it occurs."""
        if code not in self._said:
            self._said.add(code)
            self._notice(f"{code}: {why}")

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run work that belongs to the run."""
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
