"""A client's configuration file on the disk: read, kept a copy of, and replaced in one step."""

from __future__ import annotations

import contextlib
import os
import shlex
import stat
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from mcp_tap.capture.replacing import replacing
from mcp_tap.errors import TapError

BACKUP = ".mcp-tap-backup"
"""What a copy's name ends with; a number follows where there is one already."""


class FileError(TapError):
    """A client's configuration file cannot be used, and was left as it is."""


class ConfigFile(Struct, frozen=True):
    """A file as it was read."""

    path: Path
    """As it was named."""
    real: Path
    """Where it is, behind all links."""
    data: bytes
    mode: int


def read(path: Path) -> ConfigFile:
    """Read a configuration file, following links.

    Raises:
        FileError: there is none, or none that can be read.
    """
    try:
        real = Path(os.path.realpath(path, strict=True))
        status = real.stat()
        if not stat.S_ISREG(status.st_mode):
            raise FileError("config-no-file", f"{path} is no regular file")
        return ConfigFile(path, real, real.read_bytes(), stat.S_IMODE(status.st_mode))
    except OSError as error:
        raise _failed("config-unreadable", f"{path} cannot be read", error) from error


def keep_copy(file: ConfigFile) -> Path:
    """Put a copy beside the file and give its path; an equal one that is there serves.

    A copy can be read by no more people than the file.

    Raises:
        FileError: it cannot be written.
    """
    number = 0
    while True:
        name = f"{file.real.name}{BACKUP}{f'.{number}' if number else ''}"
        copy = file.real.with_name(name)
        number += 1
        try:
            handle = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, file.mode)
        except FileExistsError:
            with contextlib.suppress(OSError):
                if not copy.stat().st_mode & 0o777 & ~file.mode and copy.read_bytes() == file.data:
                    return copy
            continue
        except OSError as error:
            raise _no_copy(file, error) from error
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(file.data)
                out.flush()
                os.fsync(handle)
        except OSError as error:
            copy.unlink(missing_ok=True)
            raise _no_copy(file, error) from error
        return copy


def check_writable(file: ConfigFile) -> None:
    """Refuse a file that is not to be written.

    Raises:
        FileError: it is read-only; replacing it would go behind the back of whoever said so.
    """
    if not file.mode & 0o222 or not os.access(file.real, os.W_OK):
        raise FileError(
            "config-read-only",
            f"{file.path} is read-only, and was left as it is",
            help=f"chmod u+w {shlex.quote(str(file.path))}",
        )


def replace(file: ConfigFile, data: bytes) -> None:
    """Put other bytes in the file's place, in one step and with the same mode and owner.

    Raises:
        FileError: it cannot be written, or is no longer as it was read.
    """
    try:
        if file.real.read_bytes() != file.data:
            raise FileError(
                "config-changed",
                f"{file.path} was changed by another program just now, and was left as that has it",
                help="run the command again",
            )
        put(file.real, data, lambda handle: _like(handle, file))
    except OSError as error:
        raise _failed("config-unwritable", f"{file.path} cannot be written", error) from error


def put(path: Path, data: bytes, prepare: Callable[[int], None]) -> None:
    """Put a file there in one step: who sees it sees all of it.

    Args:
        path: its path.
        data: what it holds.
        prepare: is called with the number of the open file, before it is put there.

    Raises:
        OSError: it cannot be written.
    """
    with replacing(path) as out:
        out.write(data)
        out.flush()
        prepare(out.fileno())
        os.fsync(out.fileno())


_BINARY = getattr(os, "O_BINARY", 0)


def _like(handle: int, file: ConfigFile) -> None:
    """Give an open file the mode and, where that may be, the owner of the other."""
    if os.name == "posix":
        status = file.real.stat()
        with contextlib.suppress(PermissionError):
            os.fchown(handle, status.st_uid, status.st_gid)
        os.fchmod(handle, file.mode)


def _failed(code: str, what: str, error: OSError) -> FileError:
    return FileError(code, what, why=(error.strerror or "unknown reason").lower())


def _no_copy(file: ConfigFile, error: OSError) -> FileError:
    return _failed("config-no-backup", f"no copy of {file.path} can be made", error)
