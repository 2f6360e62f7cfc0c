"""Which runs are being recorded in a folder: those that are now, then each that begins.

The folder is read only when it has changed, and every `RESCAN` seconds where it does not say so.
"""

from __future__ import annotations

import os
from pathlib import Path
from time import monotonic

from mcp_tap.capture.file import being_written
from mcp_tap.capture.parts import base_name, part_number

RESCAN = 2.0
"""Seconds after which the folder is read again in any case."""
_SOON = 0.1
"""Seconds until the next look at a folder that has just changed."""
_GRAIN = 1.0
"""Seconds within which two changes may leave a folder with one and the same time."""


class RunsOf:
    """Tells which runs of a folder there are to follow, each once; the folder may come later."""

    def __init__(self, folder: Path) -> None:
        """Look at nothing yet."""
        self.folder = folder
        self._seen: set[tuple[str, int]] = set()
        self._stamp: tuple[int, int] | None = None
        self._changed = self._next = 0.0
        self._first = True

    def begun(self) -> list[Path]:
        """Name the first files of runs that have begun since the last look.

        The first look gives the runs that a writer holds now, the others files that are new; what
        is in them is for the caller to see.
        """
        try:
            state = self.folder.stat()
        except OSError:
            self._first = False
            return []
        stamp = (state.st_mtime_ns, state.st_ino)
        now = monotonic()
        if stamp != self._stamp:
            self._stamp, self._changed = stamp, now
        elif now < self._next:
            return []
        self._next = now + (_SOON if now - self._changed < _GRAIN else RESCAN)
        return self._scan()

    def _scan(self) -> list[Path]:
        there: set[tuple[str, int]] = set()
        try:
            with os.scandir(self.folder) as entries:
                for entry in entries:
                    if base_name(entry.name).endswith(".jsonl"):
                        there.add((entry.name, entry.inode()))
        except OSError:
            return []
        new, self._seen = there - self._seen, there
        found: dict[Path, None] = {}
        for name, _ in sorted(new):
            path = self.folder / name
            if being_written(path) if self._first else part_number(name) == 1:
                found[path.with_name(base_name(name))] = None
        self._first = False
        return list(found)


class OneFile:
    """Tells of one file, once it is there."""

    def __init__(self, path: Path) -> None:
        """Look at nothing yet."""
        self.path = path
        self._told = False

    def begun(self) -> list[Path]:
        """Name the file when it has come, once."""
        if self._told or not self.path.exists():
            return []
        self._told = True
        return [self.path]
