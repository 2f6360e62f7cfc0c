"""What `mcp-tap diff` does, once it is known what is asked for."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from mcp_tap.cli.checking import capture_trouble, display
from mcp_tap.cli.comparing import rules_of
from mcp_tap.cli.diff_doc import PairDoc, diff_document
from mcp_tap.cli.diff_rows import DiffRows, totals_rows, words_of
from mcp_tap.cli.output import Output, stored, stored_rows
from mcp_tap.core.text import plural, safe
from mcp_tap.errors import InconclusiveCapture, UsageError
from mcp_tap.replay.compare.difference import Difference
from mcp_tap.replay.compare.runs import Compared, compare_runs
from mcp_tap.replay.compare.totals import Totals
from mcp_tap.replay.index import Index
from mcp_tap.replay.recorded import Captured
from mcp_tap.replay.saying import Findings, run_of
from mcp_tap.views.look import Row
from mcp_tap.views.machine import capture_doc, ms
from mcp_tap.views.show_doc import CaptureDoc


class Diff:
    """One run of the command."""

    def __init__(self, out: Output, given: dict[str, Any]) -> None:
        """Read what was asked for; no capture is opened yet.

        Raises:
            UsageError: it cannot be meant.
        """
        self._out = out
        self._given = given
        self._target = Path(given["output"]) if given["output"] else None
        self._totals = Totals()
        rules_of(given, same_key=False)

    def run(self, *specs: str) -> int:
        """Compare, report, and give the exit code."""
        if specs == ("-", "-"):
            raise UsageError("usage", "standard input can be read only once")
        findings = Findings()
        with Index.of(specs, see=findings.see) as index:
            findings.finish()
            pairs = self._pairs(index, findings)
            if self._given["form"] == "json":
                self._store(self._document(index, pairs))
            elif self._target is not None:
                stored_rows(self._target, self._rows(index, pairs, None))
                self._out.say(words_of(self._totals))
            else:
                self._out.rows(self._rows(index, pairs, self._out.cells))
            return self._end(index.captures)

    def _pairs(self, index: Index, findings: Findings) -> Iterator[Compared]:
        keys = [captured.header.key for captured in index.captures]
        rules = rules_of(self._given, same_key=keys[0] is not None and keys[0] == keys[1])
        self._totals.matched = rules.matched
        a, b = (run_of(index, n, findings=findings, leg=self._given["leg"]) for n in (0, 1))
        for compared in compare_runs(a, b, rules, slower=self._given["slower"]):
            self._totals.add(compared)
            yield compared

    def _rows(self, index: Index, pairs: Iterator[Compared], cells: int | None) -> Iterator[Row]:
        made = DiffRows(cells)
        heads = [
            [(f"{sign} {side}  ", style), (safe(_named(captured)), "strong"),
             (f"  {plural(count, 'call')}, {safe(captured.header.started)}", "dim")]
            for sign, side, style, captured, count in zip(
                ("---", "+++"), "ab", ("bad", "ok"), index.captures, _counts(index), strict=True
            )
        ]  # fmt: skip
        for compared in pairs:
            for row in made.of(compared):
                yield from heads
                heads = []
                yield row
        if self._out.quiet:
            return
        if made.untold:
            counted = plural(made.untold, "difference")
            yield [(f"{counted} like those above not shown; -f json has all", "dim")]
        yield from totals_rows(self._totals)

    def _document(self, index: Index, pairs: Iterator[Compared]) -> bytes:
        differences: list[Difference] = []
        calls = []
        for compared in pairs:
            differences += compared.differences
            one = compared.a or compared.b
            if one is not None:
                calls.append(_pair(compared, one.method, one.target))
        a, b = map(_doc, index.captures)
        return diff_document(a, b, differences, calls, self._totals)

    def _store(self, data: bytes) -> None:
        if self._target is None:
            click.echo(data, nl=False)
        else:
            stored(self._target, data)
            self._out.say(words_of(self._totals))

    def _end(self, captures: Sequence[Captured]) -> int:
        sys.stdout.flush()
        specs = [display(captured.source.reader.path) or "-" for captured in captures]
        again = shlex.join(["mcp-tap", "diff", *specs, "--allow-torn"])
        found = (capture_trouble(c.source.reader, c.lines, again) for c in captures)
        troubles = [trouble for trouble in found if trouble]
        if self._given["allow_torn"]:
            self._warn(troubles)
            troubles = []
        if not self._totals.calls:
            troubles.append(
                InconclusiveCapture(
                    "nothing-to-compare",
                    "there is no call in either capture",
                    help=shlex.join(["mcp-tap", "show", specs[0], "-d1"]),
                )
            )
        if self._totals.differences:
            self._warn(troubles)
            return int(not self._given["exit_zero"])
        if troubles:
            self._warn(troubles[1:])
            raise troubles[0]
        return 0

    def _warn(self, troubles: Sequence[InconclusiveCapture]) -> None:
        for error in troubles:
            self._out.doubt(error)


def _doc(captured: Captured) -> CaptureDoc:
    reader = captured.source.reader
    return capture_doc(reader, path=display(reader.path), records=captured.lines)


def _pair(compared: Compared, method: str, target: str | None) -> PairDoc:
    a, b = compared.a, compared.b
    return PairDoc(
        a=None if a is None else a.number,
        b=None if b is None else b.number,
        method=method,
        target=target,
        differences=len(compared.differences),
        a_ms=None if a is None else ms(a.server_s),
        b_ms=None if b is None else ms(b.server_s),
    )


def _named(captured: Captured) -> str:
    return display(captured.source.reader.path) or "standard input"


def _counts(index: Index) -> Iterator[int]:
    return (sum(call.capture == n for call in index.calls) for n in range(len(index.captures)))
