"""The measures on live traffic.  Each takes turns between its targets and reports medians."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from benchmarks import traffic
from benchmarks.report import Goal, Report, Table
from benchmarks.targets import Rig, Target

MIB = 1 << 20
_SCRIPTS = ("a script nobody needs", "one that declares more")
WARM_UP = 300
"""Requests sent through each target before anything is measured."""


@dataclass(frozen=True)
class Effort:
    """How long to measure."""

    seconds: float = 0.35
    """Length of one turn."""
    turns: int = 5
    exchanges: int = 20_000
    """Exchanges over which memory has to stay flat."""
    body_mb: int = 200


@dataclass(frozen=True)
class Case:
    """One target under one load."""

    target: Target
    path: str = traffic.JSON
    connections: int = 16


def turns(names: Sequence[str], count: int) -> Iterator[str]:
    """Take turns; each round begins with another name, so that none always comes first."""
    for turn in range(count):
        at = turn % len(names)
        yield from [*names[at:], *names[:at]]


def warm_up(rig: Rig, targets: Sequence[Target]) -> None:
    """Let code be compiled, connections be made and caches be filled."""
    for target in targets:
        rig.run(target, traffic.JSON, connections=4, seconds=30, limit=WARM_UP)
        rig.run(target, traffic.SSE, connections=4, seconds=30, limit=WARM_UP)


class Throughput:
    """Requests a second of several targets, in turns."""

    def __init__(self, rig: Rig, cases: dict[str, Case], effort: Effort) -> None:
        self.cases = cases
        self.outcomes: dict[str, list[dict[str, Any]]] = {name: [] for name in cases}
        for name in turns(list(cases), effort.turns):
            case = cases[name]
            self.outcomes[name].append(
                rig.run(
                    case.target,
                    case.path,
                    connections=case.connections,
                    seconds=effort.seconds,
                )
            )

    def of(self, name: str, key: str) -> float:
        """Give the median of one figure of one case."""
        return float(median(o[key] for o in self.outcomes[name]))

    def ratio(self, name: str, to: str) -> float:
        """Compare two cases' rates turn by turn."""
        pairs = zip(self.outcomes[name], self.outcomes[to], strict=True)
        return float(median(a["rate"] / b["rate"] for a, b in pairs))

    def table(self, title: str) -> Table:
        """Show them."""
        columns = ["", "requests/s", "x plain", "CPU us/request", "backlog ms"]
        table = Table(title=title, columns=columns)
        for name, case in self.cases.items():
            # The stub's own processor time says nothing about a proxy.
            own = None if case.target.name == "direct" else self.of(name, "cpu_us")
            row = [self.of(name, "rate"), self.ratio(name, "plain"), own]
            table.rows.append([name, *row, self.of(name, "backlog") * 1000])
        return table


def throughput(rig: Rig, report: Report, targets: dict[str, Target], effort: Effort) -> None:
    """Measure JSON and SSE answers at 16 connections, JSON at 256."""
    json = Throughput(rig, {n: Case(t) for n, t in targets.items()}, effort)
    report.tables.append(json.table("JSON answers, 16 connections"))
    plain, tap = targets["plain"], targets["tap"]
    # What more connections cost is told by neighbours too, so the tap runs at 16 here again.
    cases = {"plain": Case(plain, connections=256), "tap": Case(tap, connections=256)}
    many = Throughput(rig, {**cases, "tap, 16 connections": Case(tap)}, effort)
    report.tables.append(many.table("JSON answers, 256 connections"))
    core = ("direct", "plain", "tap not recording", "tap", "tap --check", *traffic.SCRIPTS)
    sse = Throughput(rig, {n: Case(targets[n], traffic.SSE) for n in core}, effort)
    report.tables.append(sse.table("SSE answers (3 events, then the result), 16 connections"))

    lost = (1 - many.ratio("tap", "tap, 16 connections")) * 100
    off = json.ratio("tap", "tap not recording")
    report.goals += [
        Goal(what="recording, JSON: x plain", got=json.ratio("tap", "plain"), want=2.5),
        Goal(what="recording, SSE: x plain", got=sse.ratio("tap", "plain"), want=2.0),
        Goal(what="judging too, JSON: x plain", got=json.ratio("tap --check", "plain"), want=1.8),
        Goal(what="recording, JSON: x the tap with recording off", got=off, want=0.8),
        *(
            Goal(what=f"{words}, {kind}: x the tap without", got=got.ratio(name, "tap"), want=0.91)
            for name, words in zip(traffic.SCRIPTS, _SCRIPTS, strict=True)
            for kind, got in (("JSON", json), ("SSE", sse))
        ),
        Goal(
            what="throughput lost from 16 to 256 connections",
            got=lost,
            want=25,
            unit=" %",
            at_most=True,
        ),
    ]
    if "mitmdump" in targets:
        got = json.ratio("tap", "mitmdump")
        report.goals.append(Goal(what="recording, JSON: x mitmdump -w", got=got, want=20))
        got = json.ratio("tap --check", "mitmdump")
        report.goals.append(Goal(what="judging too, JSON: x mitmdump -w", got=got, want=12))
    if "mcpsnoop" in targets:
        got = json.ratio("tap --check", "mcpsnoop")
        report.goals.append(Goal(what="judging too, JSON: x mcpsnoop", got=got, want=1.0))


