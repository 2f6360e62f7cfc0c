from __future__ import annotations

import pytest

from mcp_tap.core.text import width
from mcp_tap.views.look import text_of
from mcp_tap.views.reports.as_text import text_rows
from tests.reports import HOSTILE, entry, failed_expect, hostile_entry, report, torn


def lines(made, cells=None, **more):
    return [text_of(row) for row in text_rows(made, cells, **more)]


def test_a_finding_says_rule_place_party_sentence_and_line():
    assert lines(report(entry(fails=True, severity="error"))) == [
        "E TAP-003 records-lost  #16 r3  tools/call deploy  server",
        "    server did what it must not",
        '    captures/run one.jsonl:377  params.arguments["a/b"][0]',
        "",
        "failed: 1 error in run one.jsonl, 412 records",
        "mcp-tap rules TAP-003  says more",
    ]


def test_equal_findings_are_shown_once_with_their_lines():
    found = [entry(line=n, message=f"server did {n} things") for n in (3, 5, 9, 9, 12, 13, 14)]
    out = lines(report(*found, entry(spot="other")))
    assert out.count("W TAP-003 records-lost  #16 r3  tools/call deploy  server") == 2
    assert "    6 more like it: lines 5, 9, 12, 13, .." in out
    assert "    server did 3 things" in out
    assert not any("did 5 things" in line for line in out)


def test_findings_of_two_captures_are_not_put_together():
    out = lines(report(entry(), entry(run=1, capture="other.jsonl")))
    assert len([line for line in out if line.startswith("W ")]) == 2


def test_exceptions_are_counted_and_not_shown():
    out = lines(report(entry(how="suppressed"), entry(how="ignored"), entry(how="baselined")))
    assert out == ["passed: no findings in run one.jsonl, 412 records (1 suppressed, 1 known)"]


def test_an_exception_that_has_run_out_is_told():
    assert "    its exception held until 2026-01-01" in lines(
        report(entry(why="its exception held until 2026-01-01"))
    )


def test_it_says_what_made_it_fail_where_not_all_did():
    out = lines(report(entry("TAP-001", fails=True), entry()))
    assert "1 finding made it fail, at or above error" in out
    assert out[-1] == "mcp-tap rules TAP-001 TAP-003  says more"


def test_a_failed_assertion_is_told_as_it_was_written():
    assertion, failed = failed_expect()
    out = lines(report(failed, assertions=[assertion]))
    assert out[:2] == ["E --expect  server", "    no call is like this: tool:deploy"]


def test_what_cannot_be_said_is_not_called_passed():
    assert lines(report(troubles=[torn()]))[0].startswith("cannot say: no findings")
    assert lines(report(entry(fails=True), troubles=[torn()]))[-2].startswith("failed: ")


def test_quiet_has_findings_only():
    assert lines(report(), quiet=True) == []
    assert len(lines(report(entry()), quiet=True)) == 3


@pytest.mark.parametrize("cells", [None, 20, 40, 80])
def test_wire_text_is_harmless_and_sentences_fit(cells):
    out = lines(report(hostile_entry(line=None, path="")), cells)
    assert all(line.isprintable() for line in out)
    message = [line for line in out[1:] if line.startswith("    ")]
    if cells is not None:
        assert all(width(line) <= max(cells, 24) for line in message)
    assert not any(line.lstrip().startswith("##[") for line in out if cells is None)
    assert "".join(HOSTILE.split("\n")[0].split()[:1])[:10] in "".join(message)
