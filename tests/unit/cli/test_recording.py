"""Every live command says in the same words what it records, and what it masks."""

from __future__ import annotations

import click

from mcp_tap.cli import http, stdio
from mcp_tap.cli.recording import recorded
from mcp_tap.proxy.settings import TapSettings
from mcp_tap.proxy.stdio.settings import StdioSettings


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


def test_options_become_settings_of_every_kind_of_run():
    given = {
        "label": None,
        "sync": True,
        "rotate": 0,
        "max_body": 5,
        "redact": ("key:a", "key:b"),
        "no_default_redaction": True,
        "redact_key": "file",
        "view": "none",
    }
    settings = recorded(given)
    assert settings == {
        "label": None,
        "sync": True,
        "rotate": None,
        "max_body": 5,
        "redact": ["key:a", "key:b"],
        "default_redaction": False,
        "redact_key": "file",
    }
    assert TapSettings(upstream="http://x", **settings).redact == ["key:a", "key:b"]
    assert StdioSettings(command=["x"], **settings).rotate is None
