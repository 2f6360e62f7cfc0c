"""Read a capture from its first record to its last, with little memory, and say what is wrong.

Rules of this file:

- A torn last line is reported in `torn` and skipped; the records before it are sound.  A last line
  that is whole and only lacks its line break is a record like others: no part of an object is one.
- An undecodable line elsewhere is an error, unless the next line is a `gap` record, by which the
  writer says that it left a fragment there.
- Repeated headers of further parts are checked and not given out.
- Missing records never stop the reading: they are counted in `lost`.
"""

from __future__ import annotations

import contextlib
import shlex
import sys
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from operator import length_hint
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from mcp_tap.capture.blocks import Odd, blocks_of
from mcp_tap.capture.convert import Convert
from mcp_tap.capture.lines import (
    UNDECODABLE,
    Account,
    decode_line,
    first_line,
    open_part,
    open_stdin,
    read_line,
    run_files,
    same_run,
    unreadable,
)
from mcp_tap.capture.store import find
from mcp_tap.core.records import AnyRecord, Footer, Gap, Header, decode, decode_flat
from mcp_tap.errors import CaptureError

_NOTED = frozenset((Header, Gap, Footer))
"""Kinds that need a look; asked by type, since `isinstance` is slow on structs."""


class Torn(Struct, frozen=True):
    """A last line that is not whole."""

    line: int
    """Its number within its file."""
    bytes: int
    """How much of it there is."""
    name: str
    """The file."""


