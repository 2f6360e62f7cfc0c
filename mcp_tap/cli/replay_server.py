"""`mcp-tap replay server CAPTURE...`: captures answer clients."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Final

import click

from mcp_tap.cli import listening
from mcp_tap.cli.common import TapCommand, TapContext, option, output
from mcp_tap.cli.connecting import refuse
from mcp_tap.cli.judging import check_option, policy_options
from mcp_tap.cli.output import harmless
from mcp_tap.cli.recording import (
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
    from collections.abc import Sequence

    from mcp_tap.cli.common import Output
    from mcp_tap.replay.index import Index

REPLAY: Final = "Replay"
_FORWARD: Final = "forward="
_OF_HTTP: Final = ("listen", "ready_file", "allow_host", "allow_origin")
"""Options that say something about a listener."""


class OnMiss(click.ParamType):  # type: ignore[type-arg]  # generic since 8.4
    """`error`, `nearest`, `404`, or `forward=URL`."""

    name = "on-miss"
    words = ("error", "nearest", "404")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Check it; the URL is looked at when it is used."""
        if not (value in self.words or str(value).startswith(_FORWARD)):
            self.fail(f"{value!r} is none of {', '.join(self.words)}, forward=URL", param, ctx)
        return value


class Pace(click.ParamType):  # type: ignore[type-arg]  # as above
    """`recorded`, or `xN`: so many times as fast."""

    name = "pace"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Give recorded seconds of a second."""
        if isinstance(value, float):
            return value
        try:
            pace = 1.0 if value == "recorded" else float(str(value).removeprefix("x"))
        except ValueError:
            pace = 0.0
        if not 0 < pace < 1e6:
            self.fail(f"{value!r} is neither recorded nor like x10", param, ctx)
        return pace


@click.command(
    "replay-server",
    cls=TapCommand,
    takes_command=True,
    epilog="""\
\b
Exit codes:
  0  everything asked for was recorded
  1  something was not, or --check failed
  2  wrong usage, or a capture that cannot be read
  4  --check cannot say

\b
Examples:
  mcp-tap replay server run.jsonl
  mcp-tap replay server run.jsonl -l 0 -- pytest tests/
  mcp-tap replay server a.jsonl --on-miss forward=http://localhost:3000/mcp
  mcp-tap replay server run.jsonl --stdio
""",
)
@click.argument("captures", metavar="CAPTURE...", nargs=-1, required=True)
@option(
    "--stdio",
    is_flag=True,
    panel=TRAFFIC,
    help="Serve over stdin and stdout, for a client that starts its servers.",
)
@listening.listen
@listening.ready_file
@option(
    "--after-last",
    type=click.Choice(["repeat", "fail"]),
    default="repeat",
    show_default=True,
    panel=REPLAY,
    help="What an equal call gets once all recorded ones were served: the last again, or an error.",
)
@option(
    "--on-miss",
    type=OnMiss(),
    metavar="error|nearest|404|forward=URL",
    default="error",
    show_default=True,
    panel=REPLAY,
    help="What a request gets that was not recorded.",
)
@option(
    "--pace",
    type=Pace(),
    metavar="recorded|xN",
    panel=REPLAY,
    help="Take the time that was recorded, or N times as little.  [default: none]",
)
@listening.allow_host
@listening.allow_origin
@listening.view
@recording_options(RECORDING)
@privacy_options(PRIVACY)
@check_option(JUDGING)
@policy_options(JUDGING)
@click.pass_context
def command(ctx: click.Context, /, captures: tuple[str, ...], **options: Any) -> int:
    """Answer clients with what was recorded, in place of the server.

    Calls are matched by method, name, arguments and answers; each is served what the recorded one
    got, with ids and states of its own.  What was not recorded is an error that names the nearest.

    With COMMAND, it is run with MCP_TAP_URL set to where the replay listens, as mcp-tap http does.
    """
    from mcp_tap.replay.index import Index

    out = output()
    if options["stdio"]:
        return _over_stdio(ctx, captures, options, out)
    index = Index.of(captures)
    try:
        return _over_http(ctx, captures, index, options, out)
    finally:
        index.close()


def _over_http(
    ctx: click.Context, captures: Sequence[str], index: Index, options: dict[str, Any], out: Output
) -> int:
    from mcp_tap.cli.answering import nobody
    from mcp_tap.cli.http import child_of, wanted_view
    from mcp_tap.cli.judging import LiveVerdicts, live_policy
    from mcp_tap.cli.replayed import ReplayedServer, upstream_of
    from mcp_tap.cli.serve import Job, main
    from mcp_tap.net.target import parse_target
    from mcp_tap.proxy.settings import TapSettings

    on_miss, url = options["on_miss"], ""
    if on_miss.startswith(_FORWARD):
        on_miss, url = "forward", on_miss.removeprefix(_FORWARD)
    upstream = upstream_of(index)
    host, port = options["listen"]
    settings = TapSettings(
        upstream=upstream,
        host=host,
        port=port,
        allow_host=list(options["allow_host"]),
        allow_origin=list(options["allow_origin"]),
        **recorded(options),
    )
    child = child_of(ctx)
    answers = nobody()
    view = wanted_view(options["view"], out, beside_child=child is not None, answers=answers)
    job = Job(
        settings=settings,
        write=options["write"],
        ready_file=options["ready_file"],
        child=child,
        view=view,
        verdicts=LiveVerdicts(live_policy(ctx, options)),
        check=options["check"],
        answers=answers,
        replayed=ReplayedServer(
            captures,
            index,
            path=parse_target(upstream).path,
            after_last=options["after_last"],
            on_miss=on_miss,
            forward=parse_target(url) if on_miss == "forward" else None,
            pace=options["pace"],
            tell=out.log if view == "console" else _told,
        ),
    )
    return main(job, out)


def _told(text: str) -> None:
    """Print what is an error, also where a person wants no other words."""
    with contextlib.suppress(OSError):  # nobody reads it any more
        click.echo(harmless(text), err=True)


def _over_stdio(
    ctx: click.Context, captures: Sequence[str], options: dict[str, Any], out: Output
) -> int:
    """Put the tap around a process that serves lines."""
    from mcp_tap.cli.answering import nobody
    from mcp_tap.cli.stdio import LateJudge, Session, no_console, refuse_early
    from mcp_tap.proxy.stdio.settings import StdioSettings
    from mcp_tap.replay.index import Index
    from mcp_tap.replay.server.lines import command_line

    if isinstance(ctx, TapContext) and ctx.command_line is not None:
        raise UsageError("usage", "--stdio has its client already, and runs no COMMAND")
    refuse(ctx, options, _OF_HTTP, "HTTP, and --stdio has none", help="leave it out")
    if options["on_miss"].startswith(_FORWARD):
        raise UsageError(
            "usage", "--on-miss forward=URL goes over HTTP only", help="without --stdio"
        )
    if "-" in captures:
        raise UsageError(
            "usage", "standard input is the client's with --stdio", help="name the capture's file"
        )
    if options["view"] == "console":
        raise no_console()
    Index.of(captures).close()  # what cannot be read is told before anything is started
    settings = StdioSettings(
        command=command_line(
            captures,
            after_last=options["after_last"],
            on_miss=options["on_miss"],
            pace=options["pace"],
        ),
        shown=f"replay server {' '.join(captures)}",
        **recorded(options),
    )
    judge = LateJudge(ctx, options)
    refuse_early(settings, options["write"])
    options["view"] = options["view"] or "none"
    return Session(settings, options, judge, nobody(), out, name="replay").run()
