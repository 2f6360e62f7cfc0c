"""Read single records of a capture again, without having kept them.

The files are gone through once, by a `CaptureReader`, which knows from then on which line a `seq`
is on.  Where each line begins is found out in a pass of its own, which looks at nothing else, when
the first record is wanted again.
Packed files and standard input, in which nobody can jump about, are copied to a temporary file.
"""

from __future__ import annotations

import os
import tempfile
from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO, Final

from msgspec import Struct

from mcp_tap.capture.convert import Convert
from mcp_tap.capture.lines import (
    UNDECODABLE,
    decode_line,
    first_line,
    open_part,
    open_stdin,
    unreadable,
)
from mcp_tap.capture.reader import CaptureReader, open_capture
from mcp_tap.core.records import AnyRecord
from mcp_tap.errors import CaptureError

_STDIN: Final = "-"
NEAR: Final = 64 << 10
"""Bytes within which records are read in one go."""


class _Part(Struct, eq=False):
    """A file of the run."""

    file: BinaryIO
    convert: Convert | None
    _starts: array[int] | None = None

    @property
    def starts(self) -> array[int]:
        """Where each of its lines begins; at last, where the file ends."""
        if self._starts is None:
            self.file.seek(0)
            self._starts = array("Q", accumulate(map(len, self.file), initial=0))
        return self._starts


class Source:
    """The records of one run: once in order, then any of them by its `seq`."""

    def __init__(self, spec: str) -> None:
        """Open a run by what a person names as CAPTURE.

        Raises:
            CaptureError: there is no such capture, or it cannot be read.
        """
        self._copy: BinaryIO | None = None
        if spec == _STDIN:
            self._copy = _copied(open_stdin())
            again = os.fdopen(os.dup(self._copy.fileno()), "rb")
            self.reader = CaptureReader([], stream=again)
        else:
            self.reader = open_capture(spec)
        self.name = spec if self.reader.path is None else str(self.reader.path)
        self._parts: dict[Path | None, _Part] = {}

    def records(self) -> Iterable[AnyRecord]:
        """Give out the records in order; `keep_open()` has to follow.

        Raises:
            CaptureError: a line cannot be read, or belongs to another run.
        """
        return self.reader

    def record(self, seq: int) -> AnyRecord:
        """Read one record again, once all have been given out.

        Raises:
            CaptureError: it is not where it was.
        """
        return self.again((seq,))[0]

    def again(self, seqs: Sequence[int]) -> list[AnyRecord]:
        """Read records again, in one go where they stand near each other, as they mostly do.

        Raises:
            CaptureError: one is not where it was.
        """
        where = self.reader.where
        places = [where(seq) for seq in seqs]
        if not places:
            return []
        (path, first), (other, last) = places[0], places[-1]
        part = self._parts[path]
        try:
            starts = part.starts
            begin = starts[first - 1]
            span = starts[last] - begin if other == path and first <= last else NEAR + 1
            if span > NEAR and len(seqs) > 1:
                return [self.again((seq,))[0] for seq in seqs]
            block = os.pread(part.file.fileno(), span, begin)
            cuts = [(starts[line - 1] - begin, starts[line] - begin) for _, line in places]
        except (OSError, IndexError):  # it is shorter than it was
            block, cuts = b"", [(0, 0) for _ in places]
        return [
            self._decoded(block[start:end], part, seq, line)
            for seq, (_, line), (start, end) in zip(seqs, places, cuts, strict=True)
        ]

    def _decoded(self, data: bytes, part: _Part, seq: int, line: int) -> AnyRecord:
        try:
            found = decode_line(data, part.convert)
        except UNDECODABLE:
            found = None
        if found is None or found.seq != seq:
            raise CaptureError(
                "capture-damaged",
                f"{self.name} has no record {seq} at line {line}",
                why="the file was changed while it was being replayed",
            )
        return found

    def line(self, seq: int) -> int:
        """Say on which line of its file a record stands."""
        return self.reader.where(seq)[1]

    def close(self) -> None:
        """Close the files."""
        for part in self._parts.values():
            part.file.close()

    def keep_open(self) -> None:
        """Open the files for reading again, once all records have been given out.

        Raises:
            CaptureError: records have the same number, so that they cannot be told apart.
        """
        if self._parts:
            return
        if self.reader.twice is not None:
            raise CaptureError(
                "capture-damaged",
                f"{self.name} holds two records {self.reader.twice}",
                why="a run was put together with itself; nobody can tell which one is meant",
                help="read the run from its own file",
            )
        if self._copy is not None:
            self._parts[None] = _part(self._copy, self.name)
        for path in self.reader.parts:
            self._parts[path] = _part(_seekable(path), path.name)


def _part(file: BinaryIO, name: str) -> _Part:
    file.seek(0)
    return _Part(file, first_line(file.readline(), name)[1])


def _seekable(path: Path) -> BinaryIO:
    file = open_part(path)
    return _copied(file) if hasattr(file, "fileobj") else file  # packed


def _copied(file: BinaryIO) -> BinaryIO:
    """Copy what can be read only from its start to its end, as far as it is whole."""
    copy = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed with the source
    try:
        with file:
            copy.writelines(file)  # by lines, as the reader reads: both come as far
    except EOFError:
        pass  # a packed file that was cut: the reader tells
    except OSError as error:
        raise unreadable(Path(str(getattr(file, "name", "standard input"))), error) from error
    copy.seek(0)
    return copy
