from __future__ import annotations

from mcp_tap.views.reports.base import help_words, sentence, spec_url, totals
from tests.reports import HOSTILE, capture, entry, finding, report


def test_the_passage_of_the_specification_is_a_whole_address():
    url = spec_url("MRTR-016")
    assert url == (
        "https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr"
        "#client-requirements-basic-workflow"
    )
    assert spec_url("TAP-003") is None
    assert spec_url("expect") is None


def test_help_says_what_a_rule_finds_and_where_there_is_more():
    assert help_words("TAP-003").endswith(". More: mcp-tap rules TAP-003")
    assert "--forbid" in help_words("forbid")


def test_a_finding_is_one_harmless_line():
    words = sentence(finding(message=HOSTILE, target=HOSTILE))
    assert words.isprintable()
    assert sentence(finding()) == (
        'server did what it must not (#16 r3  tools/call deploy) at params.arguments["a/b"][0]'
    )
    assert sentence(finding("expect", path="", message="no")).startswith("--expect: no")


def test_the_sum_counts_what_counts_and_what_exceptions_cover():
    made = report(
        entry("TAP-001"),
        entry("TAP-003"),
        entry("TAP-003", severity="note"),
        entry("TAP-003", how="suppressed"),
        entry("TAP-003", how="baselined"),
        entry("TAP-003", how="baselined"),
        entry("TAP-003", how="ignored"),
        captures=[capture(), capture(records=1)],
    )
    assert totals(made) == (
        "1 error, 1 warning, 1 note in 2 captures, 413 records (1 suppressed, 2 known)"
    )
    assert totals(report()) == "no findings in run one.jsonl, 412 records"
