"""What the report of a failed test says of its traffic."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from mcp_tap.cli.closing import spec_of
from mcp_tap.core.model import Call, Exchange
from mcp_tap.errors import TapError
from mcp_tap.plugin.watcher import Watcher
from mcp_tap.views.found import faulty, finding_row
from mcp_tap.views.listing import ASKS, CALLS, NO_FILTER, call_rows, exchange_rows, listed
from mcp_tap.views.look import Look, text_of
from mcp_tap.views.timeline import HEADING

MOST: Final = 20
"""Calls that are told of."""


def section(
    seen: Watcher,
    *,
    capture: Path | None,
    replayed: Path | None,
    unsaved: Path | None,
    lines: Sequence[str],
    misses: Sequence[TapError],
) -> str:
    """Write the section.

    Args:
        seen: what passed.
        capture: where it was recorded.
        replayed: the capture that answered.
        unsaved: where the recording would stand, had the test passed.
        lines: what the server printed last.
        misses: what was not recorded.
    """
    rows = [*_timeline(seen)]
    rows += [
        text_of(finding_row(found))
        for found in seen.findings
        if found.call is None and not found.exchange
    ]
    rows += [f"mcp-tap: {text}" for text in seen.notices]
    rows += map(str, misses)
    if lines:
        rows += ["the server printed last:", *(f"  {line}" for line in lines)]
    if replayed is not None:
        rows.append(f"replayed: {spec_of(replayed)}")
    elif unsaved is not None:
        rows.append(f"not kept as {spec_of(unsaved)}, since the test failed")
    if capture is not None:
        rows += [f"capture:  {capture}", f"mcp-tap show {shlex.quote(spec_of(capture))}"]
    return "\n".join(rows)


def _timeline(seen: Watcher) -> Iterator[str]:
    """List calls, and exchanges that failed, in the order in which they began."""
    look = Look(start=seen.start_time)
    subjects: list[Call | Exchange] = [
        *seen.calls.values(),
        *(each for each in seen.exchanges.values() if listed(each, NO_FILTER)),
    ]
    subjects.sort(key=lambda subject: subject.t)
    if not subjects:
        yield "nothing came through the tap"
        return
    if len(subjects) > MOST:
        yield f"(the last {MOST} of {len(subjects)} calls)"
    yield HEADING
    for subject in subjects[-MOST:]:
        now = seen.now if subject.end is None else None
        bad = faulty(subject.findings)
        if isinstance(subject, Call):
            deep = bad or len(subject.rounds) > 1 or any(r.asks for r in subject.rounds)
            rows = call_rows(subject, look, ASKS if deep else CALLS, now=now)
        else:
            rows = exchange_rows(subject, look, int(bad), now=now)
        yield from map(text_of, rows)
