from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from tests.bounds import BOUND

SEND = """
import os, signal, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
sys.argv = ["mcp-tap", "list", "/"]
from mcp_tap.__main__ import main
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize(
    "name", ["mcp_tap.cli.main", "click", "mcp_tap.cli.list", "mcp_tap.capture.store"]
)
def test_an_interrupt_while_modules_load_is_silent(name):
    ended = subprocess.run(
        [sys.executable, "-c", SEND.format(name=name)],
        capture_output=True,
        text=True,
        timeout=BOUND,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_an_interrupt_that_is_ignored_stays_ignored():
    ended = subprocess.run(
        [sys.executable, "-c", SEND.format(name="mcp_tap.cli.list")],
        capture_output=True,
        text=True,
        timeout=BOUND,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    assert ended.returncode == 0
    assert "no captures" in ended.stderr


@pytest.mark.skipif(os.name == "nt", reason="needs a shell")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-", "<&-"])
@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("list .", 0),
        ("--color=always list . --json", 0),
        ("show nothing.jsonl", 2),
        ("nothing", 2),
        ("config", 0),
        ("--version", 0),
        ("--help", 0),
    ],
)
def test_closed_streams_change_no_exit_code(tmp_path, closed, words, code):
    line = f"{sys.executable} -m mcp_tap {words} {closed}"
    ended = subprocess.run(["sh", "-c", line], capture_output=True, timeout=BOUND, cwd=tmp_path)
    assert ended.returncode == code
    assert b"Traceback" not in ended.stderr
