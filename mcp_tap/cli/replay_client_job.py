"""What `mcp-tap replay client` does, once it is known what is asked for."""

from __future__ import annotations

import asyncio
import shlex
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from mcp_tap.cli.checking import capture_trouble, display
from mcp_tap.cli.comparing import rules_of
from mcp_tap.cli.diff_rows import DiffRows
from mcp_tap.cli.output import Output, stored, stored_rows
from mcp_tap.cli.replay_client_doc import SentDoc, document, planned_doc, sent_doc
from mcp_tap.cli.replay_client_rows import head_rows, plan_rows, sums, unsent_rows, why_row
from mcp_tap.cli.replay_client_server import Server
from mcp_tap.cli.stdio import refuse_early
from mcp_tap.core.text import plural
from mcp_tap.errors import InconclusiveCapture, UsageError
from mcp_tap.proxy.stdio.settings import StdioSettings
from mcp_tap.replay.client.lane import Limits
from mcp_tap.replay.client.outcome import Verdict, verdicts
from mcp_tap.replay.client.plan import Item, Plan
from mcp_tap.replay.client.run import ClientRun
from mcp_tap.replay.compare.difference import Difference
from mcp_tap.replay.compare.values import Rules
from mcp_tap.replay.index import Index
from mcp_tap.views.look import Row
from mcp_tap.views.machine import capture_doc


