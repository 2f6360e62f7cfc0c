from __future__ import annotations

from msgspec.structs import replace

from mcp_tap.replay.compare.findings import compare_findings
from mcp_tap.replay.compare.said import SaidFinding

ONE = SaidFinding(
    rule="MRTR-016", name="retry-state-modified", severity="error", spot="requestState",
    message="client echoed another state", round=2, path="/params/requestState",
)  # fmt: skip


def test_a_finding_with_other_words_is_the_same():
    assert list(compare_findings([ONE], [replace(ONE, message="else", round=3)])) == []


def test_of_equal_findings_those_there_are_more_of_are_told():
    (found,) = compare_findings([ONE], [ONE, replace(ONE, round=3)])
    assert (found.what, found.change, found.name, found.round) == (
        "finding",
        "added",
        "MRTR-016",
        3,
    )
    assert (found.at, found.right, found.note) == (ONE.path, ONE.message, ONE.name)
    (found,) = compare_findings([ONE, replace(ONE, spot="other")], [ONE])
    assert (found.change, found.left) == ("removed", ONE.message)
