"""Every live command says in the same words what it records, and what it masks."""

from __future__ import annotations

import click

from mcp_tap.cli import http, stdio


def own(command: click.Command, *panels: str) -> dict[str, str | None]:
    return {
        param.opts[-1]: param.help
        for param in command.params
        if isinstance(param, click.Option) and getattr(param, "panel", "") in panels
    }


def test_both_live_commands_have_the_same_options_of_recording():
    panels = ("Recording", "Privacy")
    here, there = own(stdio.command, *panels), own(http.command, *panels)
    del here["--view"], there["--view"]
    assert here == there
    assert list(here) == [
        "--write",
        "--label",
        "--max-body",
        "--rotate",
        "--sync",
        "--redact",
        "--no-default-redaction",
        "--redact-key",
    ]
