"""The folder captures are kept in: which runs are there, which is meant, and taking old ones away.

Nothing is deleted on its own.  Only files whose first line is a capture's header are ever listed
or removed, and a run that is being written is not removed unless that is asked for by name.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from msgspec import Struct

from mcp_tap.capture.file import being_written, make_private_folder
from mcp_tap.capture.lines import last_record, run_files
from mcp_tap.capture.parts import base_name, part_number, plain_name
from mcp_tap.core import clock
from mcp_tap.core.records import Footer, Header
from mcp_tap.errors import CaptureError

State = Literal["ended", "running", "no footer", "packed"]
"""`ended`: the last line is a footer, whatever stands before it; `running`: a writer holds the file
now; `no footer`: killed, or running where no locks are; `packed`: the end is in a gzip file, which
is not unpacked to see."""

FRESH = 60.0
"""A capture without a footer that was written to within so many seconds may still be running."""

_RUN_ID = re.compile(r"\d{8}T\d{6}(-[A-Za-z0-9_-]+)?-[0-9a-f]{4}")
_UNSAFE = re.compile(r"[^A-Za-z0-9_]+")


class RunInfo(Struct, frozen=True, kw_only=True):
    """What can be said of a run from its first and its last line."""

    id: str
    path: Path
    parts: list[Path]
    header: Header
    started: datetime
    bytes: int
    records: int | None
    """Records in the files, lost ones not counted; None where the last part is packed."""
    duration: float
    """Seconds from the start to the last record."""
    exchanges: int | None
    """Told by the footer."""
    lost: int
    """Told by the footer."""
    state: State
    written: float
    """When the last part was last written to, in seconds since 1970."""


class Listing(Struct, frozen=True):
    """The runs of a folder, newest first, and the files there that are not readable captures."""

    runs: list[RunInfo]
    skipped: list[tuple[Path, CaptureError]]
    """Each with the reason."""


def home() -> Path:
    """Name the folder captures go to: `MCP_TAP_HOME`, else the user's state folder."""
    folder = os.environ.get("MCP_TAP_HOME")
    if folder:
        return Path(folder).expanduser()
    from platformdirs import user_state_path  # noqa: PLC0415 - most commands never need it

    return user_state_path("mcp-tap", appauthor=False)


def new_run_id(label: str | None, started: datetime | str) -> str:
    """Make an id for a new run: `20260728T120401-billing-7f3a`, times in UTC."""
    when = started if isinstance(started, datetime) else datetime.fromisoformat(started)
    stamp = when.astimezone(UTC).strftime("%Y%m%dT%H%M%S")
    words = _UNSAFE.sub("-", label or "").strip("-")[:40].rstrip("-")
    return "-".join(filter(None, (stamp, words, secrets.token_hex(2))))


def run_id_for(path: Path | None, label: str | None, started: datetime | str) -> str:
    """Give the id of a run recorded to `path`: the file's name where that is one, else a new id.

    Else every run recorded with `-w run.jsonl` would be called `run`.
    """
    name = "" if path is None else _run_id(path)
    return name if _RUN_ID.fullmatch(name) else new_run_id(label, started)


def new_path(label: str | None, started: datetime | str) -> Path:
    """Name a file for a new run after its id, in the captures folder, which is made if need be.

    Raises:
        CaptureError: the folder cannot be made.
    """
    folder = home()
    try:
        make_private_folder(folder)
    except OSError as error:
        raise CaptureError(
            "capture-unwritable",
            f"cannot make the captures folder {folder}",
            why=error.strerror or str(error),
            help="name another folder with MCP_TAP_HOME, or a file with --write FILE",
        ) from error
    while (path := folder / f"{new_run_id(label, started)}.jsonl").exists():
        pass
    return path


def find(spec: str | None) -> Path:
    """Find the first file of the run that a path, a run id or the end of one names; None: newest.

    Raises:
        CaptureError: there is none, or several.
    """
    if spec is None:
        return newest()
    if not spec.strip():
        raise CaptureError(
            "capture-missing", "the name of the capture is empty", help="mcp-tap list"
        )
    path = Path(spec)
    if path.is_dir():
        inside = sorted(path.glob("*.jsonl"))
        raise CaptureError(
            "capture-is-folder",
            f"{spec} is a folder, not a capture",
            help=f"mcp-tap show {inside[-1]}" if inside else "mcp-tap list",
        )
    if path.exists() or _is_left(path):
        return path
    folder = home()
    if path.name == spec:
        ids = {_run_id(entry): entry for entry in _first_parts(folder)}
        hits = [spec] if spec in ids else [name for name in ids if _abbreviates(spec, name)]
        hits = hits or [name for name in ids if _abbreviates(spec, _recorded_id(ids[name]))]
        if len(hits) == 1:
            return ids[hits[0]]
        if hits:
            raise CaptureError(
                "capture-ambiguous",
                f"{spec} names {len(hits)} runs",
                where=", ".join(sorted(hits)[:5]),
                help="give more of the run id",
            )
    raise CaptureError(
        "capture-missing",
        f"there is no capture {spec}",
        why=f"no such file, and no run of that id in {folder}",
        help="mcp-tap list",
    )


