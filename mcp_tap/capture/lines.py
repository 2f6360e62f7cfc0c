"""What reader, tail and store share: opening a part, and judging its first line and its seqs."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import sys
import zlib
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from mcp_tap.capture.convert import Convert, converter
from mcp_tap.capture.parts import later_parts, part_number, part_path
from mcp_tap.core.records import AnyRecord, Gap, Header, decode
from mcp_tap.errors import CaptureError

BUFFER = 1 << 20
"""Bytes read at a time."""

UNDECODABLE = (msgspec.MsgspecError, ValueError, RecursionError)
"""What decoding a line may raise."""

_TAILS = (64 << 10, 512 << 10, 4 << 20)
"""Bytes from the end of a part within which its last line is looked for, one after the other."""
_LOOKS = 100
"""Lines there that are tried."""
_MAGIC = b"\x1f\x8b"


class _Head(msgspec.Struct):
    """The part of a first line that every format, to come too, must have."""

    kind: str
    format: int


_head = msgspec.json.Decoder(_Head).decode


def open_part(path: Path) -> BinaryIO:
    """Open a part for reading lines, unpacking it where it is gzip.

    Raises:
        CaptureError: it cannot be opened.
    """
    try:
        file = path.open("rb", buffering=BUFFER)
        if file.read(2) != _MAGIC:
            file.seek(0)
            return file
        file.close()
        return cast("BinaryIO", gzip.open(path, "rb"))
    except OSError as error:
        raise unreadable(path, error) from error


def open_stdin() -> BinaryIO:
    """Open standard input for reading lines, unpacking it where it is gzip."""
    file = io.BufferedReader(io.FileIO(sys.stdin.fileno(), closefd=False), BUFFER)
    packed = file.peek(2)[:2] == _MAGIC
    return cast("BinaryIO", gzip.GzipFile(fileobj=file) if packed else file)


def unreadable(path: Path, error: OSError) -> CaptureError:
    """Put a failure to open or read a file into words."""
    return CaptureError(
        "capture-unreadable", f"{path} cannot be read", why=error.strerror or str(error)
    )


def first_line(line: bytes, name: str) -> tuple[Header, Convert | None]:
    """Decode the first line of a part; tell also how the lines after it are brought up to date.

    Raises:
        CaptureError: it is empty, no header, or of a format that cannot be read.
    """
    if not line.strip():
        raise CaptureError(
            "capture-empty", f"{name} is empty", why="a capture begins with a header record"
        )
    try:
        head = _head(line)
    except UNDECODABLE:
        head = None
    if head is None or head.kind != "header":
        raise CaptureError(
            "not-a-capture",
            f"{name} is not a capture",
            why="its first line is no header record",
            help="mcp-tap list names the captures there are",
        )
    convert = converter(head.format, name)
    try:
        record = decode_line(line, convert)
    except UNDECODABLE as error:
        raise CaptureError(
            "capture-damaged", f"{name} cannot be read at line 1", why=f"{error}"
        ) from error
    if not isinstance(record, Header):
        raise CaptureError("capture-damaged", f"{name} lost its header in conversion")
    return record, convert


def header_of(path: Path) -> Header:
    """Read the header of a part.

    Raises:
        CaptureError: it is no capture.
    """
    with open_part(path) as stream:
        return first_line(read_line(stream, path.name), path.name)[0]


def same_run(one: Header, other: Header) -> bool:
    """Tell whether two headers are of one run; a run id alone may be used again (`--write`)."""
    return (one.run, one.started) == (other.run, other.started)


def run_files(base: Path) -> tuple[Header, list[Path]]:
    """Find the run that begins in `base`: its files are those with the name and the run's header.

    Where `base` itself is gone or empty, the run is what is left of it, with a later header.

    Raises:
        CaptureError: it is no capture.
    """
    try:
        first, header = base, header_of(base)
    except CaptureError:
        left = _left_of(base)
        if left is None:
            raise
        first, header = left
    if header.part > 1 and first == base:
        return header, [base]  # a later part, asked for by its name
    number = part_number(first.name)
    later = (path for path in later_parts(base) if part_number(path.name) > number)
    return header, [first, *(path for path in later if _belongs(path, header))]


def _left_of(base: Path) -> tuple[Path, Header] | None:
    if part_number(base.name) > 1 or (base.exists() and base.stat().st_size):
        return None
    if not base.parent.is_dir():
        return None
    packed = base.with_name(f"{base.name}.gz")
    for path in [*([packed] if packed.exists() else []), *later_parts(base)]:
        with contextlib.suppress(CaptureError):
            return path, header_of(path)
    return None


def next_part(base: Path, number: int, header: Header) -> tuple[Path, int] | None:
    """Find the plain part that follows part `number`; files of others between them are passed over.

    None also while its header is not written yet.
    """
    while (path := part_path(base, number := number + 1)).exists():
        if _belongs(path, header):
            return path, number
    return None


def _belongs(path: Path, header: Header) -> bool:
    try:
        return same_run(header_of(path), header)
    except CaptureError:
        return False


def read_line(stream: BinaryIO, name: str) -> bytes:
    """Read the first line of a part, or as much of it as a header may have.

    Raises:
        CaptureError: it cannot be read.
    """
    try:
        return stream.readline(BUFFER)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        why = f"it is no sound gzip file: {error}"
        raise CaptureError("capture-damaged", f"{name} cannot be read", why=why) from error
    except OSError as error:
        raise unreadable(Path(name), error) from error


def decode_line(line: bytes, convert: Convert | None) -> AnyRecord | None:
    """Decode a line, converted first where its format is older; None: a step dropped it."""
    if convert is None:
        return decode(line)
    new = convert(line)
    return None if new is None else decode(new)


class Account:
    """Keeps count of the `seq` of one run: what is missing, and what of that nobody said."""

    def __init__(self, header: Header, *, from_start: bool = False) -> None:
        """Start at the first part's header, or at a later part read by itself.

        With `from_start`, records before a later part count as missing.
        """
        self.expected = 1 if header.part == 1 or from_start else header.seq + 1
        self.lost = 0
        """Records that are missing, told by `gap` records or by holes."""
        self.unexplained = 0
        """Those of them no `gap` record tells of."""
        self.twice: int | None = None
        """The first `seq` that was there before."""

    def jump(self, seq: int) -> None:
        """Take in a record whose `seq` is not the expected one."""
        if seq > self.expected:
            self.lost += seq - self.expected
            self.unexplained += seq - self.expected
        elif seq < self.expected and self.twice is None:
            self.twice = seq
        self.expected = max(self.expected, seq + 1)

    def gap(self, gap: Gap) -> None:
        """Take in a `gap` record."""
        hole = max(0, gap.seq + 1 - self.expected)
        self.lost += max(hole, gap.lost)
        self.unexplained += max(0, hole - gap.lost)
        self.expected = max(self.expected, gap.seq + 1)


def last_record(path: Path) -> AnyRecord | None:
    """Decode the last whole line of a part, reading only so much of its end as `_TAILS` allow."""
    with open_part(path) as stream:
        convert = first_line(read_line(stream, path.name), path.name)[1]
        if hasattr(stream, "fileobj"):
            return None  # packed: its end cannot be had without unpacking all of it
        end = stream.seek(0, os.SEEK_END)
        for tail in _TAILS:
            start = max(0, end - tail)
            stream.seek(start)
            data = stream.read(end - start)
            if start:
                data = data[data.find(b"\n") + 1 or len(data) :]
            for line in reversed(data.rstrip().rsplit(b"\n", _LOOKS)):
                with contextlib.suppress(*UNDECODABLE):
                    record = decode_line(line, convert)
                    if record is not None:
                        return record
            if start == 0:
                break
    return None
