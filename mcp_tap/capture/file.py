"""The files of one run as the writer sees them: opened once, appended to, never left torn.

Rules of this file:

- A file is created, never taken over: `O_EXCL`, mode 0600 whatever the umask.
- After a failed write the file ends with the last whole line: the half line is cut off.  Where
  cutting is refused (an append-only file), the next write starts with a line break and a `gap`
  record with `lost: 0`, by which readers know that the line before it is a fragment.
- A file that somebody removed, emptied or cut is noticed before the next write and replaced.
- While it is written the file carries an exclusive `flock`: that is how `list` and `prune` know.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shlex
import sys
from pathlib import Path
from time import sleep

import msgspec

from mcp_tap.capture.parts import part_path
from mcp_tap.core.records import Gap, Header, encode
from mcp_tap.errors import CaptureError

if sys.platform != "win32":
    import fcntl


_TRIES = 20
"""Times a lock is asked for, a millisecond apart."""


class _Spot(msgspec.Struct):
    """Where a run stands: the `seq` and `t` of a line."""

    seq: int
    t: float


_NUMBERS = re.compile(rb'\{"kind":"\w+","seq":(\d+),"t":([^,}]+)')
"""How each line begins; what follows may be nested deeper than a parser goes."""


class CaptureFile:
    """The part that is being written, and how to get to the next one."""

    def __init__(self, path: Path, header: Header) -> None:
        """Create the first part with its header; its folder must be there.

        Raises:
            CaptureError: the file exists, or cannot be created.
        """
        self.path = path
        """First part."""
        self.parts = [path]
        self.size = 0
        """Bytes of whole lines in the current part."""
        self.lines = 0
        """Records in the current part, its header not counted."""
        self._header = header
        self._number = 1
        self._spot = _Spot(header.seq, header.t)
        self._half = False
        self._fd = -1
        try:
            self._fd = self._create(path, header)
        except OSError as error:
            raise refusal(path, error) from error

    @property
    def current(self) -> Path:
        """The part that is being written."""
        return self.parts[-1]

    def append(self, data: bytes, lines: int | None = None) -> tuple[int, OSError | None]:
        """Append whole lines; tell how many bytes of them stand in the file, and what went wrong.

        The number is always that of whole lines: what follows it can be handed in again.  Whoever
        knows how many `lines` there are spares the interpreter the counting.
        """
        if self._half and (error := self._close_fragment()):
            return 0, error
        done, failure = _write_all(self._fd, data)
        whole = done if failure is None else data.rfind(b"\n", 0, done) + 1
        if whole:
            self.size += whole
            known = lines if whole == len(data) else None
            self.lines += data.count(b"\n", 0, whole) if known is None else known
            numbers = _NUMBERS.match(data, data.rfind(b"\n", 0, whole - 1) + 1)
            if numbers is not None:
                self._spot = _Spot(int(numbers[1]), float(numbers[2]))
        if done > whole:
            self._half = True
            self._cut()
        return whole, failure

    def next_part(self) -> None:
        """Go on in a new file, which repeats the header; raises OSError and stays where it is."""
        number = self._number
        while True:
            number += 1
            with contextlib.suppress(FileExistsError):
                self._move_to(number)
                return

    def mend(self) -> tuple[str, int]:
        """See whether the file is still there; if not, go on in a new one.

        Returns:
            What happened, in words (empty: nothing), and how many records are gone with it.
        """
        state = os.fstat(self._fd)
        name = self.current.name
        if state.st_nlink == 0 and not self._stands(state):
            gone = self.lines
            try:
                self._move_to(self._number)
            except FileExistsError:
                self.next_part()
                return f"{name} was replaced; the capture goes on in {self.current.name}", 0
            self._tell_gap(gone, "the file was removed while it was written")
            return f"{name} was removed; the capture goes on in a new file", gone
        if state.st_size >= self.size:
            return "", 0
        if state.st_size:
            self.next_part()
            return f"{name} was cut short; the capture goes on in {self.current.name}", 0
        gone, self.size, self._half = self.lines, 0, False
        _, failure = self.append(encode(self._repeated_header(self._number)) + b"\n")
        if failure is not None:
            raise failure
        self.lines = 0
        self._tell_gap(gone, "the file was emptied while it was written")
        return f"{name} was emptied; the capture goes on in it", gone

    def close(self) -> None:
        """Close the file; what was written stays."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            with contextlib.suppress(OSError):
                os.close(fd)

    def _move_to(self, number: int) -> None:
        path = part_path(self.path, number)
        fd = self._create(path, self._repeated_header(number))
        self.close()
        self._fd = fd
        self._number = number
        self._half = False
        self.lines = 0
        if path != self.current:
            self.parts.append(path)

    def _repeated_header(self, number: int) -> Header:
        spot = self._spot
        return msgspec.structs.replace(self._header, part=number, seq=spot.seq, t=spot.t)

    def _create(self, path: Path, header: Header) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
        fd = os.open(path, flags, 0o600)
        line = encode(header) + b"\n"
        try:
            if hasattr(os, "fchmod"):
                os.fchmod(fd, 0o600)
            _lock(fd)
            _, failure = _write_all(fd, line)
            if failure is not None:
                raise failure
        except OSError:
            os.close(fd)
            with contextlib.suppress(OSError):
                path.unlink()
            raise
        self.size = len(line)
        return fd

    def _tell_gap(self, lost: int, why: str) -> None:
        if lost:
            self.append(encode(Gap(seq=self._spot.seq, t=self._spot.t, lost=lost, why=why)) + b"\n")
            self.lines = 0

    def _stands(self, state: os.stat_result) -> bool:
        try:
            return os.path.samestat(state, self.current.stat())
        except FileNotFoundError:
            return False

    def _cut(self) -> None:
        with contextlib.suppress(OSError):
            os.ftruncate(self._fd, self.size)
            self._half = False

    def _close_fragment(self) -> OSError | None:
        self._cut()
        if not self._half:
            return None
        gap = Gap(seq=self._spot.seq, t=self._spot.t, lost=0, why="the line before is a fragment")
        data = b"\n" + encode(gap) + b"\n"
        _, failure = _write_all(self._fd, data)
        if failure is None:
            self._half = False
            with contextlib.suppress(OSError):
                self.size = os.fstat(self._fd).st_size
        return failure


