"""`mcp-tap watch`: runs as they go on, from the files they are recorded to."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from mcp_tap.capture.running import OneFile, RunsOf
from mcp_tap.capture.store import find, home, newest
from mcp_tap.cli.common import Output, TapCommand, TapContext, option, output
from mcp_tap.core.model import Call
from mcp_tap.core.records import Header
from mcp_tap.errors import CaptureError, UsageError
from mcp_tap.views.base import Change
from mcp_tap.views.machine import encode, watched_doc
from mcp_tap.views.runs import run_name, run_words

if TYPE_CHECKING:
    from mcp_tap.cli.watching import Following
    from mcp_tap.views.base import RunsView

_MOST_DONE = 10_000
"""Calls that are remembered as told; of more, the newest."""


@click.command(
    "watch",
    cls=TapCommand,
    epilog="""\
\b
Examples:
  mcp-tap watch                  all that is being recorded
  mcp-tap watch --label files    of that, what is called files
  mcp-tap watch files-7f3a       one run
  mcp-tap watch run.jsonl --json | jq .outcome
""",
)
@click.argument("capture", metavar="[CAPTURE]", required=False)
@option(
    "--label",
    metavar="GLOB",
    help="Only runs with such a label; of runs without one, such a command.",
)
@option(
    "--stay",
    is_flag=True,
    help="When the run in CAPTURE has ended, wait for the next one in the same file.",
)
@click.pass_context
def command(ctx: click.Context, /, capture: str | None, label: str | None, *, stay: bool) -> int:
    """Show runs while they are recorded: all of them, or the one in CAPTURE.

    Without CAPTURE, runs that begin meanwhile join, from any terminal or client; with several, each
    line says which run it is of.  Where nothing is being recorded, the first run is waited for.
    CAPTURE is a run id, or a path, which need not be there yet.

    In a terminal this is the console, which stays until q; else lines of text.  With --json, each
    call is one line when it has ended, and `run` says where.  Lines of CAPTURE end with its run.
    """
    from mcp_tap.cli.looks import terminal_view
    from mcp_tap.cli.watching import Watching

    if capture == "-":
        raise UsageError("usage", "watch follows a file", help="mcp-tap show -")
    if capture is not None and label is not None:
        if isinstance(ctx, TapContext) and ctx.origins.get("label") == "command line":
            raise UsageError("usage", "--label chooses among runs, and CAPTURE is one already")
        label = None  # a setting is for where there is something to choose
    out = output()
    console = not out.json and sys.stdin.isatty() and sys.stdout.isatty()
    source = _source(capture)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    view: RunsView = JsonLines(click.echo)
    if not out.json:
        name: Literal["console", "text"] = "console" if console else "text"
        view = terminal_view(name, out, on_quit=stop.set, stats=lambda: watching.stats())  # noqa: PLW0108 - made below
    told = Told(out, several=capture is None, silent=console)
    watching = Watching(
        source,
        view,
        stop,
        wanted=lambda header: label is None or fnmatchcase(run_words(header), label),
        joined=told.joined,
        ended=told.ended,
    )
    if console and capture is None and label is None:
        with contextlib.suppress(CaptureError):
            watching.show_past(newest())

    def waiting() -> None:
        words = _waiting(source, label)
        view.wait(words)
        if not console:
            out.say(words)

    try:
        watching.run(waiting=waiting, one=capture is not None, stay=stay or console)
    finally:
        view.close()
        watching.close()
    for following in watching.followed.values():
        following.report(out)
    return 0


def _source(capture: str | None) -> RunsOf | OneFile:
    """Tell where runs come from.

    Raises:
        CaptureError: there is no such run, and no file of that name can come.
    """
    if capture is None:
        return RunsOf(home())
    try:
        return OneFile(find(capture))
    except CaptureError as error:
        path = Path(capture)
        may_come = error.code == "capture-missing" and path.parent.is_dir()
        if may_come and (path.name != capture or path.suffix == ".jsonl"):
            return OneFile(path)
        raise


def _waiting(source: RunsOf | OneFile, label: str | None) -> str:
    if isinstance(source, OneFile):
        return f"there is no {source.path} yet; waiting for it"
    what = "no run" if label is None else f"no run with the label {label}"
    return f"{what} is being recorded in {source.folder}; waiting for one"


class Told:
    """What a person is told, on stderr, of runs that come and go."""

    def __init__(self, out: Output, *, several: bool, silent: bool) -> None:
        """Speak through `out`; of `several` runs, or of one that was named; or not at all."""
        self._out = out
        self._silent = silent
        self._chatty = several and not silent and (out.verbose > 0 or sys.stderr.isatty())

    def joined(self, header: Header, path: Path) -> None:
        """Say that a run is shown from now on."""
        if self._chatty:
            self._out.say(f"{run_name(header)}: {path}")

    def ended(self, following: Following) -> None:
        """Say how a run ended; nothing, as a rule, of one that ended well."""
        if self._silent:
            return
        following.report(self._out)
        if self._chatty and following.tail.clean:
            self._out.say(f"{following.name} has ended")


class JsonLines:
    """A view for programs: each call as a line of JSON, once, when it has ended."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        """Give each line to `write`."""
        self._write = write

    def wait(self, text: str) -> None:
        """Say nothing: stdout is for calls."""

    def join(self, header: Header, *, alone: bool = False) -> JsonFeed:  # noqa: ARG002 - as others
        """Take a further run."""
        return JsonFeed(header.run, self._write)

    def close(self) -> None:
        """Do nothing."""


class JsonFeed:
    """The calls of one run."""

    def __init__(self, run: str, write: Callable[[bytes], None]) -> None:
        """Give each line to `write`."""
        self._run = run
        self._write = write
        self._done: OrderedDict[int, None] = OrderedDict()

    def update(self, changes: Sequence[Change], now: float) -> None:  # noqa: ARG002 - as others
        """Write the calls that have ended."""
        for change in changes:
            if isinstance(change, Call) and change.end is not None:
                if change.number in self._done:
                    continue
                self._done[change.number] = None
                if len(self._done) > _MOST_DONE:
                    self._done.popitem(last=False)
                self._write(encode(watched_doc(change, self._run)))

    def finished(self) -> None:
        """Do nothing: what is open has not ended."""
