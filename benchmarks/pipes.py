"""The tap over stdio beside the bare server: how long the first answer takes, and later ones."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median

from benchmarks.measures import Effort
from benchmarks.report import Goal, Report, Table

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{}}}\n'
CAT = ["cat"]
ECHO = """
import sys
for line in sys.stdin.buffer:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
"""
PYTHON = [sys.executable, "-c", ECHO]
SERVERS = {"cat": CAT, "python": PYTHON}
MOST_LATER = 150.0
"""Milliseconds the first answer may come later than without the tap."""
MOST_ADDED = 2.0
"""Milliseconds each later answer may take longer, as the median has it."""
MOST_LINES = 200_000
"""Lines poured through, where ten times the exchanges of a run are not fewer."""


class Client:
    """A client of a server, or of a tap around one."""

    def __init__(self, command: list[str], folder: Path) -> None:
        """Start it in a folder, in which no settings are."""
        pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
        self._process = subprocess.Popen(
            command, bufsize=0, stdin=pipe, stdout=pipe, stderr=quiet, cwd=folder
        )
        assert self._process.stdin
        assert self._process.stdout
        self._out = self._process.stdin.fileno()
        self._in = self._process.stdout.fileno()

    def ask(self, line: bytes = PING) -> None:
        """Send a line and wait until it is back."""
        os.write(self._out, line)
        left = len(line)
        while left:
            left -= len(os.read(self._in, left))

    def pour(self, lines: int) -> None:
        """Send many lines and wait until all are back."""
        data = PING * lines
        writer = threading.Thread(target=self._write, args=(data,))
        writer.start()
        left = len(data)
        while left:
            left -= len(os.read(self._in, 1 << 16))
        writer.join()

    def end(self) -> None:
        """Close its input and wait for its end."""
        self._process.communicate(timeout=60)

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._out, view) :]


def stdio(report: Report, effort: Effort) -> None:
    """Compare servers with and without the tap, turn about."""
    with tempfile.TemporaryDirectory(prefix="mcp-tap-benchmark-") as folder:
        _start_up(report, effort, Path(folder))
        _later(report, effort, Path(folder))


def _around(command: list[str], folder: Path, *options: str) -> list[str]:
    capture = folder / f"{time.monotonic_ns()}.jsonl"
    own = [sys.executable, "-m", "mcp_tap", "stdio", "-w", str(capture), *options]
    return [*own, "--", *command]


def _start_up(report: Report, effort: Effort, folder: Path) -> None:
    rows = []
    for name, command in SERVERS.items():
        bare, tapped = [], []
        for _ in range(effort.turns + 2):
            bare.append(_first(command, folder))
            tapped.append(_first(_around(command, folder), folder))
        later = median(b - a for a, b in zip(bare, tapped, strict=True))
        rows.append([name, median(bare), median(tapped), later])
        report.goals.append(
            Goal(
                what=f"stdio, {name}: first answer later than bare",
                got=later,
                want=MOST_LATER,
                unit=" ms",
                at_most=True,
            )
        )
    report.tables.append(
        Table(
            title="First answer of a server over stdio, ms after its start",
            columns=["server", "bare", "tap", "later"],
            rows=rows,
        )
    )


def _first(command: list[str], folder: Path) -> float:
    began = time.perf_counter()
    client = Client(command, folder)
    client.ask()
    took = (time.perf_counter() - began) * 1000
    client.end()
    return took


def _later(report: Report, effort: Effort, folder: Path) -> None:
    commands = {
        "bare": CAT,
        "tap": _around(CAT, folder),
        "tap --check": _around(CAT, folder, "--check", "--fail-on", "never"),
        "tap --sync": _around(CAT, folder, "--sync"),
    }
    rows, middles = [], {}
    for name, command in commands.items():
        client = Client(command, folder)
        client.ask()
        time.sleep(3 * effort.seconds)  # by then all is loaded
        took = sorted(_asked(client) for _ in range(400 * effort.turns))
        lines = min(MOST_LINES, 10 * effort.exchanges)
        began = time.perf_counter()
        client.pour(lines)
        a_second = lines / (time.perf_counter() - began)
        client.end()
        middles[name] = median(took)
        rows.append([name, median(took), took[int(len(took) * 0.99)], a_second])
    report.tables.append(
        Table(
            title="Later answers of cat over stdio",
            columns=["", "ms, median", "ms, p99", "lines/s"],
            rows=rows,
            note="a line waits twice: on its way there and on its way back",
        )
    )
    report.goals.append(
        Goal(
            what="stdio: median answer later than bare",
            got=middles["tap"] - middles["bare"],
            want=MOST_ADDED,
            unit=" ms",
            at_most=True,
        )
    )


def _asked(client: Client) -> float:
    began = time.perf_counter()
    client.ask()
    return (time.perf_counter() - began) * 1000
