from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest

from mcp_tap.capture.reader import open_path
from mcp_tap.cli import checking
from mcp_tap.cli.checking import Checking, display, unrepeated
from mcp_tap.core.filters import parse
from mcp_tap.core.model import Call
from mcp_tap.pipeline.spine import Pipeline
from mcp_tap.rules.policy import Policy
from tests import captures
from tests.traffic import Traffic, done, story

ROOT = Path(__file__).parents[3]


def judge(path, where=None):
    job = Checking(Policy(), where=parse(where) if where else None, assertions=[])
    return job.judge(open_path(path), 0)


@pytest.mark.parametrize("where", [None, "method:*"])
def test_what_was_read_is_counted(tmp_path, where):
    made = judge(story().write(tmp_path / "run.jsonl"), where)
    assert (made.records, made.seen) == (31, True)
    assert made.trouble() is None
    assert made.doc.records == 31


def test_both_ways_of_judging_find_the_same_in_the_same_order(tmp_path):
    traffic = Traffic()
    for number in range(50):
        traffic.call(f"tool-{number}", {"resultType": "complete", "content": "wrong"})
    path = traffic.write(tmp_path / "run.jsonl")
    plain, filtered = judge(path).entries, judge(path, "method:*").entries
    assert [entry.finding for entry in plain if entry.finding.call] == [
        entry.finding for entry in filtered if entry.finding.call
    ]


def test_what_is_wrong_with_the_answer_to_a_pushed_ask_is_of_the_call_that_asked():
    """The answer comes in an exchange of its own."""
    path = ROOT / "captures" / "py-py-2025.jsonl"
    found = judge(path).entries
    answers = [entry.finding for entry in found if entry.finding.call is not None]
    assert len(answers) == 2
    assert [entry.finding for entry in judge(path, "kind:call").entries] == answers


@pytest.mark.parametrize("where", [None, "method:*"])
def test_calls_are_let_go_of_while_the_capture_is_judged(tmp_path, monkeypatch, where):
    """So many at a time, however long it is."""
    monkeypatch.setattr("mcp_tap.cli.gather.AHEAD", 20)
    traffic = Traffic()
    for number in range(400):
        traffic.call(f"tool-{number}", done("x"))
    path = traffic.write(tmp_path / "run.jsonl")
    alive: weakref.WeakValueDictionary[int, Call] = weakref.WeakValueDictionary()
    most = 0
    feed = Pipeline.feed

    def watched(self, record, *more):
        nonlocal most
        changes = feed(self, record, *more)
        alive.update((c.number, c) for c in changes if isinstance(c, Call))
        most = max(most, len(alive))
        return changes

    monkeypatch.setattr(Pipeline, "feed", watched)
    judge(path, where)
    gc.collect()
    assert most < 150
    assert not alive


def test_files_are_named_from_the_current_folder_on(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(checking, "_shown", {})
    assert display(tmp_path / "a" / "b.jsonl") == "a/b.jsonl"
    assert display(tmp_path.parent / "b.jsonl") == str(tmp_path.parent / "b.jsonl")
    assert display(None) is None


def test_parts_of_a_run_that_is_read_whole_are_left_out(tmp_path):
    parts = captures.write_rotated(tmp_path / "run.jsonl")
    other = captures.write_run(tmp_path / "other.jsonl", run="r2")
    readers = [open_path(path) for path in (parts[1], parts[0], other, parts[0], parts[2])]
    assert list(unrepeated(readers)) == [readers[1], readers[2]]
    alone = [open_path(path) for path in (parts[1], parts[2])]
    assert list(unrepeated(alone)) == alone
