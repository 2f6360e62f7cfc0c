"""The server a replay sends to, with the recording in front of it."""

from __future__ import annotations

import shlex
from collections import deque
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final

from mcp_tap.answers.book import Book
from mcp_tap.answers.script import FromEnv
from mcp_tap.bridge.heads import Tools
from mcp_tap.core.text import safe
from mcp_tap.proxy.run import HttpRun
from mcp_tap.proxy.settings import TapSettings
from mcp_tap.replay.client.http import HttpPeer
from mcp_tap.replay.client.peers import Peer
from mcp_tap.replay.client.plan import Lane
from mcp_tap.replay.client.stdio import StdioPeer, Unseen, recording

_LINES: Final = 3
"""Lines of a server's stderr that are kept, to be told when it is gone."""


def masks_of(book: Book) -> list[str]:
    """Name the fields of answers that are filled from the environment, as `--redact` does."""
    names = {
        name.replace("'", "?")
        for entry in book.entries
        for step in entry.steps
        for name, value in (step.content or {}).items()
        if isinstance(value, FromEnv)
    }
    places = ("$.params.inputResponses.*.content", "$.result.content")
    return [f"path:{place}['{name}']" for name in sorted(names) for place in places]


class Server:
    """Gives each recorded client its way there; what passes is recorded."""

    def __init__(
        self,
        given: dict[str, Any],
        command: list[str] | None,
        *,
        book: Book | None,
        show: Callable[[str], None] | None,
    ) -> None:
        """Take the options that say where it is.

        Args:
            given: the options.
            command: what starts it; None: it has a URL.
            book: answers; what it takes from the environment is masked in what is recorded.
            show: takes what the server says on stderr.
        """
        self._redact = [] if book is None else masks_of(book)
        self._command = command
        self._given = given
        self._show = show
        self._words: deque[str] = deque(maxlen=_LINES)
        self._capture = Path()
        self._run: HttpRun | None = None
        self.captures: list[Path] = []
        """Where it was recorded: one file, or one for each process."""

    @property
    def name(self) -> str:
        """Its URL or command line."""
        return shlex.join(self._command) if self._command else str(self._given["to"])

    @property
    def last_words(self) -> str:
        """What it said last on stderr."""
        return " / ".join(self._words)

    def prepare(self, capture: Path) -> None:
        """Record to this file; further ones get numbers.

        Raises:
            UsageError: the URL cannot be used.
        """
        self._capture = capture
        if self._command is None:
            given = self._given
            settings = TapSettings(
                upstream=given["to"],
                port=0,
                headers=list(given["header"]),
                insecure=given["insecure"],
                cacert=given["cacert"],
                redact=self._redact,
                host_header="upstream",
            )
            self._run = HttpRun(settings, capture=capture, view=Unseen(), judging=False)

    async def around(self, work: Coroutine[Any, Any, None]) -> None:
        """Do the work while what is in front of the server is there."""
        if self._run is None:
            await work
            return
        try:
            await self._run.start()
        except BaseException:
            work.close()
            raise
        self.captures.append(self._capture)
        try:
            await work
        finally:
            await self._run.stop("end")

    async def connect(self, lane: Lane, tools: Tools) -> Peer:  # noqa: ARG002 - one is as another
        """Give a client its way to the server."""
        if self._run is not None:
            return HttpPeer(self._run.url, tools)
        path = self._capture
        if self.captures:
            path = path.with_name(f"{path.stem}-{len(self.captures) + 1}{path.suffix}")
        assert self._command is not None
        peer = StdioPeer(recording(self._command, path, self._redact), self._hear)
        await peer.start()
        self.captures.append(path)
        return peer

    def _hear(self, line: bytes) -> None:
        text = safe(line.decode("utf-8", "replace"))
        self._words.append(text)
        if self._show is not None:
            self._show(text)
