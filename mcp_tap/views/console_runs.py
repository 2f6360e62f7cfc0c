"""One of the runs a console shows: its calls and exchanges, its clock and its look.

Bounded: of the exchanges outside of calls the newest that failed and the newest that did not; how
many calls there are is for whoever holds the runs.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from mcp_tap.core.filters import Filter, Scope
from mcp_tap.core.finding import Finding
from mcp_tap.core.model import Call, Exchange
from mcp_tap.core.records import Header
from mcp_tap.views.base import Subject
from mcp_tap.views.listing import listed
from mcp_tap.views.look import Look
from mcp_tap.views.runs import run_name

MOST_EXCHANGES: Final = 200


class ShownRun:
    """What is known of a run."""

    def __init__(self, key: int, header: Header, look: Look) -> None:
        """Begin with nothing; `key` orders runs as they joined."""
        self.key = key
        self.header = header
        self.look = look
        self.name = run_name(header)
        self.now = 0.0
        self.ended = False
        """No more will come."""
        self.start = look.start.timestamp() if look.start else 0.0
        self.calls: OrderedDict[int, Call] = OrderedDict()
        self._failed: OrderedDict[int, Exchange] = OrderedDict()
        self._others: OrderedDict[int, Exchange] = OrderedDict()
        """Exchanges that did not fail: listed when a filter speaks of them."""
        self._passed: dict[int, bool] = {}

    def take(self, changes: Iterable[Subject]) -> None:
        """Take what has changed."""
        for change in changes:
            if isinstance(change, Call):
                self.calls[change.number] = change
            elif change.outcome == "error":
                self._others.pop(change.number, None)
                self._failed[change.number] = change
            else:
                self._others[change.number] = change
        for exchanges in (self._failed, self._others):
            while len(exchanges) > MOST_EXCHANGES:
                exchanges.popitem(last=False)

    def forget_call(self) -> None:
        """Let go of the oldest call that has ended, else of the oldest."""
        ended = (n for n, call in self.calls.items() if call.end is not None)
        number = next(ended, None) or next(iter(self.calls))
        del self.calls[number]
        self._passed.pop(number, None)

    @property
    def empty(self) -> bool:
        """Tell whether there is nothing to show of it."""
        return not (self.calls or self._failed)

    @property
    def running(self) -> bool:
        """Tell whether something in it goes on, so that its time has to be drawn anew."""
        return not self.ended and any(call.end is None for call in self.calls.values())

    def refilter(self) -> None:
        """Forget what passed the filter: there is a new one."""
        self._passed.clear()

    def rows(self, filter_: Filter) -> Iterator[Item]:
        """Give what passes, in no order."""
        exchanges = (*self._failed.values(), *self._others.values())
        shown: list[Subject] = [*self.calls.values(), *(e for e in exchanges if listed(e, filter_))]
        return (Item(self, change) for change in shown if self._passes(change, filter_))

    def _passes(self, change: Subject, filter_: Filter) -> bool:
        if not filter_:
            return True
        if isinstance(change, Call) and change.end is not None:
            known = self._passed.get(change.number)
            if known is None:
                known = filter_.matches(change, Scope(start=self.look.start))
                self._passed[change.number] = known
            return known
        return filter_.matches(change, Scope(start=self.look.start))


class Item(NamedTuple):
    """A row of the list: a call, or an exchange of none, and the run it is in."""

    run: ShownRun
    subject: Subject

    @property
    def place(self) -> tuple[float, int, int]:
        """What rows are ordered by: time of day over all runs."""
        return self.run.start + self.subject.t, self.run.key, self.subject.number


class Found(NamedTuple):
    """A finding, and the run it is in."""

    run: ShownRun
    finding: Finding
