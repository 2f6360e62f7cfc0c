from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time

import pytest

from mcp_tap.capture.tail import CaptureTail
from mcp_tap.capture.writer import CaptureWriter
from mcp_tap.cli.main import run
from mcp_tap.cli.watch import Following, JsonLines
from mcp_tap.views.base import NullView
from tests import builders as b
from tests.captures import fail, footer
from tests.traffic import story

BOUND = 5.0


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


def test_standard_input_and_missing_captures_are_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MCP_TAP_HOME", str(tmp_path))
    assert run(["watch", "-"]) == 2
    assert "help: mcp-tap show -" in capsys.readouterr().err
    assert run(["watch"]) == 2
    assert capsys.readouterr().err.startswith("error[no-captures]")


class Seen(NullView):
    """Notes what it is told."""

    def __init__(self) -> None:
        self.started = []
        self.names = []
        self.told = threading.Condition()
        self.over = False

    def start(self, header):
        self.started.append(header.run)

    def update(self, changes, now):
        with self.told:
            self.names += [c.name for c in changes if getattr(c, "name", None)]
            self.told.notify_all()

    def finished(self):
        self.over = True

    def wait(self, name):
        with self.told:
            assert self.told.wait_for(lambda: name in self.names, BOUND), self.names


@pytest.fixture
def follow():
    tails, stop = [], threading.Event()

    def begin(path, *, stay):
        view = Seen()
        tails.append(CaptureTail(path))
        following = Following(tails[0], stop)
        thread = threading.Thread(target=following.run, args=(view,), kwargs={"stay": stay})
        thread.start()
        return following, view, stop, thread

    yield begin
    stop.set()
    for tail in tails:
        tail.close()


def said(following):
    class Out:
        def __init__(self):
            self.texts = []

        def warn(self, text):
            raise AssertionError(text)

        def say(self, text):
            self.texts.append(text)

    out = Out()
    following.report(out)
    return out.texts


def test_a_growing_run_is_followed_until_its_footer(tmp_path, follow):
    records = story().records
    writer = CaptureWriter(tmp_path / "run.jsonl", records[0], on_trouble=fail)
    following, view, _, thread = follow(tmp_path / "run.jsonl", stay=False)
    for record in records[1:6]:
        writer.write(record)
    view.wait("search")
    for record in records[6:]:
        writer.write(record)
    view.wait("exprt")
    assert thread.is_alive()
    assert following.stats().records >= 6
    traffic = story()
    traffic.write(tmp_path / "other.jsonl")
    writer.close(traffic.records[-1])
    thread.join(BOUND)
    assert not thread.is_alive()
    assert (view.over, following.ended, following.records) == (True, True, 31)


def test_a_run_nobody_writes_any_more_ends_without_a_footer(tmp_path, monkeypatch, follow):
    monkeypatch.setattr("mcp_tap.cli.watch.QUIET", 0.1)
    path = story().write(tmp_path / "run.jsonl", clean=False)
    following, _, _, thread = follow(path, stay=False)
    thread.join(BOUND)
    assert not thread.is_alive()
    assert following.ended

    assert said(following) == ["run.jsonl has not ended: the run was killed"]


def test_a_run_that_goes_on_when_one_leaves_is_not_called_killed(tmp_path, follow):
    writer = CaptureWriter(tmp_path / "run.jsonl", story().records[0], on_trouble=fail)
    following, _, stop, thread = follow(tmp_path / "run.jsonl", stay=True)
    stop.set()
    thread.join(BOUND)
    assert said(following) == ["run.jsonl is still being written"]
    writer.close(footer(1))


def test_the_console_stays_until_it_is_told_to_end(tmp_path, follow):
    path = story().write(tmp_path / "run.jsonl")
    _, view, stop, thread = follow(path, stay=True)
    view.wait("exprt")
    deadline = time.monotonic() + BOUND
    while not view.over and time.monotonic() < deadline:
        time.sleep(0.01)
    assert view.over
    assert thread.is_alive()
    stop.set()
    thread.join(BOUND)
    assert not thread.is_alive()


def test_a_file_that_is_replaced_by_another_run_is_shown_anew(tmp_path, follow):
    path = story().write(tmp_path / "run.jsonl", clean=False)
    _, view, stop, thread = follow(path, stay=True)
    view.wait("exprt")
    story(run="second").write(tmp_path / "new.jsonl").replace(path)
    deadline = time.monotonic() + BOUND
    while len(view.started) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    stop.set()
    thread.join(BOUND)
    assert view.started == ["r1", "second"]


def test_a_call_is_one_line_of_json_however_often_it_changes():
    lines = []
    view = JsonLines(lines.append)
    view.start(b.header())
    view.update([b.booking(), b.deploy(), b.exchange()], 1.0)
    view.update([b.deploy()], 2.0)
    view.notice("disk full")
    view.close()
    assert [json.loads(line)["call"] for line in lines] == [16]


def test_q_ends_the_console_and_gives_the_terminal_back(tmp_path):
    path = story().write(tmp_path / "run.jsonl")
    master, slave = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "mcp_tap", "watch", str(path)],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"},
    )
    os.close(slave)
    out = b""
    while b"deploy" not in out:
        out += os.read(master, 65536)
    os.write(master, b"q")
    assert child.wait(BOUND) == 0
    while True:
        try:
            more = os.read(master, 65536)
        except OSError:  # the other side is closed: that is how a pty ends
            break
        if not more:
            break
        out += more
    os.close(master)
    assert out.startswith(b"\x1b[?1049h")
    assert b"\x1b[?25h\x1b[?1049l" in out
