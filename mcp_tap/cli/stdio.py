"""`mcp-tap stdio -- CMD...`: the tap around a server process, and what comes before it starts.

A client waits for the server, so what is here at the top, and what runs before the server does, is
as little as can be: what is slow is imported beside it.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mcp_tap.cli.answering import LiveAnswers, answer_options, live_answers
from mcp_tap.cli.common import Output, TapCommand, TapContext, option, output
from mcp_tap.cli.connecting import connecting_options
from mcp_tap.cli.judging import NAMES, LiveVerdicts, check_option, live_policy, policy_options
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
from mcp_tap.cli.remote import command_for
from mcp_tap.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcp_tap.cli.looks import ViewName
    from mcp_tap.core.finding import Finding
    from mcp_tap.core.model import Call, Exchange
    from mcp_tap.core.records import Header
    from mcp_tap.proxy.stdio.settings import StdioSettings
    from mcp_tap.views.base import View


def no_console() -> UsageError:
    """Say of the console where it can be had."""
    return UsageError(
        "usage",
        "--view console wants a terminal, and this one is the client's",
        help="watch it from another terminal: mcp-tap watch",
    )


class _View(click.Choice):  # type: ignore[type-arg]  # generic since 8.2
    """The views that leave stdin and stdout alone."""

    def __init__(self) -> None:
        super().__init__(["text", "none"])

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse the console in words of its own."""
        if value == "console":
            raise no_console()
        return super().convert(value, param, ctx)


@click.command(
    "stdio",
    cls=TapCommand,
    takes_command=True,
    epilog="""\
\b
Examples:
  mcp-tap stdio -- node server.js
  mcp-tap -- uvx some-server --flag
  mcp-tap stdio --label files -w run.jsonl -- npx -y @scope/server-files .
  mcp-tap stdio --to https://example.com/mcp -H 'Authorization: Bearer ...'
""",
)
@option(
    "--to",
    metavar="URL",
    panel=TRAFFIC,
    help="Serve over stdio the server at URL, in place of a COMMAND.",
)
@connecting_options(TRAFFIC, sends="Send this header to URL", of="URL")
@option(
    "--view",
    type=_View(),
    default="none",
    show_default=True,
    panel=RECORDING,
    help="What to show of the traffic, on stderr.  (For the console: mcp-tap watch.)",
)
@recording_options(RECORDING)
@privacy_options(PRIVACY)
@answer_options(ANSWERING, person=False)
@check_option(JUDGING)
@policy_options(JUDGING)
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> int:
    """Start an MCP server and put the tap around its standard streams.

    For the configuration of a client that starts its servers: what passes is recorded and goes on
    unchanged.  `mcp-tap -- COMMAND...` is the same.  The server gets the end of input and signals,
    and its exit code is passed on.  Nothing is printed unless asked for with -v or --view.

    With --to, the server is one that speaks HTTP, and each line goes there as a request.
    """
    from mcp_tap.proxy.stdio.settings import StdioSettings

    out = output()
    line = ctx.command_line if isinstance(ctx, TapContext) else None
    server = command_for(ctx, line, options)  # before: it settles what is said of a URL
    settings = StdioSettings(command=server, shown=options["to"], **recorded(options))
    judge = LateJudge(ctx, options)
    refuse_early(settings, options["write"])
    answers = live_answers(ctx, options)
    session = Session(settings, options, judge, answers, out)
    return session.run()


def refuse_early(settings: StdioSettings, write: str | None) -> None:
    """See what can be seen to be wrong before the server is started, if anything special is asked.

    Raises:
        TapError: a redaction, its key, or the capture's place cannot be used.
    """
    if settings.redact or settings.redact_key:
        from mcp_tap.proxy.beginning import redactor_of

        redactor_of(settings)
    if write is None:
        return
    folder = os.path.dirname(write) or "."  # noqa: PTH120 - start-up
    error: OSError | None = None
    if os.path.lexists(write):
        error = FileExistsError()
    elif not os.path.isdir(folder):  # noqa: PTH112 - start-up
        error = FileNotFoundError()
    if error is not None:
        from mcp_tap.capture.file import refusal

        raise refusal(Path(write), error)


class LateJudge:
    """Says which findings count; made when the first is found, unless it could be refused."""

    def __init__(self, ctx: click.Context, options: dict[str, Any]) -> None:
        """Read the policy now where one is given, so that what is wrong with it stops the command.

        Raises:
            TapError: a word names no rule, or a file says what cannot be meant.
        """
        self._make: Callable[[], LiveVerdicts] = lambda: LiveVerdicts(live_policy(ctx, options))
        self._made: LiveVerdicts | None = None
        self.started = ""
        """When the run began, RFC 3339."""
        origins = ctx.origins if isinstance(ctx, TapContext) else {}
        files = ctx.files if isinstance(ctx, TapContext) else []
        if files or any(origins.get(name, "default") != "default" for name in NAMES):
            self._made = self._make()

    @property
    def verdicts(self) -> LiveVerdicts:
        """What is made of findings."""
        if self._made is None:
            self._made = self._make()
        self._made.started = self.started
        return self._made

    def sift(self, finding: Finding, subject: Call | Exchange | None) -> Finding | None:
        """Give a finding as it counts; None where it does not."""
        return self.verdicts.sift(finding, subject)


