"""Where a command's document goes: stdout, or a new file that is whole or not there at all."""

from __future__ import annotations

import contextlib
import gzip
import os
import shlex
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, cast

from mcp_tap.capture.file import free_name
from mcp_tap.cli.output import why_not
from mcp_tap.errors import CaptureError

STDOUT = "-"


def write_new(name: str, blocks: Iterable[bytes]) -> None:
    """Write blocks to a new file, packed where its name ends in `.gz`, or to stdout for `-`.

    The file is for its owner only, as captures are: what is in it was private.  Where writing
    fails, or what is to be written cannot be had, the file is removed again.

    Raises:
        CaptureError: it exists, or cannot be written.
    """
    if name == STDOUT:
        sys.stdout.flush()
        for block in blocks:
            sys.stdout.buffer.write(block)
        sys.stdout.buffer.flush()
        return
    path = Path(name)
    try:
        with _created(path) as file:
            for block in blocks:
                file.write(block)
    except OSError as error:
        raise _refusal(path, error) from error


@contextlib.contextmanager
def _created(path: Path) -> Iterator[IO[bytes]]:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(path, flags, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as plain:
            if path.name.endswith(".gz"):
                # No time and no name in it: equal documents are equal files.
                with gzip.GzipFile("", "wb", fileobj=plain, mtime=0) as packed:
                    yield cast("IO[bytes]", packed)
            else:
                yield plain
    except BaseException:
        with contextlib.suppress(OSError):
            path.unlink()
        raise


def _refusal(path: Path, error: OSError) -> CaptureError:
    if isinstance(error, FileExistsError):
        return CaptureError(
            "output-exists",
            f"{path} exists already",
            why="nothing is overwritten: it may be the only copy",
            help=f"-o {shlex.quote(str(free_name(path)))}",
        )
    why, help = why_not(path, error)
    return CaptureError(
        "output-unwritable",
        f"{path} cannot be written",
        why=why,
        help=help or f"ls -ld {shlex.quote(str(path))}",
    )
