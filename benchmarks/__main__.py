"""Run the benchmark.

python -m benchmarks [--long] [--seconds S] [--only MEASURE] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks import measures, offline, pipes, replayed
from benchmarks.measures import Effort
from benchmarks.report import Report
from benchmarks.targets import Rig, Target

MEASURES = ("throughput", "latency", "pacing", "memory", "scan", "start", "replay", "stdio")
LONG = Effort(seconds=5.0, turns=5, exchanges=300_000)


def main() -> int:
    """Measure what was asked for; give 1 if a goal is not met."""
    options = _options()
    effort = LONG if options.long else Effort()
    for name in ("seconds", "turns", "exchanges", "body_mb"):
        if getattr(options, name) is not None:
            effort = replace(effort, **{name: getattr(options, name)})
    wanted = options.only or list(MEASURES)
    report = Report(_about())
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mcp-tap-benchmark-") as folder:
        _measure(report, Path(folder), effort, wanted, peers=not options.no_peers)
    report.about["took"] = f"{time.monotonic() - began:.0f} s"
    print(report.text())
    if options.json:
        options.json.write_text(json.dumps(report.document(), indent=1) + "\n", encoding="utf-8")
    return 0 if all(goal.met for goal in report.goals) else 1


def _measure(
    report: Report, folder: Path, effort: Effort, wanted: list[str], *, peers: bool
) -> None:
    with Rig(folder) as rig:
        if {"throughput", "latency", "pacing", "scan"} & set(wanted):
            targets = _targets(rig, peers=peers)
            measures.warm_up(rig, list(targets.values()))
            for name in ("throughput", "latency", "pacing"):
                if name in wanted:
                    _say(name)
                    getattr(measures, name)(rig, report, targets, effort)
            if "scan" in wanted and "throughput" not in wanted:
                rig.run(targets["tap"], "/mcp", seconds=60, limit=effort.exchanges)
            measures.verify_recorded(list(targets.values()))
            if "scan" in wanted:
                _say("scan")
                capture = targets["tap"].capture
                assert capture
                targets["tap"].child.end()
                offline.scan(report, capture, effort)
        if "memory" in wanted:
            _say("memory")
            measures.memory(rig, report, effort)
        if "start" in wanted:
            _say("start")
            offline.start_up(report, effort)
        if "replay" in wanted:
            _say("replay")
            capture = folder / "replayed.jsonl"
            calls = max(1000, effort.exchanges // 3)
            replayed.write(capture, calls)
            replayed.ready(report, capture, calls, effort)
            replayed.answers(rig, report, capture, rig.plain(), effort)
        if "stdio" in wanted:
            _say("stdio")
            pipes.stdio(report, effort)


def _targets(rig: Rig, *, peers: bool) -> dict[str, Target]:
    found = [rig.direct, rig.plain(), rig.bare(), rig.tap(), rig.tap("tap --sync", "--sync")]
    found.append(rig.tap("tap --check", "--check", "--fail-on", "never"))
    found += rig.answering()
    found += rig.peers() if peers else []
    return {target.name: target for target in found}


def _about() -> dict[str, str]:
    try:
        loop = f"uvloop {version('uvloop')}"
    except PackageNotFoundError:
        loop = "asyncio"
    cores = len(os.sched_getaffinity(0))
    return {"python": platform.python_version(), "loop": loop, "cores": str(cores)}


def _say(what: str) -> None:
    print(f"measuring {what} ...", file=sys.stderr, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--long", action="store_true", help="minutes instead of seconds")
    parser.add_argument("--seconds", type=float, metavar="S", help="length of one turn (0.35)")
    parser.add_argument("--turns", type=int, metavar="N", help="turns of each target (5)")
    parser.add_argument("--exchanges", type=int, metavar="N", help="for memory (20000)")
    parser.add_argument("--body-mb", type=int, metavar="MB", help="big body, for memory (200)")
    parser.add_argument("--only", action="append", choices=MEASURES, help="repeatable")
    parser.add_argument("--no-peers", action="store_true", help="leave out what is on PATH")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
