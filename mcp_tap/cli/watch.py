"""`mcp-tap watch`: a run as it goes on, from the file it is recorded to."""

from __future__ import annotations

import signal
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from mcp_tap.capture.file import being_written
from mcp_tap.cli import streams
from mcp_tap.cli.common import Output, TapCommand, output
from mcp_tap.core import clock
from mcp_tap.core.finding import Finding
from mcp_tap.core.model import Call
from mcp_tap.core.records import Header
from mcp_tap.errors import UsageError
from mcp_tap.pipeline.spine import Pipeline
from mcp_tap.views.base import Change, Stats, View
from mcp_tap.views.machine import call_doc, encode

if TYPE_CHECKING:
    from mcp_tap.capture.tail import CaptureTail

EVERY = 0.05
"""Seconds between two looks at the file."""
_MOST_DONE = 10_000
QUIET = 1.0
"""Seconds without a new record after which it is checked whether anyone still writes."""


@click.command(
    "watch",
    cls=TapCommand,
    epilog="""\
\b
Examples:
  mcp-tap watch                  the newest run
  mcp-tap watch run.jsonl --json | jq .outcome
""",
)
@click.argument("capture", metavar="[CAPTURE]", required=False)
def command(capture: str | None) -> int:
    """Show a run while it is recorded: the newest, or CAPTURE, a path or a run id.

    The newest is looked for in the captures folder; runs that ended without any traffic are passed
    over.

    In a terminal this is the console, which stays until q; else lines of text, until the run ends.
    With --json, each call is one line when it has ended.
    """
    from mcp_tap.capture.store import find
    from mcp_tap.capture.tail import CaptureTail
    from mcp_tap.cli.looks import ViewName, make_view

    if capture == "-":
        raise UsageError("usage", "watch follows a file", help="mcp-tap show -")
    out = output()
    path = find(capture)
    if capture is None and (out.verbose or sys.stderr.isatty()):
        out.say(f"the newest run: {path}")
    tail = CaptureTail(path)
    console = not out.json and sys.stdin.isatty() and sys.stdout.isatty()
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    following = Following(tail, stop)
    view: View = JsonLines(click.echo)
    if not out.json:
        name: ViewName = "console" if console else "text"
        view = make_view(name, out, on_quit=stop.set, stats=following.stats)
    try:
        following.run(view, stay=console)
    finally:
        view.close()
        tail.close()
    following.report(out)
    return 0


class Following:
    """Feeds what is appended to a capture to a view."""

    def __init__(self, tail: CaptureTail, stop: threading.Event) -> None:
        """Read from `tail` until `stop` is set."""
        self.tail = tail
        self.records = 0
        self.ended = False
        self._stop = stop
        self._pipeline = Pipeline()
        self._started: datetime | None = None
        self._now = 0.0

    def run(self, view: View, *, stay: bool) -> None:
        """Follow the run to its end, or, with `stay`, until told to stop."""
        quiet = 0.0
        while not self._stop.is_set():
            if getattr(view, "gone", False):
                raise streams.failure() or BrokenPipeError
            if self._poll(view):
                quiet = 0.0
                continue
            quiet += EVERY
            if not self.ended and (self.tail.clean or (quiet >= QUIET and not self._written())):
                self._end(view)
            if self.ended and not stay:
                return
            if not self.ended and int(quiet / EVERY) % 10 == 0:
                view.update((), self._clock())
            self._stop.wait(EVERY)
        if not self.ended:
            self._end(view)

    def stats(self) -> Stats:
        """Count, for the console's header."""
        try:
            size = self.tail.path.stat().st_size
        except OSError:
            size = 0
        return Stats(records=self.records, bytes=size, lost=self.tail.lost)

    def report(self, out: Output) -> None:
        """Say what could not be read."""
        if self.tail.damaged:
            many = "1 line" if self.tail.damaged == 1 else f"{self.tail.damaged} lines"
            out.warn(f"{many} of {self.tail.path.name} could not be read")
        if self.tail.lost:
            out.warn(f"records of this run are missing: {self.tail.lost}")
        if not self.tail.clean:
            goes_on = self._written()
            fate = "is still being written" if goes_on else "has not ended: the run was killed"
            out.say(f"{self.tail.path.name} {fate}")

    def _poll(self, view: View) -> bool:
        records = self.tail.poll()
        changes: dict[tuple[str, int], Change] = {}
        found: list[Change] = []
        for record in records:
            if isinstance(record, Header):
                self._begin(record, view)
                changes.clear()
                found.clear()
            self.records += 1
            for change in self._pipeline.feed(record):
                if isinstance(change, Finding):
                    found.append(change)
                else:
                    changes[type(change).__name__, change.number] = change
            self._now = record.t
        if records:
            view.update([*changes.values(), *found], self._clock())
        return bool(records) or self.tail.behind

    def _begin(self, header: Header, view: View) -> None:
        self._pipeline = Pipeline()
        self.records = 0
        self.ended = False
        self._started = clock.read(header.started)
        view.start(header)

    def _clock(self) -> float:
        """Give the time of the run: this machine's, while it goes on, for what is still open."""
        if self.tail.clean or self.tail.behind or self._started is None or not self._written():
            return self._now
        return max(self._now, (datetime.now(UTC) - self._started).total_seconds())

    def _written(self) -> bool:
        return being_written(self.tail.current)

    def _end(self, view: View) -> None:
        self.ended = True
        view.update(self._pipeline.finish(), self._now)
        finished: Any = getattr(view, "finished", None)
        if finished is not None:
            finished()


class JsonLines:
    """A view for programs: each call as a line of JSON, once, when it has ended."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        """Give each line to `write`."""
        self._write = write
        self._done: OrderedDict[int, None] = OrderedDict()

    def start(self, header: Header) -> None:  # noqa: ARG002 - the protocol's signature
        """Begin anew."""
        self._done.clear()

    def update(self, changes: Sequence[Change], now: float) -> None:  # noqa: ARG002 - as above
        """Write the calls that have ended."""
        for change in changes:
            if isinstance(change, Call) and change.end is not None:
                if change.number in self._done:
                    continue
                self._done[change.number] = None
                if len(self._done) > _MOST_DONE:
                    self._done.popitem(last=False)
                self._write(encode(call_doc(change)))

    def notice(self, text: str) -> None:
        """Say nothing: stdout is for calls."""

    def close(self) -> None:
        """Do nothing."""
