"""`mcp-tap http URL`: the options of the live tap, and what they become."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from mcp_tap.cli import listening
from mcp_tap.cli.answering import LiveAnswers, answer_options, live_answers
from mcp_tap.cli.common import DURATION, Output, TapCommand, TapContext, option, output, typed
from mcp_tap.cli.connecting import OF_A_URL, connecting_options, refuse
from mcp_tap.cli.judging import LiveVerdicts, check_option, live_policy, policy_options
from mcp_tap.cli.recording import (
    ANSWERING,
    JUDGING,
    PRIVACY,
    RECORDING,
    TRAFFIC,
    privacy_options,
    recorded,
    recording_options,
)
from mcp_tap.errors import UsageError

if TYPE_CHECKING:
    from mcp_tap.cli.looks import ViewName

_OF_A_URL = (*OF_A_URL, "host", "upstream_command")
"""Options that say something about the upstream's URL."""


@click.command(
    "http",
    cls=TapCommand,
    takes_command=True,
    epilog="""\
\b
Examples:
  mcp-tap http http://localhost:3000/mcp
  mcp-tap http https://example.com/mcp -H 'Authorization: Bearer ...'
  mcp-tap http http://localhost:3000/mcp -l 0 -- pytest tests/
  mcp-tap http http://localhost:3000/mcp --upstream-command 'node server.js'
  mcp-tap http --stdio 'uvx some-server --flag'
""",
)
@click.argument("url", metavar="[URL]", required=False)
@option(
    "--stdio",
    metavar="CMD",
    panel=TRAFFIC,
    help="Serve over HTTP the server that CMD starts and that speaks over stdio, in place of URL.",
)
@listening.listen
@connecting_options(
    TRAFFIC, sends="Send this header upstream, in place of the client's", of="the upstream"
)
@option(
    "--host",
    type=click.Choice(["keep", "upstream"]),
    panel=TRAFFIC,
    help="Host header sent upstream: the client's or the upstream's own."
    "  [default: keep on loopback, else upstream]",
)
@listening.ready_file
@option(
    "--upstream-command",
    metavar="CMD",
    panel=TRAFFIC,
    help="Start the server with this command, wait for its port, stop it at the end.",
)
@option(
    "--upstream-wait",
    type=DURATION,
    metavar="TIME",
    default="30s",
    show_default=True,
    panel=TRAFFIC,
    help="How long --upstream-command may take until it accepts connections.",
)
@listening.allow_host
@listening.allow_origin
@listening.view
@recording_options(RECORDING)
@privacy_options(PRIVACY)
@answer_options(ANSWERING)
@check_option(JUDGING)
@policy_options(JUDGING)
@click.pass_context
def command(ctx: click.Context, /, url: str | None, **options: Any) -> int:
    """Put the tap in front of the MCP server at URL.

    Clients connect to the tap's address, with the path of URL.  What passes is recorded and goes on
    unchanged.  With --stdio, the server is one that speaks over stdio, and the path is /mcp.

    With COMMAND, the tap runs it with MCP_TAP_URL set to that address, ends when it ends, and exits
    with its code.
    """
    from mcp_tap.cli.serve import Job, main
    from mcp_tap.cli.upstream_words import words_of
    from mcp_tap.net.target import parse_target
    from mcp_tap.proxy.settings import TapSettings

    out = output()
    if url is not None:
        parse_target(url)  # a mistyped URL is told before anything is made
    stdio = _stdio(ctx, url, options)
    host, port = options["listen"]
    settings = TapSettings(
        upstream=url or "",
        host=host,
        port=port,
        headers=list(options["header"]),
        insecure=options["insecure"],
        cacert=options["cacert"],
        host_header=options["host"],
        allow_host=list(options["allow_host"]),
        allow_origin=list(options["allow_origin"]),
        **recorded(options),
    )
    child, command = child_of(ctx), options["upstream_command"]
    verdicts = LiveVerdicts(live_policy(ctx, options))
    answers = live_answers(ctx, options)
    wanted = wanted_view(options["view"], out, beside_child=child is not None, answers=answers)
    job = Job(
        settings=settings,
        write=options["write"],
        ready_file=options["ready_file"],
        child=child,
        view=wanted,
        verdicts=verdicts,
        check=options["check"],
        answers=answers,
        upstream=None if command is None else words_of(command),
        upstream_wait=options["upstream_wait"],
        stdio=stdio,
    )
    answers.prepare(out)
    return main(job, out)


def _stdio(ctx: click.Context, url: str | None, options: dict[str, Any]) -> list[str] | None:
    """Take the command of a stdio server, which stands in place of a URL and all that is about one.

    Raises:
        UsageError: there are both or neither, or it cannot be run.
    """
    from mcp_tap.cli.upstream_words import words_of

    command = options["stdio"]
    if command is None or (url is not None and not typed(ctx, "stdio")):
        if url is None:
            raise UsageError(
                "usage",
                "there is no server to put the tap in front of",
                help="mcp-tap http URL, or mcp-tap http --stdio CMD",
            )
        return None
    if url is not None:
        raise UsageError("usage", "URL and --stdio are two servers", help="leave one of them out")
    refuse(ctx, options, _OF_A_URL, "a URL, and --stdio has none", help="leave it out")
    return words_of(command, "--stdio")


def child_of(ctx: click.Context) -> list[str] | None:
    """Take the command after `--`, seeing early that it can be found."""
    import shutil

    line = ctx.command_line if isinstance(ctx, TapContext) else None
    if line is None:
        return None
    if not line:
        raise UsageError("usage", "nothing stands after --", help="write the command there")
    if shutil.which(line[0]) is None:
        raise UsageError(
            "command-not-found",
            f"there is no command {line[0]}",
            why="it is not on PATH, or not executable",
        )
    return line


def wanted_view(
    wanted: ViewName | None, out: Output, *, beside_child: bool, answers: LiveAnswers
) -> ViewName:
    """Name the view that was asked for, or the one that fits the terminal."""
    if wanted == "console" and answers.asks:
        raise UsageError(
            "usage",
            "--view console and unmatched = ask both want the terminal",
            help="--view text; or watch it from another terminal: mcp-tap watch",
        )
    terminal = all(stream and stream.isatty() for stream in (sys.stdin, sys.stdout))
    if wanted == "console" and beside_child:
        raise UsageError(
            "usage",
            "--view console and -- COMMAND both want the terminal",
            help="watch it from another terminal: mcp-tap watch",
        )
    if wanted is None:
        alone = terminal and not (beside_child or answers.asks or os.environ.get("CI"))
        wanted = "console" if alone else "text"
    elif wanted == "console" and not terminal:
        out.warn("stdin and stdout are no terminals, so --view text")
        wanted = "text"
    return wanted
