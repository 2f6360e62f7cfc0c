"""`mcp-tap replay client CAPTURE --to URL`: what a recorded client sent, sent again."""

from __future__ import annotations

from typing import Any, Final

import click

from mcp_tap.cli.common import DURATION, FILE, TapCommand, option, output
from mcp_tap.cli.comparing import comparing_options
from mcp_tap.cli.connecting import OF_A_URL, connecting_options, refuse
from mcp_tap.errors import UsageError

SERVER: Final = "Server"
SENDING: Final = "What is sent"
REPORT: Final = "Report"
MAX_ROUNDS: Final = 10


@click.command(
    "replay-client",
    cls=TapCommand,
    takes_command=True,
    epilog="""\
\b
Exit codes:
  0  everything was sent, and came to the same
  1  something differs
  2  wrong usage, or a capture or script that cannot be read
  4  cannot say: not everything could be sent or gone on with, there is no
     server, or the capture is torn; where something differs as well, it is 1

\b
Examples:
  mcp-tap replay client run.jsonl --dry-run
  mcp-tap replay client run.jsonl --to http://localhost:3000/mcp --yes
  mcp-tap replay client run.jsonl 'tool:book_*' --yes -- python server.py
  mcp-tap replay client run.jsonl --to URL --ignore-path '/result/**/at'
""",
)
@click.argument("arguments", metavar="CAPTURE [FILTER]", nargs=-1, required=True)
@option("--to", metavar="URL", panel=SERVER, help="The server, over HTTP; or COMMAND starts it.")
@connecting_options(SERVER, sends="Send this header with each request", of="the server")
@option("--dry-run", is_flag=True, panel=SENDING, help="List what would be sent, and send nothing.")
@option("--yes", is_flag=True, panel=SENDING, help="Call tools that may change things, too.")
@option(
    "-a",
    "--answers",
    type=FILE,
    metavar="FILE",
    multiple=True,
    panel=SENDING,
    help="Answer what the server asks by this script, and by the capture only what it does not"
    " answer; repeatable, the first match wins.",
)
@option(
    "--parallel",
    type=click.Choice(["recorded", "one"]),
    default="recorded",
    show_default=True,
    panel=SENDING,
    help="Let calls overlap that overlapped in the recording, or send one at a time.",
)
@option(
    "--timeout",
    type=DURATION,
    metavar="TIME",
    default="60s",
    show_default=True,
    panel=SENDING,
    help="How long a server may take over a request.",
)
@option(
    "--max-rounds",
    type=click.IntRange(min=1),
    metavar="N",
    default=MAX_ROUNDS,
    show_default=True,
    panel=SENDING,
    help="Rounds of one call, where the recording has no more.",
)
@comparing_options
@option("--allow-torn", is_flag=True, panel=REPORT,
        help="Take a capture that is torn or lacks records as it is.")  # fmt: skip
@option("-w", "--write", type=FILE, metavar="FILE", panel=REPORT,
        help="Record the new run to this new file.  [default: not kept]")  # fmt: skip
@option("-f", "--format", "form", type=click.Choice(["text", "json"]), default="text", panel=REPORT,
        help="For people, or for programs.")  # fmt: skip
@option("-o", "--output", type=FILE, metavar="FILE", panel=REPORT, help="Write the report there.")
@option("--exit-zero", is_flag=True, panel=REPORT, help="Exit with 0 where it would be 1.")
@click.pass_context
def command(ctx: click.Context, /, arguments: tuple[str, ...], **given: Any) -> int:
    """Send the calls of CAPTURE that pass FILTER to a server, and compare what comes of them.

    CAPTURE is a path, a run id, or - for standard input.  Calls go out in the recorded order under
    new ids, each round with the state the new server gave.  What the server asks gets the recorded
    answer.  Tools that may change things are called with --yes only: those that are not said to
    only read (readOnlyHint).

    With COMMAND, it is started as the server and spoken to over stdio.  docs/replay.md tells more;
    docs/replay-client-json.md describes the document of -f json.
    """
    out = output()
    if out.json:
        given["form"] = "json"
    from mcp_tap.cli.replay_client_job import Job

    return Job(out, given, _server(ctx, given)).run(arguments[0], arguments[1:])


def _server(ctx: click.Context, given: dict[str, Any]) -> list[str] | None:
    """Give the command that starts the server; None: it has a URL, or nothing is sent.

    Raises:
        UsageError: there is no server, or more than one.
    """
    from mcp_tap.cli.http import child_of

    command = child_of(ctx)
    if command is not None:
        about = "a URL, and COMMAND is the server here"
        refuse(ctx, given, ("to", *OF_A_URL), about, help="leave one of them out")
    elif given["to"] is None and not given["dry_run"]:
        raise UsageError(
            "usage",
            "there is no server to send to",
            help="--to URL, or -- COMMAND to start one; --dry-run sends nothing",
        )
    return command
