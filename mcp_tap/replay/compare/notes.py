"""Notifications compared: which came, in which order, and what they said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mcp_tap.replay.compare.difference import Difference
from mcp_tap.replay.compare.pairing import notes_of
from mcp_tap.replay.compare.said import SaidNote
from mcp_tap.replay.compare.values import Rules


def compare_notes(
    a: Sequence[SaidNote], b: Sequence[SaidNote], rules: Rules
) -> Iterator[Difference]:
    """Go through what differs between two sequences of notifications."""
    pairs, moved = notes_of(a, b, rules)
    for one, other in pairs:
        if one is not None and other is not None:
            for spot in rules.spots(one.params, other.params, ("params",)):
                yield Difference(
                    what="notification",
                    change=spot.change,
                    name=one.method,
                    at=spot.at,
                    left=spot.left,
                    right=spot.right,
                )
        elif one is not None:
            yield Difference(
                what="notification", change="removed", name=one.method, left=one.params
            )
        elif other is not None:
            yield Difference(
                what="notification", change="added", name=other.method, right=other.params
            )
    if moved:
        at = len(pairs)
        yield Difference(
            what="notification",
            change="moved",
            name=a[at].method,
            left=[{"method": note.method, "params": note.params} for note in a[at:]],
            right=[{"method": note.method, "params": note.params} for note in b[at:]],
        )
