"""What `mcp-tap check` does, once it is known what is asked for."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from mcp_tap import __version__
from mcp_tap.cli.checking import Checked, Checking, unrepeated
from mcp_tap.cli.output import Output, stored, stored_rows
from mcp_tap.cli.policing import make_policy, update_baseline
from mcp_tap.core.filters import parse
from mcp_tap.errors import InconclusiveCapture, TapError, UsageError
from mcp_tap.rules.assertions import Asks, Assertion, Expect, Forbid, max_rounds, max_server_time
from mcp_tap.rules.catalogue import RULES
from mcp_tap.rules.policy import UNUSED, Policy
from mcp_tap.views.reports.base import Assertion as Asserted
from mcp_tap.views.reports.base import Entry, Report, totals

if TYPE_CHECKING:
    from mcp_tap.capture.reader import CaptureReader
    from mcp_tap.config import ConfigFile


class Check:
    """One run of the command."""

    def __init__(
        self,
        files: Sequence[ConfigFile],
        out: Output,
        given: dict[str, Any],
        origins: Mapping[str, str],
    ) -> None:
        """Read what was asked for; no capture is opened yet.

        Raises:
            TapError: it cannot be meant.
        """
        self.out = out
        self.form: str = given["form"]
        self.target = Path(given["output"]) if given["output"] else None
        self.exit_zero: bool = given["exit_zero"]
        self.allow_torn: bool = given["allow_torn"]
        self.baseline = Path(given["baseline"]) if given["baseline"] else None
        self.writes: bool = given["write_baseline"]
        if self.writes and self.baseline is None:
            raise UsageError(
                "usage",
                "--write-baseline needs --baseline FILE",
                help="mcp-tap check --baseline mcp-tap.baseline.jsonl --write-baseline",
            )
        self.policy = make_policy(
            files,
            select=given["select"],
            ignore=given["ignore"],
            extend_select=given["extend_select"],
            fail_on=given["fail_on"],
            baseline=self.baseline,
            must_exist=not self.writes,
            origins=origins,
        )
        self.where = parse(given["where"] or "") or None
        self.assertions = _assertions(given)

    def run(self, captures: Sequence[str]) -> int:
        """Judge, report, and give the exit code."""
        checking = Checking(self.policy, where=self.where, assertions=self.assertions)
        readers = list(unrepeated(_open(captures)))
        checked = [checking.judge(reader, index) for index, reader in enumerate(readers)]
        troubles = list(self._troubles(checked))
        report = self._report(checked, troubles)
        if self.writes:
            report = self._write_baseline(checked, troubles, report)
        self._print(report)
        self._say(checked, report, troubles)
        if report.failed and not self.exit_zero:
            return 1
        if troubles:
            raise troubles[0]
        return 0

    def _troubles(self, checked: Sequence[Checked]) -> list[InconclusiveCapture]:
        found = [made.trouble() for made in checked]
        troubles = [] if self.allow_torn else [trouble for trouble in found if trouble]
        if not any(made.seen for made in checked) and not any(made.entries for made in checked):
            names = ", ".join(made.reader.name for made in checked[:3])
            what = f"no call or exchange in {names} passes {self.where}" if self.where else (
                f"there is nothing to check in {names}"
            )  # fmt: skip
            first = checked[0].reader.path
            spec = "NAME" if first is None else shlex.quote(str(first))
            troubles.append(
                InconclusiveCapture("nothing-to-check", what, help=f"mcp-tap show {spec} -d1")
            )
        return troubles

    def _report(self, checked: Sequence[Checked], troubles: Sequence[TapError]) -> Report:
        entries: list[Entry] = []
        for made in checked:
            entries += made.entries
        asserted = []
        for index, assertion in enumerate(self.assertions):
            failures = [e for made in checked for e in made.failures.get(index, ())]
            failures += _unmet(assertion)
            entries += failures
            asserted.append(
                Asserted(option=assertion.option, text=assertion.text, failures=failures)
            )
        if self._whole(checked, troubles):
            entries += _leftover(self.policy)
        return Report(
            version=__version__,
            captures=[made.doc for made in checked],
            entries=entries,
            rules=[rule for rule in RULES if rule.id in self.policy.selected],
            assertions=asserted,
            troubles=troubles,
            fail_on=self.policy.fail_on,
            exit_code=self._code(entries, troubles),
        )

    def _whole(self, checked: Sequence[Checked], troubles: Sequence[TapError]) -> bool:
        """Tell whether all there is was looked at: else an exception may be needed elsewhere."""
        return not (self.where or troubles or any(made.trouble() for made in checked))

    def _code(self, entries: Sequence[Entry], troubles: Sequence[TapError]) -> int:
        if any(entry.fails for entry in entries):
            return int(not self.exit_zero)
        return 4 if troubles else 0

    def _write_baseline(
        self, checked: Sequence[Checked], troubles: Sequence[TapError], report: Report
    ) -> Report:
        assert self.baseline is not None
        whole = self._whole(checked, troubles)
        failing = [e for made in checked for e in made.entries if e.fails]
        added, gone = update_baseline(self.baseline, self.policy, failing, whole=whole)
        for line in added:
            self.out.say(f"added to {self.baseline}: {line}")
        for line in gone:
            self.out.say(f"taken out of {self.baseline}: {line}")
        if not added and not gone:
            self.out.say(f"nothing to add to {self.baseline}")
        covered = {id(entry) for entry in failing}
        entries = [
            msgspec.structs.replace(e, how="baselined", why="in the baseline", fails=False)
            if id(e) in covered
            else e
            for e in report.entries
            if not (e.finding.rule == UNUSED and e.finding.message.startswith("a line of"))
        ]
        code = self._code(entries, troubles)
        return msgspec.structs.replace(report, entries=entries, exit_code=code)

    def _print(self, report: Report) -> None:
        if self.form == "text":
            self._print_text(report)
            return
        from mcp_tap.views.reports import as_github, as_json, as_junit, as_sarif

        make = {
            "json": as_json.json_report,
            "junit": as_junit.junit_report,
            "sarif": as_sarif.sarif_report,
            "github": as_github.github_report,
        }[self.form]
        data = make(report)
        if self.target is not None:
            stored(self.target, data)
        else:
            click.echo(data, nl=False)

    def _print_text(self, report: Report) -> None:
        from mcp_tap.views.reports.as_text import text_rows

        if self.target is not None:
            stored_rows(self.target, text_rows(report, None))
        else:
            self.out.rows(text_rows(report, self.out.cells, quiet=self.out.quiet))

    def _say(
        self, checked: Sequence[Checked], report: Report, troubles: Sequence[TapError]
    ) -> None:
        """Say on stderr what the report does not, and what may be wrong with the captures."""
        sys.stdout.flush()
        if self.form != "text" or self.target is not None:
            self.out.say(totals(report))
        for made in checked:
            if not made.reader.clean and made.reader.torn is None:
                self.out.say(f"{made.reader.name} has no footer: its run goes on, or was killed")
        told = list(troubles if report.failed and not self.exit_zero else troubles[1:])
        if self.allow_torn:
            told += (trouble for made in checked if (trouble := made.trouble()))
        for error in told:
            self.out.doubt(error)


def _open(captures: Sequence[str]) -> list[CaptureReader]:
    """Open all of them before the first is judged: what cannot be read is told at once."""
    from mcp_tap.capture.reader import open_capture

    if captures.count("-") > 1:
        raise UsageError("usage", "standard input can be read only once")
    return [open_capture(name) for name in captures or (None,)]


def _assertions(given: dict[str, Any]) -> list[Assertion]:
    made: list[Assertion] = [Expect(text) for text in given["expect"]]
    made += [Forbid(text) for text in given["forbid"]]
    if given["expect_max_rounds"] is not None:
        made.append(max_rounds(given["expect_max_rounds"]))
    if given["max_server_time"] is not None:
        made.append(max_server_time(given["max_server_time"]))
    made += [Asks(text) for text in given["expect_asks"]]
    return made


def _unmet(assertion: Assertion) -> list[Entry]:
    finding = assertion.finish()
    return [] if finding is None else [Entry(finding=finding, fails=True)]


def _leftover(policy: Policy) -> list[Entry]:
    return [
        Entry(finding=verdict.finding, how=verdict.how, fails=policy.fails(verdict))
        for verdict in policy.leftover()
    ]
