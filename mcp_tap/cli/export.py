"""`mcp-tap export`: a capture as a document of other tools, or as a page to be looked at."""

from __future__ import annotations

import click

from mcp_tap.cli.common import FILE, SIZE, TapCommand, option, output
from mcp_tap.cli.target import STDOUT
from mcp_tap.errors import UsageError

FORMS = ("har", "html", "mermaid", "otlp")


@click.command(
    "export",
    cls=TapCommand,
    epilog="""\
\b
Examples:
  mcp-tap export run.jsonl -f html -o run.html
  mcp-tap export run.jsonl -f har -o run.har
  mcp-tap export run.jsonl -f mermaid call:16
  mcp-tap export run.jsonl 'state:error' -f otlp -o traces.json
  mcp-tap redact run.jsonl --scan     before any of it is given away
""",
)
@click.argument("arguments", metavar="[CAPTURE] [FILTER]", nargs=-1)
@option(
    "-f",
    "--format",
    "form",
    type=click.Choice(FORMS),
    help="har: HTTP Archive 1.2; html: one self-contained page; mermaid: a sequence diagram a"
    " call; otlp: OpenTelemetry traces as JSON.",
)
@option(
    "-o",
    "--output",
    "target",
    type=FILE,
    metavar="FILE",
    default=STDOUT,
    help="Write to this new file, packed if it ends in .gz.  [default: stdout]",
)
@option(
    "--max-body",
    type=SIZE,
    metavar="SIZE",
    default="16KiB",
    show_default=True,
    help="html: show at most so much of each message; what is cut is counted.",
)
def command(arguments: tuple[str, ...], form: str | None, target: str, max_body: int) -> int:
    """Write the calls of CAPTURE that pass FILTER in another format.

    CAPTURE and FILTER are those of mcp-tap show.  What is masked in the capture stays masked; what
    is not is in the document, states too except in html and mermaid.  docs/export.md describes the
    formats.
    """
    if form is None:
        raise UsageError(
            "usage", "export needs a format", help="mcp-tap export run.jsonl -f html -o run.html"
        )
    from mcp_tap.cli.export_job import Export

    return Export(arguments, form, max_body=max_body).run(target, output())
