"""Which call of one run is which of another: by method, target and arguments, then the nearest."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct

from mcp_tap.replay.compare.values import Rules

MOST_NEAR: Final = 2_500
"""Pairs of calls of one target that are compared to find the nearest; more of them go in order."""
MOST_SPOTS: Final = 50
"""Spots counted of how far two calls are from each other."""


class Heard(Struct, eq=False, kw_only=True):
    """A call, before it is read: no more than what it is matched by."""

    number: int
    method: str
    target: str | None
    key: bytes | None
    """Equal ones are of equal calls; None: its parameters have to be looked at."""
    params: Callable[[], dict[str, Any]]
    """Reads the parameters that tell it from others."""


Matched: TypeAlias = list[tuple[int | None, int | None]]


def match(a: Sequence[Heard], b: Sequence[Heard], rules: Rules) -> Matched:
    """Pair calls by their index: n-th equal ones, then the nearest; the rest stand alone.

    Those of A come in their order, those only in B after the one of B they follow.
    """
    found: dict[int, int] = {}
    left_a, left_b = list(range(len(a))), list(range(len(b)))

    def pair(key_of: Callable[[Heard], Hashable | None]) -> None:
        nonlocal left_a, left_b
        waiting: defaultdict[Hashable, deque[int]] = defaultdict(deque)
        for j in left_b:
            if (key := key_of(b[j])) is not None:
                waiting[key].append(j)
        for i in left_a:
            key = key_of(a[i])
            if key is not None and waiting.get(key):
                found[i] = waiting[key].popleft()
        taken = set(found.values())
        left_a = [i for i in left_a if i not in found]
        left_b = [j for j in left_b if j not in taken]

    pair(lambda call: call.key)
    if left_a and left_b:
        pair(lambda call: _sum(call, rules))
    found |= _nearest([(i, a[i]) for i in left_a], [(j, b[j]) for j in left_b], rules)
    return _in_order(len(a), len(b), found)


def _sum(call: Heard, rules: Rules) -> Hashable | None:
    known = rules.sum(call.params(), ("params",))
    return None if known is None else (call.method, known)


def _nearest(
    a: Sequence[tuple[int, Heard]], b: Sequence[tuple[int, Heard]], rules: Rules
) -> dict[int, int]:
    """Pair those of one method and target whose parameters differ least."""
    found: dict[int, int] = {}
    of_a, of_b = _by_target(a), _by_target(b)
    for target in of_a.keys() & of_b.keys():
        mine, theirs = of_a[target], of_b[target]
        if len(mine) * len(theirs) > MOST_NEAR:
            found.update((i, j) for (i, _), (j, _) in zip(mine, theirs, strict=False))
            continue
        params = [call.params() for _, call in theirs]
        ways = []
        for n, (i, call) in enumerate(mine):
            own = call.params()
            for m, (j, _) in enumerate(theirs):
                far = rules.distance(own, params[m], ("params",), MOST_SPOTS)
                ways.append((far, abs(n - m), n, i, j))
        taken: set[int] = set()
        for *_, i, j in sorted(ways):
            if i not in found and j not in taken:
                found[i] = j
                taken.add(j)
    return found


def _by_target(
    calls: Sequence[tuple[int, Heard]],
) -> dict[tuple[str, str | None], list[tuple[int, Heard]]]:
    found: dict[tuple[str, str | None], list[tuple[int, Heard]]] = {}
    for index, call in calls:
        found.setdefault((call.method, call.target), []).append((index, call))
    return found


def _in_order(of_a: int, of_b: int, found: dict[int, int]) -> Matched:
    taken = set(found.values())
    alone = deque(j for j in range(of_b) if j not in taken)
    pairs: Matched = []
    for i in range(of_a):
        j = found.get(i)
        while j is not None and alone and alone[0] < j:
            pairs.append((None, alone.popleft()))
        pairs.append((i, j))
    pairs += [(None, j) for j in alone]
    return pairs
