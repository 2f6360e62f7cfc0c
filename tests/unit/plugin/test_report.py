"""What the report of a failed test says of its traffic."""

from __future__ import annotations

from pathlib import Path

from mcp_tap.capture.reader import open_path
from mcp_tap.errors import CaptureError
from mcp_tap.pipeline.spine import Pipeline
from mcp_tap.plugin.report import MOST, section
from mcp_tap.plugin.watcher import Watcher

GOLDEN = Path(__file__).parents[3] / "captures" / "py-py-2026.jsonl"


def seen():
    pipeline, watcher = Pipeline(), Watcher()
    for record in open_path(GOLDEN):
        if record.seq == 0:
            watcher.start(record)
        watcher.update(pipeline.feed(record), record.t)
    return watcher


def told(watcher, **more):
    given = {"capture": None, "replayed": None, "unsaved": None, "lines": [], "misses": []}
    return section(watcher, **given | more).splitlines()


def test_calls_are_told_as_show_tells_them():
    watcher = seen()
    watcher.calls = {number: call for number, call in watcher.calls.items() if number <= MOST}
    lines = told(watcher)
    assert lines[0].startswith("TIME      CALL METHOD")
    assert any("input_required" in line and line.lstrip().startswith("r1") for line in lines)
    assert any(line.lstrip().startswith("? ") for line in lines)


def test_of_many_calls_the_last_are_told():
    watcher = seen()
    some = list(watcher.calls.values())
    watcher.calls = dict.fromkeys(range(1, MOST + 5), some[0])
    assert told(watcher)[0] == f"(the last {MOST} of {MOST + 4} calls)"


def test_nothing_is_told_as_nothing():
    assert told(Watcher()) == ["nothing came through the tap"]


def test_files_misses_and_words_follow(tmp_path):
    watcher = Watcher()
    watcher.notice("no answer from the server")
    capture, kept = tmp_path / "a b.jsonl", tmp_path / "kept.jsonl"
    miss = CaptureError("not-recorded", "kept.jsonl has no such call")
    lines = told(watcher, capture=capture, replayed=kept, lines=["Traceback"], misses=[miss])
    assert lines[1:] == [
        "mcp-tap: no answer from the server",
        "error[not-recorded]: kept.jsonl has no such call",
        "the server printed last:",
        "  Traceback",
        f"replayed: {kept}",
        f"capture:  {capture}",
        f"mcp-tap show '{capture}'",
    ]
    assert told(watcher, unsaved=kept)[-1] == f"not kept as {kept}, since the test failed"
