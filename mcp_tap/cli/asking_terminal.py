"""The terminal a person answers at: lines in, rows out, and nothing that cannot be woken.

It is the terminal itself, not stdin or stdout: those may be pipes, or belong to the command that
the tap runs.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
from collections.abc import Iterable
from typing import Final

from mcp_tap.views.look import Row
from mcp_tap.views.paint import Painter

_TTY: Final = "/dev/tty"
_BLOCK: Final = 4096


class Gone(Exception):
    """The terminal was taken away."""


class Withdrawn(Exception):
    """Nobody waits for a line any more."""


class Terminal:
    """A terminal that is read from and written to; only one thread at a time may."""

    def __init__(self, reads: int, writes: int, *, color: bool) -> None:
        """Use these descriptors, which are closed with it."""
        self._reads = reads
        self._writes = writes
        self._painter = Painter(color=color)
        self._woken, self._wakes = os.pipe()
        self._rest = b""

    def show(self, rows: Iterable[Row]) -> None:
        """Write rows."""
        self._write("".join(self._painter.line(row) for row in rows))

    def ask(self, label: str) -> str:
        """Show words, and give the line that is typed after them.

        Raises:
            EOFError: the end was typed.
            Gone: there is no terminal any more.
            Withdrawn: `wake` was called.
        """
        self._write(label)
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self._reads, self._woken], [], [])
            if self._woken in ready:
                os.read(self._woken, _BLOCK)
                self._rest = b""
                raise Withdrawn
            try:
                data = os.read(self._reads, _BLOCK)
            except OSError as error:
                raise Gone from error
            if not data:
                if self._rest:
                    continue  # the end typed in the middle of a line only hands it over
                raise EOFError
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line.rstrip(b"\r").decode("utf-8", "replace")

    def forget(self) -> None:
        """Drop what was typed ahead: it was not meant for a question nobody had seen."""
        self._rest = b""
        with contextlib.suppress(ImportError, OSError):
            import termios

            try:
                termios.tcflush(self._reads, termios.TCIFLUSH)
            except termios.error as error:
                raise OSError from error

    def wake(self) -> None:
        """Have `ask` come back empty-handed; may be called from any thread."""
        with contextlib.suppress(OSError):
            os.write(self._wakes, b"!")

    def own_thread(self) -> None:
        """Begin to ask on this thread: in the background, reading fails instead of stopping us."""
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTIN, signal.SIGTTOU})

    def settle(self) -> None:
        """Take back wakes that came when nobody asked."""
        while select.select([self._woken], [], [], 0)[0]:
            os.read(self._woken, _BLOCK)

    def close(self) -> None:
        """Give the descriptors back."""
        for number in {self._reads, self._writes, self._woken, self._wakes}:
            with contextlib.suppress(OSError):
                os.close(number)

    def _write(self, text: str) -> None:
        rest = text.encode("utf-8", "replace")
        try:
            while rest:
                rest = rest[os.write(self._writes, rest) :]
        except OSError as error:
            raise Gone from error


def open_terminal(*, color: bool) -> Terminal | None:
    """Open the terminal this process was started at; None where there is none."""
    path = _TTY
    if os.isatty(0):
        try:
            path = os.ttyname(0)
        except OSError:  # a terminal of another namespace has no name here
            return Terminal(os.dup(0), os.dup(2 if os.isatty(2) else 0), color=color)
    try:
        number = os.open(path, os.O_RDWR | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return None
    if not os.isatty(number):
        os.close(number)
        return None
    return Terminal(number, number, color=color)