def newest(folder: Path | None = None) -> Path:
    """Find the run that was started last; one that is over and saw no traffic is passed over.

    If all are like that, it is the last of them.

    Raises:
        CaptureError: there is none.
    """
    folder = folder or home()
    found: list[tuple[datetime, float, Path]] = []
    for path in _first_parts(folder):
        with contextlib.suppress(CaptureError, OSError):
            header, parts = run_files(path)
            if header.part == 1 or parts[0] != path:
                first = parts[0]
                found.append((_started(header, first), first.stat().st_mtime, path))
    if not found:
        raise CaptureError(
            "no-captures",
            f"there is no capture in {folder} yet",
            help="mcp-tap http URL records one",
        )
    found.sort(reverse=True)
    for _, _, path in found:
        with contextlib.suppress(CaptureError, OSError):
            if not _is_idle(describe(path)):
                return path
    return found[0][2]


def _is_idle(run: RunInfo) -> bool:
    """Tell whether a run is over and has nothing to show."""
    if run.state == "ended":
        return run.exchanges == 0
    return run.state == "no footer" and run.records is not None and run.records <= 1


def list_runs(folder: Path | None = None) -> Listing:
    """List the runs of a folder, reading the first and the last line of each."""
    runs: list[RunInfo] = []
    skipped: list[tuple[Path, CaptureError]] = []
    for path in _first_parts(folder or home()):
        try:
            runs.append(describe(path))
        except CaptureError as error:
            skipped.append((path, error))
        except FileNotFoundError:
            continue
    runs.sort(key=lambda run: (run.started, run.written, run.id), reverse=True)
    return Listing(runs, skipped)


def describe(path: Path) -> RunInfo:
    """Describe the run that begins in a file.

    Raises:
        CaptureError: it is no capture.
    """
    header, parts = run_files(path)
    last = last_record(parts[-1])
    stats = [part.stat() for part in parts]
    footer = last if isinstance(last, Footer) else None
    state: State = "ended" if footer else "no footer"
    if last is None and parts[-1].suffix == ".gz":
        state = "packed"
    elif footer is None and being_written(parts[-1]):
        state = "running"
    lost = footer.lost if footer else 0
    if parts[0] != path and header.part > 1:
        lost += header.seq  # of parts that are gone
        parts = [path, *parts] if path.exists() else parts
    return RunInfo(
        id=_run_id(path),
        path=path,
        parts=parts,
        header=header,
        started=_started(header, parts[-1]),
        bytes=sum(stat.st_size for stat in stats),
        records=None if last is None else max(0, last.seq + 1 - lost),
        duration=last.t if last else 0.0,
        exchanges=footer.exchanges if footer else None,
        lost=lost,
        state=state,
        written=stats[-1].st_mtime,
    )


def to_prune(
    runs: Sequence[RunInfo],
    *,
    now: datetime,
    older_than: float | None = None,
    keep: int | None = None,
    force: bool = False,
) -> tuple[list[RunInfo], list[RunInfo]]:
    """Choose the runs to remove; those that are past the newest `keep` *and* older than that.

    Args:
        runs: newest first.
        now: what ages are counted from.
        older_than: seconds since a run's start; None: any age.
        keep: how many of the newest stay in any case; None: none.
        force: take runs too that are being written.

    Returns:
        The runs to remove, and those that stay only because they may still be running.
    """
    chosen: list[RunInfo] = []
    running: list[RunInfo] = []
    for run in runs[keep or 0 :]:
        age = (now - run.started).total_seconds()
        if older_than is not None and age <= older_than:
            continue
        fresh = run.state == "no footer" and now.timestamp() - run.written < FRESH
        if not force and (run.state == "running" or fresh):
            running.append(run)
        else:
            chosen.append(run)
    return chosen, running


def remove(run: RunInfo) -> None:
    """Remove the files of a run, its first part last, so that a half-removed run is still listed.

    Raises:
        CaptureError: a file cannot be removed.
    """
    for part in reversed(run.parts):
        try:
            part.unlink(missing_ok=True)
        except OSError as error:
            raise CaptureError(
                "capture-unremovable", f"{part} cannot be removed", why=error.strerror or str(error)
            ) from error


def _first_parts(folder: Path) -> list[Path]:
    """List the files of a folder that may begin a run, also those of which only parts are left."""
    try:
        entries = sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise CaptureError(
            "capture-unreadable", f"{folder} cannot be read", why=error.strerror or str(error)
        ) from error
    names = {entry.name for entry in entries}
    found: dict[Path, None] = {}
    for entry in entries:
        base = base_name(entry.name)
        if not base.endswith(".jsonl") or not entry.is_file():
            continue
        if part_number(entry.name) == 1:
            found[entry] = None
        elif names.isdisjoint((base, f"{base}.gz")):
            found[entry.with_name(base)] = None  # that file is gone, but not the run
    return list(found)


def _is_left(path: Path) -> bool:
    """Tell whether a file is gone but others of the run it began are there."""
    try:
        run_files(path)
    except (CaptureError, OSError):
        return False
    return True


def _run_id(path: Path) -> str:
    return plain_name(path.name).removesuffix(".jsonl")


def _recorded_id(path: Path) -> str:
    """Give the id in the header of a file that has a name of its own; empty where there is none."""
    if _RUN_ID.fullmatch(_run_id(path)):
        return ""
    try:
        return run_files(path)[0].run
    except (CaptureError, FileNotFoundError):
        return ""


def _abbreviates(spec: str, run: str) -> bool:
    return len(spec) >= 3 and (run.startswith(spec) or run.endswith("-" + spec))


def _started(header: Header, path: Path) -> datetime:
    """Read the start from the header; a file of another hand may have nonsense there."""
    return clock.read(header.started) or datetime.fromtimestamp(path.stat().st_mtime, UTC)
