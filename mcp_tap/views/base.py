"""What every view answers to.

A view is called on the thread that moves the traffic, so each method returns at once: a view that
draws does so on a thread of its own, from what it was told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from msgspec import Struct

from mcp_tap.core.finding import Finding
from mcp_tap.core.model import Call, Exchange
from mcp_tap.core.records import Header

Subject: TypeAlias = Call | Exchange
"""What a list shows in a row."""

Change: TypeAlias = Subject | Finding
"""What a view is told of: a finding after the call or exchange it is about."""


class Stats(Struct, frozen=True, kw_only=True):
    """Numbers about the recording, for a view that shows them."""

    records: int = 0
    bytes: int = 0
    """Size of the capture."""
    lost: int = 0
    """Records that are in no file."""


class View(Protocol):
    """Something that shows a run while it goes on."""

    def start(self, header: Header) -> None:
        """Begin: the run is described, nothing has happened in it."""

    def update(self, changes: Sequence[Change], now: float) -> None:
        """Take what has changed up to `now`, seconds since the run's start."""

    def notice(self, text: str) -> None:
        """Take the tap's own words: disk full, upstream down."""

    def close(self) -> None:
        """End: show what is still to be shown, give the terminal back."""


class RunFeed(Protocol):
    """Where the changes of one of several runs go."""

    def update(self, changes: Sequence[Change], now: float) -> None:
        """Take what has changed up to `now`, seconds since this run's start."""

    def finished(self) -> None:
        """Take note that no more will come of this run: its numbers stay, its memory goes."""


class RunsView(Protocol):
    """Something that shows several runs at once; numbers of calls are those within their run."""

    def wait(self, text: str) -> None:
        """Show that there is no run yet, in these words; for views that have a place for it."""

    def join(self, header: Header, *, alone: bool = False) -> RunFeed:
        """Show a further run beside the others; `alone`: in place of them."""

    def close(self) -> None:
        """End: show what is still to be shown, give the terminal back."""


class NullView:
    """A view that shows nothing of the traffic; trouble of the tap's own is still said."""

    def __init__(self, say: Callable[[str], None] | None = None) -> None:
        """Give the tap's own words to `say`, which must return at once."""
        self._say = say

    def start(self, header: Header) -> None:
        """Ignore it."""

    def update(self, changes: Sequence[Change], now: float) -> None:
        """Ignore it."""

    def notice(self, text: str) -> None:
        """Pass it on."""
        if self._say is not None:
            self._say(text)

    def close(self) -> None:
        """Do nothing."""
