"""What is said at the end of a live run, and the exit code that what was found asks for."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_tap.capture.store import home
from mcp_tap.cli.looks import Ran, records_of
from mcp_tap.core.text import plural
from mcp_tap.errors import InconclusiveCapture

if TYPE_CHECKING:
    from mcp_tap.cli.judging import LiveVerdicts


def checked(run: Ran, capture: Path, verdicts: LiveVerdicts, *, hint: str = "") -> int:
    """Give the exit code that what was found asks for.

    Args:
        run: that has ended.
        capture: where it was recorded.
        verdicts: what was found.
        hint: what to do where nothing came.

    Raises:
        InconclusiveCapture: it cannot be said.
    """
    if verdicts.failed:
        return 1
    if not run.exchanges:
        raise InconclusiveCapture("nothing-to-check", "nothing came through the tap", help=hint)
    if run.lost or run.unjudged:
        missing = plural(run.lost, "record") + " lost" if run.lost else ""
        behind = plural(run.unjudged, "record") + " not judged in time" if run.unjudged else ""
        raise InconclusiveCapture(
            "cannot-say",
            "not all of this run was judged",
            why=", ".join(filter(None, (missing, behind))),
            help=f"mcp-tap check {shlex.quote(spec_of(capture))}",
        )
    return 0


def spec_of(capture: Path) -> str:
    """Name a capture as briefly as `show` in this folder understands it."""
    whole = capture.absolute()
    run = capture.name.removesuffix(".jsonl")
    if whole.parent == home().absolute() and run != capture.name and not Path(run).exists():
        return run
    here = Path.cwd()
    near = str(whole.relative_to(here)) if whole.is_relative_to(here) else str(capture)
    return f"./{near}" if near.startswith("-") else near


def closing(run: Ran, capture: Path, found: str) -> str:
    """Say what was recorded, what was `found` in it, and where to look on."""
    lost = f", {run.lost} LOST" if run.lost else ", none lost"
    spec = shlex.quote(spec_of(capture))
    words = (
        f"mcp-tap  {plural(run.exchanges, 'exchange')}, {plural(records_of(run), 'record')}{lost}\n"
        f"         mcp-tap show {spec}"
    )
    return f"{words}\n         {found}: mcp-tap check {spec}" if found else words
