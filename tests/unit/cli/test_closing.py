"""What a live run says at its end, and with which code it ends."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from mcp_tap.cli.closing import checked, closing, spec_of
from mcp_tap.errors import InconclusiveCapture


def ran(**facts):
    return SimpleNamespace(**{"exchanges": 2, "records": 4, "lost": 0, "unjudged": 0, **facts})


FINE = SimpleNamespace(failed=0)


@pytest.mark.parametrize(
    ("capture", "spec"),
    [
        ("home/20260728T120401-7f3a.jsonl", "20260728T120401-7f3a"),
        ("home/taken.jsonl", "home/taken.jsonl"),
        ("home/run.log", "home/run.log"),
        ("runs/run.jsonl", "runs/run.jsonl"),
        ("-x.jsonl", "./-x.jsonl"),
    ],
)
def test_capture_is_named_briefly(tmp_path, monkeypatch, capture, spec):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MCP_TAP_HOME", "home")
    (tmp_path / "taken").touch()
    assert spec_of(Path(capture)) == spec
    assert spec_of(tmp_path / capture) == spec
    assert spec_of(Path("/elsewhere/run.jsonl")) == "/elsewhere/run.jsonl"


def test_a_run_in_which_something_failed_ends_with_one():
    assert checked(ran(lost=3), Path("run.jsonl"), SimpleNamespace(failed=1)) == 1


def test_a_run_that_was_judged_whole_ends_well():
    assert checked(ran(), Path("run.jsonl"), FINE) == 0


@pytest.mark.parametrize(
    ("facts", "code", "why"),
    [
        ({"exchanges": 0}, "nothing-to-check", ""),
        ({"lost": 1}, "cannot-say", "1 record lost"),
        ({"lost": 2, "unjudged": 3}, "cannot-say", "2 records lost, 3 records not judged in time"),
    ],
)
def test_a_run_of_which_not_all_is_known_says_so(facts, code, why):
    with pytest.raises(InconclusiveCapture) as told:
        checked(ran(**facts), Path("run.jsonl"), FINE, hint="try again")
    assert (told.value.code, told.value.why) == (code, why)
    assert told.value.help


def test_the_last_words_say_what_is_there_and_what_was_found():
    plain, found = (closing(ran(), Path("/x/run.jsonl"), words) for words in ("", "1 error"))
    assert plain.splitlines() == [
        "mcp-tap  2 exchanges, 5 records, none lost",
        "         mcp-tap show /x/run.jsonl",
    ]
    assert found == f"{plain}\n         1 error: mcp-tap check /x/run.jsonl"
