"""Everything `show` prints of a call or an exchange, by depth.

Depths: 0 calls, 1 rounds, 2 asks and answers, 3 bodies, 4 bytes; each has what the one before has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mcp_tap.core.model import Call, Exchange
from mcp_tap.core.records import AnyRecord
from mcp_tap.views.bodies import record_rows
from mcp_tap.views.look import Look, Row
from mcp_tap.views.timeline import (
    INDENT,
    ask_rows,
    call_row,
    exchange_row,
    fault_rows,
    round_row,
)
from mcp_tap.views.words import exchange_why, fault_words, split

CALLS, ROUNDS, ASKS, BODIES, BYTES = range(5)


def call_rows(
    call: Call, look: Look, depth: int, *, now: float | None, records: Iterable[AnyRecord] = ()
) -> Iterator[Row]:
    """Print a call; `records` are its records, for the depths that show them."""
    first = call_row(call, look, now=now, extra=None)
    if whose := split(call):
        first.append((f"  ({whose})", "dim"))
    yield first
    yield from fault_rows(call)
    if depth >= ROUNDS:
        for round_ in call.rounds:
            yield round_row(round_, look)
            if round_.fault and round_ is not call.rounds[-1]:  # the last one's is the call's
                words = fault_words(round_.fault, round_.status)
                yield [(f"{INDENT}    x ", "bad"), (words, "")]
            if depth >= ASKS:
                yield from ask_rows(call, round_)
    if depth >= BODIES:
        yield from record_rows(records, look, raw=depth >= BYTES)


def exchange_rows(
    exchange: Exchange,
    look: Look,
    depth: int,
    *,
    now: float | None,
    records: Iterable[AnyRecord] = (),
) -> Iterator[Row]:
    """Print an exchange that belongs to no call."""
    yield exchange_row(exchange, look, now=now, extra=None)
    if why := exchange_why(exchange):
        sign, style = ("/ ", "dim") if exchange.outcome == "cancelled" else ("x ", "bad")
        yield [(f"{INDENT}{sign}", style), (why, "")]
    if depth >= BODIES:
        yield from record_rows(records, look, raw=depth >= BYTES)
