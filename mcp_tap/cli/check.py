"""`mcp-tap check`: judge captures by the rules, report what was found, and let CI fail on it."""

from __future__ import annotations

from typing import Any

import click

from mcp_tap.cli.common import DURATION, FILE, TapCommand, TapContext, option, output
from mcp_tap.cli.judging import policy_options

FORMS = ("text", "json", "junit", "sarif", "github")
RULES, REPORT, ASSERT, WHOLE = "Rules", "Report", "What must hold", "Captures"


class CheckCommand(TapCommand):
    """A command whose table in a file has more than options."""

    def tables(self) -> dict[str, Any]:
        """Give the readers of what stands there beside options."""
        from mcp_tap.cli.policing import TABLES

        return TABLES


@click.command(
    "check",
    cls=CheckCommand,
    epilog="""\
\b
Exit codes:
  0  nothing failed
  1  a finding at or above --fail-on, or something asserted does not hold
  2  wrong usage or configuration, or a capture that cannot be read
  4  cannot say: a capture is torn or lacks records, or there was nothing to
     check; where something failed nevertheless, it is 1

\b
Examples:
  mcp-tap check                       the newest capture
  mcp-tap check captures/*.jsonl -f junit -o check.xml
  mcp-tap check run.jsonl --select MRTR,ELIC --fail-on warning
  mcp-tap check run.jsonl --expect 'tool:deploy state:ok' --forbid 'took:>2s'
  mcp-tap rules MRTR-016              what a rule is about
""",
)
@click.argument("captures", metavar="[CAPTURE]...", nargs=-1)
@policy_options(RULES)
@option(
    "--write-baseline",
    is_flag=True,
    panel=RULES,
    help="Write what fails now into the baseline, and say so.",
)
@option(
    "--where",
    metavar="FILTER",
    panel=RULES,
    help="Look only at calls and exchanges that pass; mcp-tap show --help has the language.",
)
@option(
    "--expect",
    multiple=True,
    metavar="FILTER",
    panel=ASSERT,
    help="A call passes, in one of the captures at least; repeatable.",
)
@option(
    "--forbid", multiple=True, metavar="FILTER", panel=ASSERT, help="No call passes; repeatable."
)
@option(
    "--expect-max-rounds",
    type=click.IntRange(min=1),
    metavar="N",
    panel=ASSERT,
    help="No call takes more rounds.",
)
@option(
    "--max-server-time",
    type=DURATION,
    metavar="TIME",
    panel=ASSERT,
    help="The server takes no longer over any call; people's time is not in it.",
)
@option(
    "--expect-asks",
    multiple=True,
    metavar="TOOL=KEYS",
    panel=ASSERT,
    help="Every call of TOOL asks for these keys, with commas between, and no others; repeatable.",
)
@option(
    "--allow-torn",
    is_flag=True,
    panel=WHOLE,
    help="Judge what there is of captures that are torn or lack records.",
)
@option("-f", "--format", "form", type=click.Choice(FORMS), default="text", panel=REPORT,
        help="For people, for programs, or for what CI shows.")  # fmt: skip
@option("-o", "--output", type=FILE, metavar="FILE", panel=REPORT, help="Write the report there.")
@option("--exit-zero", is_flag=True, panel=REPORT, help="Exit with 0 where it would be 1.")
@click.pass_context
def command(ctx: click.Context, /, captures: tuple[str, ...], **given: Any) -> int:
    """Judge each CAPTURE by the rules and report what was found.

    CAPTURE is a path, a run id, - for standard input, or absent for the newest.  Severities and
    suppressions with reasons can be set in a file; docs/configuration.md describes them, and
    docs/check-json.md the document of -f json.
    """
    assert isinstance(ctx, TapContext)
    out = output()
    if out.json and given["form"] == "text":
        given["form"] = "json"
    from mcp_tap.cli.check_job import Check

    return Check(ctx.files, out, given, ctx.origins).run(captures)
