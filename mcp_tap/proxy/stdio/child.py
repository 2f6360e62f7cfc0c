"""The server's process: started in a group of its own, signalled as a group, waited for.

Its own group is what lets a shutdown reach all of it (a launcher like `npx` has the real
server below it), and keeps Ctrl-C in a terminal from reaching it twice.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from typing import IO

from mcp_tap.errors import UsageError
from mcp_tap.proxy.stdio.pump import give_up


class Child:
    """A server that runs, and the ends of its standard streams."""

    def __init__(self, command: Sequence[str]) -> None:
        """Start it.

        Raises:
            UsageError: there is no such command.
        """
        try:
            self._process = subprocess.Popen(  # noqa: S603 (running it is what we are for)
                command,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                close_fds=False,  # what we were given beside the streams is meant for it
                process_group=0 if sys.platform != "win32" else None,
            )
        except OSError as error:
            raise _not_run(command[0], error) from error
        process = self._process
        self.stdin, self.stdout, self.stderr = map(
            _own, (process.stdin, process.stdout, process.stderr)
        )
        self.status: int | None = None
        """Its exit code, or the number of the signal that ended it, negated; None: it runs."""

    @property
    def pid(self) -> int:
        """Number of its process, and of its group."""
        return self._process.pid

    def wait(self, ended: Callable[[], None]) -> None:
        """Call `ended`, from a thread, once it has ended."""

        def wait() -> None:
            self.status = self._process.wait()
            ended()

        threading.Thread(target=wait, name="child", daemon=True).start()

    def close_stdin(self) -> None:
        """Let it see the end of its input."""
        give_up(self.stdin)

    def close(self) -> None:
        """Close the streams, which nobody uses any more."""
        for fd in (self.stdin, self.stdout, self.stderr):
            os.close(fd)

    def signal(self, number: int) -> None:
        """Send a signal to its group, as far as that is still there."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                self._process.send_signal(number)
            else:
                os.killpg(self.pid, number)

    def has_group(self) -> bool:
        """Tell whether anything is left of its group."""
        if sys.platform == "win32":
            return self.status is None
        try:
            os.killpg(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:  # there is somebody, who is not ours to signal
            return False
        return True

    def kill(self) -> None:
        """End its group by force."""
        self.signal(signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)


def ended(status: int) -> str:
    """Say how a process ended: `exited with code 1`, `was ended by SIGKILL`.

    Args:
        status: what waiting for it gave; less than 0: the signal that ended it.
    """
    if status >= 0:
        return f"exited with code {status}"
    with contextlib.suppress(ValueError):
        return f"was ended by {signal.Signals(-status).name}"
    return f"was ended by signal {-status}"


def _own(stream: IO[bytes] | None) -> int:
    """Take a descriptor over: when it is closed, the threads that use it have to say."""
    assert stream is not None
    with stream:
        return os.dup(stream.fileno())


def _not_run(name: str, error: OSError) -> UsageError:
    what, why = f"{name or 'an empty name'} cannot be run", error.strerror or "unknown reason"
    if isinstance(error, FileNotFoundError):
        import shutil  # noqa: PLC0415 (seldom)

        path = shutil.which(name)
        if path is None:
            what, why = f"there is no command {name}", "it is not on PATH, or not executable"
        else:
            why = f"the interpreter that {path} names is not there"
    return UsageError("command-not-found", what, why=why[:1].lower() + why[1:])
