"""What every report is made of, and the words they share."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import cleandoc
from typing import Final

from msgspec import Struct

from mcp_tap.core.finding import Finding, Severity
from mcp_tap.core.text import plural, pointer_words, safe
from mcp_tap.errors import TapError
from mcp_tap.rules.base import Rule
from mcp_tap.rules.catalogue import BY_ID
from mcp_tap.rules.policy import FailOn, How
from mcp_tap.views.found import LETTERS, place, tally
from mcp_tap.views.show_doc import CaptureDoc

SITE: Final = "https://modelcontextprotocol.io/"


class Entry(Struct, frozen=True, kw_only=True):
    """A finding in a report."""

    finding: Finding
    how: How = "counts"
    why: str = ""
    """The exception's reason, or that it has run out."""
    fails: bool = False
    """It makes the check fail."""
    run: int | None = None
    """Index of its capture in `Report.captures`; None where it is of no single one."""


class Assertion(Struct, frozen=True, kw_only=True):
    """Something the user said must hold, and where it does not."""

    option: str
    """`expect`, without dashes."""
    text: str
    """As written: `tool:deploy`."""
    failures: Sequence[Entry] = ()


class Report(Struct, frozen=True, kw_only=True):
    """All a check has to say."""

    version: str
    """Of mcp-tap."""
    captures: Sequence[CaptureDoc]
    entries: Sequence[Entry]
    """Findings in order, those that do not count too; failed assertions; unused exceptions."""
    rules: Sequence[Rule]
    """Those that were looked at, by id."""
    assertions: Sequence[Assertion] = ()
    troubles: Sequence[TapError] = ()
    """Why it cannot be said that nothing is wrong."""
    fail_on: FailOn = "error"
    exit_code: int = 0

    @property
    def counting(self) -> list[Entry]:
        """The entries no exception covers."""
        return [entry for entry in self.entries if entry.how == "counts"]

    def count(self, severity: Severity) -> int:
        """Count findings of a severity."""
        return sum(entry.finding.severity == severity for entry in self.counting)

    def excepted(self, how: How) -> int:
        """Count findings that an exception covers."""
        return sum(entry.how == how for entry in self.entries)

    @property
    def failed(self) -> bool:
        """Whether anything fails it."""
        return any(entry.fails for entry in self.entries)


def is_rule(finding: Finding) -> bool:
    """Tell whether a rule found it; else it is an assertion."""
    return finding.rule in BY_ID


def spec_url(rule: str) -> str | None:
    """Give the address of the passage a rule is about, where it is about one."""
    known = BY_ID.get(rule)
    return SITE + known.spec if known is not None and known.spec else None


def help_words(rule: str) -> str:
    """Say in a sentence what a rule finds, and where there is more."""
    known = BY_ID.get(rule)
    if known is None:
        return f"This was asserted with --{rule}; mcp-tap check --help"
    return f"{known.summary} More: mcp-tap rules {rule}"


def page_of(rule: Rule) -> str:
    """Give the page of a rule without the indentation it has in its module."""
    return cleandoc(rule.page)


def revisions(rule: Rule) -> list[str]:
    """Name the revisions a rule is for, without words for what is none or cannot be told."""
    return [band for band in rule.versions if band not in ("other", "ambiguous")]


def about(finding: Finding) -> str:
    """Say which call or exchange a finding is about: `tools/call deploy`."""
    return safe(" ".join(word for word in (finding.method, finding.target) if word))


def sentence(finding: Finding) -> str:
    """Put all there is to say of a finding in one line, for formats that have only one."""
    words = [finding.message if is_rule(finding) else f"--{finding.rule}: {finding.message}"]
    where = "  ".join(word for word in (place(finding), about(finding)) if word)
    if where:
        words.append(f"({where})")
    if finding.path:
        words.append(f"at {pointer_words(finding.path)}")
    return safe(" ".join(words))


def totals(report: Report) -> str:
    """Sum up in a line: `2 errors, 1 note in 3 captures, 512 records (1 suppressed)`.

    A single capture is named: where none was given, it may not be the one somebody thinks of.
    """
    found = tally({word: report.count(word) for word in LETTERS}) or "no findings"
    records = sum(capture.records for capture in report.captures)
    words = f"{found} in {_judged(report)}, {plural(records, 'record')}"
    left = [(report.excepted("suppressed"), "suppressed"), (report.excepted("baselined"), "known")]
    aside = ", ".join(f"{count} {word}" for count, word in left if count)
    return words + (f" ({aside})" if aside else "")


def _judged(report: Report) -> str:
    if len(report.captures) != 1 or report.captures[0].path is None:
        return plural(len(report.captures), "capture")
    return safe(report.captures[0].path.replace("\\", "/").rpartition("/")[2])