class LateView:
    """A view that is made when the run begins, in the thread that feeds it."""

    def __init__(self, name: ViewName, out: Output, begin: Callable[[Header], None]) -> None:
        """Make the view of this name; `begin` is told when the recording does."""
        self._name = name
        self._out = out
        self._begin = begin
        self._view: View | None = None

    def start(self, header: Header) -> None:
        """Begin."""
        self._begin(header)
        if self._name != "none":
            from mcp_tap.cli.looks import make_view

            self._view = make_view(self._name, self._out, stream=sys.stderr)
            self._view.start(header)

    def update(self, changes: Sequence[Call | Exchange | Finding], now: float) -> None:
        """Pass it on."""
        if self._view is not None:
            self._view.update(changes, now)

    def notice(self, text: str) -> None:
        """Pass it on; clients show what stands on stderr, so only who asked is told."""
        if self._view is not None:
            self._view.notice(text)
        else:
            self._out.log(f"mcp-tap: {text}")

    def close(self) -> None:
        """End."""
        if self._view is not None:
            self._view.close()


class Session:
    """One run from the command line: what is said at its two ends, and its exit code."""

    def __init__(
        self,
        settings: StdioSettings,
        options: dict[str, Any],
        judge: LateJudge,
        answers: LiveAnswers,
        out: Output,
        *,
        name: str | None = None,
    ) -> None:
        """Prepare it; a capture without a place of its own has this name, or that of its server.

        Raises:
            UsageError: a person is to be asked, and there is none.
        """
        from mcp_tap.proxy.stdio.run import StdioRun

        self._settings = settings
        self._name = name
        self._write = options["write"]
        self._check = options["check"]
        self._judge = judge
        self._answers = answers
        self._out = out
        judging = self._check or options["view"] != "none"  # else nobody would see what is found
        self._run = StdioRun(
            settings,
            capture=self._place,
            view=LateView(options["view"], out, self._begin),
            judging=judging,
            sift=judge.sift,
            answering=answers.on_lines(
                settings.label, settings.shown or shlex.join(settings.command)
            ),
            patient=self._check,
        )

    def run(self) -> int:
        """Carry until the server has ended; give the exit code, or die as the server did."""
        run, out = self._run, self._out
        status = run.run()
        unanswered = self._answers.code(out, tell=bool(out.verbose))
        words = ""
        if self._check and run.header is not None:
            verdicts = self._judge.verdicts
            words = ("FAILED the check: " if verdicts.failed else "") + verdicts.words
        if out.verbose and run.capture is not None:
            from mcp_tap.cli.closing import closing

            out.say(closing(run, run.capture, words))
        if status and run.trouble is not None:
            from mcp_tap.cli.door import report

            report(run.trouble, out)
        if status < 0:
            return _die(-status)
        return status or self._own_code(unanswered)

    def _own_code(self, unanswered: int) -> int:
        """Give the exit code where the server's says nothing; `unanswered`: that for its asks."""
        run = self._run
        if run.trouble is not None:
            raise run.trouble
        if unanswered or not self._check or run.capture is None:
            return unanswered
        from mcp_tap.cli.closing import checked

        return checked(run, run.capture, self._judge.verdicts)

    def _place(self) -> Path:
        if self._write is not None:
            return Path(self._write)
        from datetime import UTC, datetime

        from mcp_tap.capture.store import new_path

        name = self._settings.label or self._name or _name(self._settings)
        return new_path(name, datetime.now(UTC))

    def _begin(self, header: Header) -> None:
        self._judge.started = header.started
        self._out.log(f"mcp-tap  {header.upstream}\n         recording {self._run.capture}")


def _name(settings: StdioSettings) -> str:
    """Name a server after its program, or its host."""
    if settings.shown is not None:
        from mcp_tap.net.target import parse_target

        return parse_target(settings.shown).host
    return Path(settings.command[0]).stem


def _die(number: int) -> int:
    """End as the server did, by this signal: whoever waits for it sees no difference."""
    from mcp_tap.cli import streams

    streams.settle()
    if sys.platform != "win32":
        import contextlib
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the server's own core is enough
        with contextlib.suppress(OSError):  # SIGKILL needs no leave
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    return 128 + number
