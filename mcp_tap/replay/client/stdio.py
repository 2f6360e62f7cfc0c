"""A server's process, as its client sees it: a process that records stands around it.

What is recorded, and how the server is ended, is the tap's own work over stdio (`StdioRun`).
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from mcp_tap.bridge.messages import Said, read
from mcp_tap.bridge.process import Gone, Process
from mcp_tap.core.spec import META_SUBSCRIPTION, NOTE_PROGRESS
from mcp_tap.proxy.stdio.run import StdioRun
from mcp_tap.proxy.stdio.settings import StdioSettings
from mcp_tap.replay.client.peers import MOST_ANSWER, Heard, Reply, TooBig, Unreachable

GRACE: Final = 4.0
"""Seconds the server and what records it have to end: more than `StdioRun` gives the server."""
TERMINATE: Final = 4.0
LINGER: Final = 10.0
"""Seconds they have to end once the output has: how the server ended is known then."""


class StdioPeer:
    """Sends lines to a server's process of its own."""

    over_http = False

    def __init__(self, command: Sequence[str], words: Callable[[bytes], None]) -> None:
        """Prepare it.

        Args:
            command: what starts it, recording included (`recording`).
            words: takes each line of its stderr.
        """
        self._process = Process(
            command,
            line=self._line,
            words=words,
            over=self._over,
            linger=LINGER,
            most=MOST_ANSWER,
            long=self._too_long,
        )
        self._open: dict[Any, tuple[asyncio.Future[Reply], Heard]] = {}
        self._heard: Heard | None = None

    async def start(self) -> None:
        """Start it."""
        await self._process.start()

    async def ask(self, said: Said, heard: Heard) -> Reply:
        """Send a request; implements `Peer`."""
        reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._open[said.id] = reply, heard
        try:
            await self.tell(said)
            return await reply
        finally:
            self._open.pop(said.id, None)

    async def tell(self, said: Said) -> None:
        """Send a line; implements `Peer`."""
        try:
            self._process.send(said.data)
        except Gone:
            raise Unreachable(self.gone or "the server reads no more") from None

    async def listen(self, heard: Heard) -> None:
        """Hear what belongs to no request that is open; implements `Peer`."""
        self._heard = heard

    @property
    def gone(self) -> str:
        """Why the server takes no more; implements `Peer`."""
        return f"the server {self._process.how()}" if self._process.over else ""

    async def close(self) -> None:
        """End the process; implements `Peer`."""
        await self._process.stop(GRACE, TERMINATE)

    def _line(self, line: bytes) -> None:
        said = read(line)
        if said is None:
            return
        if said.kind == "response":
            found = self._open.get(said.id)
            if found is not None and not found[0].done():
                found[0].set_result(Reply(said))
            return
        heard = self._of(said) or self._heard
        if heard is not None:
            heard(said)

    def _of(self, said: Said) -> Heard | None:
        """Find the request a message belongs to: it names it, or it is the only one."""
        name = said.meta.get(META_SUBSCRIPTION)
        if said.method == NOTE_PROGRESS:
            name = said.params.get("progressToken")
        found = self._open.get(name) if type(name) in (int, str) else None
        if found is None and len(self._open) == 1 and name is None:
            found = next(iter(self._open.values()))
        return None if found is None else found[1]

    def _too_long(self) -> None:
        """Give up what is open: nobody can tell whose answer the line would be."""
        for reply, _ in self._open.values():
            if not reply.done():
                reply.set_exception(TooBig())

    def _over(self) -> None:
        for reply, _ in self._open.values():
            if not reply.done():
                reply.set_result(Reply(None, self.gone))


def recording(command: Sequence[str], capture: Path, redact: Sequence[str] = ()) -> list[str]:
    """Give the command line that starts a server and records it; `redact` says what is masked."""
    masks = [f"--redact={spec}" for spec in redact]
    front = [sys.executable, "-m", "mcp_tap.replay.client", "-w", str(capture), *masks]
    return [*front, "--", *command]


def main(arguments: Sequence[str]) -> int:
    """Carry and record until the server has ended; gives its exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("-w", dest="capture", type=Path)
    parser.add_argument("--redact", action="append", default=[])
    parser.add_argument("command", nargs="+")
    given = parser.parse_args(arguments)
    run = StdioRun(
        StdioSettings(command=given.command, redact=given.redact),
        capture=given.capture,
        view=Unseen(),
        judging=False,
    )
    code = run.run()
    if run.trouble is not None:
        print(f"mcp-tap: {run.trouble}", file=sys.stderr)  # noqa: T201 - the caller reads it
    return code if code >= 0 else 128 - code


class Unseen:
    """A view that shows nothing."""

    def start(self, header: Any) -> None:
        """Begin."""

    def update(self, changes: Any, now: float) -> None:
        """Go on."""

    def notice(self, text: str) -> None:
        """Hear of trouble."""

    def close(self) -> None:
        """End."""
