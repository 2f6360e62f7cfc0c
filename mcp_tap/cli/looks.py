"""From the words of `--view` to a view."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TextIO, TypeAlias

from mcp_tap.capture.parts import later_parts
from mcp_tap.cli.common import Output
from mcp_tap.core.text import safe
from mcp_tap.views.base import NullView, Stats, View

if TYPE_CHECKING:
    from mcp_tap.views.console import ConsoleView
    from mcp_tap.views.text import TextView

ViewName: TypeAlias = Literal["console", "text", "none"]


class Ran(Protocol):
    """A run, over HTTP or stdio, as far as it is counted."""

    @property
    def exchanges(self) -> int:
        """Exchanges seen so far."""

    @property
    def records(self) -> int:
        """Records made so far."""

    @property
    def lost(self) -> int:
        """Records that could not be written."""

    @property
    def unjudged(self) -> int:
        """Records that were not analysed."""


def make_view(
    name: ViewName,
    out: Output,
    *,
    stream: TextIO | None = None,
    on_quit: Callable[[], None] | None = None,
    stats: Callable[[], Stats] | None = None,
) -> View:
    """Make a view that looks as this command was asked to.

    The text view writes to `stream` (stdout), and the tap's own words to stderr.  `on_quit` and
    `stats` are the console's: the one is called from its thread when `q` is pressed, the other
    gives the numbers for its first line.
    """
    stream = stream or sys.stdout
    if name == "none" or stream is None:  # None: we were started with a closed stdout
        return NullView(lambda text: out.say(f"mcp-tap: {safe(text)}"))
    return terminal_view(name, out, stream=stream, on_quit=on_quit, stats=stats)


def terminal_view(
    name: Literal["console", "text"],
    out: Output,
    *,
    stream: TextIO | None = None,
    on_quit: Callable[[], None] | None = None,
    stats: Callable[[], Stats] | None = None,
) -> ConsoleView | TextView:
    """Make a view that shows something, of one run or of several; as `make_view` does."""
    stream = stream or sys.stdout
    colored = out.colored(stream)
    if name == "console":
        from mcp_tap.views.console import ConsoleView

        keys = sys.stdin.fileno() if os.isatty(0) else None
        return ConsoleView(
            stream, keys=keys, color=colored, ascii=out.ascii, on_quit=on_quit, stats=stats
        )
    from mcp_tap.views.text import TextView

    return TextView(stream, color=colored, ascii=out.ascii, notices=sys.stderr)


def run_stats(run: Ran, capture: Path) -> Stats:
    """Count what a run has recorded so far, for the console's first line."""
    return Stats(records=records_of(run), bytes=_bytes(capture), lost=run.lost)


def records_of(run: Ran) -> int:
    """Count the records, the header too: `seq` counts from its 0."""
    return run.records + 1


def _bytes(capture: Path) -> int:
    """Add up the parts of the capture as they are now."""
    with contextlib.suppress(OSError):
        return sum(part.stat().st_size for part in [capture, *later_parts(capture)])
    return 0
