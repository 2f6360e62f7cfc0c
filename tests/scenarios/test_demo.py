"""`mcp-tap demo` as its user sees it: a child process, a capture, and commands that work on it."""

from __future__ import annotations

import json
import os
import shlex
import signal
import stat
import subprocess
import sys

import pytest

from mcp_tap.cli import main
from mcp_tap.demo.story import play
from tests.bounds import BOUND
from tests.terminals import console

TAP = [sys.executable, "-m", "mcp_tap.cli.main"]


def run(*arguments, **environment):
    return subprocess.run(
        [*TAP, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=BOUND,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **environment},
    )


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """One demo, looked at by all tests here: its output and its capture."""
    home = tmp_path_factory.mktemp("demo")
    capture = home / "run.jsonl"
    done = run("demo", "-w", str(capture), MCP_TAP_HOME=str(home))
    return done, capture


@pytest.fixture(scope="module")
def calls(demo):
    done = run("show", str(demo[1]), "-f", "json")
    assert done.returncode == 0, done.stderr
    return {call["name"] or call["method"]: call for call in json.loads(done.stdout)["calls"]}


def test_it_ends_by_itself(demo):
    done, _ = demo
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_the_live_view_shows_calls_asks_and_answers(demo):
    out = demo[0].stdout
    for shown in ("deploy", "reserve", "Укажите проект", "registry.example.com", "decline"):
        assert shown in out


def test_the_capture_ended_cleanly_and_is_private(demo):
    capture = demo[1]
    lines = capture.read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[-1])["kind"] == "footer"
    assert [json.loads(line)["seq"] for line in lines] == list(range(len(lines)))
    assert stat.S_IMODE(capture.stat().st_mode) == 0o600


def test_all_calls_end_well(calls):
    assert {name: call["outcome"] for name, call in calls.items()} == dict.fromkeys(calls, "ok")
    assert {call["era"] for call in calls.values()} == {"stateless"}


def test_two_rounds_of_questions_are_one_call(calls):
    rounds = calls["deploy"]["rounds"]
    assert [r["result_type"] for r in rounds] == ["input_required", "input_required", "complete"]
    assert [r["link"] for r in rounds] == ["none", "state", "state"]
    assert [[a["key"] for a in r["asks"]] for r in rounds] == [["confirm"], ["window"], []]


def test_the_russian_form_is_kept_as_it_was(calls):
    (ask,) = calls["reserve"]["rounds"][0]["asks"]
    assert ask["message"] == "Укажите проект и количество серверов"
    assert (ask["mode"], ask["action"], ask["answered_by"]) == ("form", "accept", "client")


def test_a_page_a_refusal_and_a_state_without_asks_are_told_apart(calls):
    assert calls["connect_registry"]["rounds"][0]["asks"][0]["mode"] == "url"
    assert calls["rollback"]["rounds"][0]["asks"][0]["action"] == "decline"
    first, second = calls["report"]["rounds"]
    assert first["asks"] == []
    assert (first["request_state"]["echo"], second["link"]) == ("same", "state")


def test_calls_that_ran_at_once_are_not_mixed_up(calls):
    assert len(calls["build"]["rounds"]) == 1
    assert len(calls["reserve"]["rounds"]) == 2


def test_the_persons_time_is_split_from_the_servers(calls):
    deploy = calls["deploy"]
    assert deploy["client_ms"] >= 600
    shares = deploy["server_ms"] + deploy["client_ms"] + deploy["tap_ms"]
    assert shares == pytest.approx(deploy["duration_ms"], abs=0.01)


def test_exactly_one_answer_breaks_the_rule_it_is_there_to_break(demo, calls):
    lines = [json.loads(line) for line in demo[1].read_text(encoding="utf-8").splitlines()]
    results = {
        line["exchange"]: line["body"]["result"]
        for line in lines
        if line["kind"] == "message" and "result" in line["body"]
    }
    broken = [number for number, result in results.items() if "resultType" not in result]
    assert broken == [calls["broken_export"]["rounds"][0]["exchange"]]


def test_what_it_says_to_try_next_works(demo):
    steps = [line.split("#")[0].strip() for line in demo[0].stdout.splitlines() if "  # " in line]
    shows = [step for step in steps if step.startswith("mcp-tap show")]
    assert len(shows) >= 2
    for step in shows:
        done = run(*shlex.split(step)[1:])
        assert done.returncode == 0, (step, done.stderr)
        assert done.stdout


@pytest.fixture
def quick(monkeypatch, capsys):
    """Run a command in this process, where the person of the demo thinks no time at all."""
    monkeypatch.setitem(play.__kwdefaults__, "pause", 0.0)

    def run_here(*arguments):
        code = main.run(arguments)
        out, err = capsys.readouterr()
        assert code == 0, err
        return out

    return run_here


def test_for_programs_it_prints_one_document(tmp_path, quick):
    capture = tmp_path / "run.jsonl"
    assert json.loads(quick("demo", "--json", "-w", str(capture)))["capture"] == str(capture)


def test_without_a_file_the_capture_is_the_newest_run(tmp_path, quick, monkeypatch):
    monkeypatch.setenv("MCP_TAP_HOME", str(tmp_path))
    quick("demo", "--view", "none")
    (capture,) = tmp_path.glob("*-demo-*.jsonl")
    assert json.loads(quick("show", "-f", "json"))["capture"]["run"] == capture.stem


def test_a_capture_that_is_there_is_not_overwritten(tmp_path):
    capture = tmp_path / "run.jsonl"
    capture.write_text("mine", encoding="utf-8")
    done = run("demo", "-w", str(capture))
    assert done.returncode == 2
    assert "error[capture-exists]" in done.stderr
    assert capture.read_text(encoding="utf-8") == "mine"


def test_an_interrupted_demo_leaves_a_sound_capture(tmp_path):
    capture = tmp_path / "run.jsonl"
    command = [*TAP, "demo", "-w", str(capture)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout.readline()  # something has passed
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=BOUND)
    assert process.returncode == 130
    assert json.loads(capture.read_text(encoding="utf-8").splitlines()[-1])["kind"] == "footer"


def in_a_console(capture, seen, then=lambda child: None):
    """Run the demo's console until something is `seen`, then press q; give what was printed."""
    out = console([*TAP, "demo", "--view", "console", "-w", str(capture)], seen, then)
    shown, _, after = out.partition(b"\x1b[?1049l")
    return shown, after


def test_its_console_counts_records_and_q_ends_it_early(tmp_path):
    shown, after = in_a_console(tmp_path / "run.jsonl", b"deploy")
    assert b" records" in shown
    assert b"recording" not in shown
    assert b"mcp-tap show" in after
    assert b"broken_export" not in shown


def test_its_console_stays_until_q_when_the_story_is_over(tmp_path):
    def stays(child):
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(0.5)

    shown, after = in_a_console(tmp_path / "run.jsonl", b", ended", stays)
    assert b"broken_export" in shown
    assert b"mcp-tap show" in after
    footer = json.loads((tmp_path / "run.jsonl").read_text("utf-8").splitlines()[-1])
    assert (footer["kind"], footer.get("how", "end")) == ("footer", "end")
