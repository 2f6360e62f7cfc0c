"""Where the data path leaves its reports, and where they are worked on when the bytes are gone.

Two steps with different promises.  Recording is cheap and never skipped: all reports become records
and reach the writer in the same turn of the loop.  Analysis (linking, views) may be slow, so it
gets a slice of each turn; when it is further behind than `MOST_BEHIND` records, it skips what it
could not look at, says so, and the capture still has everything.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from time import perf_counter
from typing import Any

from mcp_tap.core.records import AnyRecord, Gap
from mcp_tap.core.wire import UNPARSED

SLICE = 0.002
MOST_BEHIND = 50_000


class Desk:
    """Queues between the data path, the capture and the analysis."""

    def __init__(
        self,
        *,
        write: Callable[[AnyRecord], None],
        analyse: Callable[[AnyRecord, Any], None],
        notice: Callable[[str], None],
        sync: bool,
    ) -> None:
        """Write each record with `write`, then have it analysed.

        Args:
            write: takes a record for the capture; never blocks, never raises.
            analyse: takes a record and its parsed payload.
            notice: takes words for the user.
            sync: records are written before `report` returns.
        """
        self._write = write
        self._analyse = analyse
        self._notice = notice
        self._sync = sync
        self._loop = asyncio.get_running_loop()
        self._reports: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque()
        self._records: deque[tuple[AnyRecord, Any]] = deque()
        self._due = False
        self.skipped = 0

    def report(self, take: Callable[..., None], *facts: Any) -> None:
        """Leave a report: `take(*facts)` is called soon, or at once in sync mode."""
        if self._sync:
            take(*facts)
        else:
            self._reports.append((take, facts))
        if not self._due:
            self._due = True
            self._loop.call_soon(self._work)

    def accept(self, record: AnyRecord, value: Any) -> None:
        """Take a record from the recording."""
        self._write(record)
        self._records.append((record, value))

    def finish(self) -> None:
        """Work off everything, now."""
        self._record()
        while self._records:
            self._analyse(*self._records.popleft())

    def _work(self) -> None:
        self._due = False
        self._record()
        records = self._records
        if len(records) > MOST_BEHIND:
            self._skip()
        until = perf_counter() + SLICE
        while records:
            self._analyse(*records.popleft())
            if perf_counter() > until:
                break
        if records:
            self._due = True
            self._loop.call_soon(self._work)

    def _record(self) -> None:
        reports = self._reports
        while reports:
            take, facts = reports.popleft()
            take(*facts)

    def _skip(self) -> None:
        lost = len(self._records)
        last = self._records[-1][0]
        self._records.clear()
        self.skipped += lost
        self._notice(f"behind: {lost} records are in the capture but not in this view")
        self._analyse(
            Gap(seq=last.seq, t=last.t, lost=lost, why="the live view fell behind"), UNPARSED
        )
