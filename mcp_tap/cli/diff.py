"""`mcp-tap diff`: what differs between two captures."""

from __future__ import annotations

from typing import Any

import click

from mcp_tap.cli.common import FILE, TapCommand, option, output
from mcp_tap.cli.comparing import comparing_options

REPORT, WHOLE = "Report", "Captures"


@click.command(
    "diff",
    cls=TapCommand,
    epilog="""\
\b
Exit codes:
  0  they say the same
  1  they differ
  2  wrong usage or configuration, or a capture that cannot be read
  4  cannot say: a capture is torn or lacks records, or neither has a call;
     where they differ nevertheless, it is 1

\b
Examples:
  mcp-tap diff before.jsonl after.jsonl
  mcp-tap diff before.jsonl after.jsonl --ignore-path '/result/**/createdAt'
  mcp-tap diff a.jsonl b.jsonl --no-normalise server-version --slower 2
  mcp-tap diff before.jsonl after.jsonl -f json -o diff.json
""",
)
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@comparing_options
@option(
    "--leg",
    type=click.Choice(["upstream", "client"]),
    default="upstream",
    panel=WHOLE,
    help="Compare what servers did, or what clients saw; it is the same unless the tap answered.",
)
@option(
    "--allow-torn",
    is_flag=True,
    panel=WHOLE,
    help="Compare what there is of captures that are torn or lack records.",
)
@option("-f", "--format", "form", type=click.Choice(["text", "json"]), default="text", panel=REPORT,
        help="For people, or for programs.")  # fmt: skip
@option("-o", "--output", type=FILE, metavar="FILE", panel=REPORT, help="Write the report there.")
@option("--exit-zero", is_flag=True, panel=REPORT, help="Exit with 0 where it would be 1.")
def command(a: str, b: str, **given: Any) -> int:
    """Tell what differs between two captures: tools, calls, rounds, asks, results, findings.

    A and B are paths, run ids, or - for standard input.  Calls belong together by method, name
    and arguments: the n-th of equal ones, then those that differ least.  Ids, states and progress
    tokens are never compared; masked values match any, unless both captures were masked under one
    key (--redact-key).  docs/diff-json.md describes the document of -f json.
    """
    out = output()
    if out.json:
        given["form"] = "json"
    from mcp_tap.cli.diff_job import Diff

    return Diff(out, given).run(a, b)
