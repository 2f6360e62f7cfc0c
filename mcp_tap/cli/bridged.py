"""The stdio server of `mcp-tap http --stdio CMD`, as a run over HTTP has it for its upstream."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from mcp_tap.core.text import safe

if TYPE_CHECKING:
    from mcp_tap.bridge.front import Front
    from mcp_tap.net.upstream import UpstreamPool
    from mcp_tap.proxy.settings import TapSettings

URL: Final = "http://localhost/mcp"
"""Nobody dials this but for its path."""
GRACE: Final = 0.8
"""Seconds the server has to end by itself when the run does."""
TERMINATE: Final = 0.4
"""Seconds it has after SIGTERM."""
LOOK: Final = 0.03
"""Seconds between two looks at whether to hurry."""


class BridgedServer:
    """A bridge to a stdio server, which lives as long as the run."""

    def __init__(
        self,
        words: list[str],
        *,
        show: Callable[[str], None],
        on_end: Callable[[str], None] | None = None,
    ) -> None:
        """Prepare; nothing is started before `start()`.

        Args:
            words: the server's command.
            show: takes each line it prints to stderr, made harmless.
            on_end: takes words about trouble.
        """
        self._words = words
        self._show = show
        self._front: Front | None = None
        self.on_end = on_end
        self.heard: Callable[[bytes], None] | None = None
        """Takes each line the server prints to stderr, as it is."""

    async def start(self, _: Callable[[], bool] = lambda: False) -> bool:
        """Be ready for requests; the server itself is started with the first of them."""
        from mcp_tap.bridge.front import Front
        from mcp_tap.bridge.served import Ways

        self._front = Front(self._words, Ways(words=self._hear, notice=self._say))
        await self._front.start()
        return True

    def settings(self, settings: TapSettings) -> TapSettings:
        """Give the settings of a run in front of it."""
        return replace(settings, upstream=URL, command=self._words)

    def pool(self) -> UpstreamPool:
        """Make the run's connections."""
        from mcp_tap.net.target import parse_target
        from mcp_tap.net.upstream import UpstreamPool

        assert self._front is not None
        return UpstreamPool(parse_target(URL), None, self._front.dial)

    async def stop(self, hurry: Callable[[], bool] = lambda: False) -> None:
        """End all processes in order; at once where `hurry` is true."""
        front, self._front = self._front, None
        if front is None:
            return
        async with asyncio.TaskGroup() as group:
            stopping = group.create_task(front.stop(GRACE, TERMINATE))
            while not stopping.done():
                await asyncio.wait([stopping], timeout=LOOK)  # first: what never began ends nothing
                if hurry():
                    stopping.cancel()

    def _hear(self, line: bytes) -> None:
        if self.heard is not None:
            self.heard(line)
        self._show(safe(line.rstrip(b"\r").decode("utf-8", "replace")))

    def _say(self, text: str) -> None:
        if self.on_end is not None:
            self.on_end(text)
