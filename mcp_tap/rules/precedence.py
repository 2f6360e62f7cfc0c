"""Which findings stand for which others: of one fault only the most telling is reported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from msgspec import Struct

Scope: TypeAlias = Literal["message", "ask", "field"]
"""How near two findings must be: in one message, about one ask or answer, or about one field."""


class Order(Struct, frozen=True):
    """`winners` are reported, `losers` beside them are not."""

    winners: tuple[str, ...]
    losers: tuple[str, ...]
    scope: Scope


ORDERS: Final = (
    Order(("MRTR-008",), ("RPC-010",), "message"),
    Order(("MRTR-003",), ("MRTR-002", "MRTR-006"), "message"),
    Order(("MRTR-025",), ("MRTR-024", "MRTR-026"), "message"),
    Order(("MRTR-028",), ("MRTR-027", "ELIC-031"), "ask"),
    Order(("MRTR-027",), ("ELIC-031",), "ask"),
    Order(("MRTR-007",), ("ELIC-010", "ELIC-011", "SAMP-001"), "ask"),
    Order(("ELIC-005",), ("ELIC-003",), "ask"),
    Order(("ELIC-021",), ("ELIC-017",), "field"),
    Order(("ELIC-028",), ("ELIC-020", "ELIC-021"), "field"),
    Order(("ELIC-019", "ELIC-020"), ("ELIC-037",), "field"),
    Order(("ELIC-044", "ELIC-045"), ("ELIC-037", "ELIC-041"), "field"),
    Order(("ELIC-035",), ("ELIC-036",), "ask"),
    Order(("SEC-017", "ELIC-049"), ("ELIC-050",), "ask"),
    Order(("SEC-010",), ("SEC-011",), "field"),
    Order(("SEC-015",), ("SEC-014",), "ask"),
    Order(("SEC-001", "SEC-002"), ("SEC-003",), "ask"),
    Order(("HDR-007", "HDR-008"), ("HDR-006",), "message"),
    Order(("TASK-001",), ("RPC-011",), "message"),
    Order(("META-001",), ("META-002",), "message"),
    # Notifications need neither: what is missing is told by the id that must not be there.
    Order(("RPC-006",), ("META-001", "META-002", "HDR-001", "HDR-003"), "message"),
)
"""The catalogue's precedence, and that of a notification with an id over what it lacks to be a
request.  A finding is about a field where its path ends in one."""


def beaten(found: Sequence[tuple[str, str, str]]) -> set[int]:
    """Say which of the findings of one message are not reported.

    Args:
        found: rule id, path and spot of each.

    Returns:
        Their positions.
    """
    if len(found) < 2:
        return set()
    ids = {identity for identity, _, _ in found}
    lost: set[int] = set()
    for order in ORDERS:
        if ids.isdisjoint(order.winners) or ids.isdisjoint(order.losers):
            continue
        won = {
            _place(order.scope, path, spot)
            for identity, path, spot in found
            if identity in order.winners
        }
        lost.update(
            index
            for index, (identity, path, spot) in enumerate(found)
            if identity in order.losers and _place(order.scope, path, spot) in won
        )
    return lost


def _place(scope: Scope, path: str, spot: str) -> tuple[str, ...]:
    """Say where a finding is, as far as it counts for the scope."""
    if scope == "message":
        return ()
    return (_ask(path),) if scope == "ask" else (_ask(path), _field(path, spot))


def _ask(path: str) -> str:
    """Cut a path down to the ask or answer it is in; pushed ones are the whole message."""
    steps = path.split("/", 4)
    if len(steps) > 3 and steps[2] in ("inputRequests", "inputResponses"):
        return "/".join(steps[:4])
    return ""


def _field(path: str, spot: str) -> str:
    """Name the field a path is in, or else its spot."""
    for mark in ("/requestedSchema/properties/", "/content/"):
        _, found, rest = path.partition(mark)
        if found:
            return rest.split("/", 1)[0]
    return spot
