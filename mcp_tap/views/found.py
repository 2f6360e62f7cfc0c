"""Findings as rows: one each, and how many a call has in two letters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from mcp_tap.core.finding import Finding, Severity
from mcp_tap.core.text import pad, safe
from mcp_tap.views.look import Row

LETTERS: Final[dict[Severity, str]] = {"error": "E", "warning": "W", "note": "N"}
"""Severity as a letter: colour never says it alone."""
STYLES: Final[dict[Severity, str]] = {"error": "bad", "warning": "wait", "note": "dim"}


def finding_row(finding: Finding, indent: str = "") -> Row:
    """Describe a finding in one row: which rule, of which call, whose fault, what happened."""
    style = STYLES[finding.severity]
    return [
        (f"{indent}{LETTERS[finding.severity]} ", style),
        (finding.rule, "strong"),
        (f" {pad(finding.name, max(22, len(finding.name)))}  ", ""),
        (f"{place_words(finding)}  ", "dim"),
        (f"{finding.blame}  ", ""),
        (safe(finding.message), ""),
    ]


def place_words(finding: Finding) -> str:
    """Say where a finding belongs: `#16 r3`, or its exchange where it belongs to no call."""
    if finding.call is not None:
        return f"#{finding.call}" + (f" r{finding.round}" if finding.round is not None else "")
    return f"exchange {finding.exchange}" if finding.exchange else "the run"


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
        style = STYLES[finding.severity]
        where = f"r{finding.round}  " if finding.round is not None else ""
        yield [
            (f"{indent}{LETTERS[finding.severity]} ", style),
            (finding.rule, "strong"),
            (f" {finding.name}  ", ""),
            (where, "dim"),
            (f"{finding.blame}  ", ""),
            (safe(finding.message), ""),
        ]
