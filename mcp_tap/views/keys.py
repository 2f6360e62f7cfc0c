"""Single keys from a terminal: cbreak mode while it is held, names for what is no character."""

from __future__ import annotations

import codecs
import os
import re
import select
import sys
from types import TracebackType
from typing import Any, Final, Self

if sys.platform != "win32":
    import termios
    import tty

_NAMES: Final = {
    "\r": "enter", "\n": "enter", "\t": "tab", " ": "space",
    "\x7f": "backspace", "\b": "backspace", "\x15": "clear", "\x1b": "esc", "\x03": "q",
    "\x1b[A": "up", "\x1b[B": "down", "\x1b[C": "right", "\x1b[D": "left",
    "\x1bOA": "up", "\x1bOB": "down", "\x1bOC": "right", "\x1bOD": "left",
    "\x1b[5~": "pageup", "\x1b[6~": "pagedown",
    "\x1b[H": "home", "\x1b[F": "end", "\x1bOH": "home", "\x1bOF": "end",
    "\x1b[1~": "home", "\x1b[4~": "end",
}  # fmt: skip
_KEY: Final = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1bO.|.", re.DOTALL)


def named(text: str) -> list[str]:
    """Divide what was read into keys: characters as they are, others by name."""
    keys = (_NAMES.get(found, found) for found in _KEY.findall(text))
    return [key for key in keys if len(key) == 1 or key.isalpha()]


class Keys:
    """Reads keys from a file descriptor; a context manager that gives the terminal back."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._before: list[Any] | None = None

    def __enter__(self) -> Self:
        if sys.platform != "win32" and os.isatty(self._fd):
            self._before = termios.tcgetattr(self._fd)
            tty.setcbreak(self._fd)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if sys.platform != "win32" and self._before is not None:
            termios.tcsetattr(self._fd, termios.TCSADRAIN, self._before)
            self._before = None

    def read(self, timeout: float) -> list[str]:
        """Give the keys pressed, waiting at most `timeout` seconds for the first."""
        ready, _, _ = select.select([self._fd], [], [], timeout)
        if not ready:
            return []
        return named(self._decoder.decode(os.read(self._fd, 256)))
