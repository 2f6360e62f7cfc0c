"""`check -f text`: findings for people, equal ones of a capture together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mcp_tap.core.finding import RANK, Finding
from mcp_tap.core.text import cut, plural, pointer_words, safe
from mcp_tap.rules.policy import known
from mcp_tap.views.found import LETTERS, STYLES, place
from mcp_tap.views.look import Row, wrapped
from mcp_tap.views.reports.base import Entry, Report, about, is_rule, totals

INDENT: Final = "    "
_FEW: Final = 4
"""Lines named of findings that are like the first."""
_TOLD: Final = 3
"""Rules named at the end."""


def text_rows(report: Report, cells: int | None, *, quiet: bool = False) -> Iterator[Row]:
    """Give the report in rows.

    Args:
        report: what there is to say.
        cells: width of the terminal; None: what is long stays on its line.
        quiet: without the lines that sum up.
    """
    groups = _groups(report)
    for group in groups:
        yield from _rows(group, cells)
        if not quiet:
            yield []
    if quiet:
        return
    yield from _end(report)


def _groups(report: Report) -> list[list[Entry]]:
    groups: dict[object, list[Entry]] = {}
    for entry in report.counting:
        f = entry.finding
        key = (entry.run, known(f), f.severity, f.blame, entry.why) if is_rule(f) else id(entry)
        groups.setdefault(key, []).append(entry)
    return list(groups.values())


def _rows(group: list[Entry], cells: int | None) -> Iterator[Row]:
    first = group[0]
    f = first.finding
    letter = LETTERS[f.severity]
    row: Row = [(f"{letter} ", STYLES[f.severity])]
    if is_rule(f):
        row += [(f.rule, "strong"), (f" {f.name}", "")]
    else:
        row += [(f"--{f.rule}", "strong")]
    for words, style in ((place(f), "dim"), (about(f), ""), (_blame(f), "")):
        if words:
            row.append((f"  {words}", style))
    yield [*row[:-1], (cut(row[-1][0], 200), row[-1][1])]
    message = safe(f.message)
    for line in [message] if cells is None else wrapped(message, max(20, cells - len(INDENT))):
        yield [(INDENT + line, "")]
    where = _where(f)
    if where:
        yield [(f"{INDENT}{where}", "dim")]
    if first.why:
        yield [(f"{INDENT}{safe(first.why)}", "wait")]
    if len(group) > 1:
        yield [(f"{INDENT}{_more(group)}", "dim")]


def _blame(finding: Finding) -> str:
    return "" if finding.blame == "unknown" else finding.blame


def _where(finding: Finding) -> str:
    words = []
    if finding.line is not None:
        words.append(f"{safe(finding.capture or 'standard input')}:{finding.line}")
    if finding.path:
        words.append(pointer_words(finding.path))
    return "  ".join(words)


def _more(group: list[Entry]) -> str:
    lines = list(dict.fromkeys(str(e.finding.line) for e in group[1:] if e.finding.line))
    words = f"{len(group) - 1} more like it"
    if not lines:
        return words
    named = ", ".join(lines[:_FEW]) + (", .." if len(lines) > _FEW else "")
    return f"{words}: line {named}" if len(lines) == 1 else f"{words}: lines {named}"


def _end(report: Report) -> Iterator[Row]:
    fails = sum(entry.fails for entry in report.entries)
    if report.troubles:
        head: Row = [("cannot say", "wait")]
    elif fails:
        head = [("failed", "bad")]
    else:
        head = [("passed", "ok")]
    if fails and report.troubles:
        head = [("failed", "bad")]
    yield [*head, (f": {totals(report)}", "")]
    if fails and fails != len(report.counting):
        how = "" if report.fail_on == "never" else f", at or above {report.fail_on}"
        yield [(f"{plural(fails, 'finding')} made it fail{how}", "dim")]
    first = sorted(report.counting, key=lambda e: (not e.fails, -RANK[e.finding.severity]))
    told = list(dict.fromkeys(e.finding.rule for e in first if is_rule(e.finding)))
    if told:
        yield [(f"mcp-tap rules {' '.join(told[:_TOLD])}", "dim"), ("  says more", "dim")]
