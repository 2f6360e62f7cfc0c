"""What is recorded on the spot, and looked at later: two steps with different promises.

Recording is cheap and never skipped: records reach the writer in small batches.  Analysis (linking,
rules, views) may be slow; when it is further behind than `MOST_BEHIND` records, it skips what it
could not look at, says so, and the capture still has everything.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

from mcp_tap.core.records import AnyRecord, Gap
from mcp_tap.core.wire import UNPARSED

AT_ONCE = 16
"""Records between two looks at the clock."""
MOST_BEHIND = 50_000


class Backlog:
    """Records on their way to the capture and to the analysis."""

    def __init__(
        self,
        *,
        write: Callable[[list[tuple[AnyRecord, Any]]], None],
        feed: Callable[[AnyRecord, Any], Sequence[Any]],
        show: Callable[[Sequence[Any], float], None],
        notice: Callable[[str], None],
    ) -> None:
        """Write each record with `write`, then `feed` it on, and `show` what that changed.

        Args:
            write: takes records, each with its payload parsed, for the capture; never blocks,
                never raises.
            feed: takes a record and its parsed payload, gives what it changed.
            show: takes what changed and when.
            notice: takes words for the user.
        """
        self._write = write
        self._feed = feed
        self._show = show
        self._notice = notice
        self._fresh: list[tuple[AnyRecord, Any]] = []
        self._records: deque[tuple[AnyRecord, Any]] = deque()
        self.skipped = 0
        """Records that were not analysed."""
        self.accept = self._fresh.append
        """Takes a record with the parsed value of its payload, from the recording."""

    @property
    def behind(self) -> bool:
        """Tell whether there is something to look at."""
        return bool(self._records)

    def hand_on(self) -> None:
        """Give the writer what there is."""
        fresh = self._fresh
        if fresh:
            self._write(fresh)
            self._records.extend(fresh)
            fresh.clear()

    def analyse(self, until: float) -> None:
        """Look at records in their order, up to this time of `perf_counter`."""
        records, feed, show = self._records, self._feed, self._show
        while records:
            for _ in range(min(AT_ONCE, len(records))):
                record, value = records.popleft()
                changes = feed(record, value)
                if changes:
                    show(changes, record.t)
            if perf_counter() > until:
                return

    def keep_up(self) -> None:
        """Skip what waits, where that is too much."""
        if len(self._records) > MOST_BEHIND:
            self.skip()

    def skip(self) -> None:
        """Look at nothing of what waits, and say so."""
        lost = len(self._records)
        if not lost:
            return
        last = self._records[-1][0]
        self._records.clear()
        self.skipped += lost
        self._notice(f"behind: {lost} records are in the capture but not in this view")
        gap = Gap(seq=last.seq, t=last.t, lost=lost, why="the live view fell behind")
        self._feed(gap, UNPARSED)
