"""Several runs followed at once: each from its own file, through its own pipeline, to one view.

A run that has ended is let go: the view keeps what it shows of it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Protocol

from mcp_tap.capture.file import being_written
from mcp_tap.capture.tail import CaptureTail
from mcp_tap.cli import streams
from mcp_tap.cli.common import Output
from mcp_tap.core import clock
from mcp_tap.core.finding import Finding
from mcp_tap.core.records import AnyRecord, Header
from mcp_tap.errors import CaptureError
from mcp_tap.pipeline.spine import Pipeline
from mcp_tap.views.base import Change, RunFeed, RunsView, Stats
from mcp_tap.views.runs import run_name

EVERY = 0.03
"""Seconds between two looks at the files."""
QUIET = 1.0
"""Seconds without a new record after which it is checked whether anyone still writes."""
_TICK = 0.5
"""Seconds between two times a view is told that time passes in a quiet run."""


class Source(Protocol):
    """Tells which runs there are to follow."""

    def begun(self) -> list[Path]:
        """Name the files of runs that are there since the last look, each once."""


class Following:
    """One file: what is appended to it goes to a view; another run in its place is joined anew."""

    def __init__(self, path: Path, join: Callable[[Header], RunFeed | None]) -> None:
        """Follow the run in this file.

        Args:
            path: its first file.
            join: asked for where a run's changes go when its header is read; None: nowhere.

        Raises:
            CaptureError: the file cannot be opened.
        """
        self.tail = CaptureTail(path)
        self.records = 0
        self.over = False
        """No more will come, unless another run takes the file's place."""
        self._join = join
        self._feed: RunFeed | None = None
        self._pipeline = Pipeline()
        self._started: datetime | None = None
        self._now = 0.0
        self._heard = self._told = monotonic()

    @property
    def name(self) -> str:
        """What the run is called among others; before its header, the file's name."""
        header = self.tail.header
        return self.tail.path.name if header is None else run_name(header)

    @property
    def wanted(self) -> bool:
        """Tell whether a view shows it."""
        return self._feed is not None

    def poll(self) -> bool:
        """Pass on what is new; tell whether there may be more at once.

        Raises:
            CaptureError: the file is no capture, or cannot be read.
        """
        if self._take():
            return True
        if self.over:
            return False
        now = monotonic()
        if self.tail.clean:
            self.end()
        elif now - self._heard >= QUIET and not self._written():
            if self._take():  # the writer went on to another part between the two looks
                return True
            self.end()
        elif now - self._told >= _TICK and self._feed is not None:
            self._told = now
            self._feed.update((), self._clock())
        return False

    def end(self) -> None:
        """Take note that no more will come."""
        if self.over:
            return
        self.over = True
        if self._feed is not None:
            self._feed.update(self._pipeline.finish(), self._now)
            self._feed.finished()
        self._pipeline = Pipeline()

    def forget(self) -> None:
        """Let the view be told no more of it."""
        self._feed = None

    def close(self) -> None:
        """Close the file."""
        self.tail.close()

    def report(self, out: Output) -> None:
        """Say what could not be read, and how it stands if it has not ended."""
        name = self.tail.path.name
        if self.tail.damaged:
            many = "1 line" if self.tail.damaged == 1 else f"{self.tail.damaged} lines"
            out.warn(f"{many} of {name} could not be read")
        if self.tail.lost:
            out.warn(f"records of this run are missing: {self.tail.lost}")
        if not self.tail.clean:
            goes_on = self._written()
            fate = "is still being written" if goes_on else "has not ended: the run was killed"
            out.say(f"{name} {fate}")

    def _take(self) -> bool:
        records = self.tail.poll()
        if records:
            self._pass(records)
        if records or self.tail.behind:
            self._heard = self._told = monotonic()
            return True
        return False

    def _pass(self, records: list[AnyRecord]) -> None:
        changes: dict[tuple[str, int], Change] = {}
        found: list[Change] = []
        for record in records:
            if isinstance(record, Header):
                self._tell(changes, found)
                self._begin(record)
            self.records += 1
            if self._feed is None:
                continue
            for change in self._pipeline.feed(record):
                if isinstance(change, Finding):
                    found.append(change)
                else:
                    changes[type(change).__name__, change.number] = change
            self._now = record.t
        self._tell(changes, found)

    def _tell(self, changes: dict[tuple[str, int], Change], found: list[Change]) -> None:
        if self._feed is not None:
            self._feed.update([*changes.values(), *found], self._clock())
        changes.clear()
        found.clear()

    def _begin(self, header: Header) -> None:
        if self._feed is not None:
            self.end()
        self.over = False
        self.records = 0
        self._now = 0.0
        self._started = clock.read(header.started)
        self._feed = self._join(header)

    def _clock(self) -> float:
        """Give the time of the run: this machine's, while it goes on, for what is still open."""
        if self.tail.clean or self.tail.behind or self._started is None or not self._written():
            return self._now
        return max(self._now, (datetime.now(UTC) - self._started).total_seconds())

    def _written(self) -> bool:
        return being_written(self.tail.current)


