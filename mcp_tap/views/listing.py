"""Everything `show` prints of a call or an exchange, by depth.

Depths: 0 calls, 1 rounds, 2 asks and answers, 3 bodies, 4 bytes; each has what the one before has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from mcp_tap.core.filters import Filter, parse
from mcp_tap.core.finding import Finding
from mcp_tap.core.model import Call, Exchange
from mcp_tap.core.records import AnyRecord
from mcp_tap.views.bodies import record_rows
from mcp_tap.views.found import counted, faulty, finding_rows
from mcp_tap.views.look import Look, Row
from mcp_tap.views.timeline import (
    INDENT,
    arguments_row,
    ask_rows,
    call_row,
    exchange_row,
    fault_rows,
    result_row,
    round_row,
)
from mcp_tap.views.words import exchange_why, fault_words, oddity, split

CALLS, ROUNDS, ASKS, BODIES, BYTES = range(5)
WIDTH = 120
"""Cells of a line where no terminal says otherwise."""
NO_FILTER: Final = parse("")
"""Everything passes it."""


def listed(exchange: Exchange, filter_: Filter, *, asked: bool = False) -> bool:
    """Tell whether an exchange that belongs to no call is listed among the calls.

    One rule for all views: failed ones always, others where they are `asked` for or the filter
    speaks of what only they have.
    """
    if exchange.call is not None:
        return False
    if exchange.outcome == "error" or asked:
        return True
    return faulty(exchange.findings) or filter_.uses("kind", "status", "text")


def call_rows(
    call: Call,
    look: Look,
    depth: int,
    *,
    now: float | None,
    over: bool = False,
    records: Iterable[AnyRecord] = (),
    cells: int = WIDTH,
) -> Iterator[Row]:
    """Print a call.

    Args:
        call: what to print.
        look: glyphs and clock.
        depth: how much of it.
        now: for the time a running call has taken.
        over: the run has ended, and what is open in it stays so.
        records: its records, for the depths that show them.
        cells: width to which arguments and results are cut.
    """
    yield [*call_row(call, look, now=now, extra=None), *counted(call.findings), *aside(call, now)]
    yield from fault_rows(call, over=over)
    yield from finding_rows(_told(call.findings, depth), INDENT)
    if depth >= ROUNDS:
        for round_ in call.rounds:
            yield round_row(round_, look, call.era)
            if round_ is call.rounds[0] and (row := arguments_row(round_, cells)):
                yield row
            if round_.fault and round_ is not call.rounds[-1]:  # the last one's is the call's
                words = fault_words(round_.fault, round_.status)
                yield [(f"{INDENT}    x ", "bad"), (words, "")]
            if depth >= ASKS:
                yield from ask_rows(call, round_, over=over)
                if row := result_row(round_, cells):
                    yield row
    if depth >= BODIES:
        yield from record_rows(records, look, raw=depth >= BYTES)


def _told(findings: list[Finding], depth: int) -> list[Finding]:
    """Leave them to the numbers behind the call where only calls are listed."""
    return findings if depth >= ROUNDS else []


def aside(call: Call, now: float | None = None) -> Row:
    """Say in brackets whose time it was and what is odd, where there is something to say."""
    row: Row = []
    if whose := split(call, now):
        row.append((f"  ({whose})", "dim"))
    if odd := oddity(call):
        row.append((f"  ({odd})", "wait"))
    return row


def exchange_rows(
    exchange: Exchange,
    look: Look,
    depth: int,
    *,
    now: float | None,
    records: Iterable[AnyRecord] = (),
) -> Iterator[Row]:
    """Print an exchange that belongs to no call."""
    yield [*exchange_row(exchange, look, now=now, extra=None), *counted(exchange.findings)]
    yield from finding_rows(_told(exchange.findings, depth), INDENT)
    if why := exchange_why(exchange):
        sign, style = ("/ ", "dim") if exchange.outcome == "cancelled" else ("x ", "bad")
        yield [(f"{INDENT}{sign}", style), (why, "")]
    if depth >= BODIES:
        yield from record_rows(records, look, raw=depth >= BYTES)
