"""Where the data path leaves its reports, and where they are worked on when the bytes are gone.

All reports become records and reach the writer `GATHER` seconds after the first of them; a few at a
time cost much less than one by one between the bytes.  Their analysis gets a slice of each turn of
the loop.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

from mcp_tap.core.records import AnyRecord
from mcp_tap.proxy.backlog import Backlog

GATHER = 0.002
"""Seconds for which reports gather."""
HAND_ON = 0.005
"""Seconds of work after which the writer gets what there is: a report can be of megabytes."""
SLICE = 0.002
"""Seconds of analysis in one turn of the loop."""


class Desk(Backlog):
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
        """Begin as a `Backlog`; with `sync` records are written before `report` returns."""
        super().__init__(write=write, feed=feed, show=show, notice=notice)
        self._sync = sync
        self._loop = asyncio.get_running_loop()
        self._reports: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque()
        self._due = False

    def report(self, take: Callable[..., None], *facts: Any) -> None:
        """Leave a report: `take(*facts)` is called soon, or at once in sync mode."""
        if self._sync:
            take(*facts)
            self.hand_on()
        else:
            self._reports.append((take, facts))
        if not self._due:
            self._due = True
            self._loop.call_later(GATHER, self._work)

    def finish(self) -> None:
        """Work off everything, now."""
        self._record()
        self.analyse(until=float("inf"))

    def _work(self) -> None:
        self._due = False
        self._record()
        self.keep_up()
        self.analyse(until=perf_counter() + SLICE)
        if self.behind:
            self._due = True
            self._loop.call_soon(self._work)

    def _record(self) -> None:
        reports = self._reports
        until = perf_counter() + HAND_ON
        while reports:
            take, facts = reports.popleft()
            take(*facts)
            if perf_counter() > until:
                self.hand_on()
                until = perf_counter() + HAND_ON
        self.hand_on()
