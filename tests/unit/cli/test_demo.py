from __future__ import annotations

import shlex

import pytest

from mcp_tap.cli.demo import next_steps
from mcp_tap.cli.main import group


@pytest.mark.parametrize("step", [step for step, _ in next_steps("a\\ b.jsonl")])
def test_each_step_is_a_command_that_exists(step):
    words = shlex.split(step)
    assert words[0] == "mcp-tap"
    with group.make_context("mcp-tap", [words[1]], resilient_parsing=True) as root:
        command = group.get_command(root, words[1])
        assert command
        command.make_context(words[1], words[2:], parent=root)
