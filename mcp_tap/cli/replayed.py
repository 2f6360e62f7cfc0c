"""The captures of `mcp-tap replay server`, as a run over HTTP has them for its upstream."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from mcp_tap.core.text import plural, safe
from mcp_tap.errors import UsageError
from mcp_tap.net.target import parse_target

if TYPE_CHECKING:
    from mcp_tap.net.target import Target
    from mcp_tap.replay.index import Index
    from mcp_tap.replay.server.http import ReplayPool
    from mcp_tap.replay.server.matching import AfterLast
    from mcp_tap.replay.server.misses import Miss
    from mcp_tap.replay.server.player import OnMiss

_AUTHORITY: Final = re.compile("//[^/]*")


class ReplayedServer:
    """Serves captures, as long as the run lives."""

    def __init__(
        self,
        specs: Sequence[str],
        index: Index,
        *,
        path: str,
        after_last: AfterLast,
        on_miss: OnMiss,
        forward: Target | None,
        pace: float | None,
        tell: Callable[[str], None],
    ) -> None:
        """Prepare to serve what an index holds.

        Args:
            specs: the captures, as they were named.
            index: what is in them.
            path: of the tap's own URL.
            after_last: what an equal call gets when all recorded ones were served.
            on_miss: what a request gets that was not recorded.
            forward: the server for those, where they are forwarded.
            pace: recorded seconds of a second; None: all at once.
            tell: takes the words about what was not recorded, on several lines.
        """
        self.specs = specs
        self._index = index
        self._path = path
        self._after_last = after_last
        self._on_miss = on_miss
        self._forward = forward
        self._pace = pace
        self._told: set[str] = set()
        self._tell = tell
        self.on_end: Callable[[str], None] | None = None
        """Takes words about trouble."""

    @property
    def words(self) -> str:
        """What is replayed, for people."""
        return told(self._index)

    @property
    def code(self) -> int:
        """The exit code that what was not recorded asks for."""
        return 1 if self._told else 0

    async def start(self, _: Callable[[], bool] = lambda: False) -> bool:
        """Be ready for requests: there is nothing to wait for."""
        return True

    def pool(self) -> ReplayPool:
        """Make what stands in for connections to a server."""
        from mcp_tap.replay.server.http import ReplayPool
        from mcp_tap.replay.server.play import Clock
        from mcp_tap.replay.server.player import Player

        clock = Clock(asyncio.get_running_loop().call_later, self._pace)
        player = Player(
            self._index,
            clock,
            after_last=self._after_last,
            on_miss=self._on_miss,
            report=self._missed,
        )
        return ReplayPool(player, self._forward, self._path)

    async def stop(self, _: Callable[[], bool] = lambda: False) -> None:
        """Close the files."""
        self._index.close()

    def _missed(self, miss: Miss) -> None:
        text = str(miss.error)
        if text not in self._told:
            self._told.add(text)
            self._tell(text)


def told(index: Index) -> str:
    """Say what an index holds, and what of it cannot be as it was."""
    captures = index.captures
    names = safe(captures[0].name) if len(captures) == 1 else plural(len(captures), "capture")
    parts = [plural(len(index.calls), "call")]
    masked = sum(capture.masked for capture in captures)
    if masked:
        parts.append(f"{plural(masked, 'message')} with masked values, which match anything")
    cut = sum(capture.cut for capture in captures)
    if cut:
        parts.append(f"{plural(cut, 'message')} not recorded whole, which cannot be served")
    torn = sum(capture.torn for capture in captures)
    if torn:
        parts.append("the last line torn" if len(captures) == 1 else f"{torn} of them torn")
    lost = sum(capture.lost for capture in captures)
    if lost:
        parts.append(f"{plural(lost, 'record')} LOST")
    return f"{names} ({', '.join(parts)})"


def upstream_of(index: Index) -> str:
    """Name the server that was recorded: the replay has its path, and records under its name."""
    for capture in index.captures:
        if capture.header.transport == "http":
            url = capture.header.upstream
            for named in (url, _AUTHORITY.sub("//localhost", url, count=1)):  # it may be masked
                with contextlib.suppress(UsageError):
                    parse_target(named)
                    return named
    return "http://localhost/mcp"