class CaptureReader:
    """The records of one run; what is said about the run is final once iteration has ended.

    Iterating again starts again, except on standard input.
    """

    def __init__(
        self,
        parts: Sequence[Path],
        *,
        stream: BinaryIO | None = None,
        from_start: bool = False,
    ) -> None:
        """Open the first part and read its header.

        Args:
            parts: the files of the run, in order; each is opened when it is its turn.
            from_start: a run is wanted from its start, so records before the first part are lost.
            stream: read this instead of files, once.

        Raises:
            CaptureError: the first part is no capture, or cannot be read.
        """
        self.parts = list(parts)
        self.path: Path | None = self.parts[0] if self.parts else None
        self.name = self.path.name if self.path else "standard input"
        self.place = self.name
        """File of the record last given out."""
        self._line = 0
        self._ahead: Iterator[AnyRecord] = iter(())
        """Records before that line which are not given out yet."""
        self.torn: Torn | None = None
        self.clean = False
        """A footer was seen."""
        self._lines_before = 0
        self._part = 0
        self._marks: list[tuple[int, int, int]] = []
        """From which `seq` on a line's number is `seq` and how much, and in which part."""
        self._stream = stream
        self._once = stream is not None
        self.from_start = from_start
        """The run is wanted from its start, and its first part is gone."""
        with contextlib.nullcontext(stream) if stream else open_part(self.parts[0]) as first:
            self.header, self._convert = first_line(read_line(first, self.name), self.name)
        self._account = Account(self.header, from_start=self.from_start)

    @property
    def lost(self) -> int:
        """Records that are missing so far, told by `gap` records or seen as holes in `seq`."""
        return self._account.lost

    @property
    def unexplained(self) -> int:
        """Records among `lost` of which no `gap` record tells."""
        return self._account.unexplained

    @property
    def twice(self) -> int | None:
        """The first `seq` that came again, so that nobody can tell which record is meant."""
        return self._account.twice

    @property
    def line(self) -> int:
        """Line number, in its file, of the record last given out."""
        return self._line - length_hint(self._ahead)

    @property
    def lines(self) -> int:
        """Lines read so far, over all parts."""
        return self._lines_before + self.line

    def where(self, seq: int) -> tuple[Path | None, int]:
        """Say in which file (None: standard input) and line the record `seq`, read by now, stands.

        Of a record that is missing, or whose `seq` is there twice, it is a line near by.
        """
        at = bisect_right(self._marks, (seq, sys.maxsize, 0)) - 1
        if at < 0:
            return self.path, 1
        _, more, part = self._marks[at]
        return (self.parts[part] if self.parts else None), seq + more

    def _mark(self, seq: int, number: int) -> None:
        """Note that record `seq` stands on line `number`, where the one before does not tell."""
        more, marks = number - seq, self._marks
        if not marks or marks[-1][1] != more or marks[-1][2] != self._part:
            marks.append((max(seq, marks[-1][0]) if marks else seq, more, self._part))

    def __iter__(self) -> Iterator[AnyRecord]:
        """Give out the records in order, the header first.

        Raises:
            CaptureError: a line cannot be read, or belongs to another run.
        """
        return chain.from_iterable(self._batches())  # by the batch: no call of ours a record

    def _batches(self) -> Iterator[Iterable[AnyRecord]]:
        try:
            yield from self._all()
        except OSError as error:
            raise unreadable(Path(self.place), error) from error

    def _all(self) -> Iterator[Iterable[AnyRecord]]:
        with self._begin() as stream:
            yield (self.header,)
            yield from self._decoded(self._blocks(stream), self._convert)
        for part, path in enumerate(self.parts[1:], 1):
            self._lines_before += self.line
            self._line = 1
            self._part = part
            self.place = path.name
            with open_part(path) as stream:
                header, convert = first_line(read_line(stream, path.name), path.name)
                self._check_header(header, 1)
                yield from self._decoded(self._blocks(stream), convert)

    def _begin(self) -> BinaryIO:
        """Give the first part, read to behind its header, and forget what was counted."""
        if self._once:
            stream, self._stream = self._stream, None
            if stream is None:
                raise CaptureError("capture-unreadable", "standard input can be read only once")
        else:
            stream = open_part(self.parts[0])
            read_line(stream, self.name)
        self._account = Account(self.header, from_start=self.from_start)
        self.place, self._line, self._lines_before = self.name, 1, 0
        self._part, self._marks = 0, []
        self.torn, self.clean = None, False
        return stream

    def _decoded(
        self, blocks: Iterator[list[bytes]], convert: Convert | None
    ) -> Iterator[Iterable[AnyRecord]]:
        """Decode many lines at once as long as nothing is out of the ordinary, then one by one."""
        account = self._account
        number = 1
        rest: list[bytes] = []
        for block in blocks if convert is None and not self._once else ():
            records = _ordinary(block, account.expected)
            if not records:
                rest = block
                break
            self._mark(account.expected, number + 1)
            number += len(records)
            ahead = iter(records)
            self._line, self._ahead = number, ahead
            yield ahead
            account.expected += len(records)
        lines = chain(rest, chain.from_iterable(blocks))
        for record in self._one_by_one(lines, convert, number):
            yield (record,)

    def _one_by_one(
        self, lines: Iterator[bytes], convert: Convert | None, number: int
    ) -> Iterator[AnyRecord]:
        account = self._account
        expected = account.expected
        self._mark(expected, number + 1)
        for line in lines:
            number += 1
            try:
                record = decode(line) if convert is None else decode_line(line, convert)
            except UNDECODABLE as error:
                if isinstance(line, Odd):
                    number += line.lines - 1
                if line.isspace() or (isinstance(line, Odd) and line.blank):
                    self._mark(expected, number + 1)
                    continue
                record = self._after_damage(line, lines, convert, number, error)
                if record is None:
                    break
                number += 1
            if record is None:
                self._mark(expected, number + 1)
                continue
            seq = record.seq
            if seq != expected or type(record) in _NOTED:
                if isinstance(record, Header):
                    self._check_header(record, number)
                    self._mark(expected, number + 1)
                    continue
                self._mark(seq, number)
                account.expected = expected
                if isinstance(record, Gap):
                    account.gap(record)
                else:
                    account.jump(seq)
                    self.clean = isinstance(record, Footer)
                expected = account.expected
            else:
                expected = seq + 1
            self._line = number
            yield record
        account.expected = expected
        self._line = number

    def _blocks(self, stream: BinaryIO) -> Iterator[list[bytes]]:
        try:
            yield from blocks_of(stream)
        except (EOFError, zlib.error) as error:
            # Records behind the break cannot be had; those before it are sound.
            self.torn = Torn(self.line + 1, 0, f"{self.place} ({error})")

    def _after_damage(
        self,
        line: bytes,
        lines: Iterator[bytes],
        convert: Convert | None,
        number: int,
        error: Exception,
    ) -> AnyRecord | None:
        """Decide what an undecodable line means: the torn end (None), a fragment, or damage."""
        following = next(lines, None)
        if following is None:
            size = line.size if isinstance(line, Odd) else len(line)
            self.torn = Torn(number, size, self.place)
            return None
        try:
            record = decode_line(following, convert)
        except UNDECODABLE:
            record = None
        if isinstance(record, Gap):
            return record
        raise CaptureError(
            "capture-damaged",
            f"{self.place} cannot be read at line {number}",
            why="it is too long for a record, or none from its first character on"
            if isinstance(line, Odd)
            else f"it is no record: {_plain(error)}",
            help=f"sed {number}d {shlex.quote(self.place)} > mended.jsonl leaves that line out",
        ) from error

    def _check_header(self, header: Header, number: int) -> None:
        if not same_run(header, self.header):
            raise CaptureError(
                "capture-damaged",
                f"{self.place} holds more than one run",
                where=f"line {number}: the header of another run, started {header.started}",
                help="read each run from its own file",
            )


def open_capture(spec: str | None) -> CaptureReader:
    """Open what a person names as CAPTURE: a path, a run id, `-`, or None for the newest run.

    Further parts of the run are read too; a path that names a later part is that part alone.

    Raises:
        CaptureError: there is no such capture, or it cannot be read.
    """
    if spec == "-":
        return CaptureReader([], stream=open_stdin())
    return open_path(find(spec))


def open_path(path: Path) -> CaptureReader:
    """Open a capture by its first file, with the further parts of its run.

    Where the first file is gone or empty, what is left of the run is read.

    Raises:
        CaptureError: it cannot be read as a capture.
    """
    _, parts = run_files(path)
    return CaptureReader(parts, from_start=parts[0] != path)


def _plain(error: Exception) -> str:
    """Shorten a decoder's message: it must not carry much of the line into a terminal."""
    return ascii(str(error))[1:-1][:120]


def _ordinary(lines: list[bytes], expected: int) -> list[AnyRecord]:
    """Decode lines that follow each other in `seq`; nothing, where one of them is special."""
    try:
        records = [decode_flat(line) for line in lines]
    except UNDECODABLE:
        return []
    if not _NOTED.isdisjoint(map(type, records)):
        return []
    ordered = [record.seq for record in records] == list(range(expected, expected + len(records)))
    return records if ordered else []
