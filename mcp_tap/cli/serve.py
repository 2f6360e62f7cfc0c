"""One lifetime of the live tap on the command line: begin, announce, wait, end.

Rules of this file:

- stdout belongs to the view, or to the child; the tap's own words go to stderr.
- The exit code is the child's where it is not 0, else that of what was found.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import shlex
import socket
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from mcp_tap.capture.replacing import replacing
from mcp_tap.capture.store import new_path
from mcp_tap.cli import streams
from mcp_tap.cli.answering import LiveAnswers
from mcp_tap.cli.bridged import BridgedServer
from mcp_tap.cli.closing import checked, closing
from mcp_tap.cli.common import Output
from mcp_tap.cli.ending import Ending
from mcp_tap.cli.judging import LiveVerdicts
from mcp_tap.cli.looks import ViewName, make_view, run_stats
from mcp_tap.cli.output import printable, why_not
from mcp_tap.cli.replayed import ReplayedServer
from mcp_tap.cli.upstream import WAIT, UpstreamServer
from mcp_tap.cli.upstream_lines import ServerLines
from mcp_tap.cli.values import LOOPBACK
from mcp_tap.core.text import safe
from mcp_tap.errors import TapError, UsageError
from mcp_tap.net.guard import is_loopback
from mcp_tap.net.target import parse_target
from mcp_tap.proxy.run import HttpRun
from mcp_tap.proxy.settings import TapSettings
from mcp_tap.views.base import View

_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - compared, not bound
_HINT = "does the client take its address from MCP_TAP_URL?"
LOOK = 0.2
"""Seconds between two looks at whether the view still has a reader."""


Server: TypeAlias = UpstreamServer | BridgedServer | ReplayedServer


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """What a live command is asked to do."""

    settings: TapSettings
    view: ViewName
    write: str | None = None
    ready_file: str | None = None
    child: list[str] | None = None
    verdicts: LiveVerdicts
    """What becomes of what rules find."""
    check: bool = False
    """The exit code follows what was found."""
    answers: LiveAnswers
    """Who answers what the server asks."""
    upstream: list[str] | None = None
    """Command of the server, where the tap starts and stops it."""
    upstream_wait: float = WAIT
    """Seconds until it has to accept connections."""
    stdio: list[str] | None = None
    """Command of a server that speaks over stdio, in the place of an upstream."""
    replayed: ReplayedServer | None = None
    """Captures, in the place of an upstream."""


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """The line in the ready file."""

    url: str
    web: str | None
    capture: str
    pid: int


def main(job: Job, out: Output) -> int:
    """Run the tap until it is told to end, and give the exit code."""
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(_serve(job, out))


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Take uvloop where it is installed (the `speed` extra)."""
    try:
        import uvloop
    except ImportError:
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


async def _serve(job: Job, out: Output) -> int:
    """Have the server up before the run begins, where it is ours to start, and down after it."""
    ending = Ending()
    lines = ServerLines()
    heard = job.view != "console" and not out.quiet
    show = lines if heard else lambda _: None
    server: Server
    if job.replayed is not None:
        server = job.replayed
    elif job.stdio is not None:
        server = BridgedServer(job.stdio, show=show, on_end=out.warn)
    else:
        target = parse_target(job.settings.upstream)
        server = UpstreamServer(
            job.upstream, target, show=show, wait=job.upstream_wait, on_end=out.warn
        )
    job.answers.quiet(lines.held)
    try:
        if not await server.start(lambda: bool(ending.code)):
            return ending.code
        if isinstance(server, BridgedServer):
            job = replace(job, settings=server.settings(job.settings))
        return await _tap(job, out, ending, server)
    finally:
        await server.stop(lambda: ending.hurried)


async def _tap(job: Job, out: Output, ending: Ending, server: Server) -> int:
    """Run the tap until it is told to end."""
    settings = job.settings
    capture = Path(job.write) if job.write else new_path(settings.label, datetime.now(UTC))
    view = make_view(
        job.view,
        out,
        stream=sys.stderr if job.child else None,  # stdout is the child's
        on_quit=ending.quit,
        stats=lambda: run_stats(run, capture),
    )
    verdicts = job.verdicts
    judging = job.check or job.view != "none"  # else nobody would see what was found
    run = HttpRun(
        settings,
        capture=capture,
        view=view,
        judging=judging,
        sift=verdicts.sift,
        answering=job.answers.begin(view, " ".join(settings.command) or settings.upstream, out),
        pool=server.pool if isinstance(server, ReplayedServer | BridgedServer) else None,
    )
    if job.ready_file:
        _forget_ready(Path(job.ready_file))
    try:
        await run.start()
    except TapError as error:
        raise (
            _port_taken(error, settings, _spelled(job)) if error.code == "port-taken" else error
        ) from None
    gc.freeze()
    verdicts.started = run.header.started if run.header is not None else ""
    code = 0
    aborted = False
    onlooker = Onlooker(view, out)
    _listen(server, run, view)
    try:
        if job.ready_file:
            _write_ready(Path(job.ready_file), run.url, capture)
        _announce(job, run, capture, view, out)
        if job.child is None:
            await ending.wait()
        else:
            code = await ending.child(job.child, run.url)
    except TapError:
        aborted = True
        raise
    finally:
        onlooker.end()
        await run.stop(ending.how)
        job.answers.close()
        server.on_end = out.warn  # the view is closed
        await server.stop(lambda: ending.hurried)  # its last words come before ours
        if aborted and not run.exchanges:
            capture.unlink(missing_ok=True)
    if isinstance(streams.failure(), BrokenPipeError):
        streams.drop()  # what was recorded is whole: no reason to end as a failure
    if ending.interrupted and sys.stderr.isatty():
        out.say("")  # the terminal stands behind its ^C
    unanswered = job.answers.code(out)
    failed = "FAILED the check: " if job.check and verdicts.failed else ""
    out.say(closing(run, capture, failed + verdicts.words))
    missed = server.code if isinstance(server, ReplayedServer) else 0
    if code or unanswered or missed or not job.check:
        return code or unanswered or missed
    return checked(run, capture, verdicts, hint=_HINT)


