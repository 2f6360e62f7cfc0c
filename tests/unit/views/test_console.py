from __future__ import annotations

import base64
import io
import json
import os
import re
import signal
import threading

import pytest

from mcp_tap.views.base import Stats
from mcp_tap.views.console import ConsoleView
from tests import builders as b
from tests.bounds import BOUND

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07")


class Terminal(io.StringIO):
    """Keeps what each line of the screen shows now, as a terminal would."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[int, str] = {}
        self.changed = threading.Condition()

    def write(self, text: str) -> int:
        with self.changed:
            for at, line in re.findall(r"\x1b\[(\d+);1H(.*?)\x1b\[K", text, re.DOTALL):
                self.lines[int(at)] = ESCAPES.sub("", line)
            self.changed.notify_all()
            return super().write(text)

    def wait(self, *wanted: str) -> str:
        """Wait until all words are somewhere on the screen."""

        def there():
            return all(word in self.text() for word in wanted)

        with self.changed:
            assert self.changed.wait_for(there, BOUND), f"no {wanted} in\n{self.text()}"
            return self.text()

    def text(self) -> str:
        return "\n".join(self.lines[n] for n in sorted(self.lines))


@pytest.fixture
def rig(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("LINES", "24")
    reader, writer = os.pipe()
    terminal = Terminal()
    quits = threading.Event()
    view = ConsoleView(terminal, keys=reader, ascii=True, on_quit=quits.set)
    view.start(b.header())

    def press(text):
        os.write(writer, text.encode())

    yield view, terminal, press, quits
    view.close()
    os.close(reader)
    os.close(writer)


def test_what_happens_is_drawn_and_the_terminal_given_back(rig):
    view, terminal, _, _ = rig
    view.update(b.run(), 23.0)
    terminal.wait("billing  :7777 > localhost:3000/mcp", "deploy", "subscriptions/listen")
    view.notice("disk full")
    terminal.wait("! disk full")
    view.close()
    out = terminal.getvalue()
    assert out.startswith("\x1b[?1049h\x1b[?25l")
    assert out.endswith("\x1b[?25h\x1b[?1049l")


def test_keys_choose_open_filter_and_quit(rig):
    view, terminal, press, quits = rig
    view.update(b.run(), 23.0)
    terminal.wait("> 19")
    press("kkk")
    terminal.wait("> 16", "#16 tools/call deploy", "r3 accept")
    press("\r")
    terminal.wait("r1 request", "inputResponses")
    press("\x1b")
    terminal.wait("> 16")
    press("/tool:search\r")
    terminal.wait("tool:search  1 of 6")
    press("q")
    assert quits.wait(BOUND)


def test_only_changed_lines_are_written_again(rig):
    view, terminal, press, _ = rig
    view.update([b.call(1), b.call(2, t=4.0)], 23.0)
    terminal.wait("> 2")
    before = len(terminal.getvalue())
    press("k")
    terminal.wait("> 1")
    again = terminal.getvalue()[before:]
    assert "METHOD" not in again
    assert again.count("\x1b[K") <= 12


def test_a_running_call_counts_its_seconds(rig):
    view, terminal, _, _ = rig
    view.update([b.booking()], 23.9)
    terminal.wait("waiting client   9s")
    view.finished()


def test_times_stand_still_when_the_run_is_over(rig):
    view, terminal, press, _ = rig
    view.stats = lambda: Stats(records=7)
    view.update([b.booking()], 23.0)
    view.finished()
    terminal.wait("7 records", "waiting client   8s")
    press("y")
    terminal.wait("copied")
    assert "waiting client   8s" in terminal.text()


def test_a_call_is_copied_through_the_terminal(rig):
    view, terminal, press, _ = rig
    view.update([b.deploy()], 23.0)
    terminal.wait("> 16")
    press("y")
    terminal.wait("call #16 copied as JSON")
    sent = re.search(r"\x1b\]52;c;([A-Za-z0-9+/=]+)\x07", terminal.getvalue())
    assert json.loads(base64.b64decode(sent[1]))["name"] == "deploy"


def test_a_call_too_big_for_the_terminal_is_not_copied(rig):
    view, terminal, press, _ = rig
    view.update([b.call(1, "x" * 80_000)], 23.0)
    terminal.wait("> 1")
    press("y")
    terminal.wait("too big to copy")
    assert "]52;" not in terminal.getvalue()


def test_a_new_run_takes_the_place_of_the_old(rig):
    view, terminal, _, _ = rig
    view.update(b.run(), 23.0)
    terminal.wait("deploy")
    view.start(b.header(label="other"))
    assert "deploy" not in terminal.wait("other", "no call yet")


def test_several_runs_are_shown_at_once_and_named(rig):
    view, terminal, press, _ = rig
    view.update([b.call(1, "search", t=1.0)], 23.0)
    terminal.wait("> 1", "billing  :7777")
    feed = view.join(b.header(run="20260728T120401-files-9b1c", label="files"))
    feed.update([b.call(1, "read_file", t=30.0)], 31.0)
    terminal.wait(
        "billing-7f3a  files-9b1c", "files-9b1c   12:04", "files-9b1c  #1 tools/call read_file"
    )
    feed.finished()
    terminal.wait("billing-7f3a  1 ended", "files-9b1c, ended  #1")
    press("y")
    terminal.wait("copied")
    sent = re.search(r"\x1b\]52;c;([A-Za-z0-9+/=]+)\x07", terminal.getvalue())
    assert json.loads(base64.b64decode(sent[1]))["run"] == "20260728T120401-files-9b1c"


def test_before_the_first_run_the_screen_says_what_is_waited_for():
    terminal = Terminal()
    view = ConsoleView(terminal, ascii=True)
    view.wait("no run is being recorded yet")
    terminal.wait("no run is being recorded yet")
    view.join(b.header())
    assert "recorded yet" not in terminal.wait("billing", "no call yet")
    view.close()


def test_updates_cost_nothing_while_the_terminal_is_stuck(monkeypatch):
    stuck, go = threading.Event(), threading.Event()
    waited: list[bool] = []

    class Stuck(io.StringIO):
        def write(self, text: str) -> int:
            stuck.set()
            waited.append(go.wait(BOUND))
            return len(text)

    view = ConsoleView(Stuck())
    view.start(b.header())
    assert stuck.wait(BOUND)
    calls = [b.call(n) for n in range(200)]
    for n in range(20_000):
        calls[n % 200].number = n
        view.update([calls[n % 200]], float(n))
    assert waited == []
    assert len(view._first.inbox) <= 10_000
    go.set()
    view.close()


def test_a_terminal_that_is_gone_ends_the_view_only():
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError

    view = ConsoleView(Gone())
    view.start(b.header())
    view.update(b.run(), 1.0)
    view.close()


def test_without_a_handler_q_interrupts_the_process(monkeypatch):
    sent = []
    monkeypatch.setattr(os, "kill", lambda pid, number: sent.append((pid, number)))
    view = ConsoleView(io.StringIO())
    view._press("q")
    assert sent == [(os.getpid(), signal.SIGINT)]
