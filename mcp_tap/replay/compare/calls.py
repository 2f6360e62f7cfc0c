"""Two calls compared: each thing that differs is told once, and nothing that follows from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from msgspec.structs import replace

from mcp_tap.core.records import pointer
from mcp_tap.replay.compare.difference import Change, Difference, What
from mcp_tap.replay.compare.findings import compare_findings
from mcp_tap.replay.compare.notes import compare_notes
from mcp_tap.replay.compare.pairing import asks_of, rounds_of
from mcp_tap.replay.compare.said import (
    SaidAnswer,
    SaidAsk,
    SaidCall,
    SaidRound,
    Steps,
)
from mcp_tap.replay.compare.tools import LISTED, by_name
from mcp_tap.replay.compare.values import Rules

LEAST_SLOW: Final = 0.05
"""Seconds below which a call is never called slower than another."""


def compare_calls(
    a: SaidCall,
    b: SaidCall,
    rules: Rules,
    *,
    slower: float | None = None,
    listings: bool = True,
) -> list[Difference]:
    """List what differs between two calls.

    Args:
        a: the one that was there before.
        b: the other.
        rules: what counts as equal; counts what was matched by that.
        slower: B's server taking more than so many times as long as A's is a difference; None: its
            time is none.
        listings: compare the tools of `tools/list`; without, something else does that.
    """
    found = _Calls(a, b, rules, listings=listings).differences(slower)
    return [difference for difference in found if not rules.ignores(difference.at)]


class _Calls:
    def __init__(self, a: SaidCall, b: SaidCall, rules: Rules, *, listings: bool) -> None:
        self._a = a
        self._b = b
        self._rules = rules
        self._listings = listings

    def differences(self, slower: float | None) -> Iterator[Difference]:
        a, b = self._a, self._b
        yield from self._values("arguments", a.params, b.params, ("params",))
        for one, other in rounds_of(a.rounds, b.rounds, self._rules):
            if one is None or other is None:
                yield self._alone(one, other)
            else:
                yield from self._round(one, other)
        for found in compare_findings(a.findings, b.findings):
            yield self._here(found)
        if slower is not None and b.server_s > max(LEAST_SLOW, slower * a.server_s):
            yield self._made("time", "changed", left=a.server_s, right=b.server_s)

    def _made(self, what: What, change: Change, at: Steps = (), **given: Any) -> Difference:
        return self._here(Difference(what=what, change=change, at=pointer(*at), **given))

    def _here(self, difference: Difference, **given: Any) -> Difference:
        """Say which calls a difference is between."""
        a, b = self._a, self._b
        return replace(
            difference, a=a.number, b=b.number, method=a.method, target=a.target, **given
        )

    def _values(self, what: What, a: Any, b: Any, at: Steps, **given: Any) -> Iterator[Difference]:
        for spot in self._rules.spots(a, b, at):
            yield self._made(
                what,
                spot.change,
                spot.steps,
                left=spot.left,
                right=spot.right,
                **({"note": spot.note} | given),
            )

    def _alone(self, a: SaidRound | None, b: SaidRound | None) -> Difference:
        one = a or b
        assert one is not None
        told = _told(one, self._a if b is None else self._b)
        if b is None:
            return self._made("round", "removed", round=one.number, left=told)
        return self._made("round", "added", round=one.number, right=told)

    def _round(self, a: SaidRound, b: SaidRound) -> Iterator[Difference]:
        number = a.number
        if bool(a.asks) != bool(b.asks):
            yield self._outcome(a, b)
            return
        for one, other in asks_of(a.asks, b.asks, self._rules):
            if one is not None and other is not None:
                yield from self._ask(one, other, number)
            else:
                yield self._ask_alone(one, other, number)
        for note in compare_notes(a.notes, b.notes, self._rules):
            yield self._here(note, round=number)
        yield from self._end(a, b)
        if a.has_state != b.has_state:
            change: Change = "removed" if a.has_state else "added"
            yield self._made("state", change, ("result", "requestState"), round=number)

    def _ask(self, a: SaidAsk, b: SaidAsk, number: int) -> Iterator[Difference]:
        name = a.key or b.key
        if a.key != b.key and a.key and b.key:
            yield self._made("ask", "renamed", a.at[:-1], round=number, name=name,
                             left=a.key, right=b.key)  # fmt: skip
        if a.kind != b.kind or a.method != b.method:
            if a.method == b.method:
                at, values = (*a.at, "mode"), (str(a.kind), str(b.kind))
            else:
                at, values = (*a.at[:-1], "method"), (a.method, b.method)
            left, right = values
            yield self._made("ask", "changed", at, round=number, name=name,
                             left=left, right=right)  # fmt: skip
        else:
            yield from self._values("ask", a.params, b.params, a.at, round=number, name=name)
        yield from self._answer(a.answer, b.answer, number, name)

    def _ask_alone(self, a: SaidAsk | None, b: SaidAsk | None, number: int) -> Difference:
        ask = a or b
        assert ask is not None
        told = {"method": ask.method, "params": ask.params}
        return self._made(
            "ask",
            "removed" if b is None else "added",
            ask.at[:-1],
            round=number,
            name=ask.key,
            left=told if b is None else None,
            right=told if a is None else None,
            note=ask.kind,
        )

    def _answer(
        self, a: SaidAnswer | None, b: SaidAnswer | None, number: int, name: str
    ) -> Iterator[Difference]:
        given: dict[str, Any] = {"round": number, "name": name}
        if a is None or b is None:
            one = a or b
            if one is not None:
                change: Change = "removed" if b is None else "added"
                left, right = (one.value, None) if b is None else (None, one.value)
                yield self._made("answer", change, one.at, left=left, right=right, **given)
        elif a.error != b.error:
            yield self._made("answer", "changed", a.at, left=a.value, right=b.value, **given)
        else:
            actions = [v.value.get("action") if type(v.value) is dict else None for v in (a, b)]
            if actions[0] != actions[1]:
                yield self._made("answer", "changed", (*a.at, "action"), left=actions[0],
                                 right=actions[1], **given)  # fmt: skip
            else:
                yield from self._values("answer", a.value, b.value, a.at, **given)

    def _end(self, a: SaidRound, b: SaidRound) -> Iterator[Difference]:
        number = a.number
        if a.end != b.end:
            if self._a.kind != "stream":
                yield self._outcome(a, b)
            return
        if a.status != b.status and a.status is not None and b.status is not None:
            yield self._made("status", "changed", round=number, left=a.status, right=b.status)
        if a.cut or b.cut:
            if a.cut != b.cut:
                yield self._made("result", "changed", a.at, round=number,
                                 note="longer than what is recorded")  # fmt: skip
        elif a.end == "none":
            if self._a.kind != "stream" and self._a.outcome != self._b.outcome:
                yield self._made("outcome", "changed", round=number,
                                 left=self._a.outcome, right=self._b.outcome)  # fmt: skip
        else:
            what: What = "error" if a.end == "error" else "result"
            one, other = self._listed(a.said), self._listed(b.said)
            yield from self._values(what, one, other, a.at, round=number)

    def _outcome(self, a: SaidRound, b: SaidRound) -> Difference:
        left, right = _told(a, self._a), _told(b, self._b)
        return self._made("outcome", "changed", round=a.number, left=left, right=right)

    def _listed(self, said: Any) -> Any:
        """Put what a listing lists under names, so that its order says nothing."""
        listed = LISTED.get(self._a.method)
        if listed is None or type(said) is not dict:
            return said
        if not self._listings and listed[0] == "tools":
            return {k: v for k, v in said.items() if k not in ("tools", "nextCursor")}
        return by_name(said, *listed)


def _told(round_: SaidRound, call: SaidCall) -> Any:
    """Say in short what a round came to: as its call did, where no response came to its last."""
    if round_.asks:
        return {"asks": [ask.key or ask.method for ask in round_.asks]}
    if round_.end == "none":
        return call.outcome if round_ is call.rounds[-1] else "no response"
    return {round_.end: round_.said}
