from __future__ import annotations

import os
import subprocess
import sys

import pytest
from click.shell_completion import get_completion_class

from mcp_tap.cli import completion
from mcp_tap.cli.main import run
from tests.bounds import BOUND


@pytest.mark.parametrize("shell", [s for s in completion.LINES if get_completion_class(s)])
def test_line_calls_the_hook_of_its_shell(shell, capsys):
    assert run(["completion", shell]) == 0
    captured = capsys.readouterr()
    assert f"{shell}_source" in captured.out
    assert "_MCP_TAP_COMPLETE" in captured.out
    assert captured.err


def test_unknown_shell_is_answered_with_the_known_ones(capsys):
    assert run(["completion", "tcsh"]) == 2
    assert "'powershell'" in capsys.readouterr().err


def test_shell_that_click_cannot_complete_is_an_error(monkeypatch, capsys):
    monkeypatch.setattr(completion, "get_completion_class", lambda shell: None)
    assert run(["completion", "powershell"]) == 2
    assert "error[no-completion]" in capsys.readouterr().err


def complete(words, position):
    environ = {
        **os.environ,
        "_MCP_TAP_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(position),
    }
    done = subprocess.run(
        [sys.executable, "-m", "mcp_tap"],
        env=environ,
        capture_output=True,
        text=True,
        timeout=BOUND,
        check=False,
    )
    return done.stdout.split()


def test_commands_and_options_are_completed():
    assert "plain,config" in complete("mcp-tap co", 1)
    assert "plain,--ready-file" in complete("mcp-tap http --re", 2)
    assert complete("mcp-tap http --view te", 3) == ["plain,text"]
