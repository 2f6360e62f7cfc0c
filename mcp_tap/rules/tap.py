"""Rules about the tap itself: what it could not judge, and where it failed."""

from __future__ import annotations

from typing import Final

from mcp_tap.core.facts.flow import Band
from mcp_tap.core.records import Decision, Gap, Payload
from mcp_tap.core.text import plural, safe, size
from mcp_tap.rules.base import ALL, Hit, Hits, rule

ANY: Final[tuple[Band, ...]] = (*ALL, "other", "ambiguous")


@rule(
    "TAP-001",
    severity="error",
    level="heuristic",
    blames="tap",
    spec="",
    on=(),
    versions=ANY,
)
def rule_raised(_: object) -> Hits:
    """A rule, or a hook, of the tap failed while it looked at a message.

    The traffic went on untouched and every other rule was run; what the failing one would have
    said of this message is not known.  It is named once a run, however often it fails.  This is a
    fault of mcp-tap, never of the peers: please report it with the capture.
    """
    return None


@rule(
    "TAP-002",
    severity="error",
    level="heuristic",
    blames="tap",
    spec="",
    on=(),
    versions=ANY,
)
def exception_unused(_: object) -> Hits:
    """A suppression or a line of the baseline matches nothing any more.

    Exceptions that outlive their reason hide the next fault of the same kind, so they are to be
    taken out.  Only `check` can say so, at the end of all it was given: live, the matching
    finding may still come.
    """
    return None


@rule(
    "TAP-003",
    severity="warning",
    level="heuristic",
    blames="tap",
    spec="",
    on=("gap", "cut"),
    versions=ANY,
)
def records_lost(record: Gap | Payload) -> Hits:
    """Records are missing from the capture, or a payload is not whole, so it was not judged.

    Lost records (a full disk, a killed run) are a warning: rules may have missed what was in them.
    A payload beyond the record cap (`--max-body`) or above 1 MiB passed unchanged but was not
    judged, which is a note.
    """
    if isinstance(record, Gap):
        if record.lost <= 0:
            return None
        return Hit(f"{plural(record.lost, 'record')} missing: {safe(record.why)}", spot="records")
    whole = record.size if record.size is not None else len(record.payload())
    return Hit(
        f"a payload of {size(whole)} by the {record.sender} was not judged: it is not whole, or"
        " too large",
        spot=record.sender,
        severity="note",
    )


@rule(
    "TAP-004",
    severity="error",
    level="heuristic",
    blames="tap",
    spec="",
    on="decision",
    versions=ANY,
)
def ask_unanswered(decision: Decision) -> Hits:
    """Nothing in the answer script answers a question the tap was to answer.

    The round it stands in was not answered at all: the answers of a round are sent together or not
    at all.  An entry of the script that fits, or `unmatched`, decides what happens instead.
    """
    if decision.hook != "answers" or decision.verdict != "unmatched":
        return None
    return Hit(safe(decision.why), spot="answers")
