"""The server's process: in a group of its own, and ended with all of it."""

from __future__ import annotations

import os
import signal
import sys
import threading

import pytest

from mcp_tap.errors import UsageError
from mcp_tap.proxy.stdio.child import Child, ended
from tests.bounds import BOUND, wait_until
from tests.shim import python

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs process groups")


class Running:
    def __init__(self, code: str) -> None:
        self.child = Child(python(code))
        self.ended = threading.Event()
        self.child.wait(self.ended.set)


@pytest.fixture
def run():
    made: list[Running] = []

    def start(code: str) -> Running:
        made.append(Running(code))
        return made[-1]

    yield start
    for each in made:
        each.child.kill()
        assert each.ended.wait(BOUND)
        each.child.close()


def test_its_streams_are_pipes_and_its_end_is_told(run):
    running = run("os.write(O, os.read(I, 9).upper()); os.write(E, b'err'); sys.exit(3)")
    os.write(running.child.stdin, b"word")
    assert os.read(running.child.stdout, 9) == b"WORD"
    assert os.read(running.child.stderr, 9) == b"err"
    assert running.ended.wait(BOUND)
    assert running.child.status == 3


def test_it_leads_a_group_that_is_signalled_as_one(run):
    running = run(
        "pid = os.fork()\n"
        "signal.signal(signal.SIGTERM, lambda *_: (os.write(O, b'.'), os._exit(0)))\n"
        "os.write(E, b'.'); time.sleep(60)"
    )
    child = running.child
    assert os.getpgid(child.pid) == child.pid
    said = b""
    while said != b"..":
        said += os.read(child.stderr, 2)
    child.signal(signal.SIGTERM)
    heard = b""
    while piece := os.read(child.stdout, 9):
        heard += piece
    assert heard == b".."
    assert running.ended.wait(BOUND)
    wait_until(lambda: not child.has_group())


def test_the_end_of_its_input_can_be_told_from_any_thread(run):
    running = run("os.write(O, b'%d' % len(os.read(I, 9)))")
    running.child.close_stdin()
    assert os.read(running.child.stdout, 9) == b"0"
    os.write(running.child.stdin, b"goes nowhere")


def test_a_signal_to_a_group_that_is_gone_is_no_error(run):
    running = run("")
    assert running.ended.wait(BOUND)
    running.child.signal(signal.SIGTERM)
    running.child.kill()
    assert not running.child.has_group()


def test_a_signal_that_ended_it_is_told_as_a_negative_number(run):
    running = run("os.read(I, 1)")
    running.child.kill()
    assert running.ended.wait(BOUND)
    assert running.child.status == -signal.SIGKILL


@pytest.mark.parametrize("name", ["no-such-command-at-all", "/", ""])
def test_a_command_that_cannot_be_run_is_told(name):
    with pytest.raises(UsageError) as told:
        Child([name])
    assert told.value.code == "command-not-found"
    assert told.value.why


def test_a_script_whose_interpreter_is_gone_is_not_said_to_be_missing_itself(tmp_path):
    script = tmp_path / "server"
    script.write_text("#!/no/such/python\n", encoding="utf-8")
    script.chmod(0o700)
    with pytest.raises(UsageError, match="server cannot be run") as told:
        Child([str(script)])
    assert "interpreter" in told.value.why


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (0, "exited with code 0"),
        (3, "exited with code 3"),
        (-signal.SIGTERM, "was ended by SIGTERM"),
        (-250, "was ended by signal 250"),
    ],
)
def test_how_a_process_ended_is_said_in_words(status, words):
    assert ended(status) == words