class Watching:
    """The runs that are followed now, and those that join them."""

    def __init__(
        self,
        source: Source,
        view: RunsView,
        stop: threading.Event,
        *,
        wanted: Callable[[Header], bool] = lambda _: True,
        joined: Callable[[Header, Path], None] = lambda _, __: None,
        ended: Callable[[Following], None] = lambda _: None,
    ) -> None:
        """Follow what `source` tells of until `stop` is set.

        Args:
            source: where runs come from.
            view: what shows them.
            stop: ends it.
            wanted: which of them are shown.
            joined: told of each that is, and its first file.
            ended: told of each that is let go.
        """
        self.followed: dict[Path, Following] = {}
        self._source = source
        self._view = view
        self._stop = stop
        self._wanted = wanted
        self._joined = joined
        self._ended = ended
        self._past: Path | None = None
        self._gone = Stats()

    def show_past(self, path: Path) -> None:
        """Show a run that is over until the first one begins, which takes its place."""
        self._past = path
        self._follow(path)

    def run(self, *, waiting: Callable[[], None], one: bool = False, stay: bool = True) -> None:
        """Follow until told to stop.

        Args:
            waiting: called once if there is nothing to follow at first.
            one: the source is one file: what is wrong with it is raised, and another run in its
                place is waited for.
            stay: else end when that run has ended.

        Raises:
            CaptureError: the one file is no capture, or cannot be read.
        """
        patient = False
        try:
            while not self._stop.is_set():
                if getattr(self._view, "gone", False):
                    raise streams.failure() or BrokenPipeError
                for path in self._source.begun():
                    self._follow(path, strict=one)
                if not self.followed and not patient:
                    waiting()
                patient = True
                busy = self._look(strict=one)
                if one and not stay and self.followed and not busy and self._all_over():
                    return
                if not busy:
                    self._stop.wait(EVERY)
        finally:
            for following in self.followed.values():
                following.end()

    def close(self) -> None:
        """Close what is still open."""
        for following in self.followed.values():
            following.close()

    def stats(self) -> Stats:
        """Count, for the console's header; from any thread."""
        now = [following for following in list(self.followed.values()) if following.wanted]
        return Stats(
            records=self._gone.records + sum(f.records for f in now),
            bytes=self._gone.bytes + sum(f.tail.size for f in now),
            lost=self._gone.lost + sum(f.tail.lost for f in now),
        )

    def _look(self, *, strict: bool) -> bool:
        busy = False
        for path, following in list(self.followed.items()):
            try:
                busy = following.poll() or busy
            except CaptureError:
                if strict:
                    raise
                following.end()  # not ours: something else that is called .jsonl
            refused = following.tail.header is not None and not following.wanted
            if (following.over and not strict) or refused:
                self._let_go(path)
        return busy

    def _follow(self, path: Path, *, strict: bool = False) -> None:
        if path in self.followed:
            return
        try:
            self.followed[path] = Following(path, partial(self._join, path))
        except CaptureError:
            if strict:
                raise

    def _join(self, path: Path, header: Header) -> RunFeed | None:
        if not self._wanted(header):
            return None
        alone = self._past is not None and path != self._past
        if alone:
            self._forget_past()
        self._joined(header, path)
        return self._view.join(header, alone=alone)

    def _forget_past(self) -> None:
        past = None if self._past is None else self.followed.get(self._past)
        if past is not None:
            past.forget()
        self._past = None
        self._gone = Stats()

    def _let_go(self, path: Path) -> None:
        following = self.followed.pop(path)
        following.close()
        if following.wanted:
            was = self._gone
            self._gone = Stats(
                records=was.records + following.records,
                bytes=was.bytes + following.tail.size,
                lost=was.lost + following.tail.lost,
            )
            self._ended(following)

    def _all_over(self) -> bool:
        return all(following.over for following in self.followed.values())
