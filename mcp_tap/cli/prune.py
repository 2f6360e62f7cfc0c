"""`mcp-tap prune`: delete old captures, and only what was asked for."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import click
import msgspec

from mcp_tap.capture import store
from mcp_tap.capture.store import RunInfo
from mcp_tap.cli.common import DURATION, TapCommand, option, output
from mcp_tap.cli.list import describe, summary, table
from mcp_tap.cli.output import printable
from mcp_tap.core.text import plural, safe
from mcp_tap.errors import UsageError


@click.command("prune", cls=TapCommand)
@click.argument("folder", required=False, type=click.Path(file_okay=False, exists=True))
@option(
    "--older-than",
    type=DURATION,
    metavar="DURATION",
    help="Delete runs that started longer ago than this (30d, 12h).",
)
@option(
    "--keep",
    type=click.IntRange(min=0),
    metavar="N",
    help="Keep the newest N runs in any case.",
)
@option("-n", "--dry-run", is_flag=True, help="Print what would be deleted, and delete nothing.")
@option("-y", "--yes", is_flag=True, help="Do not ask.")
@option("--force", is_flag=True, help="Delete runs too that are being written.")
def command(
    *,
    folder: str | None,
    older_than: float | None,
    keep: int | None,
    dry_run: bool,
    yes: bool,
    force: bool,
) -> None:
    """Delete captures of FOLDER; without it, of the folder captures go to.

    With --older-than and --keep both, a run goes only if it is older *and* not among the newest N.
    All parts of a run go together; files that are no captures are never touched.
    It asks first; where there is no terminal to ask on it deletes nothing without --yes.
    """
    if older_than is None and keep is None:
        raise UsageError(
            "nothing-to-prune",
            "prune is not told which captures to delete",
            help="mcp-tap prune --older-than 30d --dry-run",
        )
    where = Path(folder) if folder else store.home()
    chosen, running = store.to_prune(
        store.list_runs(where).runs,
        now=datetime.now(UTC),
        older_than=older_than,
        keep=keep,
        force=force,
    )
    say = output().say
    asks = bool(chosen) and not (dry_run or yes)
    if asks and not sys.stdin.isatty():
        raise UsageError(
            "not-confirmed",
            f"prune would delete {summary(chosen)}, and nobody can be asked",
            why="standard input is no terminal",
            help="add --yes, or --dry-run to see which",
        )
    for run in running:
        say(f"kept: {safe(run.id)} may still be written (--force deletes it)")
    if not chosen:
        say(f"nothing to delete in {where}")
    elif not output().json:
        output().write("\n".join(table(chosen)))
    if chosen and not dry_run:
        _delete(chosen, asks=asks)
    if output().json:
        output().document(msgspec.json.encode(_document(where, chosen, dry_run=dry_run)))
    elif chosen:
        files = plural(sum(len(run.parts) for run in chosen), "file")
        say(f"{'would delete' if dry_run else 'deleted'} {summary(chosen)}, {files}")


def _delete(chosen: list[RunInfo], *, asks: bool) -> None:
    if asks:
        click.confirm(f"Delete {summary(chosen)}?", abort=True, err=True)
    for run in chosen:
        store.remove(run)


def _document(where: Path, chosen: list[RunInfo], *, dry_run: bool) -> dict[str, object]:
    return {
        "version": 1,
        "folder": printable(where),
        "dry_run": dry_run,
        "deleted": [describe(run) for run in chosen],
    }
