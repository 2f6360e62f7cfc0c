"""The measures without traffic: reading a capture, starting up.

python -m benchmarks.offline WAY CAPTURE      prints records and seconds, of the CPU too, as JSON
"""

from __future__ import annotations

import gc
import io
import json
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from statistics import median

import msgspec
import orjson

from benchmarks.measures import Effort
from benchmarks.report import Goal, Report, Table
from mcp_tap.capture.reader import open_capture
from mcp_tap.cli.main import COLLECT, run


class Envelope(msgspec.Struct):
    """As little of a line as can be called reading it."""

    kind: str
    seq: int
    t: float
    exchange: int = 0
    body: msgspec.Raw = msgspec.Raw()


def bare(path: Path) -> int:
    """Read a capture with nothing but msgspec."""
    decode = msgspec.json.Decoder(Envelope).decode
    count = 0
    with path.open("rb") as file:
        for line in file:
            decode(line)
            count += 1
    return count


def reader(path: Path) -> int:
    """Read a capture as every command does."""
    gc.set_threshold(*COLLECT)
    return sum(1 for _ in open_capture(str(path)))


def parsed(path: Path) -> int:
    """Parse every line of a capture, and do nothing with it."""
    count = 0
    with path.open("rb") as file:
        for line in file:
            orjson.loads(line)
            count += 1
    return count


def check(path: Path) -> int:
    """Judge a capture by all rules, as `check` does."""
    gc.set_threshold(*COLLECT)
    unread = io.TextIOWrapper(io.BytesIO())  # reports are written as bytes
    with redirect_stdout(unread), redirect_stderr(unread):
        code = run(["check", str(path), "-f", "json", "--fail-on", "never", "--no-config"])
    if code != 0:
        raise SystemExit(f"check ended with {code}")
    return sum(1 for _ in path.open("rb"))


WAYS: dict[str, Callable[[Path], int]] = {
    "bare": bare,
    "reader": reader,
    "orjson": parsed,
    "check": check,
}


def scan(report: Report, capture: Path, effort: Effort) -> None:
    """Compare the reader with the bare loop over one capture, each in a process of its own."""
    speed: dict[str, list[float]] = {way: [] for way in WAYS}
    records = 0
    for _ in range(effort.turns):
        for way in WAYS:
            command = [sys.executable, "-m", "benchmarks.offline", way, str(capture)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            outcome = json.loads(done.stdout)
            records = outcome["records"]
            speed[way].append(records / outcome["seconds"])
    began = time.monotonic()
    show = [sys.executable, "-m", "mcp_tap.cli.main", "show", str(capture), "-d0", "--no-config"]
    subprocess.run(show, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    shown = records / (time.monotonic() - began)
    rows = [[way, median(figures)] for way, figures in speed.items()]
    report.tables.append(
        Table(
            title=f"Reading a capture of {capture.stat().st_size / 1e6:,.0f} MB",
            columns=["", "records/s"],
            rows=[*rows, ["show -d0, from start to end", shown]],
        )
    )
    got = median(a / b for a, b in zip(speed["reader"], speed["bare"], strict=True))
    report.goals.append(Goal(what="reading a capture: x a bare msgspec loop", got=got, want=0.7))
    got = median(a / b for a, b in zip(speed["check"], speed["orjson"], strict=True))
    report.goals.append(Goal(what="check: x a bare orjson.loads loop", got=got, want=0.25))


def start_up(report: Report, effort: Effort) -> None:
    """Compare `mcp-tap --help` with importing click."""
    commands = {
        "import click": [sys.executable, "-c", "import click"],
        "mcp-tap --help": [sys.executable, "-m", "mcp_tap.cli.main", "--help"],
    }
    took: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(effort.turns + 2):
        for name, command in commands.items():
            began = time.monotonic()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            took[name].append((time.monotonic() - began) * 1000)
    rows = [[name, median(figures)] for name, figures in took.items()]
    report.tables.append(Table(title="Starting up, ms", columns=["", "ms"], rows=rows))
    got = median(a / b for a, b in zip(took["mcp-tap --help"], took["import click"], strict=True))
    report.goals.append(
        Goal(what="mcp-tap --help: x import click", got=got, want=1.5, at_most=True)
    )


if __name__ == "__main__":
    started, cpu = time.perf_counter(), time.process_time()
    counted = WAYS[sys.argv[1]](Path(sys.argv[2]))
    took = {"seconds": time.perf_counter() - started, "cpu": time.process_time() - cpu}
    print(json.dumps({"records": counted, **took}))
