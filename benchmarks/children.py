"""Child processes: started, asked for their cost, ended.  Linux only, for /proc.

A child ends when its standard input does, so none outlives a benchmark that was interrupted.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

TICK = 1 / os.sysconf("SC_CLK_TCK")


def run_loop(main: Coroutine[Any, Any, None]) -> None:
    """Run an event loop as the tap does: uvloop where it is installed, start-up garbage frozen."""
    gc.freeze()
    try:
        import uvloop  # noqa: PLC0415 - optional
    except ImportError:
        asyncio.run(main)
    else:
        uvloop.run(main)


async def until_ended() -> None:
    """Wait until standard input ends."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    await reader.read()


class Child:
    """One running program."""

    def __init__(self, argv: Sequence[str], *, log: Path, core: int | None = None) -> None:
        """Start it, on one processor core if told so; what it says on stderr goes to `log`."""
        self.argv = list(argv)
        self.log = log
        with log.open("ab") as stderr:
            self.process = subprocess.Popen(
                self.argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                bufsize=1,
            )
        if core is not None:
            # Threads it starts later inherit this; so early it has none.
            os.sched_setaffinity(self.process.pid, {core})
        self.pid = self.process.pid

    def line(self) -> str:
        """Read one line it prints; raises `RuntimeError` with its log if it ended instead."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            tail = self.log.read_text(encoding="utf-8", errors="replace")[-2000:]
            raise RuntimeError(f"{' '.join(self.argv)} ended: {tail}")
        return line.strip()

    def say(self, text: str) -> None:
        """Write one line to it."""
        assert self.process.stdin
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def cpu(self) -> float:
        """Seconds of processor time it has used, all threads, user and system."""
        return cpu(self.pid)

    def rss(self) -> int:
        """Bytes resident."""
        return rss(self.pid)

    def end(self, *, within: float = 5.0) -> None:
        """End it as a person would, then by force."""
        if self.process.poll() is None:
            with contextlib.suppress(OSError):
                self.process.send_signal(signal.SIGINT)
            assert self.process.stdin
            with contextlib.suppress(OSError):
                self.process.stdin.close()
            try:
                self.process.wait(within)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()


def cpu(pid: int) -> float:
    """Seconds of processor time a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK


def rss(pid: int) -> int:
    """Bytes of a process that are resident."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


def wait_idle(pid: int, *, limit: float = 60.0) -> float:
    """Wait until a process has nothing left to do; give the monotonic time at which that was.

    That is how a backlog shows from outside: the traffic is over, and it still works.
    """
    last, at = cpu(pid), time.monotonic()
    deadline = at + limit
    while time.monotonic() < deadline:
        time.sleep(TICK)
        used = cpu(pid)
        if used > last:
            last, at = used, time.monotonic()
        elif time.monotonic() - at > 6 * TICK:
            return at
    raise RuntimeError(f"process {pid} is still busy {limit:g} s after the traffic ended")


def free_port() -> int:
    """Find a port for a peer that cannot choose one itself."""
    import socket  # noqa: PLC0415 - only for peers

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
