"""Looks on at the run of a test: keeps what it saw, and tells whoever waits for something."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import datetime

from mcp_tap.core.filters import Filter, Scope
from mcp_tap.core.finding import Finding
from mcp_tap.core.model import Call, Exchange
from mcp_tap.core.records import Header
from mcp_tap.plugin import model
from mcp_tap.views.base import Change
from mcp_tap.views.text import local_start


class Watcher:
    """A view for programs; all of it belongs to the thread of the run."""

    def __init__(self) -> None:
        """Begin with nothing seen."""
        self.header: Header | None = None
        self.start_time: datetime | None = None
        self.calls: dict[int, Call] = {}
        self.exchanges: dict[int, Exchange] = {}
        """Those that belong to no call."""
        self.findings: list[Finding] = []
        self.notices: list[str] = []
        self.now = 0.0
        self._waiting: list[tuple[Filter, Future[model.Call]]] = []

    @property
    def scope(self) -> Scope:
        """What filters may want to know of the run."""
        return Scope(start=self.start_time)

    def first(self, wanted: Filter) -> Call | None:
        """Give the first call that passes."""
        scope = self.scope
        return next((c for c in self.in_order() if wanted.matches(c, scope)), None)

    def in_order(self) -> list[Call]:
        """Give the calls in the order in which they began."""
        return [self.calls[number] for number in sorted(self.calls)]

    def wait(self, wanted: Filter, future: Future[model.Call], settle: Callable[[], None]) -> None:
        """Tell `future` of the first call that passes, now or later."""
        settle()
        self._waiting.append((wanted, future))
        self._tell()

    # views.base.View

    def start(self, header: Header) -> None:
        """Take the run's header."""
        self.header = header
        self.start_time = local_start(header.started)

    def update(self, changes: Sequence[Change], now: float) -> None:
        """Take what changed."""
        self.now = now
        for change in changes:
            if isinstance(change, Finding):
                self.findings.append(change)
            elif isinstance(change, Call):
                self.calls[change.number] = change
            else:
                self.exchanges[change.number] = change
        if self._waiting:
            self._tell()

    def notice(self, text: str) -> None:
        """Take words of the tap's own."""
        self.notices.append(text)

    def close(self) -> None:
        """See the end."""

    def _tell(self) -> None:
        for each in [*self._waiting]:
            wanted, future = each
            found = self.first(wanted)
            if found is None and not future.cancelled():
                continue
            self._waiting.remove(each)
            if found is not None and future.set_running_or_notify_cancel():
                future.set_result(model.call_of(found))
