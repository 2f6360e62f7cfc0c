from __future__ import annotations

import json
import signal
import sys

import pytest

from mcp_tap.cli.main import run
from mcp_tap.cli.watch import JsonLines
from tests import builders as b
from tests.terminals import console
from tests.traffic import story


@pytest.fixture(autouse=True)
def signals_restored():
    before = [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)]
    yield
    for number, handler in zip((signal.SIGINT, signal.SIGTERM), before, strict=True):
        signal.signal(number, handler)


def test_a_run_that_is_over_is_told_as_text_to_its_end(tmp_path, capsys):
    path = story().write(tmp_path / "run.jsonl")
    assert run(["watch", str(path), "--ascii"]) == 0
    out, err = capsys.readouterr()
    assert "asks the client" in out
    assert "x -32602: Unknown tool: exprt" in out
    assert "\x1b" not in out
    assert err == ""


def test_json_is_a_line_for_each_call_that_ended(tmp_path, capsys):
    path = story().write(tmp_path / "run.jsonl")
    assert run(["watch", str(path), "--json"]) == 0
    names = [json.loads(line)["name"] for line in capsys.readouterr().out.splitlines()]
    assert names == ["search", "deploy", "exprt"]


def test_a_line_of_json_names_its_run(tmp_path, capsys):
    path = story(run="20260728T120401-billing-7f3a").write(tmp_path / "run.jsonl")
    assert run(["watch", str(path), "--json"]) == 0
    runs = {json.loads(line)["run"] for line in capsys.readouterr().out.splitlines()}
    assert runs == {"20260728T120401-billing-7f3a"}


def test_standard_input_and_missing_captures_are_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MCP_TAP_HOME", str(tmp_path))
    assert run(["watch", "-"]) == 2
    assert "help: mcp-tap show -" in capsys.readouterr().err
    assert run(["watch", "files-7f3a"]) == 2
    assert capsys.readouterr().err.startswith("error[capture-missing]")
    assert run(["watch", str(tmp_path / "typo" / "run.jsonl")]) == 2
    assert capsys.readouterr().err.startswith("error[capture-missing]")


def test_a_label_beside_a_named_run_is_refused_unless_it_is_a_setting(
    tmp_path, monkeypatch, capsys
):
    path = story().write(tmp_path / "run.jsonl")
    assert run(["watch", str(path), "--label", "files"]) == 2
    assert capsys.readouterr().err.startswith("error[usage]")
    monkeypatch.setenv("MCP_TAP_WATCH_LABEL", "files")
    assert run(["watch", str(path)]) == 0
    assert "deploy" in capsys.readouterr().out


def test_a_call_is_one_line_of_json_however_often_it_changes():
    lines = []
    view = JsonLines(lines.append)
    view.wait("no run yet")
    feed = view.join(b.header())
    feed.update([b.booking(), b.deploy(), b.exchange()], 1.0)
    feed.update([b.deploy()], 2.0)
    feed.finished()
    view.close()
    assert [json.loads(line)["call"] for line in lines] == [16]


def test_calls_of_the_same_number_in_two_runs_are_two_lines_of_json():
    lines = []
    view = JsonLines(lines.append)
    one, other = view.join(b.header(run="a-1")), view.join(b.header(run="b-2"))
    one.update([b.deploy()], 1.0)
    other.update([b.deploy()], 1.0)
    found = [json.loads(line) for line in lines]
    assert [(doc["run"], doc["call"]) for doc in found] == [("a-1", 16), ("b-2", 16)]


def test_q_ends_the_console_and_gives_the_terminal_back(tmp_path):
    path = story().write(tmp_path / "run.jsonl")
    out = console([sys.executable, "-m", "mcp_tap", "watch", str(path)], b"deploy")
    assert out.startswith(b"\x1b[?1049h")
    assert b"\x1b[?25h\x1b[?1049l" in out
