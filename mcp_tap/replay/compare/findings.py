"""What rules found on both sides, told apart by rule and spot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from mcp_tap.replay.compare.difference import Difference
from mcp_tap.replay.compare.said import SaidFinding


def compare_findings(a: Sequence[SaidFinding], b: Sequence[SaidFinding]) -> Iterator[Difference]:
    """Go through the findings only one side has; of equal ones, as many as there are more."""
    left, right = Counter(map(_known, a)), Counter(map(_known, b))
    for finding in _over(a, left - right):
        yield Difference(
            what="finding",
            change="removed",
            method=finding.method,
            round=finding.round,
            name=finding.rule,
            at=finding.path,
            left=finding.message,
            note=finding.name,
        )
    for finding in _over(b, right - left):
        yield Difference(
            what="finding",
            change="added",
            method=finding.method,
            round=finding.round,
            name=finding.rule,
            at=finding.path,
            right=finding.message,
            note=finding.name,
        )


def _known(finding: SaidFinding) -> tuple[str, str, str | None]:
    return finding.rule, finding.spot, finding.method


def _over(
    findings: Sequence[SaidFinding], more: Counter[tuple[str, str, str | None]]
) -> Iterator[SaidFinding]:
    """Give the last ones of those there are more of."""
    left = Counter(map(_known, findings))
    for finding in findings:
        key = _known(finding)
        left[key] -= 1
        if left[key] < more[key]:
            yield finding
