"""`mcp-tap list`: the captures there are, newest first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from mcp_tap.capture import store
from mcp_tap.capture.store import RunInfo
from mcp_tap.cli.common import TapCommand, option, output
from mcp_tap.cli.output import printable
from mcp_tap.core import clock
from mcp_tap.core.text import cut, pad, plural, safe, size, took, width

_UPSTREAM = 60


@click.command("list", cls=TapCommand)
@click.argument("folder", required=False, type=click.Path(file_okay=False, exists=True))
@option(
    "-f",
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    help="Print a table, or one JSON document.",
)
def command(folder: str | None, form: str) -> None:
    """List the captures of FOLDER, newest first; without it, of the folder captures go to.

    STATE is ended for a run whose last record is there, with the number of records that were lost
    before it, if any; running while it is being written; "no footer" for one that was killed; and
    packed for a gzip file.  What is between first and last line is not read: show does that.
    """
    where = Path(folder) if folder else store.home()
    listing = store.list_runs(where)
    if output().json or form == "json":
        document = {
            "version": 1,
            "folder": printable(where),
            "captures": [describe(run) for run in listing.runs],
            "skipped": [
                {"path": printable(path), "code": error.code, "what": error.what}
                for path, error in listing.skipped
            ],
        }
        output().document(msgspec.json.format(msgspec.json.encode(document)))
        return
    if listing.runs:
        output().write("\n".join(table(listing.runs)))
    else:
        output().say(f"no captures in {safe(str(where))}; mcp-tap http URL records one")
    for _, error in listing.skipped:
        output().warn(f"not listed: {safe(error.what)}")


def describe(run: RunInfo) -> dict[str, Any]:
    """Say in JSON what is known of a run."""
    return {
        "run": run.header.run,
        "path": printable(run.path),
        "parts": len(run.parts),
        "started": clock.utc(run.started).isoformat().replace("+00:00", "Z"),
        "duration_s": round(run.duration, 3),
        "label": run.header.label,
        "transport": run.header.transport,
        "upstream": run.header.upstream,
        "bytes": run.bytes,
        "records": run.records,
        "lost": run.lost,
        "exchanges": run.exchanges,
        "state": run.state,
    }


def table(runs: list[RunInfo]) -> list[str]:
    """Lay runs out in columns; times are local."""
    rows = [["RUN", "STARTED", "TOOK", "RECORDS", "SIZE", "STATE", "LABEL", "UPSTREAM"]]
    rows += [
        [
            safe(run.id),
            clock.here(run.started).strftime("%Y-%m-%d %H:%M:%S"),
            took(run.duration) if run.records is not None else "-",
            "-" if run.records is None else f"{run.records:,}",
            size(run.bytes),
            run.state + (f", lost {run.lost:,}" if run.lost else ""),
            safe(run.header.label or "-"),
            cut(safe(run.header.upstream), _UPSTREAM),
        ]
        for run in runs
    ]
    widths = [max(width(row[column]) for row in rows) for column in range(len(rows[0]))]
    right = {2, 3, 4}
    return [
        "  ".join(
            pad(cell, widths[column], right=column in right) for column, cell in enumerate(row)
        ).rstrip()
        for row in rows
    ]


def summary(runs: list[RunInfo]) -> str:
    """Count runs and what they take: `3 captures, 12 MB`."""
    return f"{plural(len(runs), 'capture')}, {size(sum(run.bytes for run in runs))}"
