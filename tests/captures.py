"""Records and captures for tests."""

from __future__ import annotations

from pathlib import Path

from msgspec import Raw

from mcp_tap.capture.reader import open_path
from mcp_tap.capture.writer import CaptureWriter
from mcp_tap.core.records import FORMAT, AnyRecord, Footer, Header, Message, encode


def header(run: str = "r1", **fields) -> Header:
    given = {
        "seq": 0,
        "t": 0.0,
        "format": FORMAT,
        "tool": "mcp-tap/0",
        "run": run,
        "started": "2026-07-28T12:04:01.250Z",
        "transport": "http",
        "upstream": "http://localhost:3000/mcp",
    }
    return Header(**{**given, **fields})


def message(seq: int, body: bytes = b'{"jsonrpc":"2.0","id":1,"method":"ping"}') -> Message:
    return Message(seq=seq, t=seq / 1000, sender="client", exchange=seq, body=Raw(body))


def footer(seq: int, **fields) -> Footer:
    return Footer(**{"seq": seq, "t": seq / 1000, "exchanges": 1, **fields})


def lines_of(*records: AnyRecord) -> bytes:
    return b"".join(encode(record) + b"\n" for record in records)


def write_run(path: Path, count: int = 5, *, clean: bool = True, run: str = "r1", **fields) -> Path:
    """Write a run as it would stand on disk, without the writer."""
    records = [header(run, **fields), *(message(seq) for seq in range(1, count + 1))]
    if clean:
        records.append(footer(count + 1))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lines_of(*records))
    return path


def write_rotated(path: Path, count: int = 60, rotate: int = 1500) -> list[Path]:
    """Write a run of several parts with the writer."""
    writer = CaptureWriter(path, header(), rotate=rotate, on_trouble=fail)
    for seq in range(1, count + 1):
        writer.write(message(seq))
    writer.close(footer(count + 1))
    return writer.parts


def seqs(path: Path) -> list[int]:
    """Read a run and give its `seq`s, the header's first."""
    return [record.seq for record in open_path(path)]


def fail(text: str) -> None:
    raise AssertionError(text)