def _listen(server: Server, run: HttpRun, view: View) -> None:
    """Let what the server says beside the traffic be seen."""
    server.on_end = view.notice
    if isinstance(server, BridgedServer):
        server.heard = run.heard


def _announce(job: Job, run: HttpRun, capture: Path, view: View, out: Output) -> None:
    """Say where the tap listens and records, and what is dangerous about it."""
    settings = job.settings
    if job.view == "console":  # which says the rest in its first line, on this same terminal
        for text in warnings(settings):
            view.notice(text)
        return
    for text in warnings(settings):
        out.warn(text)
    upstream = run.header.upstream if run.header is not None else settings.upstream
    played = "" if job.replayed is None else job.replayed.words
    beyond = f"-> {safe(upstream)}" if job.replayed is None else f"replays {played}"
    out.say(f"mcp-tap  {run.url} {beyond}\n         recording {safe(str(capture))}")
    if settings.host in _EVERYWHERE and not settings.allow_host:
        out.say(
            "         listening on all addresses; clients that dial another name than"
            " localhost need --allow-host NAME"
        )


def warnings(settings: TapSettings) -> Iterator[str]:
    """Say what an address beyond this machine, or an open guard, means."""
    if not is_loopback(settings.host):
        yield (
            f"listening on {settings.host}: other machines can reach the server through the tap,"
            " and what they send is recorded"
        )
    if "*" in settings.allow_host and "*" in settings.allow_origin:
        yield "any web page in your browser can reach the server through the tap"


class Onlooker:
    """Says once that nobody can see the view any more."""

    def __init__(self, view: View, out: Output) -> None:
        """Look from now on."""
        self._view = view
        self._out = out
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_soon(self._look)

    def end(self) -> None:
        """Look no more."""
        self._timer.cancel()

    def _look(self) -> None:
        if not getattr(self._view, "gone", False):
            self._timer = self._loop.call_later(LOOK, self._look)
            return
        failure = streams.failure()
        left = failure is None or isinstance(failure, BrokenPipeError)
        words = "the view's reader is gone" if failure is None or left else streams.words(failure)
        self._out.say(f"mcp-tap: {words}; still recording")


def _forget_ready(path: Path) -> None:
    """Take away the file of an earlier run, whose address somebody could take for ours."""
    with contextlib.suppress(OSError):  # what is wrong with it is told when it is written
        path.unlink()


def _write_ready(path: Path, url: str, capture: Path) -> None:
    """Put the line there in one step: who sees the file sees all of it."""
    ready = Ready(url=url, web=None, capture=printable(capture.absolute()), pid=os.getpid())
    try:
        with replacing(path) as file:
            file.write(msgspec.json.encode(ready) + b"\n")
    except OSError as error:
        why, help = why_not(path, error)
        raise UsageError(
            "ready-file", f"cannot write the ready file {path}", why=why, help=help
        ) from error


def _port_taken(error: TapError, settings: TapSettings, spelled: str) -> TapError:
    """Add to the error the command, as `spelled` without it, with a port that is free."""
    free = _free_port(settings.host, settings.port)
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    listen = str(free) if host == LOOPBACK else f"{host}:{free}"
    return UsageError(
        error.code,
        error.what,
        where=error.where,
        why=error.why or "another program listens there",
        help=f"mcp-tap {spelled} --listen {listen}",
    )


def _spelled(job: Job) -> str:
    """Write the command and its upstream as a command line has them."""
    if job.replayed is not None:
        return f"replay server {shlex.join(job.replayed.specs)}"
    if job.settings.command:
        return f"http --stdio {shlex.quote(shlex.join(job.settings.command))}"
    return f"http {shlex.quote(job.settings.upstream)}"


def _free_port(host: str, port: int) -> int:
    """Find the next port that can be bound; 0, which finds one itself, where none is near."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for number in range(port + 1, min(port + 50, 65536)):
        with socket.socket(family) as probe, contextlib.suppress(OSError):
            probe.bind((host, number))
            return number
    return 0
