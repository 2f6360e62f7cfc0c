"""What happens when stdout cannot be written to: a full disk, or a reader that left.

An error of writing says neither where it came from nor, once its text is dropped, that it ever
was; so stdout itself notes that it failed.
"""

from __future__ import annotations

import io
import os
import sys
from typing import Any

from mcp_tap.errors import TapError, UsageError


class _Noting(io.FileIO):
    """A file that remembers why it could not be written to."""

    failure: OSError | None = None

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            self.failure = error
            raise


_raw: _Noting | None = None


def note_failures() -> None:
    """Put a stdout in place that notes its failures, over the same file."""
    global _raw  # noqa: PLW0603 - there is one standard output
    stdout: Any = sys.stdout
    buffer = getattr(stdout, "buffer", None)
    plain = type(getattr(buffer, "raw", buffer)) is io.FileIO  # a Windows console is none
    if not plain or buffer is None:
        return
    _raw = _Noting(1, "wb", closefd=False)
    sys.stdout = io.TextIOWrapper(
        _raw if type(buffer) is io.FileIO else io.BufferedWriter(_raw),
        encoding=stdout.encoding,
        errors=stdout.errors,
        line_buffering=stdout.line_buffering,
        write_through=stdout.write_through,
    )


def failure() -> OSError | None:
    """Give why stdout could not be written to; None while it could."""
    return _raw.failure if _raw else None


def finish() -> None:
    """Write what stdout still holds; raises OSError too where earlier text could not be written."""
    if sys.stdout is not None:
        sys.stdout.flush()
    if (earlier := failure()) is not None:
        raise earlier


def drop() -> None:
    """Let what stdout still holds, and all that is yet printed there, go nowhere."""
    if _raw is not None:
        _raw.failure = None
    _to_nowhere(1)


def settle() -> None:
    """See to it that Python ends with our exit code: it has one of its own for unwritten output."""
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            _to_nowhere(number)


def words(error: OSError) -> str:
    """Say for a person what stdout's error is."""
    return f"cannot write to standard output: {error.strerror or 'unknown reason'}"


def explained(error: Exception) -> TapError | Exception:
    """Give stdout's error as one for a person; any other as it is."""
    earlier = failure()
    if earlier is None or not isinstance(error, OSError) or error.errno != earlier.errno:
        return error
    return UsageError("stdout", words(earlier))


def _to_nowhere(number: int) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)
