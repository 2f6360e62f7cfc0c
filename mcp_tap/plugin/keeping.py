"""Captures of tests on disk: where they are, whether they are sound, and what is added to them."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from msgspec.structs import replace

from mcp_tap.capture.reader import open_path
from mcp_tap.capture.replacing import replacing
from mcp_tap.core.records import (
    FORMAT,
    AnyRecord,
    Closed,
    Decision,
    Footer,
    Header,
    HttpRequest,
    HttpResponse,
    Payload,
    encode,
)
from mcp_tap.core.text import plural
from mcp_tap.errors import CaptureError
from mcp_tap.replay.behind import behind, differs
from mcp_tap.replay.index import Index

SUFFIX: Final = ".jsonl"
_LONGEST: Final = 120
"""Bytes of a file's name, without its suffix."""
_ODD: Final = re.compile(r"[^\w.\[\]=,+@ -]")
_OF_EXCHANGE: Final = (HttpRequest, HttpResponse, Payload, Closed, Decision)


def file_name(name: str) -> str:
    """Make a file's name, without its suffix, of what a test is called."""
    plain = _ODD.sub("-", name).strip(". ") or "test"
    if len(plain.encode()) <= _LONGEST:
        return plain
    cut = plain.encode()[:_LONGEST].decode(errors="ignore")
    return f"{cut}-{zlib.crc32(name.encode()):08x}"


def place_of(folder: Path, name: str) -> Path:
    """Say which file the capture of that name is; its `/` are folders."""
    steps = [file_name(step) for step in name.split("/") if step.strip(". ")]
    *folders, last = steps or ["test"]
    return folder.joinpath(*folders, last.removesuffix(SUFFIX) + SUFFIX)


def sound_index(path: Path, *, again: str) -> Index:
    """Read the capture of a test, all of it, to replay the server's side of it.

    Args:
        path: the file.
        again: the command that records it anew.

    Raises:
        CaptureError: it cannot be read, or not all of it is there.
    """
    anew = f"rm {shlex.quote(str(path))} && {again}"
    try:
        reader = open_path(path)
        sides = sum(map(differs, reader))  # of all of it: what is damaged may stand at the end
    except CaptureError as error:
        if not error.help:
            error.help = anew
        raise
    if reader.torn is not None:
        raise CaptureError(
            "capture-torn",
            f"{path} stops in the middle of line {reader.torn.line}",
            why="the run was killed while writing, or the file was cut",
            help=anew,
        )
    if reader.lost:
        raise CaptureError(
            "records-lost",
            f"{path} lacks {plural(reader.lost, 'record')}",
            why="what they said cannot be replayed",
            help=anew,
        )
    if not sides:
        return Index.of([str(path)])
    handle, name = tempfile.mkstemp(suffix=SUFFIX)
    try:
        with os.fdopen(handle, "wb") as file:
            _write(file, behind(reader))
        index = Index.of([name])
    finally:
        with suppress(OSError):  # an open file cannot go everywhere
            Path(name).unlink()
    index.captures[0].source.name = str(path)
    return index


def put(recorded: Path, place: Path) -> None:
    """Put a recording where the captures of tests are, whole or not at all.

    Raises:
        CaptureError: it cannot be written.
    """
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with recorded.open("rb") as source, replacing(place) as file:
            shutil.copyfileobj(source, file)
    except OSError as error:
        raise CaptureError(
            "output-unwritable",
            f"{place} cannot be written",
            why=(error.strerror or str(error)).lower(),
        ) from error


def appended(old: Path, run: Path, exchanges: set[int], to: Path) -> None:
    """Write a capture with what was in an old one, and some exchanges of a run behind that.

    Args:
        old: the capture there is.
        run: a further run.
        exchanges: numbers of those of its exchanges that are wanted.
        to: the file to write.

    Raises:
        CaptureError: one of them cannot be read.
    """
    with to.open("wb") as file:
        _write(file, _joined(open_path(old), open_path(run), exchanges))


def _joined(
    old: Iterable[AnyRecord], run: Iterable[AnyRecord], exchanges: set[int]
) -> Iterator[AnyRecord]:
    seq = number = conn = 0
    t = 0.0
    for record in old:
        if isinstance(record, Footer):
            continue
        yield replace(record, format=FORMAT) if isinstance(record, Header) else record
        seq, t = record.seq, max(t, record.t)
        number = max(number, getattr(record, "exchange", None) or 0)
        conn = max(conn, getattr(record, "conn", 0))
    seqs: dict[int, int] = {}
    numbers: dict[int, int] = {}
    start = t
    for record in run:
        if not isinstance(record, _OF_EXCHANGE) or record.exchange not in exchanges:
            continue
        assert record.exchange is not None
        seq += 1
        seqs[record.seq] = seq
        new = numbers.setdefault(record.exchange, number + len(numbers) + 1)
        t = start + record.t
        moved = replace(record, seq=seq, t=t, exchange=new)
        if isinstance(moved, HttpRequest) and moved.conn:
            moved = replace(moved, conn=conn + moved.conn)
        if isinstance(moved, Closed):
            moved = replace(
                moved, sent=_later(moved.sent, start), first_byte=_later(moved.first_byte, start)
            )
        elif not isinstance(moved, Decision) and moved.replaces is not None:
            moved = replace(moved, replaces=seqs.get(moved.replaces))
        yield moved
    yield Footer(seq=seq + 1, t=t, exchanges=number + len(numbers))


def _later(t: float | None, by: float) -> float | None:
    return None if t is None else t + by


def _write(file: IO[bytes], records: Iterable[AnyRecord]) -> None:
    for record in records:
        file.write(encode(record) + b"\n")
