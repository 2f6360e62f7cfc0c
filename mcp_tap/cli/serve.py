"""One lifetime of the live tap on the command line: begin, announce, wait, end.

Rules of this file:

- stdout belongs to the view, or to the child; the tap's own words go to stderr.
- SIGINT, SIGTERM and SIGHUP end the run cleanly; a child gets them too and has `GRACE` seconds.
- Ctrl-C in a terminal reaches the child without us.  What it means is then the child's to say (an
  interactive client only cancels something), and the tap ends when the child does.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import shlex
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec

from mcp_tap.capture.store import home, new_path
from mcp_tap.cli import streams
from mcp_tap.cli.common import Output
from mcp_tap.cli.looks import ViewName, make_view, records_of, run_stats
from mcp_tap.cli.values import LOOPBACK
from mcp_tap.core.text import plural, safe
from mcp_tap.errors import TapError, UsageError
from mcp_tap.net.guard import is_loopback
from mcp_tap.proxy.run import HttpRun
from mcp_tap.proxy.settings import TapSettings
from mcp_tap.views.base import View

_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - compared, not bound
LOOK = 0.2
"""Seconds between two looks at whether the view still has a reader."""
GRACE = 1.0
"""Seconds a child has between the signal passed on to it and its end by force."""


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """What a live command is asked to do."""

    settings: TapSettings
    view: ViewName
    write: str | None = None
    ready_file: str | None = None
    child: list[str] | None = None


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


class Ending:
    """What ends the run: a signal, the child, or the person at the console."""

    def __init__(self) -> None:
        """Listen to signals from now on."""
        self._signal: signal.Signals | None = None
        self._loop = asyncio.get_running_loop()
        self._ended = asyncio.Event()
        self._child: asyncio.subprocess.Process | None = None
        for each in ("SIGINT", "SIGTERM", "SIGHUP"):
            number = getattr(signal, each, None)
            if number is None or (each == "SIGHUP" and signal.getsignal(number) == signal.SIG_IGN):
                continue  # under nohup a lost terminal is no reason to end
            with contextlib.suppress(NotImplementedError):
                self._loop.add_signal_handler(number, self._on_signal, number)

    @property
    def how(self) -> Literal["end", "signal", "child"]:
        """Say what ended the run, once it has ended."""
        if self._signal is not None:
            return "signal"
        return "end" if self._child is None else "child"

    @property
    def interrupted(self) -> bool:
        """Tell whether SIGINT ended it."""
        return self._signal == signal.SIGINT

    def quit(self) -> None:
        """End the run as from within; may be called from any thread."""
        self._loop.call_soon_threadsafe(self._ended.set)

    async def wait(self) -> None:
        """Return when a signal came, or the person quit the console."""
        await self._ended.wait()

    async def child(self, line: list[str], url: str) -> int:
        """Run the child to its end and give its exit code, as a shell would tell it."""
        try:
            self._child = await asyncio.create_subprocess_exec(
                *line, env={**os.environ, "MCP_TAP_URL": url}
            )
        except OSError as error:
            raise UsageError(
                "command-not-found",
                f"{line[0]} cannot be run",
                why=(error.strerror or "unknown reason").lower(),
            ) from error
        if self._signal is not None:
            self._pass_on(self._signal)
        code = await self._child.wait()
        return 128 - code if code < 0 else code

    def _on_signal(self, number: signal.Signals) -> None:
        first, self._signal = self._signal is None, number
        self._ended.set()
        if self._child is None or self._child.returncode is not None:
            return
        if number == signal.SIGINT and _in_terminal():
            return
        if first:
            self._pass_on(number)
        else:
            self._kill()

    def _pass_on(self, number: signal.Signals) -> None:
        assert self._child is not None
        with contextlib.suppress(ProcessLookupError):
            self._child.send_signal(number)
        self._loop.call_later(GRACE, self._kill)

    def _kill(self) -> None:
        if self._child is not None and self._child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._child.kill()


def _in_terminal() -> bool:
    """Tell whether this process group has the terminal, so that Ctrl-C reaches all of it."""
    try:
        return os.tcgetpgrp(0) == os.getpgrp()
    except (OSError, AttributeError):
        return False


async def _serve(job: Job, out: Output) -> int:
    ending = Ending()
    settings = job.settings
    capture = Path(job.write) if job.write else new_path(settings.label, datetime.now(UTC))
    view = make_view(
        job.view,
        out,
        stream=sys.stderr if job.child else None,  # stdout is the child's
        on_quit=ending.quit,
        stats=lambda: run_stats(run, capture),
    )
    judging = job.view != "none"  # nobody would see what was found
    run = HttpRun(settings, capture=capture, view=view, judging=judging)
    if job.ready_file:
        _forget_ready(Path(job.ready_file))
    try:
        await run.start()
    except TapError as error:
        raise _port_taken(error, settings) if error.code == "port-taken" else error from None
    gc.freeze()
    code = 0
    aborted = False
    onlooker = Onlooker(view, out)
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
        if aborted and not run.exchanges:
            capture.unlink(missing_ok=True)
    if isinstance(streams.failure(), BrokenPipeError):
        streams.drop()  # what was recorded is whole: no reason to end as a failure
    if ending.interrupted and sys.stderr.isatty():
        out.say("")  # the terminal stands behind its ^C
    out.say(_closing(run, capture))
    return code


def _announce(job: Job, run: HttpRun, capture: Path, view: View, out: Output) -> None:
    """Say where the tap listens and records, and what is dangerous about it."""
    settings = job.settings
    if job.view == "console":  # which says the rest in its first line, on this same terminal
        for text in warnings(settings):
            view.notice(text)
        return
    for text in warnings(settings):
        out.warn(text)
    out.say(f"mcp-tap  {run.url} -> {settings.upstream}\n         recording {safe(str(capture))}")
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


def spec_of(capture: Path) -> str:
    """Name a capture as briefly as `show` in this folder understands it."""
    whole = capture.absolute()
    run = capture.name.removesuffix(".jsonl")
    if whole.parent == home().absolute() and run != capture.name and not Path(run).exists():
        return run
    here = Path.cwd()
    near = str(whole.relative_to(here)) if whole.is_relative_to(here) else str(capture)
    return f"./{near}" if near.startswith("-") else near


def _closing(run: HttpRun, capture: Path) -> str:
    lost = f", {run.lost} LOST" if run.lost else ", none lost"
    return (
        f"mcp-tap  {plural(run.exchanges, 'exchange')}, {plural(records_of(run), 'record')}{lost}\n"
        f"         mcp-tap show {shlex.quote(spec_of(capture))}"
    )


def _forget_ready(path: Path) -> None:
    """Take away the file of an earlier run, whose address somebody could take for ours."""
    with contextlib.suppress(OSError):  # what is wrong with it is told when it is written
        path.unlink()


def _write_ready(path: Path, url: str, capture: Path) -> None:
    """Put the line there in one step: who sees the file sees all of it."""
    ready = Ready(url=url, web=None, capture=str(capture.absolute()), pid=os.getpid())
    name = None
    try:
        with tempfile.NamedTemporaryFile(
            dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as file:
            name = file.name
            file.write(msgspec.json.encode(ready) + b"\n")
        Path(name).replace(path)
    except OSError as error:
        if name is not None:
            Path(name).unlink(missing_ok=True)
        raise UsageError(
            "ready-file",
            f"cannot write the ready file {path}",
            why=(error.strerror or "unknown reason").lower(),
        ) from error


def _port_taken(error: TapError, settings: TapSettings) -> TapError:
    """Add to the error the command with a port that is free."""
    free = _free_port(settings.host, settings.port)
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    listen = str(free) if host == LOOPBACK else f"{host}:{free}"
    return UsageError(
        error.code,
        error.what,
        where=error.where,
        why=error.why or "another program listens there",
        help=f"mcp-tap http {shlex.quote(settings.upstream)} --listen {listen}",
    )


def _free_port(host: str, port: int) -> int:
    """Find the next port that can be bound; 0, which finds one itself, where none is near."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for number in range(port + 1, min(port + 50, 65536)):
        with socket.socket(family) as probe, contextlib.suppress(OSError):
            probe.bind((host, number))
            return number
    return 0
