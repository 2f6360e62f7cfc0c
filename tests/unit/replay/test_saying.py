"""What recorded runs said, read back; and that a run is equal to itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcp_tap.replay.compare.runs import compare_runs
from mcp_tap.replay.compare.values import Rules
from mcp_tap.replay.index import Index
from mcp_tap.replay.saying import Findings, call_of, run_of

CAPTURES = Path(__file__).parents[3] / "captures"
ALL = sorted(CAPTURES.glob("*.jsonl"))


@pytest.mark.parametrize("leg", ["upstream", "client"])
@pytest.mark.parametrize("capture", ALL, ids=lambda path: path.stem)
def test_a_capture_is_equal_to_itself(capture, leg):
    findings = Findings()
    with Index.of([str(capture), str(capture)], see=findings.see) as index:
        findings.finish()
        a, b = (run_of(index, n, findings=findings, leg=leg) for n in (0, 1))
        rules = Rules(normalise=())
        pairs = list(compare_runs(a, b, rules))
    assert [d for pair in pairs for d in pair.differences] == []
    assert not rules.matched
    assert [(p.a.number, p.b.number) for p in pairs[1:]] == [
        (heard.number, heard.number) for heard in a.calls
    ]


def test_the_asks_answers_and_notifications_of_a_call_are_read():
    with Index.of([str(CAPTURES / "py-py-2026.jsonl")]) as index:
        calls = {call.number: call_of(index, call) for call in index.calls}
    booking = calls[5]
    assert [[ask.key for ask in round_.asks] for round_ in booking.rounds] == [
        ["day"],
        ["seat"],
        [],
    ]
    assert booking.rounds[0].asks[0].answer.value["action"] == "accept"
    (work,) = [call for call in calls.values() if call.target == "stream_work"]
    assert {note.method for note in work.rounds[0].notes} >= {"notifications/progress"}


def test_a_pushed_ask_has_no_key_and_the_answer_the_client_sent():
    with Index.of([str(CAPTURES / "py-py-2025.jsonl")]) as index:
        calls = [call_of(index, call) for call in index.calls if call.target == "push_sample"]
    ask = calls[0].rounds[0].asks[0]
    assert (ask.key, ask.at, ask.answer.at) == ("", ("params",), ("result",))
    assert ask.answer.value["model"] == "lab-model"


def test_the_tools_and_findings_of_a_run_are_known():
    findings = Findings()
    with Index.of([str(CAPTURES / "py-py-2026.jsonl")], see=findings.see) as index:
        findings.finish()
        run = run_of(index, 0, findings=findings)
        assert "book_table" in run.tools
        found = {f.rule for n, heard in enumerate(run.calls) if heard.number == 19
                 for f in run.read(n).findings}  # fmt: skip
    assert found >= {"MRTR-014", "MRTR-016"}
