from __future__ import annotations

from mcp_tap.views.reports.as_github import github_report
from tests.reports import entry, failed_expect, hostile_entry, report, torn


def lines(made):
    return github_report(made).decode().splitlines()


def test_a_finding_is_a_workflow_command_with_file_and_line():
    where = "file=captures/run one.jsonl,line=377"
    words = 'server did what it must not (#16 r3  tools/call deploy) at params.arguments["a/b"][0]'
    assert lines(report(entry("TAP-001"), entry(), entry(severity="note"))) == [
        f"::error {where},title=TAP-001 rule-raised (server)::{words}",
        f"::warning {where},title=TAP-003 records-lost (server)::{words}",
        f"::notice {where},title=TAP-003 records-lost (server)::{words}",
    ]


def test_wire_text_can_begin_no_command_of_its_own():
    out = lines(report(hostile_entry(capture="a,b:c%\n::x.jsonl")))
    assert len(out) == 1
    head, _, message = out[0].removeprefix("::warning ").partition("::")
    assert head == "file=a%2Cb%3Ac%25\\n%3A%3Ax.jsonl".replace("\\n", "%0A") + (
        ",line=377,title=TAP-003 records-lost (server)"
    )
    assert "%250A::stop-commands" in message
    assert out[0].isprintable()


def test_exceptions_are_left_out_and_assertions_and_troubles_are_not():
    assertion, failed = failed_expect("a, b")
    made = report(entry(how="suppressed"), failed, assertions=[assertion], troubles=[torn()])
    why = "run.jsonl stops in the middle of line 4112: the run was killed while writing"
    assert lines(made) == [
        "::error title=mcp-tap --expect::--expect: no call is like this: a, b",
        f"::error title=mcp-tap capture-torn::{why}",
    ]