class Job:
    """One run of the command."""

    def __init__(self, out: Output, given: dict[str, Any], command: list[str] | None) -> None:
        """Read what was asked for; nothing is opened yet.

        Raises:
            TapError: it cannot be meant.
        """
        self._out = out
        self._given = given
        self._target = Path(given["output"]) if given["output"] else None
        self._book = None
        if given["answers"]:
            from mcp_tap.cli.scripting import open_book

            self._book = open_book(given["answers"])
        self._server = Server(
            given, command, book=self._book, show=out.say if out.verbose else None
        )
        self._counts: Counter[str] = Counter()
        self._differences: list[Difference] = []
        self._unsent: list[Item] = []
        self._docs: list[SentDoc] = []
        rules_of(given, same_key=False)
        refuse_early(StdioSettings(command=()), given["write"])

    def run(self, spec: str, words: Sequence[str]) -> int:
        """Send, compare, report, and give the exit code."""
        wanted = _numbers(spec, words) if words else None
        with Index.of([spec]) as index, ExitStack() as stack:
            plan = Plan(index, wanted, answered=self._book is not None)
            if not plan.calls:
                raise InconclusiveCapture(
                    "nothing-to-send",
                    "no call of the capture passes the filter" if words else
                    "there is no call in the capture",
                    help=f"mcp-tap show {shlex.quote(spec)}",
                )  # fmt: skip
            if self._given["dry_run"]:
                return self._list(plan, index)
            self._warn_of(plan)
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="mcp-tap-"))
            run = self._send(plan, index, folder)
            with Index.of([str(path) for path in self._server.captures]) as new:
                keys = [plan.capture.header.key, new.captures[0].header.key]
                rules = rules_of(self._given, same_key=None not in keys and keys[0] == keys[1])
                whole = plan.whole and all(item.cannot is None for item in plan.items)
                found = verdicts(plan, index, new, run.played, rules, whole=whole)
                self._report(plan, found, rules)
            return self._end(plan)

    def _send(self, plan: Plan, index: Index, folder: str) -> ClientRun:
        given = self._given
        self._server.prepare(Path(given["write"] or Path(folder) / "new.jsonl"))
        run = ClientRun(
            plan,
            index,
            self._server.connect,
            book=self._book,
            limits=Limits(timeout=given["timeout"], rounds=given["max_rounds"]),
            parallel=given["parallel"],
            yes=given["yes"],
        )
        asyncio.run(self._server.around(run.run()))
        if run.gone and not any(one.answered for one in run.played):
            raise InconclusiveCapture(
                "server-gone",
                run.gone,
                why=self._server.last_words,
                help="start the server" if self._given["to"] else "-v shows what it says on stderr",
            )
        if not self._server.captures:
            blocked = next((item for item in plan.calls if item.why), None)
            raise InconclusiveCapture(
                "nothing-sent",
                f"none of {plural(len(plan.calls), 'call')} could be sent",
                why="" if blocked is None else blocked.why,
                help="--dry-run tells of each why",
            )
        return run

    def _list(self, plan: Plan, index: Index) -> int:
        if self._given["form"] == "json":
            self._docs = [planned_doc(item) for item in plan.calls]
            self._store(self._document(plan, Rules()))
        else:
            self._rows(plan_rows(plan, index, yes=self._given["yes"]))
        sys.stdout.flush()
        trouble = self._trouble(plan)
        if trouble is not None:
            self._out.doubt(trouble)
        return 0

    def _report(self, plan: Plan, found: Iterator[Verdict], rules: Rules) -> None:
        if self._given["form"] == "json":
            for verdict in found:
                self._take(verdict)
            self._store(self._document(plan, rules))
            return
        self._rows(self._told(plan, found, rules))

    def _rows(self, rows: Iterator[Row]) -> None:
        if self._target is None:
            self._out.rows(rows)
        else:
            stored_rows(self._target, rows)

    def _told(self, plan: Plan, found: Iterator[Verdict], rules: Rules) -> Iterator[Row]:
        made = DiffRows(self._out.cells if self._target is None else None)
        heads = list(head_rows(plan, self._server.name))
        for verdict in found:
            self._take(verdict)
            rows = [] if verdict.compared is None else list(made.of(verdict.compared))
            for row in [*rows, *why_row(verdict, headed=bool(rows))]:
                yield from heads
                heads = []
                yield row
        for row in unsent_rows(self._unsent):
            yield from heads
            heads = []
            yield row
        if not self._out.quiet:
            yield from sums(self._counts, self._differences, rules.matched)

    def _take(self, verdict: Verdict) -> None:
        if verdict.compared is not None:
            self._differences += verdict.compared.differences
        if verdict.played is None:
            self._counts["outside"] += verdict.state == "differs"
            return
        self._counts[verdict.state] += 1
        if verdict.state == "not-sent":
            self._unsent.append(verdict.played.item)
        self._docs.append(sent_doc(verdict))

    def _document(self, plan: Plan, rules: Rules) -> bytes:
        kept = self._server.captures if self._given["write"] else []
        reader = plan.capture.source.reader
        return document(
            capture_doc(reader, path=display(reader.path), records=reader.lines),
            None if self._given["dry_run"] else self._server.name,
            [str(path) for path in kept],
            self._docs,
            self._differences,
            matched=rules.matched,
        )

    def _store(self, data: bytes) -> None:
        if self._target is None:
            click.echo(data, nl=False)
        else:
            stored(self._target, data)

    def _end(self, plan: Plan) -> int:
        sys.stdout.flush()
        if self._given["write"]:
            for path in self._server.captures:
                self._out.say(f"mcp-tap  recorded {path}")
        trouble = self._trouble(plan)
        if trouble is not None:
            if not (self._differences or self._given["allow_torn"]):
                raise trouble
            self._out.doubt(trouble)
        if self._differences:
            return int(not self._given["exit_zero"])
        return 4 if self._counts["cut-short"] + self._counts["not-sent"] else 0

    def _trouble(self, plan: Plan) -> InconclusiveCapture | None:
        reader = plan.capture.source.reader
        return capture_trouble(reader, reader.lines, "--allow-torn takes it as it is")

    def _warn_of(self, plan: Plan) -> None:
        names = {name.lower() for name, _ in self._given["header"]}
        sent = {item.lane.name: item.lane for item in plan.items}
        if any(lane.authorised for lane in sent.values()) and "authorization" not in names:
            self._out.warn(
                "the recorded client sent Authorization, which is not sent again;"
                " -H 'Authorization: ...' sends one"
            )


def _numbers(spec: str, words: Sequence[str]) -> set[int]:
    """Find the calls that pass a filter, by their numbers.

    Raises:
        UsageError: the filter cannot be read, or the capture not twice.
        CaptureError: the capture cannot be read.
    """
    from mcp_tap.capture.reader import open_capture
    from mcp_tap.cli.gather import Shelf, gather
    from mcp_tap.cli.show import filter_of
    from mcp_tap.core.filters import Scope
    from mcp_tap.core.model import Call
    from mcp_tap.pipeline.spine import Pipeline
    from mcp_tap.views.text import local_start

    chosen = filter_of(words)
    if spec == "-":
        raise UsageError("usage", "standard input cannot be read twice, as a filter wants it",
                         help="name a file")  # fmt: skip
    reader = open_capture(spec)
    shelf = Shelf() if chosen.uses("text") else None
    scope = Scope(start=local_start(reader.header.started), bodies=shelf.texts if shelf else None)
    found: set[int] = set()
    for one in gather(reader, Pipeline(), shelf=shelf, see=lambda _: None):
        if isinstance(one, Call) and chosen.matches(one, scope):
            found.add(one.number)
        if shelf is not None:
            shelf.release(one)
    return found