def make_private_folder(folder: Path) -> None:
    """Create a folder and its missing parents with mode 0700; folders that exist are left alone."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for path in reversed(missing):
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
            path.chmod(0o700)


def being_written(path: Path) -> bool:
    """Tell whether a writer holds this file now; False also where locks are not to be had."""
    if sys.platform == "win32":
        return False
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _lock(fd: int) -> None:
    if sys.platform == "win32":
        return
    for _ in range(_TRIES):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sleep(0.001)  # someone asks `being_written` at this moment
        except OSError:
            return
        else:
            return


def _write_all(fd: int, data: bytes) -> tuple[int, OSError | None]:
    """Write until all is out or something fails; Python itself goes on after a signal."""
    done = 0
    with memoryview(data) as view:
        try:
            while done < len(view):
                with view[done:] as rest:
                    count = os.write(fd, rest)
                if count == 0:
                    return done, OSError(errno.EIO, "nothing could be written")
                done += count
        except OSError as error:
            return done, error
    return done, None


def refusal(path: Path, error: OSError) -> CaptureError:
    """Say why a capture cannot be created."""
    if isinstance(error, FileExistsError):
        return _taken(path)
    if isinstance(error, FileNotFoundError):  # a folder made of a typing error goes unnoticed
        return CaptureError(
            "capture-unwritable",
            f"cannot create the capture {path}",
            why=f"there is no folder {path.parent}",
            help=f"mkdir -p {shlex.quote(str(path.parent))}",
        )
    return CaptureError(
        "capture-unwritable",
        f"cannot create the capture {path}",
        why=error.strerror or str(error),
        help="name another file with --write FILE, or another folder with MCP_TAP_HOME",
    )


def _taken(path: Path) -> CaptureError:
    if path.is_dir():
        return CaptureError(
            "capture-exists",
            f"{path} is a folder, not a file to write to",
            help=f"--write {shlex.quote(str(path / 'run.jsonl'))}",
        )
    return CaptureError(
        "capture-exists",
        f"{path} exists already",
        why="a capture is evidence: it is never overwritten or added to",
        help=f"--write {shlex.quote(str(free_name(path)))}",
    )


def free_name(path: Path) -> Path:
    """Name a file that is not there yet after one that is: `run-2.jsonl`."""
    number = 2
    while (free := path.with_name(f"{path.stem}-{number}{path.suffix}")).exists():
        number += 1
    return free
