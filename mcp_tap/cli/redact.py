"""`mcp-tap redact`: mask more in a capture that exists, or list what in it looks like a secret."""

from __future__ import annotations

import click

from mcp_tap.cli.common import FILE, TapCommand, option, output
from mcp_tap.cli.recording import PRIVACY, privacy_options
from mcp_tap.errors import UsageError


@click.command(
    "redact",
    cls=TapCommand,
    epilog="""\
\b
Exit codes:
  0  written; --scan: nothing looks like a secret
  1  --scan: something does
  2  wrong usage, a capture that cannot be read, a file that exists already
  4  --scan cannot say: the capture is torn or lacks records

\b
Examples:
  mcp-tap redact run.jsonl --scan
  mcp-tap redact run.jsonl -o clean.jsonl --redact 'key:*password*'
  mcp-tap redact run.jsonl -o - --redact 'key:iban' | mcp-tap show -
""",
)
@click.argument("capture", metavar="[CAPTURE]", required=False)
@option(
    "-o",
    "--output",
    "target",
    type=FILE,
    metavar="FILE",
    help="Write the masked capture to this new file, packed if it ends in .gz; - is stdout.",
)
@option("--scan", is_flag=True, help="Write nothing: list what looks like a secret, and where.")
@privacy_options(PRIVACY)
def command(
    *,
    capture: str | None,
    target: str | None,
    scan: bool,
    redact: tuple[str, ...],
    no_default_redaction: bool,
    redact_key: str | None,
) -> int:
    """Mask values in CAPTURE, as a run with the same options would have from the start.

    CAPTURE is a path, a run id, - for standard input, or absent for the newest.  Nothing in it is
    changed: the masked records go to another file.  docs/export.md says what is kept.
    """
    from mcp_tap.cli.redact_job import Masking, Scan

    if scan:
        if target is not None:
            raise UsageError(
                "usage", "--scan writes no file", help="leave --output away, or --scan"
            )
        return Scan(capture, output()).run()
    if target is None:
        raise UsageError(
            "usage",
            "redact needs a file to write to",
            help="mcp-tap redact run.jsonl -o clean.jsonl; --scan lists what may be worth masking",
        )
    job = Masking(capture, redact, default=not no_default_redaction, key=redact_key)
    return job.run(target, output())
