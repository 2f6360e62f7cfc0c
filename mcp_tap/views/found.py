"""Findings as rows: one each, and how many a call has in two letters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from mcp_tap.core.finding import Finding, Severity
from mcp_tap.core.text import pad, plural, safe
from mcp_tap.views.look import Row

LETTERS: Final[dict[Severity, str]] = {"error": "E", "warning": "W", "note": "N"}
"""Severity as a letter: colour never says it alone."""
STYLES: Final[dict[Severity, str]] = {"error": "bad", "warning": "wait", "note": "dim"}


def finding_row(finding: Finding) -> Row:
    """Describe a finding in one row: which rule, of which call, whose fault, what happened."""
    name = pad(finding.name, max(22, len(finding.name)))
    return _row(finding, "", name, place_words(finding))


def place_words(finding: Finding) -> str:
    """Say where a finding belongs: `#16 r3`, its exchange where it belongs to no call, the run."""
    return place(finding) or "the run"


def place(finding: Finding) -> str:
    """Say where in its run a finding is: `#16 r3`; empty where it is about all of it."""
    if finding.call is not None:
        return f"#{finding.call}" + (f" r{finding.round}" if finding.round is not None else "")
    return f"exchange {finding.exchange}" if finding.exchange else ""


def faulty(findings: Iterable[Finding]) -> bool:
    """Tell whether more than notes was found."""
    return any(finding.severity != "note" for finding in findings)


def tally(counts: Mapping[Severity, int]) -> str:
    """Count findings in words, the worst first: `2 errors, 1 note`; empty without any."""
    return ", ".join(plural(counts[word], word) for word in LETTERS if counts[word])


def counted(findings: Iterable[Finding]) -> Row:
    """Count errors and warnings, for the end of a call's row: `E1 W2`; empty without any."""
    errors = warnings = 0
    for finding in findings:
        errors += finding.severity == "error"
        warnings += finding.severity == "warning"
    row: Row = []
    if errors:
        row.append((f" E{errors}", "bad"))
    if warnings:
        row.append((f" W{warnings}", "wait"))
    return row


def finding_rows(findings: Iterable[Finding], indent: str) -> Iterator[Row]:
    """Describe the findings of one call, below it: the call itself needs no number there."""
    for finding in findings:
        where = f"r{finding.round}" if finding.round is not None else ""
        yield _row(finding, indent, finding.name, where)


def _row(finding: Finding, indent: str, name: str, where: str) -> Row:
    return [
        (f"{indent}{LETTERS[finding.severity]} ", STYLES[finding.severity]),
        (finding.rule, "strong"),
        (f" {name}  ", ""),
        (f"{where}  " if where else "", "dim"),
        (f"{finding.blame}  ", ""),
        (safe(finding.message), ""),
    ]
