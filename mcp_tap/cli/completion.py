"""`mcp-tap completion SHELL`: the line that makes a shell complete our commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from mcp_tap.cli.common import TapCommand, output
from mcp_tap.errors import UsageError

LINES = {
    "bash": 'eval "$(_MCP_TAP_COMPLETE=bash_source mcp-tap)"',
    "zsh": 'eval "$(_MCP_TAP_COMPLETE=zsh_source mcp-tap)"',
    "fish": "_MCP_TAP_COMPLETE=fish_source mcp-tap | source",
    "powershell": (
        "$env:_MCP_TAP_COMPLETE = 'powershell_source'; mcp-tap | Out-String | Invoke-Expression; "
        "Remove-Item Env:_MCP_TAP_COMPLETE"
    ),
}
HOMES = {
    "bash": "~/.bashrc",
    "zsh": "~/.zshrc, after compinit",
    "fish": "~/.config/fish/completions/mcp-tap.fish",
    "powershell": "$PROFILE",
}


@click.command(
    "completion",
    cls=TapCommand,
    epilog="""\
\b
Examples:
  mcp-tap completion bash >> ~/.bashrc
  mcp-tap completion zsh >> ~/.zshrc
""",
)
@click.argument("shell", type=click.Choice(list(LINES)))
def command(shell: str) -> None:
    """Print the line that completes mcp-tap's commands and options in SHELL.

    Put it where the shell reads it when it starts.
    """
    if get_completion_class(shell) is None:
        raise UsageError(
            "no-completion",
            f"the installed click cannot complete in {shell}",
            help="pip install 'click>=8.5'",
        )
    click.echo(LINES[shell])
    output().say(f"(belongs in {HOMES[shell]})")
