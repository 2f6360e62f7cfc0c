"""The server of `--upstream-command`: started before clients are let in, stopped at the end.

Rules of this file:

- It is a process group and session of its own: Ctrl-C in the terminal is no signal to it, and at
  the end all of it is stopped, also what it started itself.
- What it prints goes to stderr, a line at a time and marked, never to stdout.  A thread of its own
  carries that, so that a slow terminal holds up the server, not the traffic.
- Its stdin stays open, empty, until the tap is gone: none ends at once for want of one.  Where the
  tap is killed outright, that end of stdin is what ends the group.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable
from typing import Final

from mcp_tap.cli.upstream_words import guarded
from mcp_tap.core.text import cut, safe, took
from mcp_tap.errors import UpstreamError, UsageError
from mcp_tap.net.target import Target
from mcp_tap.proxy.stdio.child import ended

WAIT: Final = 30.0
"""Seconds a server has, unless told otherwise, until it accepts connections."""
GRACE: Final = 2.0
"""Seconds a server has between SIGTERM and SIGKILL."""
STRAGGLERS: Final = 0.3
"""Seconds its group has, once its process has ended and nothing can print any more."""
LOOK: Final = 0.03
"""Seconds between two looks at whether it accepts, or has ended."""
CONNECT: Final = 1.0
"""Seconds one attempt to connect may take."""
MOST_LINE: Final = 16 << 10
"""Bytes of output that are a line, whether or not a line break comes."""
LAST_LINES: Final = 5
"""Lines of output that an error quotes."""
WIDEST: Final = 300
"""Cells of each such line."""


class UpstreamServer:
    """A server process that lives as long as the run."""

    def __init__(
        self,
        words: list[str] | None,
        target: Target,
        *,
        show: Callable[[str], None],
        wait: float = WAIT,
        on_end: Callable[[str], None] | None = None,
    ) -> None:
        """Prepare; nothing is started before `start()`.

        Args:
            words: the command; None where there is nothing to start, and so nothing to stop.
            target: where it is going to accept connections.
            show: takes each line it prints, made harmless; called on a thread.
            wait: seconds it has until then.
            on_end: called on the loop's thread, with words, should it end by itself later.
        """
        self._words = words or []
        self._target = target
        self._show = show
        self._wait = wait
        self.on_end = on_end
        self._process: subprocess.Popen[bytes] | None = None
        self._pump: threading.Thread | None = None
        self._last: deque[str] = deque(maxlen=LAST_LINES)
        self._ready = False
        self._stopping = False
        self._gone = False

    async def start(self, given_up: Callable[[], bool] = lambda: False) -> bool:
        """Start it and wait until it accepts connections; false if `given_up` came true before.

        Raises:
            UsageError: it cannot be run.
            UpstreamError: its port is taken, it ended, or it took too long; it is stopped then.
        """
        if not self._words:
            return True
        if await self._accepts():
            raise UpstreamError(
                "upstream-port-taken",
                f"something listens on {self._target.authority} already",
                why="clients would reach that, not what --upstream-command starts",
                help="stop it, or leave --upstream-command out to use it",
            )
        self._run()
        try:
            self._ready = await self._until_ready(given_up)
        finally:
            if not self._ready:
                await self.stop()
        return self._ready

    async def stop(self, hurry: Callable[[], bool] = lambda: False) -> None:
        """End all of it: SIGTERM, `GRACE` seconds, SIGKILL; at once where `hurry` is true."""
        if self._process is None:
            return
        if self._process.poll() is not None:
            self._over()
        self._stopping = True
        loop = asyncio.get_running_loop()
        end = loop.time() + GRACE
        settled = False
        try:
            self._signal(signal.SIGTERM)
            while not self._is_gone() and loop.time() < end and not hurry():
                if not settled and self._process.poll() is not None and not self._prints():
                    settled, end = True, min(end, loop.time() + STRAGGLERS)
                await asyncio.sleep(LOOK)
        finally:
            self._kill()
            with contextlib.suppress(
                subprocess.TimeoutExpired
            ):  # not even SIGKILL is obeyed at once
                self._process.wait(GRACE)
            if self._pump is not None:  # what it wrote last is still shown
                self._pump.join(STRAGGLERS)
            if self._process.stdin is not None:
                self._process.stdin.close()

    def _run(self) -> None:
        try:
            self._process = subprocess.Popen(  # noqa: S603 - what the person asked to be run
                guarded(self._words),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise UsageError(
                "command-not-found",
                f"{self._words[0]} cannot be run",
                where="--upstream-command",
                why=(error.strerror or "unknown reason").lower(),
            ) from None
        self._pump = threading.Thread(
            target=self._carry,
            args=(self._process, asyncio.get_running_loop()),
            name="upstream-output",
            daemon=True,
        )
        self._pump.start()

    async def _until_ready(self, given_up: Callable[[], bool]) -> bool:
        assert self._process is not None
        loop = asyncio.get_running_loop()
        end = loop.time() + self._wait
        while True:
            if given_up():
                return False
            if self._process.poll() is not None:
                raise self._ended_early(self._process.returncode)
            if await self._accepts():
                return True
            if loop.time() >= end:
                raise UpstreamError(
                    "upstream-not-ready",
                    f"nothing listens on {self._target.authority} after {took(self._wait)}",
                    where=f"--upstream-command {self._name()}",
                    why=self._words_of_its_last("it runs, but accepts no connection there"),
                    help="has the URL its port? --upstream-wait gives it more time",
                )
            await asyncio.sleep(LOOK)

    async def _accepts(self) -> bool:
        try:
            async with asyncio.timeout(CONNECT):
                _, writer = await asyncio.open_connection(self._target.host, self._target.port)
        except (OSError, TimeoutError):
            return False
        ends = (writer.get_extra_info(end) for end in ("sockname", "peername"))
        itself = len(set(ends)) == 1  # a port nobody listens on may be given to who dials it
        writer.transport.abort()
        return not itself

    def _ended_early(self, code: int) -> UpstreamError:
        assert self._pump is not None
        self._pump.join(STRAGGLERS)  # its last words are the reason
        return UpstreamError(
            "upstream-ended",
            f"the server {ended(code)} before it accepted connections",
            where=f"--upstream-command {self._name()}",
            why=self._words_of_its_last(f"nothing listened on {self._target.authority} till then"),
        )

    def _words_of_its_last(self, why: str) -> str:
        if not self._last:
            return f"{why}; it printed nothing"
        return f"{why}; it printed last: " + " | ".join(cut(line, WIDEST) for line in self._last)

    def _name(self) -> str:
        return safe(shlex.join(self._words))

    def _carry(self, process: subprocess.Popen[bytes], loop: asyncio.AbstractEventLoop) -> None:
        """Carry what it prints, then see to how it ended; on the thread."""
        assert process.stdout is not None
        rest = b""
        with process.stdout as pipe:
            while data := os.read(pipe.fileno(), 1 << 16):
                *lines, rest = (rest + data).split(b"\n")
                while len(rest) > MOST_LINE:
                    lines.append(rest[:MOST_LINE])
                    rest = rest[MOST_LINE:]
                for line in lines:
                    self._say(line)
        if rest:
            self._say(rest)
        process.wait()
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is left to tell
            loop.call_soon_threadsafe(self._over)

    def _say(self, line: bytes) -> None:
        text = safe(line.rstrip(b"\r").decode("utf-8", "replace"))
        self._last.append(text)
        self._show(text)

    def _over(self) -> None:
        """Tell that it ended by itself, the first time that is seen."""
        self._is_gone()
        if self._ready and not self._stopping and self.on_end is not None:
            assert self._process is not None
            self._stopping = True
            self.on_end(f"the server {ended(self._process.returncode or 0)}: {self._name()}")

    def _prints(self) -> bool:
        return self._pump is not None and self._pump.is_alive()

    def _is_gone(self) -> bool:
        """Tell whether nothing of its group is left; from then on the number may be another's."""
        assert self._process is not None
        if self._gone or self._process.poll() is None:
            return self._gone
        self._gone = not self._signal(0)
        return self._gone

    def _kill(self) -> None:
        if not self._is_gone():
            self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))

    def _signal(self, number: int) -> bool:
        """Send a signal to its group; false where there is none any more."""
        assert self._process is not None
        if self._gone:
            return False
        try:
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, number)
            elif number:
                self._process.send_signal(number)
            else:
                return self._process.poll() is None
        except ProcessLookupError:
            return False
        except PermissionError:  # macOS says so of a group of which only zombies are left
            return self._process.poll() is None
        return True