def latency(rig: Rig, report: Report, targets: dict[str, Target], effort: Effort) -> None:
    """Measure what a proxy adds to one request at a time."""
    names = ["direct", "plain", "tap not recording", "tap", "tap --check"]
    seconds = effort.seconds * 0.7
    seen: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for name in turns(names, effort.turns):
        outcome = rig.run(targets[name], traffic.JSON, connections=1, seconds=seconds)
        seen[name].append(outcome)

    def added(name: str, key: str) -> float:
        pairs = zip(seen[name], seen["direct"], strict=True)
        return float(median(a[key] - b[key] for a, b in pairs)) * 1000

    table = Table(
        title="One connection: what is added to a request, ms",
        columns=["", "p50", "p99"],
        rows=[[n, added(n, "p50"), added(n, "p99")] for n in names[1:]],
        note=f"direct: {median(o['p50'] for o in seen['direct']) * 1000:.3f} in all",
    )
    report.tables.append(table)
    got = added("tap", "p50")
    report.goals.append(
        Goal(
            what="recording, p50 added at 1 connection",
            got=got,
            want=0.25,
            unit=" ms",
            at_most=True,
        )
    )
    report.goals.append(
        Goal(
            what="judging too, p50 added at 1 connection",
            got=added("tap --check", "p50"),
            want=0.35,
            unit=" ms",
            at_most=True,
        )
    )


def pacing(rig: Rig, report: Report, targets: dict[str, Target], effort: Effort) -> None:
    """Measure how long one server-sent event is kept before it is passed on."""
    gap = 10
    events = max(10, int(effort.seconds * 40))
    path = f"{traffic.PACED}?n={events}&ms={gap}"
    names = ["direct", "plain", "tap"]
    seen: dict[str, list[list[float]]] = {name: [] for name in names}
    for name in turns(names, effort.turns):
        outcome = rig.run(targets[name], path, connections=1, seconds=60, limit=1)
        if len(outcome["delays"]) != events:
            raise RuntimeError(f"{name}: {len(outcome['delays'])} of {events} events")
        seen[name].append(sorted(outcome["delays"]))

    def added(name: str, rank: float) -> float:
        pairs = zip(seen[name], seen["direct"], strict=True)
        return median(a[int(events * rank)] - b[int(events * rank)] for a, b in pairs) * 1000

    worst = {n: max(d[-1] for d in seen[n]) * 1000 for n in names}
    rows = [[n, added(n, 0.5), added(n, 0.9), worst[n]] for n in names]
    report.tables.append(
        Table(
            title=f"One SSE event every {gap} ms: delay until it is passed on, ms",
            columns=["", "added p50", "added p90", "worst in all"],
            rows=rows,
        )
    )
    got = added("tap", 0.5)
    report.goals += [
        Goal(what="one SSE event: p50 added", got=got, want=0.35, unit=" ms", at_most=True),
        Goal(
            what="one SSE event: 9 of 10 passed on before the next",
            got=median(d[int(events * 0.9)] for d in seen["tap"]) * 1000,
            want=gap,
            unit=" ms",
            at_most=True,
        ),
    ]


def memory(rig: Rig, report: Report, effort: Effort) -> None:
    """Measure resident memory of a fresh tap over many exchanges and one big body each way."""
    tap = rig.tap("tap, memory")
    # The first few thousand fill caches and pools, which is growth that ends.
    rig.run(tap, traffic.JSON, seconds=600, limit=max(WARM_UP, effort.exchanges // 5))
    before = tap.child.rss()
    rig.run(tap, traffic.JSON, seconds=600, limit=effort.exchanges)
    after = tap.child.rss()
    growth = (after / before - 1) * 100
    table = Table(title="Memory of the recording tap, MB resident", columns=["", "before", "after"])
    table.rows.append([f"{effort.exchanges:,} exchanges", before / MIB, after / MIB])
    report.goals.append(
        Goal(
            what=f"growth over {effort.exchanges:,} exchanges",
            got=growth,
            want=10,
            unit=" %",
            at_most=True,
        )
    )
    size = effort.body_mb
    bodies = {
        f"{size} MB answer, JSON": (f"{traffic.BIG}?mb={size}&type=application/json", 0),
        f"{size} MB answer, octets": (f"{traffic.BIG}?mb={size}&type=application/octet-stream", 0),
        f"{size} MB request": (traffic.JSON, size * MIB),
    }
    for name, (path, upload) in bodies.items():
        before = tap.child.rss()
        peak = _peak(rig, tap, path, upload)
        table.rows.append([name, before / MIB, peak / MIB])
        added = (peak - before) / MIB
        report.goals.append(
            Goal(what=f"memory added by a {name}", got=added, want=16, unit=" MB", at_most=True)
        )
    report.tables.append(table)


def _peak(rig: Rig, tap: Target, path: str, upload: int) -> int:
    """Watch resident memory while a body streams through."""
    import threading  # noqa: PLC0415 - only here

    outcome = rig.start_stream(tap, path, upload=upload)
    failed: list[BaseException] = []

    def wait() -> None:
        try:
            outcome()
        except RuntimeError as error:
            failed.append(error)

    waiter = threading.Thread(target=wait)
    waiter.start()
    peak = tap.child.rss()
    settled = time.monotonic() + 0.3
    while waiter.is_alive() or time.monotonic() < settled:
        if waiter.is_alive():
            settled = time.monotonic() + 0.3
        peak = max(peak, tap.child.rss())
        time.sleep(0.005)
    if failed:
        raise failed[0]
    return peak


def verify_recorded(targets: Sequence[Target], within: float = 5.0) -> None:
    """Check that every exchange is in its capture: a fast recorder that forgets is not fast."""
    for target in targets:
        if target.capture is None:
            continue
        deadline = time.monotonic() + within
        while (count := target.recorded()) != target.exchanges:
            if time.monotonic() > deadline:
                raise RuntimeError(
                    f"{target.name}: {target.exchanges} exchanges sent, {count} in the capture"
                )
            time.sleep(0.05)
