"""A run over stdio within the test: its client's three ends are pipes held here."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mcp_tap.capture.reader import open_path
from mcp_tap.core.records import AnyRecord
from mcp_tap.proxy.stdio.run import StdioRun
from mcp_tap.proxy.stdio.settings import StdioSettings
from tests.bounds import BOUND
from tests.rig import Looker


class Piped:
    """A run and the client's ends of its pipes."""

    def __init__(self, command: Sequence[str], folder: Path | None, **options: Any) -> None:
        own = {k: options.pop(k) for k in ("label", "sync", "redact") if k in options}
        given, self.stdin = os.pipe()
        self.stdout, taken = os.pipe()
        self.stderr, said = os.pipe()
        self.view = Looker()
        self._inner = [given, taken, said]
        self.run = StdioRun(
            StdioSettings(command=command, **own),
            capture=folder / "run.jsonl" if folder else None,
            view=self.view,
            stdin_fd=given,
            stdout_fd=taken,
            stderr_fd=said,
            **options,
        )
        self.status: int | None = None
        self._thread = threading.Thread(target=self._carry, daemon=True)
        self._got = b""

    def start(self) -> None:
        self._thread.start()

    def _carry(self) -> None:
        self.status = self.run.run()

    def send(self, data: bytes) -> None:
        while data:
            data = data[os.write(self.stdin, data) :]

    def line(self) -> bytes:
        while b"\n" not in self._got:
            piece = os.read(self.stdout, 1 << 16)
            assert piece, f"the stream ended after {self._got!r}"
            self._got += piece
        line, _, self._got = self._got.partition(b"\n")
        return line + b"\n"

    def end(self) -> int:
        """Close stdin; give the server's status."""
        os.close(self.stdin)
        self.stdin = -1
        return self.ended()

    def ended(self) -> int:
        self._thread.join(BOUND)
        assert self.status is not None, "it did not end"
        return self.status

    def records(self) -> list[AnyRecord]:
        assert self.run.capture is not None
        return list(open_path(self.run.capture))

    def close(self) -> None:
        if self.stdin >= 0:
            os.close(self.stdin)
        self._thread.join(BOUND)
        for fd in (self.stdout, self.stderr, *self._inner):
            os.close(fd)


@contextlib.contextmanager
def piped(command: Sequence[str], folder: Path | None = None, **options: Any) -> Iterator[Piped]:
    """Run a server behind a tap in this process."""
    run = Piped(command, folder, **options)
    run.start()
    try:
        yield run
    finally:
        run.close()
