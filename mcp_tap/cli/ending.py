"""What ends a live run: a signal, the child, or the person at the console.

Rules of this file:

- SIGINT, SIGTERM and SIGHUP end the run cleanly; a child gets them too and has `GRACE` seconds.
- Ctrl-C in a terminal reaches the child without us.  What it means is then the child's to say (an
  interactive client only cancels something), and the tap ends when the child does.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from typing import Literal

from mcp_tap.errors import UsageError

GRACE = 1.0
"""Seconds a child has between the signal passed on to it and its end by force."""


class Ending:
    """What ends the run: a signal, the child, or the person at the console."""

    def __init__(self) -> None:
        """Listen to signals from now on."""
        self._signal: signal.Signals | None = None
        self._signals = 0
        self._loop = asyncio.get_running_loop()
        self._ended = asyncio.Event()
        self._child: asyncio.subprocess.Process | None = None
        for each in ("SIGINT", "SIGTERM", "SIGHUP"):
            number = getattr(signal, each, None)
            if number is None or (each == "SIGHUP" and signal.getsignal(number) == signal.SIG_IGN):
                continue  # under nohup a lost terminal is no reason to end
            with contextlib.suppress(NotImplementedError):
                self._loop.add_signal_handler(number, self._on_signal, number)

    @property
    def how(self) -> Literal["end", "signal", "child"]:
        """Say what ended the run, once it has ended."""
        if self._signal is not None:
            return "signal"
        return "end" if self._child is None else "child"

    @property
    def interrupted(self) -> bool:
        """Tell whether SIGINT ended it."""
        return self._signal == signal.SIGINT

    @property
    def code(self) -> int:
        """Give the exit code of a run that a signal ended before it began; 0 without a signal."""
        return 0 if self._signal is None else 128 + self._signal

    @property
    def hurried(self) -> bool:
        """Tell whether there was more than one signal: nothing is waited for any more."""
        return self._signals > 1

    def quit(self) -> None:
        """End the run as from within; may be called from any thread."""
        self._loop.call_soon_threadsafe(self._ended.set)

    async def wait(self) -> None:
        """Return when a signal came, or the person quit the console."""
        await self._ended.wait()

    async def child(self, line: list[str], url: str) -> int:
        """Run the child to its end and give its exit code, as a shell would tell it."""
        try:
            self._child = await asyncio.create_subprocess_exec(
                *line, env={**os.environ, "MCP_TAP_URL": url}
            )
        except OSError as error:
            raise UsageError(
                "command-not-found",
                f"{line[0]} cannot be run",
                why=(error.strerror or "unknown reason").lower(),
            ) from error
        if self._signal is not None:
            self._pass_on(self._signal)
        code = await self._child.wait()
        return 128 - code if code < 0 else code

    def _on_signal(self, number: signal.Signals) -> None:
        first, self._signal = self._signal is None, number
        self._signals += 1
        self._ended.set()
        if self._child is None or self._child.returncode is not None:
            return
        if number == signal.SIGINT and _in_terminal():
            return
        if first:
            self._pass_on(number)
        else:
            self._kill()

    def _pass_on(self, number: signal.Signals) -> None:
        assert self._child is not None
        with contextlib.suppress(ProcessLookupError):
            self._child.send_signal(number)
        self._loop.call_later(GRACE, self._kill)

    def _kill(self) -> None:
        if self._child is not None and self._child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._child.kill()


def _in_terminal() -> bool:
    """Tell whether this process group has the terminal, so that Ctrl-C reaches all of it."""
    try:
        return os.tcgetpgrp(0) == os.getpgrp()
    except (OSError, AttributeError):
        return False
