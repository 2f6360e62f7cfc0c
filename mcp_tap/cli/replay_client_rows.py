"""What `replay client` tells people, in rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from mcp_tap.core import spec
from mcp_tap.core.text import brief, plural, safe
from mcp_tap.replay.client.outcome import Verdict
from mcp_tap.replay.client.plan import Item, Plan, requests_of
from mcp_tap.replay.client.writing import may_write
from mcp_tap.replay.compare.difference import Difference
from mcp_tap.replay.index import Index
from mcp_tap.replay.keys import matched as matched_of
from mcp_tap.views.look import Row

_ARGUMENTS: Final = 60
_FEW: Final = 10
"""Calls told one by one that were not sent for one reason; the rest is counted."""
_WORDS: Final = {"same": "same", "differs": "different", "cut-short": "cut short",
                 "not-sent": "not sent"}  # fmt: skip


def head_rows(plan: Plan, to: str) -> Iterator[Row]:
    """Name both sides."""
    capture = plan.capture
    about = f"  {plural(len(plan.calls), 'call')}, {safe(capture.header.started)}"
    yield [("--- a  ", "bad"), (safe(capture.name), "strong"), (about, "dim")]
    yield [("+++ b  ", "ok"), (safe(to), "strong")]


def unsent_rows(unsent: Sequence[Item]) -> Iterator[Row]:
    """Tell which calls were not sent, those for one reason together."""
    reasons: dict[str, list[str]] = {}
    for item in unsent:
        reasons.setdefault(item.why, []).append(_title(item))
    for why, titles in reasons.items():
        yield [("not sent: ", "wait"), (safe(why), "")]
        for title in titles[:_FEW]:
            yield [(f"  {title}", "strong")]
        if len(titles) > _FEW:
            yield [(f"  and {len(titles) - _FEW} more", "dim")]


def why_row(verdict: Verdict, *, headed: bool) -> Iterator[Row]:
    """Say why a call that was sent did not come to its end."""
    played = verdict.played
    if played is None or verdict.state in ("same", "not-sent") or not played.why:
        return
    front: Row = [("  ", "")] if headed else [(f"{_title(played.item)}  ", "strong")]
    if not played.failed:
        front.append(("not gone on with: ", "wait"))
    yield [*front, (safe(played.why), "bad" if played.failed else "")]


def plan_rows(plan: Plan, index: Index, *, yes: bool) -> Iterator[Row]:
    """List what would be sent, and what not."""
    held = 0
    for item in plan.calls:
        call = item.call
        assert call is not None
        value = index.value(call.capture, call.rounds[0].request_seq)
        said = matched_of(value).get("params", {})
        row: Row = [(_title(item), "strong")]
        arguments = said.get("arguments", {k: v for k, v in said.items() if k not in _NAMES})
        if arguments:
            row.append((f"  {brief(arguments, _ARGUMENTS)}", ""))
        keys = [key for round_ in call.rounds for key in index.answers(call, round_)]
        pushed = any(ask.pushed for round_ in call.rounds for ask in round_.asks.values())
        requests = len(requests_of(call))
        told = [plural(requests, "request")] if requests > 1 else []
        if keys:
            shown = plural(len(keys), "ask") if pushed else ", ".join(safe(key) for key in keys)
            told.append(f"answers {shown}")
        if told:
            row.append((f"  {', '.join(told)}", "dim"))
        if item.cannot is not None:
            row.append((f"  not sent: {item.why}", "wait"))
        elif call.method == "tools/call" and not yes:
            recorded = plan.tools.get(call.target or "")
            known = [recorded.get("annotations")] if type(recorded) is dict else []
            why = may_write(known)
            held += bool(why)
            if why:
                row.append(("  needs --yes", "wait"))
        yield row
    words = f"{sum(item.cannot is None for item in plan.calls)} of {len(plan.calls)} calls"
    more = f"; {held} of them with --yes only" if held else ""
    yield [(f"would send {words}{more}", "dim")]


def sums(
    counts: Mapping[str, int], differences: Sequence[Difference], matched: Mapping[str, int]
) -> Iterator[Row]:
    """Sum up; the last row says how it stands."""
    equal = [f"{count} by {name}" for name, count in sorted(matched.items()) if count]
    if equal:
        yield [(f"taken for equal: {', '.join(equal)}", "dim")]
    calls = ", ".join(
        f"{counts[state]} {word}" for state, word in _WORDS.items() if counts.get(state)
    )
    if differences:
        kinds: dict[str, int] = {}
        for difference in differences:
            kinds[difference.what] = kinds.get(difference.what, 0) + 1
        told = ", ".join(f"{count} {what}" for what, count in sorted(kinds.items()))
        counted = plural(len(differences), "difference")
        yield [("different", "bad"), (f": {counted} ({told}); calls: {calls}", "")]
    elif counts.get("cut-short") or counts.get("not-sent"):
        yield [("cannot say", "wait"), (f": calls: {calls}", "")]
    else:
        yield [("same", "ok"), (f": {plural(counts.get('same', 0), 'call')} equal", "")]


_NAMES: Final = frozenset({"name", "uri", "cursor"})


def _title(item: Item) -> str:
    call = item.call
    assert call is not None
    target = "" if call.method in spec.TASK_METHODS else call.target
    return safe(" ".join(word for word in (f"#{call.number}", call.method, target) if word))
