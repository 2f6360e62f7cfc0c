"""The taps of a pytest process: each test gets a run of its own, all on one thread."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from mcp_tap.cli.replayed import upstream_of
from mcp_tap.core.text import plural
from mcp_tap.errors import CaptureError, TapError
from mcp_tap.net.sink import Pool, ResponseSink
from mcp_tap.net.target import parse_target, tls_context
from mcp_tap.net.upstream import UpstreamPool
from mcp_tap.plugin import keeping
from mcp_tap.plugin.options import Mode, merged
from mcp_tap.plugin.report import section
from mcp_tap.plugin.scripts import Answers
from mcp_tap.plugin.servers import Server, Servers
from mcp_tap.plugin.tap import Tap
from mcp_tap.plugin.thread import LoopThread
from mcp_tap.plugin.verdicts import Allow, Verdicts
from mcp_tap.plugin.watcher import Watcher
from mcp_tap.proxy.run import HttpRun
from mcp_tap.proxy.settings import TapSettings
from mcp_tap.replay.index import Index
from mcp_tap.replay.server.http import ReplayPool
from mcp_tap.replay.server.misses import Miss
from mcp_tap.replay.server.play import Clock
from mcp_tap.replay.server.player import Player
from mcp_tap.rules.policy import FailOn

WITHIN: Final = 15.0
"""Seconds a run has to begin, and to end."""
LEAVE: Final = 0.3
"""Seconds the clients of a test have to close their connections, once it is done."""


class Wanted(Struct, frozen=True, kw_only=True):
    """What a test asks for."""

    name: str
    """The test, as its command names it."""
    tables: Sequence[Mapping[str, Any]]
    """Settings, closer ones last."""
    folder: Path
    """Of the test's file."""
    allows: Sequence[Allow] = ()
    fail_on: FailOn | None = None
    capture: Path | None = None
    """Where its traffic is kept, to be replayed; None: the tap is live."""
    mode: Mode = "none"
    disabled: bool = False
    keep: bool = False
    server: Callable[[], Any]
    """Gives the value of `tap_server`, where a server is needed."""
    scratch: Callable[[], Path]
    """Makes a folder."""


class Bench:
    """Where taps are set up."""

    def __init__(self) -> None:
        """Start the thread."""
        self.thread = LoopThread("mcp-tap")
        self.servers = Servers(self.thread)

    def begin(self, wanted: Wanted) -> Running:
        """Set up the tap of a test.

        Raises:
            TapError: something about it cannot be meant, or does not work.
        """
        running = Running(self, wanted)
        try:
            running.start()
        except BaseException:
            running.discard()
            raise
        return running

    def close(self) -> None:
        """Stop everything."""
        try:
            self.servers.close()
        finally:
            self.thread.close()


