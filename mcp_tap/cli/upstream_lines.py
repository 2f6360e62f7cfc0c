"""What the server of `--upstream-command` prints, as it appears on stderr."""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import Iterator
from typing import Final

from mcp_tap.core.text import plural

MARK: Final = "server: "
MOST_KEPT: Final = 1000
"""Lines that are held back; of more, the last."""


class ServerLines:
    """Prints a server's lines to stderr, marked; holds them back while a person is typing there."""

    def __init__(self) -> None:
        """Print from now on."""
        self._lock = threading.Lock()
        self._holds = 0
        self._kept: deque[str] = deque(maxlen=MOST_KEPT)
        self._dropped = 0

    def __call__(self, line: str) -> None:
        """Print a line, or keep it for later; from any thread."""
        with self._lock:
            if self._holds:
                self._dropped += len(self._kept) == MOST_KEPT
                self._kept.append(line)
                return
        to_stderr(line)

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Print nothing meanwhile; from any thread."""
        with self._lock:
            self._holds += 1
        try:
            yield
        finally:
            with self._lock:
                self._holds -= 1
                lines = [] if self._holds else list(self._kept)
                dropped = 0 if self._holds else self._dropped
                if not self._holds:
                    self._kept.clear()
                    self._dropped = 0
            if dropped:
                to_stderr(f"({plural(dropped, 'line')} not shown)")
            for line in lines:
                to_stderr(line)


def to_stderr(line: str) -> None:
    """Print a server's line to stderr, past Python's own buffer and its lock."""
    rest = f"{MARK}{line}\n".encode("utf-8", "replace")
    with contextlib.suppress(OSError):  # nobody reads it any more
        while rest:
            rest = rest[os.write(2, rest) :]
