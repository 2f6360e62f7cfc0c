"""One lifetime of the tap in front of an HTTP server: one run, one capture."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
from collections.abc import Callable
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path
from threading import Thread
from time import perf_counter
from typing import Any, Literal

from mcp_tap.capture.writer import CaptureWriter
from mcp_tap.core.records import Footer, Header
from mcp_tap.core.redact_command import shown_command
from mcp_tap.errors import UsageError
from mcp_tap.net.guard import Guard
from mcp_tap.net.sink import Pool
from mcp_tap.net.target import parse_target, tls_context
from mcp_tap.net.upstream import UpstreamPool
from mcp_tap.pipeline.judge import Sift
from mcp_tap.pipeline.spine import Pipeline
from mcp_tap.pipeline.warm import warm
from mcp_tap.proxy.answering.answering import Answering
from mcp_tap.proxy.answering.eras import EitherExchange
from mcp_tap.proxy.answering.records import Records
from mcp_tap.proxy.beginning import Feed, header_of, redactor_of
from mcp_tap.proxy.desk import Desk
from mcp_tap.proxy.listener import ClientConnection
from mcp_tap.proxy.recording import Recording
from mcp_tap.proxy.settings import TapSettings
from mcp_tap.proxy.tap import Tap

STOP_WITHIN = 1.0
"""Seconds clients have to take what was written to them when the run stops."""
BACKLOG = 512


class HttpRun:
    """Listens, forwards, records, until stopped."""

    def __init__(
        self,
        settings: TapSettings,
        *,
        capture: Path | None,
        view: Feed,
        judging: bool = True,
        sift: Sift | None = None,
        answering: Answering | None = None,
        pool: Callable[[], Pool] | None = None,
    ) -> None:
        """Prepare a run; nothing is opened before `start()`.

        Args:
            settings: what to do.
            capture: where to record; None records nothing.
            view: who looks on.
            judging: run the rules; without, nothing is found.
            sift: decides which findings count, as they are found; None: all do.
            answering: answers what servers ask; None: all passes as it is.
            pool: makes what stands in for connections to the upstream.

        Raises:
            UsageError: the upstream URL, a CA file, a redaction or its key cannot be used.
        """
        self._settings = settings
        self._view = view
        self._target = parse_target(settings.upstream)
        self._tls = (
            tls_context(insecure=settings.insecure, cacert=settings.cacert)
            if self._target.tls
            else None
        )
        self._redactor = redactor_of(settings)
        self._judging = judging
        self._pipeline = Pipeline(label=settings.label, judging=judging, sift=sift)
        self._answering = answering
        self._pool = pool
        self._writer: CaptureWriter | None = None
        self._server: asyncio.Server | None = None
        self._desk: Desk | None = None
        self._tap: Tap | None = None
        self._ticker: asyncio.TimerHandle | None = None
        self.capture = capture
        self.url = ""
        """Where clients on this machine reach the tap."""
        self.port = 0
        self.header: Header | None = None

    @property
    def lost(self) -> int:
        """Records that could not be written."""
        return self._writer.lost if self._writer else 0

    @property
    def unjudged(self) -> int:
        """Records that were not analysed, since more came than could be."""
        return self._desk.skipped if self._desk else 0

    @property
    def exchanges(self) -> int:
        """Exchanges seen so far."""
        return self._tap.recording.exchanges if self._tap else 0

    @property
    def records(self) -> int:
        """Records made so far."""
        return self._tap.recording.seq if self._tap else 0

    async def start(self) -> None:
        """Bind and accept.

        Raises:
            UsageError: the address cannot be listened on.
            CaptureError: the capture cannot be created.
        """
        self._loop = loop = asyncio.get_running_loop()
        settings, target = self._settings, self._target
        started = perf_counter()
        wall = datetime.now(UTC)
        guard = Guard(hosts=[*settings.allow_host, settings.host], origins=settings.allow_origin)
        self._server = await self._listen(loop)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://{_bracketed(_dialled(settings.host))}:{self.port}{target.path}"
        path = self._redactor.hidden(target.path)
        command = settings.command
        self.header = header_of(
            settings,
            self._redactor,
            transport="http",
            upstream=shown_command(command, self._redactor) if command else target.origin + path,
            listen=f"http://{_bracketed(settings.host)}:{self.port}{path}",
            capture=self.capture,
            wall=wall,
        )
        if self.capture is not None:
            try:
                self._writer = CaptureWriter(
                    self.capture,
                    self.header,
                    rotate=settings.rotate,
                    sync=settings.sync,
                    on_trouble=self._from_thread,
                )
            except BaseException:
                self._server.close()
                raise
        self._pipeline.feed(self.header)
        self._view.start(self.header)
        self._desk = Desk(
            write=self._writer.write_many if self._writer else _forget,
            feed=self._pipeline.feed,
            show=self._view.update,
            notice=self._view.notice,
            sync=settings.sync,
        )
        recording = Recording(self._desk.accept, self._redactor, settings.max_body)
        keep = settings.host_header == "keep" or (settings.host_header is None and target.loopback)
        self._tap = Tap(
            target=target,
            pool=UpstreamPool(target, self._tls) if self._pool is None else self._pool(),
            guard=guard,
            recording=recording,
            report=self._desk.report if self._writer else _forget,
            notice=self._view.notice,
            extra_headers=[(n.encode("latin-1"), v.encode("latin-1")) for n, v in settings.headers],
            upstream_host=None if keep else target.authority.encode("latin-1"),
            started=started,
        )
        if self._answering is not None:
            self.answer(self._answering)
        self._tick()
        await self._server.start_serving()
        if self._judging:
            # The next turn of the loop: whoever started the run says first that it listens.  No
            # daemon: one that is within a library's code when the interpreter ends aborts it.
            loop.call_soon(Thread(target=warm, name="warm").start)

    def answer(self, answering: Answering) -> None:
        """Let `answering` answer what servers ask, from the next exchange of a started run on."""
        assert self._tap is not None
        answering.label = self._settings.label
        answering.host = self._target.authority
        self._answering = answering
        self._tap.begin = EitherExchange.of(answering, Records(self._tap.recording))

    async def deserted(self, within: float) -> bool:
        """Wait till no client is connected, for so many seconds; tell whether none is."""
        assert self._tap is not None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within):
                await self._tap.deserted.wait()
        return not self._tap.clients

    def settle(self) -> None:
        """Work off what has passed so far: whoever looked on knows of all of it then."""
        if self._desk is not None:
            self._desk.finish()

    def heard(self, line: bytes) -> None:
        """Record a line of the server's stderr, where somebody else reads that."""
        if self._tap is not None and self._desk is not None:
            now = self._tap.now()
            self._tap.report(self._tap.recording.stderr, now, line)

    async def stop(self, how: Literal["end", "signal", "child"] = "end") -> None:
        """Stop within two seconds: open streams are cut, the capture gets its footer."""
        if self._server is None or self._tap is None or self._desk is None:
            return
        if self._ticker is not None:
            self._ticker.cancel()
        self._server.close()
        self._tap.now()
        self._tap.stopping = True
        if self._answering is not None:
            self._answering.stop()
        for client in [*self._tap.clients]:
            client.shut()
        if not await self.deserted(STOP_WITHIN):
            for client in [*self._tap.clients]:
                client.abort()
        self._tap.pool.close()
        try:
            self._desk.finish()
            self._view.update(self._pipeline.finish(), self._tap.now())
        finally:  # whatever a view did, the capture ends as a capture ends
            await self._end_capture(self._tap, how)
            self._view.close()

    async def _end_capture(self, tap: Tap, how: str) -> None:
        if self._writer is None:
            return
        footer = Footer(
            seq=tap.recording.next_seq(),
            t=tap.now(),
            exchanges=tap.recording.exchanges,
            lost=self._writer.lost,
            how=how,
        )
        await asyncio.to_thread(self._writer.close, footer)

    async def _listen(self, loop: asyncio.AbstractEventLoop) -> asyncio.Server:
        settings = self._settings
        try:
            return await loop.create_server(
                self._client, settings.host, settings.port, backlog=BACKLOG, start_serving=False
            )
        except OSError as error:
            place = f"{_bracketed(settings.host)}:{settings.port}"
            if error.errno == errno.EADDRINUSE:
                raise UsageError(
                    "port-taken",
                    f"{place} is already in use",
                    why="another program listens there",
                    help=f"mcp-tap http {settings.upstream} --listen "
                    f"{_bracketed(settings.host)}:{settings.port + 2}, or port 0 for any free one",
                ) from None
            raise UsageError(
                "cannot-listen", f"cannot listen on {place}", why=_os_words(error)
            ) from None

    def _client(self) -> ClientConnection:
        assert self._tap is not None
        return ClientConnection(self._tap)

    def _tick(self) -> None:
        """Let time pass for pipeline and writer while nothing comes."""
        if self._writer is not None:
            self._writer.poke()
        if self._tap is not None:
            now = self._tap.now()
            changes = self._pipeline.advance(now)
            if changes:
                self._view.update(changes, now)
        self._ticker = self._loop.call_later(1.0, self._tick)

    def _from_thread(self, text: str) -> None:
        self._loop.call_soon_threadsafe(self._view.notice, text)


def _forget(*facts: Any) -> None:
    """Record nothing."""


def _dialled(host: str) -> str:
    """Name an address to connect to where one listens on all of them."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if not address.is_unspecified:
        return host
    return "127.0.0.1" if address.version == 4 else "::1"


def _os_words(error: OSError) -> str:
    """Give the system's own words for why; the event loop repeats the address around them."""
    if error.errno is None or isinstance(error, socket.gaierror):
        return (error.strerror or str(error)).lower()
    return os.strerror(error.errno).lower()


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
