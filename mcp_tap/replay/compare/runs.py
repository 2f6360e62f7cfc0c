"""Two runs compared: their tools, their calls pair by pair, and what was said outside of calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from mcp_tap.replay.compare.calls import compare_calls
from mcp_tap.replay.compare.difference import Difference
from mcp_tap.replay.compare.findings import compare_findings
from mcp_tap.replay.compare.matching import Heard, match
from mcp_tap.replay.compare.notes import compare_notes
from mcp_tap.replay.compare.said import SaidCall, SaidFinding, SaidNote
from mcp_tap.replay.compare.tools import compare_tools
from mcp_tap.replay.compare.values import Rules


class SaidRun(Struct, frozen=True, kw_only=True):
    """A run; its calls are read when it is their turn."""

    calls: Sequence[Heard]
    read: Callable[[int], SaidCall]
    """Reads a call by its index in `calls`."""
    tools: Mapping[str, Any] | None = None
    """Definitions by name; None where none were listed."""
    server_notes: Sequence[SaidNote] = ()
    """Notifications of the server in no call."""
    client_notes: Sequence[SaidNote] = ()
    """Notifications of clients."""
    findings: Sequence[SaidFinding] = ()
    """What rules found outside of calls."""


class Compared(Struct, frozen=True, kw_only=True):
    """What belongs together, and what differs in it."""

    a: SaidCall | None
    b: SaidCall | None
    """The calls; where both are None, it is about the runs as wholes."""
    differences: list[Difference]


def compare_runs(
    a: SaidRun, b: SaidRun, rules: Rules, *, slower: float | None = None
) -> Iterator[Compared]:
    """Compare two runs: first all that belongs to no call, then each pair of calls in order.

    Args:
        a: the one that was there before.
        b: the other.
        rules: what counts as equal; counts what was matched by that.
        slower: how many times as long B's server may take over a call; None: any time.
    """
    yield Compared(a=None, b=None, differences=list(_outside(a, b, rules)))
    for i, j in match(a.calls, b.calls, rules):
        if i is not None and j is not None:
            one, other = a.read(i), b.read(j)
            found = compare_calls(one, other, rules, slower=slower, listings=False)
            yield Compared(a=one, b=other, differences=found)
        elif i is not None:
            one = a.read(i)
            gone = Difference(what="call", change="removed", a=one.number, method=one.method,
                              target=one.target, left=one.params)  # fmt: skip
            yield Compared(a=one, b=None, differences=[gone])
        elif j is not None:
            other = b.read(j)
            new = Difference(what="call", change="added", b=other.number, method=other.method,
                             target=other.target, right=other.params)  # fmt: skip
            yield Compared(a=None, b=other, differences=[new])


def _outside(a: SaidRun, b: SaidRun, rules: Rules) -> Iterator[Difference]:
    yield from compare_tools(a.tools, b.tools, rules)
    yield from compare_notes(a.server_notes, b.server_notes, rules)
    yield from compare_notes(a.client_notes, b.client_notes, rules)
    yield from compare_findings(a.findings, b.findings)
