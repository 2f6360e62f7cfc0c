"""One lifetime of the tap in front of an HTTP server: one run, one capture."""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
import socket
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, Protocol

from mcp_tap import __version__
from mcp_tap.capture.store import run_id_for
from mcp_tap.capture.writer import CaptureWriter
from mcp_tap.core.finding import Finding
from mcp_tap.core.model import Call, Exchange
from mcp_tap.core.records import FORMAT, Footer, Header
from mcp_tap.core.redact import Redactor
from mcp_tap.errors import UsageError
from mcp_tap.net.guard import Guard
from mcp_tap.net.target import parse_target, tls_context
from mcp_tap.net.upstream import UpstreamPool
from mcp_tap.pipeline.judge import Sift
from mcp_tap.pipeline.spine import Pipeline
from mcp_tap.proxy.answering.answering import Answering
from mcp_tap.proxy.answering.eras import EitherExchange
from mcp_tap.proxy.answering.records import Records
from mcp_tap.proxy.desk import Desk
from mcp_tap.proxy.exchange import HttpExchange
from mcp_tap.proxy.listener import ClientConnection
from mcp_tap.proxy.recording import Recording
from mcp_tap.proxy.settings import TapSettings
from mcp_tap.proxy.tap import Tap

STOP_WITHIN = 1.0
"""Seconds clients have to take what was written to them when the run stops."""
BACKLOG = 512


class Feed(Protocol):
    """Who looks on: a view, or a test."""

    def start(self, header: Header) -> None:
        """Take the run's header."""

    def update(self, changes: Sequence[Call | Exchange | Finding], now: float) -> None:
        """Take what changed."""

    def notice(self, text: str) -> None:
        """Take words of the tap's own."""

    def close(self) -> None:
        """See the end."""


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
    ) -> None:
        """Prepare a run; nothing is opened before `start()`.

        Args:
            settings: what to do.
            capture: where to record; None records nothing.
            view: who looks on.
            judging: run the rules; without, nothing is found.
            sift: decides which findings count, as they are found; None: all do.
            answering: answers what servers ask; None: all passes as it is.

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
        self._redactor = Redactor(
            _masking_key(settings.redact_key),
            default=settings.default_redaction,
            specs=settings.redact,
        )
        self._pipeline = Pipeline(label=settings.label, judging=judging, sift=sift)
        self._answering = answering
        if answering is not None:
            answering.label = settings.label
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
        self.header = Header(
            seq=0,
            t=0.0,
            format=FORMAT,
            tool=f"mcp-tap/{__version__}",
            run=run_id_for(self.capture, settings.label, wall),
            started=wall.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            transport="http",
            upstream=target.origin + path,
            listen=f"http://{_bracketed(settings.host)}:{self.port}{path}",
            label=settings.label,
            redaction=[
                *(["default"] if settings.default_redaction else []),
                *(_told(spec, self._redactor) for spec in settings.redact),
            ],
            max_body=settings.max_body,
            key=self._redactor.fingerprint,
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
            pool=UpstreamPool(target, self._tls),
            guard=guard,
            recording=recording,
            report=self._desk.report if self._writer else _forget,
            notice=self._view.notice,
            extra_headers=[(n.encode("latin-1"), v.encode("latin-1")) for n, v in settings.headers],
            upstream_host=None if keep else target.authority.encode("latin-1"),
            started=started,
            begin=self._exchanges(recording),
        )
        self._tick()
        await self._server.start_serving()

    def _exchanges(self, recording: Recording) -> Callable[..., HttpExchange]:
        if self._answering is None:
            return HttpExchange
        return EitherExchange.of(self._answering, Records(recording))

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
        try:
            async with asyncio.timeout(STOP_WITHIN):
                await self._tap.deserted.wait()
        except TimeoutError:
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


def _told(spec: str, redactor: Redactor) -> str:
    """Mask in a specification what it masks elsewhere: it may be the secret itself."""
    kind, colon, rest = spec.partition(":")
    return kind + colon + redactor.hidden(rest)


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


def _masking_key(path: str | None) -> bytes:
    if path is None:
        return secrets.token_bytes(32)
    try:
        key = Path(path).read_bytes().strip()
    except OSError as error:
        raise UsageError(
            "bad-redact-key",
            f"cannot read the masking key {path}",
            why=error.strerror or str(error),
        ) from None
    if len(key) < 16:
        raise UsageError(
            "bad-redact-key",
            f"the masking key {path} has {len(key)} bytes",
            why="short keys can be guessed, and with them what was masked",
            help=f"head -c 32 /dev/urandom | base64 > {path}",
        )
    return key
