"""Follow a capture while it grows, part by part, without ever waiting."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import BinaryIO, Self

from mcp_tap.capture.blocks import Held, Odd, whole_lines
from mcp_tap.capture.convert import Convert
from mcp_tap.capture.lines import (
    BUFFER,
    UNDECODABLE,
    Account,
    decode_line,
    first_line,
    next_part,
    run_files,
    same_run,
    unreadable,
)
from mcp_tap.capture.parts import part_number
from mcp_tap.core.records import AnyRecord, Footer, Gap, Header
from mcp_tap.errors import CaptureError

STEP = 256 << 10
"""Bytes one `poll()` reads at most, so that a long file does not hold up whoever polls."""


class CaptureTail:
    """Give the records of a run as they are written; the first `poll()` begins at its start.

    A file that was emptied, or replaced by another run, is read from its start: the records then
    begin with that run's header, by which the caller sees that it has to forget the old one.
    """

    def __init__(self, path: Path) -> None:
        """Open the first part.

        Raises:
            CaptureError: it cannot be opened.
        """
        self.path = path
        self.current = path
        """The part that is being followed."""
        self.header: Header | None = None
        self.clean = False
        """A footer was seen: nothing more will come."""
        self.behind = False
        """There is more to read at once: poll again without waiting."""
        self.damaged = 0
        """Lines that could not be read and were skipped."""
        self.size = 0
        """Bytes of the run that were read, all parts together."""
        self._account: Account | None = None
        self._convert: Convert | None = None
        self._held = Held()
        self._offset = 0
        self._number = 1
        self._first = True
        with contextlib.suppress(CaptureError):  # a file that is empty yet
            self.current = run_files(path)[1][0]
            self._number = 1 if self.current == path else part_number(self.current.name)
        self._from_start = self.current != path
        """The run's first file is gone: this is what is left."""
        try:
            self._file: BinaryIO = self.current.open("rb", buffering=0)
        except OSError as error:
            raise unreadable(path, error) from error

    @property
    def lost(self) -> int:
        """Records that are missing so far."""
        return self._account.lost if self._account else 0

    def poll(self) -> list[AnyRecord]:
        """Give the records that are whole by now; at most `STEP` bytes of them at a time.

        Raises:
            CaptureError: the file is no capture, or of a format that cannot be read.
        """
        records: list[AnyRecord] = []
        try:
            if (renewed := self._renewed()) is not None:
                self._begin(renewed, self._number if renewed == self.current else 1)
            self._read(records)
            if self.header is None or self.clean or self.behind:
                return records
            following = next_part(self.path, self._number, self.header)
            if following is not None:
                self._read(records)  # what was written before the writer went on
                if not self.behind:
                    self._begin(*following)
                    self.behind = True
        except OSError as error:
            raise unreadable(self.current, error) from error
        return records

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self, records: list[AnyRecord]) -> None:
        data = self._file.read(STEP)
        self.behind = len(data) == STEP
        if not data:
            return
        self._offset += len(data)
        self.size += len(data)
        end = data.rfind(b"\n") + 1
        begin = 0
        if self._held.size and end:
            begin = data.index(b"\n") + 1
            self._held.add(data[:begin])
            self._give(self._held.take(), records)
        if begin < end:
            for line in whole_lines(data[begin:end]):
                self._give(line, records)
        self._held.add(data[end:])
        if self._first and self._held.size > BUFFER:
            first_line(b"?", self.current.name)  # no header is so long

    def _give(self, line: bytes, records: list[AnyRecord]) -> None:
        record = self._take(line)
        if record is not None:
            records.append(record)

    def _take(self, line: bytes) -> AnyRecord | None:
        if self._first:
            header, self._convert = first_line(line, self.current.name)
            self._first = False
            return self._accept(header)
        try:
            record = decode_line(line, self._convert)
        except UNDECODABLE:
            self.damaged += not line.blank if isinstance(line, Odd) else not line.isspace()
            return None
        if isinstance(record, Header):
            return self._accept(record)
        account = self._account
        if record is None or account is None or record.seq < account.expected:
            return None  # nothing, or given out before the file was replaced
        if isinstance(record, Gap):
            account.gap(record)
        else:
            account.jump(record.seq)
            self.clean = isinstance(record, Footer)
        return record

    def _accept(self, header: Header) -> Header | None:
        if self.header is not None and same_run(self.header, header):
            return None
        self.header = header
        self.damaged = 0
        self.size = self._offset
        self._account = Account(header, from_start=self._from_start)
        self.clean = False
        return header

    def _begin(self, path: Path, number: int) -> None:
        file = path.open("rb", buffering=0)
        self._file.close()
        self._file = file
        self.current = path
        self._number = number
        self._held = Held()
        self._offset = 0
        self._first = True

    def _renewed(self) -> Path | None:
        """Name the file to begin again in: this one was emptied or replaced, or the run was."""
        state = os.fstat(self._file.fileno())
        if state.st_size < self._offset:
            return self.current
        try:
            return None if os.path.samestat(state, self.current.stat()) else self.current
        except FileNotFoundError:
            return self.path if self.current != self.path and self.path.exists() else None
