"""The measures of replay: how soon a large capture is ready, and how fast it answers.

python -m benchmarks.replayed CAPTURE      prints records, seconds of the CPU and memory as JSON
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from typing import Any, NoReturn

from msgspec import Raw

from benchmarks import traffic
from benchmarks.children import rss
from benchmarks.measures import MIB, Case, Effort, Throughput
from benchmarks.report import Goal, Report, Table
from benchmarks.targets import Rig, Target
from mcp_tap.cli.main import COLLECT
from mcp_tap.core.records import (
    FORMAT,
    Closed,
    Digest,
    Footer,
    Header,
    HttpRequest,
    HttpResponse,
    Message,
    Record,
    encode,
)
from mcp_tap.replay.index import Index
from mcp_tap.replay.server.play import Clock
from mcp_tap.replay.server.player import Player

_PATH = traffic.JSON
_PAUSE = 0.001
"""Recorded seconds between two records."""


def write(path: Path, calls: int) -> None:
    """Write a capture of so many calls, as the tap would have recorded them."""
    head = [
        (name, value.strip())
        for line in traffic.request_head(_PATH, 3000).decode().split("\r\n")[1:]
        for name, colon, value in [line.partition(":")]
        if colon
    ]
    answer = [("Content-Type", "application/json"), ("Server", "stub")]
    proof = Digest(bytes=1, sha256="0" * 64)
    header = Header(
        seq=0,
        t=0.0,
        format=FORMAT,
        tool="mcp-tap/benchmark",
        run="benchmark",
        started="2026-07-28T12:00:00Z",
        transport="http",
        upstream=f"http://127.0.0.1:3000{_PATH}",
        redaction=["default"],
    )
    numbers = count(1)

    def at() -> dict[str, Any]:
        seq = next(numbers)
        return {"seq": seq, "t": seq * _PAUSE}

    with path.open("wb") as file:
        file.write(encode(header) + b"\n")
        for number in range(1, calls + 1):
            rpc = traffic.FIRST_ID + number
            body = b'{"jsonrpc":"2.0","id":%d,%b' % (rpc, traffic.RESULT)
            records: list[Record] = [
                HttpRequest(
                    **at(),
                    exchange=number,
                    conn=1,
                    peer="127.0.0.1",
                    method="POST",
                    path=_PATH,
                    headers=head,
                ),
                Message(
                    **at(), exchange=number, sender="client", body=Raw(traffic.request_body(rpc))
                ),
                HttpResponse(**at(), exchange=number, status=200, reason="OK", headers=answer),
                Message(**at(), exchange=number, sender="server", body=Raw(body)),
                Closed(**at(), exchange=number, how="complete", request=proof, response=proof),
            ]
            file.writelines(encode(record) + b"\n" for record in records)
        file.write(encode(Footer(**at(), exchanges=calls)) + b"\n")


def ready(report: Report, capture: Path, calls: int, effort: Effort) -> None:
    """Compare making a replay ready with a bare loop over the same capture.

    By the seconds of the CPU, and the least of them: nothing in either waits for anybody, so what
    is above that is the doing of others on the machine.
    """
    ways = {
        "bare": ["-m", "benchmarks.offline", "bare", str(capture)],
        "replay": ["-m", "benchmarks.replayed", str(capture)],
    }
    took: dict[str, list[float]] = {way: [] for way in ways}
    memory = added = 0.0
    for _ in range(effort.turns):
        for way, words in ways.items():
            done = subprocess.run(
                [sys.executable, *words], check=True, capture_output=True, text=True
            )
            outcome = json.loads(done.stdout)
            took[way].append(outcome["cpu"])
            memory = max(memory, outcome.get("memory", 0) / MIB)
            added = max(added, outcome.get("added", 0) / calls)
    rows = [[way, min(seconds)] for way, seconds in took.items()]
    size = capture.stat().st_size / 1e6
    report.tables.append(
        Table(
            title=f"Making a capture of {size:,.0f} MB ready to be served",
            columns=["", "CPU s"],
            rows=rows,
            note=f"{memory:.0f} MB resident when ready",
        )
    )
    got = min(took["replay"]) / min(took["bare"])
    report.goals += [
        Goal(what="replay: ready, x a bare msgspec loop", got=got, want=5, at_most=True),
        Goal(what="replay: memory a call", got=added, want=2048, unit=" B", at_most=True),
    ]


def answers(rig: Rig, report: Report, capture: Path, plain: Target, effort: Effort) -> None:
    """Compare what a replay serves with what the plain pass-through does."""
    replay = rig.replay(capture)
    for target in (plain, replay):
        rig.run(target, _PATH, connections=4, seconds=30, limit=300)
    got = Throughput(rig, {"plain": Case(plain), "replay server": Case(replay)}, effort)
    report.tables.append(got.table("Answers of a replay, 16 connections"))
    report.goals.append(
        Goal(what="replay: answers, x plain", got=got.ratio("replay server", "plain"), want=1.5)
    )


def never(delay: float, call: object) -> NoReturn:
    """Stand in for a clock where nothing waits."""
    raise RuntimeError(f"{call} wants {delay} s")


def main(capture: str) -> None:
    """Make a replay ready, and say what that took."""
    gc.set_threshold(*COLLECT)
    before = rss(os.getpid())
    began = time.process_time()
    with Index.of([capture]) as index:
        Player(index, Clock(never, None), report=print)
        cpu = time.process_time() - began
        records = index.captures[0].lines
        memory = rss(os.getpid())
        added = memory - before
        print(json.dumps({"records": records, "cpu": cpu, "memory": memory, "added": added}))


if __name__ == "__main__":
    main(sys.argv[1])
