"""What came of a replay, compared with the recording: call by call, as far as each has come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from mcp_tap.core.spec import NOTE_ACKNOWLEDGED, NOTE_PROGRESS
from mcp_tap.replay.client.chain import Played
from mcp_tap.replay.client.plan import Plan, merged
from mcp_tap.replay.compare.calls import compare_calls
from mcp_tap.replay.compare.difference import Difference
from mcp_tap.replay.compare.notes import compare_notes
from mcp_tap.replay.compare.reading import note_of
from mcp_tap.replay.compare.runs import Compared
from mcp_tap.replay.compare.said import SaidCall, SaidNote
from mcp_tap.replay.compare.tools import compare_tools
from mcp_tap.replay.compare.values import Rules
from mcp_tap.replay.index import Index
from mcp_tap.replay.recorded import RecordedCall
from mcp_tap.replay.saying import call_of, run_of

State: TypeAlias = Literal["same", "differs", "cut-short", "not-sent"]
"""`cut-short`: nothing differs till where it could not be gone on with."""


class Verdict(Struct, frozen=True, kw_only=True):
    """What is to be said of one call, or of what is outside of calls (`played` is None)."""

    played: Played | None
    state: State
    compared: Compared | None
    """None where it was not sent."""


def verdicts(
    plan: Plan, old: Index, new: Index, played: Sequence[Played], rules: Rules, *, whole: bool
) -> Iterator[Verdict]:
    """Compare what was sent again with what it was: first what is outside of calls.

    Args:
        plan: what was to be sent.
        old: holds the recording.
        new: holds what was recorded now.
        played: what was made of each call.
        rules: what counts as equal.
        whole: everything was sent, so that what is outside of calls can be compared.
    """
    outside = list(_outside(plan, old, new, played, rules, whole=whole))
    yield Verdict(
        played=None,
        state="differs" if outside else "same",
        compared=Compared(a=None, b=None, differences=outside),
    )
    found = _by_id(new)
    for each in played:
        yield _verdict(each, old, new, found, rules)


def _verdict(
    played: Played, old: Index, new: Index, found: dict[Any, RecordedCall], rules: Rules
) -> Verdict:
    call = played.item.call
    assert call is not None
    made = list(dict.fromkeys(found[number] for number in played.ids if number in found))
    if played.gone or not made:
        return Verdict(played=played, state="not-sent", compared=None)
    a, b = call_of(old, call), call_of(new, merged(made))
    if _crossed(old, new):
        a, b = _without_loose(a), _without_loose(b)
    if played.kept is not None:
        a, b = _kept(a, b, played.kept)
        if not played.failed:
            a, b = replace(a, outcome="waiting"), replace(b, outcome="waiting")
    differences = compare_calls(a, b, rules, listings=False)
    state: State = "same"
    if differences:
        state = "differs"
    elif played.kept is not None and not played.failed:
        state = "cut-short"
    return Verdict(played=played, state=state, compared=Compared(a=a, b=b, differences=differences))


def _kept(a: SaidCall, b: SaidCall, rounds: int) -> tuple[SaidCall, SaidCall]:
    """Leave of both what came before a round that was not answered, and what that asked."""
    of_a, of_b = list(a.rounds[:rounds]), list(b.rounds[:rounds])
    if of_a and of_b and of_b[-1].asks and not of_a[-1].asks and len(of_a) == len(of_b):
        of_a.pop()  # then it came to an end where it asks now
    for side in (of_a, of_b):
        if side and len(side) == rounds:
            asks = tuple(replace(ask, answer=None) for ask in side[-1].asks)
            side[-1] = replace(side[-1], asks=asks)
    return replace(a, rounds=tuple(of_a)), replace(b, rounds=tuple(of_b))


def _outside(
    plan: Plan, old: Index, new: Index, played: Sequence[Played], rules: Rules, *, whole: bool
) -> Iterator[Difference]:
    listed = any(
        each.ids and each.item.call is not None and each.item.call.method == "tools/list"
        for each in played
    )
    runs = [run_of(new, number) for number in range(len(new.captures))]
    if listed:
        found = [run.tools for run in runs if run.tools is not None]
        tools = {name: tool for each in found for name, tool in each.items()}
        yield from compare_tools(plan.tools, tools if found else None, rules)
    if not whole:
        return
    if _crossed(old, new):
        yield from compare_notes(_loose(old), _loose(new), rules)
    else:
        notes = [note for run in runs for note in run.server_notes]
        yield from compare_notes(run_of(old, 0).server_notes, notes, rules)


def _crossed(old: Index, new: Index) -> bool:
    """Tell whether one run is over HTTP and the other over stdio.

    There nothing says which call a notification belongs to, unless it names it.
    """
    return old.captures[0].header.transport != new.captures[0].header.transport


def _is_loose(note: SaidNote) -> bool:
    return note.method not in (NOTE_PROGRESS, NOTE_ACKNOWLEDGED)


def _loose(index: Index) -> list[SaidNote]:
    """Give the notifications that name no request, wherever they came, in order."""
    streams = {(c.capture, c.rounds[0].exchange.number) for c in index.calls if c.kind == "stream"}
    found = [
        (exchange.capture, record.seq, note)
        for capture in index.captures
        for exchange in capture.exchanges.values()
        if (exchange.capture, exchange.number) not in streams
        for record in index.messages(exchange, "upstream")
        if (note := note_of(record)) is not None and _is_loose(note)
    ]
    return [note for *_, note in sorted(found, key=lambda one: one[:2])]


def _without_loose(call: SaidCall) -> SaidCall:
    if call.kind == "stream":
        return call
    rounds = (
        replace(round_, notes=tuple(note for note in round_.notes if not _is_loose(note)))
        for round_ in call.rounds
    )
    return replace(call, rounds=tuple(rounds))


def _by_id(new: Index) -> dict[Any, RecordedCall]:
    """Find calls by the ids their requests were sent under."""
    found: dict[Any, RecordedCall] = {}
    for call in new.calls:
        seen: set[int] = set()
        for round_ in call.rounds:
            if round_.exchange.number in seen:
                continue
            seen.add(round_.exchange.number)
            value = new.value(call.capture, round_.request_seq)
            number = value.get("id") if type(value) is dict else None
            if type(number) is int:
                found.setdefault(number, call)
    return found