class Running:
    """The tap of one test."""

    def __init__(self, bench: Bench, wanted: Wanted) -> None:
        """Read what is wanted; nothing is started.

        Raises:
            TapError: it cannot be meant.
        """
        self.wanted = wanted
        self.options = merged(wanted.tables, wanted.folder)
        self.verdicts = Verdicts(self.options, wanted.allows, wanted.fail_on)
        self.answers = Answers(self.options)
        self.watcher = Watcher()
        self.server: Server | None = None
        self.passed = False
        """The test itself passed."""
        self.kept: Path | None = None
        """A capture that stays."""
        self.replays = False
        """What is known is answered from the capture."""
        self.tap: Tap
        self._thread = bench.thread
        self._servers = bench.servers
        self._run: HttpRun | None = None
        self._index: Index | None = None
        self._forwarded: set[int] = set()
        self._misses: list[TapError] = []
        self._misses_told = 0
        self._told = False
        self._over = False

    def start(self) -> None:
        """Have the tap listen."""
        wanted, path = self.wanted, self.wanted.capture
        if path is not None and path.exists() and not wanted.disabled:
            index = keeping.sound_index(path, again=self._command("once"))
            if wanted.mode == "all":
                index.close()
            else:
                self._index, self.replays = index, True
        elif path is not None and wanted.mode == "none" and not wanted.disabled:
            raise CaptureError(
                "capture-missing",
                f"there is no capture {_near(path)}",
                why="record mode none only replays what was recorded",
                help=self._command("once"),
            )
        if self._index is None or wanted.mode == "new_episodes":
            self.server = self._servers.of(wanted.server())
        if wanted.disabled and self.server is not None and self.server.direct:
            url = self.server.url
        else:
            self._thread.run(self._listen(), WITHIN)
            assert self._run is not None
            url = self._run.url
        run = None if wanted.disabled else self._run
        self.tap = Tap(url, run, self._thread, self.watcher, self.answers)

    async def _listen(self) -> None:
        off = self.wanted.disabled
        capture = None
        if not off:
            capture = self.wanted.scratch() / f"{keeping.file_name(self._short)}{keeping.SUFFIX}"
        self._run = HttpRun(
            self._settings(),
            capture=capture,
            view=self.watcher,
            judging=not off,
            sift=self.verdicts.sift,
            answering=None if off else self.answers.answering,
            pool=self._pool,
        )
        await self._run.start()
        if self._run.header is not None:
            self.verdicts.started = self._run.header.started
        if self.server is not None:
            self.server.heard_by(self._run)

    def _settings(self) -> TapSettings:
        options, server = self.options, self.server
        if self._index is not None:
            upstream, command = upstream_of(self._index), list[str]()
        else:
            assert server is not None
            upstream, command = server.url, server.command
        return TapSettings(
            upstream=upstream,
            command=command,
            port=0,
            headers=list(options.headers.items()),
            label=options.label,
            insecure=options.insecure,
            cacert=options.cacert,
            max_body=options.max_body,
            redact=options.redact,
            default_redaction=options.default_redaction,
            redact_key=options.redact_key,
        )

    def _pool(self) -> Pool:
        """Make what stands for connections: to a real server, a recorded one, or both."""
        real = None if self.server is None else self._real(self.server)
        if self._index is None:
            assert real is not None
            return real
        player = Player(
            self._index,
            Clock(asyncio.get_running_loop().call_later, None),
            after_last=self.options.after_last,
            on_miss="error" if real is None else "forward",
            report=self._missed,
        )
        target = None if self.server is None else parse_target(self.server.url)
        path = parse_target(upstream_of(self._index)).path
        return ReplayPool(player, target, path, real=real, forwarded=self._forward)

    def _real(self, server: Server) -> UpstreamPool:
        pool = server.pool()
        if pool is not None:
            return pool
        target = parse_target(server.url)
        options = self.options
        tls = tls_context(insecure=options.insecure, cacert=options.cacert) if target.tls else None
        return UpstreamPool(target, tls)

    def _missed(self, miss: Miss) -> None:
        error = miss.error
        error.help = self._command("new_episodes" if self.wanted.mode != "new_episodes" else "all")
        if str(error) not in map(str, self._misses):
            self._misses.append(error)

    def _forward(self, sink: ResponseSink) -> None:
        self._forwarded.add(sink.tape.exchange)  # type: ignore[attr-defined]

    # the end

    def verdict(self) -> str:
        """Say what fails the test so far, and was not told yet; empty where nothing does."""
        run = self._run
        if run is None or self.wanted.disabled:
            return ""
        self._thread.call(run.settle)
        # What is not needed is only told once nothing more can come, or at the very end.
        over = bool(self._unused()) and self._thread.run(run.deserted(LEAVE), WITHIN)
        return self._words(over=over)

    def _words(self, *, over: bool) -> str:
        """Say what was not told yet; `over`: nothing more will come through the tap."""
        parts = [str(error) for error in self._misses[self._misses_told :]]
        self._misses_told = len(self._misses)
        parts.append(self.verdicts.words())
        if over and not self._over:
            self._over = True
            parts += self._unused()
        return "\n".join(filter(None, parts))

    def _unused(self) -> list[str]:
        found = [
            f"tap_allow({each}) matches nothing in this test: take it out"
            for each in self.verdicts.unused()
        ]
        if self.options.strict_answers:
            found += [f"answer {name!r} was never used" for name in self.answers.unused()]
        return found

    def end(self) -> str:
        """Stop the tap, and keep what is to be kept; say what fails a test that passed so far.

        Raises:
            CaptureError: the capture cannot be written.
        """
        run = self._run
        if run is None:
            return ""
        try:
            self._stop(run)
            if self.wanted.disabled:
                return ""
            words = self._words(over=True) if self.passed else ""
            if self.passed and (run.lost or run.unjudged):
                lost = plural(run.lost + run.unjudged, "record")
                words = f"{words}\n{lost} of this test lost or not judged in time".strip()
            self.passed = self.passed and not words
            self._keep(run)
        finally:
            self.discard()
        return words

    def _stop(self, run: HttpRun) -> None:
        if self.server is not None:
            self.server.heard_by(None)
        self._thread.run(run.stop(), WITHIN)

    def _keep(self, run: HttpRun) -> None:
        path, recorded = self.wanted.capture, run.capture
        assert recorded is not None
        if self.passed and path is not None:
            if self._index is None:
                keeping.put(recorded, path)
                self.kept = path
            elif self._forwarded:
                joined = recorded.with_name(f"new-{recorded.name}")
                keeping.appended(path, recorded, self._forwarded, joined)
                keeping.put(joined, path)
                joined.unlink()
                self.kept = path
        if self.passed and not self.wanted.keep:
            recorded.unlink(missing_ok=True)
            recorded.parent.rmdir()
        elif self.kept is None:
            self.kept = recorded

    def discard(self) -> None:
        """Let go of what is held."""
        if self._index is not None:
            self._index.close()
            self._index = None

    def section(self) -> str:
        """Tell what passed, for the report of a test that failed; once."""
        run = self._run
        if self._told or run is None or self.wanted.disabled:
            return ""
        self._told = True

        def tell() -> str:
            run.settle()  # what passed last may not have been looked at yet
            return section(
                self.watcher,
                capture=run.capture,
                replayed=self.wanted.capture if self.replays else None,
                unsaved=self.wanted.capture,
                lines=list(self.server.lines) if self.server is not None else [],
                misses=self._misses,
            )

        return self._thread.call(tell)

    def _command(self, mode: str) -> str:
        return f"pytest {shlex.quote(self.wanted.name)} --tap-record-mode={mode}"

    @property
    def _short(self) -> str:
        return self.wanted.name.rpartition("::")[2]


def _near(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
