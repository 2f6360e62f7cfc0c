"""The commands in the README can be run as they stand."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
LINES = [
    line[2:].strip()
    for block in re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("$ ")
]
OURS = [line for line in LINES if line.startswith("mcp-tap ")]


def test_ci_runs_the_tests_as_the_readme_says():
    (command,) = [line for line in LINES if "pytest" in line and line.startswith("python3")]
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("line", OURS)
def test_the_readmes_commands_are_understood(line):
    """Parse each as the command line does, without running it."""
    from mcp_tap.cli.main import AROUND, COMMANDS, group

    words = shlex.split(line, comments=True)[1:]
    words = [AROUND, *words] if words[0] == "--" else words
    if "-".join(words[:2]) in COMMANDS:
        words[:2] = ["-".join(words[:2])]
    with group.make_context("mcp-tap", [words[0]], resilient_parsing=True) as root:
        command = group.get_command(root, words[0])
        assert command, words[0]
        if "--help" not in words:
            command.make_context(words[0], words[1:], parent=root)


def test_there_are_two_commands_for_a_fresh_machine():
    fresh = [line for line in LINES if line.startswith("python3 -m venv")]
    assert len(fresh) == 2
    assert "make" not in " ".join(fresh).split()
