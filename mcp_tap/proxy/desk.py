"""Where the data path leaves its reports, and where they are worked on when the bytes are gone.

Two steps with different promises.  Recording is cheap and never skipped: all reports become records
and reach the writer `GATHER` seconds after the first of them; a few at a time cost much less than
one by one between the bytes.  Analysis (linking, views) may be slow, so it
gets a slice of each turn; when it is further behind than `MOST_BEHIND` records, it skips what it
could not look at, says so, and the capture still has everything.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

from mcp_tap.core.records import AnyRecord, Gap
from mcp_tap.core.wire import UNPARSED

GATHER = 0.002
"""Seconds for which reports gather."""
HAND_ON = 0.005
"""Seconds of work after which the writer gets what there is: a report can be of megabytes."""
SLICE = 0.002
"""Seconds of analysis in one turn of the loop."""
AT_ONCE = 16
"""Records between two looks at the clock."""
MOST_BEHIND = 50_000


class Desk:
    """Queues between the data path, the capture and the analysis."""

    def __init__(
        self,
        *,
        write: Callable[[list[tuple[AnyRecord, Any]]], None],
        feed: Callable[[AnyRecord, Any], Sequence[Any]],
        show: Callable[[Sequence[Any], float], None],
        notice: Callable[[str], None],
        sync: bool,
    ) -> None:
        """Write each record with `write`, then `feed` it on, and `show` what that changed.

        Args:
            write: takes records, each with its payload parsed, for the capture; never blocks,
                never raises.
            feed: takes a record and its parsed payload, gives what it changed.
            show: takes what changed and when.
            notice: takes words for the user.
            sync: records are written before `report` returns.
        """
        self._write = write
        self._feed = feed
        self._show = show
        self._notice = notice
        self._sync = sync
        self._loop = asyncio.get_running_loop()
        self._reports: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque()
        self._fresh: list[tuple[AnyRecord, Any]] = []
        self._records: deque[tuple[AnyRecord, Any]] = deque()
        self._due = False
        self.skipped = 0
        """Records that were not analysed."""
        self.accept = self._fresh.append
        """Takes a record with the parsed value of its payload, from the recording."""

    def report(self, take: Callable[..., None], *facts: Any) -> None:
        """Leave a report: `take(*facts)` is called soon, or at once in sync mode."""
        if self._sync:
            take(*facts)
            self._hand_on()
        else:
            self._reports.append((take, facts))
        if not self._due:
            self._due = True
            self._loop.call_later(GATHER, self._work)

    def finish(self) -> None:
        """Work off everything, now."""
        self._record()
        self._analyse(until=float("inf"))

    def _work(self) -> None:
        self._due = False
        self._record()
        if len(self._records) > MOST_BEHIND:
            self._skip()
        self._analyse(until=perf_counter() + SLICE)
        if self._records:
            self._due = True
            self._loop.call_soon(self._work)

    def _record(self) -> None:
        reports = self._reports
        until = perf_counter() + HAND_ON
        while reports:
            take, facts = reports.popleft()
            take(*facts)
            if perf_counter() > until:
                self._hand_on()
                until = perf_counter() + HAND_ON
        self._hand_on()

    def _hand_on(self) -> None:
        fresh = self._fresh
        if fresh:
            self._write(fresh)
            self._records.extend(fresh)
            fresh.clear()

    def _analyse(self, until: float) -> None:
        records, feed, show = self._records, self._feed, self._show
        while records:
            for _ in range(min(AT_ONCE, len(records))):
                record, value = records.popleft()
                changes = feed(record, value)
                if changes:
                    show(changes, record.t)
            if perf_counter() > until:
                return

    def _skip(self) -> None:
        lost = len(self._records)
        last = self._records[-1][0]
        self._records.clear()
        self.skipped += lost
        self._notice(f"behind: {lost} records are in the capture but not in this view")
        gap = Gap(seq=last.seq, t=last.t, lost=lost, why="the live view fell behind")
        self._feed(gap, UNPARSED)
