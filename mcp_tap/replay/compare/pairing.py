"""What belongs together in two calls: rounds, asks and notifications, before they are compared."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from difflib import SequenceMatcher
from typing import Final, TypeAlias, TypeVar

from mcp_tap.replay.compare.said import SaidAsk, SaidNote, SaidRound
from mcp_tap.replay.compare.values import Rules

_T = TypeVar("_T")
Pairs: TypeAlias = list[tuple[_T | None, _T | None]]

MOST_ALIGNED: Final = 10_000
"""Pairs looked at to find which of two sequences belong together; longer ones go in order."""
_ALONE: Final = 1.0
"""What it costs to leave one without a counterpart."""
_OTHER: Final = 0.9
"""What it costs to pair rounds that ask for other things."""
_WORDS: Final = 0.3
"""What it costs to pair those that ask for the same in other words."""
_UNLIKE: Final = 1.9
"""What it costs to pair one that asks with one that does not: less than to leave both alone."""
_NEVER: Final = 3 * _ALONE
"""More than that."""


def rounds_of(a: Sequence[SaidRound], b: Sequence[SaidRound], rules: Rules) -> Pairs[SaidRound]:
    """Pair the rounds of two calls so that those that ask for the same belong together."""
    return _aligned(a, b, lambda one, other: _cost(one, other, rules))


def _cost(a: SaidRound, b: SaidRound, rules: Rules) -> float:
    if bool(a.asks) != bool(b.asks):
        return _UNLIKE
    if not a.asks:
        return _OTHER / 2 if a.end != b.end else _WORDS * (not rules.same(a.said, b.said, a.at))
    one, other = _keys(a.asks), _keys(b.asks)
    shared = [(one[key], other[key]) for key in one.keys() & other.keys()]
    same = all(rules.same(x.params, y.params, x.at) for x, y in shared)
    unlike = 1 - len(shared) / len(one.keys() | other.keys())
    return max(_OTHER * unlike, _WORDS * (not same))


def _keys(asks: Sequence[SaidAsk]) -> dict[Hashable, SaidAsk]:
    return {ask.key or (ask.kind, index): ask for index, ask in enumerate(asks)}


def asks_of(a: Sequence[SaidAsk], b: Sequence[SaidAsk], rules: Rules) -> Pairs[SaidAsk]:
    """Pair asks by key; then those that ask the same under another one; the rest stand alone."""
    left = list(a)
    taken: dict[int, SaidAsk] = {}
    for equal in (_same_key, lambda x, y: _same_question(x, y, rules), _may_be_one):
        for index, ask in enumerate(b):
            if index in taken:
                continue
            found = next((other for other in left if equal(other, ask)), None)
            if found is not None:
                left.remove(found)
                taken[index] = found
    pairs: Pairs[SaidAsk] = [(taken.get(index), ask) for index, ask in enumerate(b)]
    return [(ask, None) for ask in left] + pairs


def _same_key(a: SaidAsk, b: SaidAsk) -> bool:
    return a.key == b.key != ""


def _same_question(a: SaidAsk, b: SaidAsk, rules: Rules) -> bool:
    """Tell whether one asks for what the other does, whatever they are called."""
    if a.method != b.method:
        return False
    wants = "requestedSchema"
    form, other = a.params.get(wants), b.params.get(wants)
    if form and other and rules.same(form, other, (*a.at, wants)):
        return True
    words, others = ({k: v for k, v in x.params.items() if k != wants} for x in (a, b))
    return words != {} and rules.same(words, others, a.at)


def _may_be_one(a: SaidAsk, b: SaidAsk) -> bool:
    """Tell whether they have no names to be told apart by."""
    return "" in (a.key, b.key)


def notes_of(
    a: Sequence[SaidNote], b: Sequence[SaidNote], rules: Rules
) -> tuple[Pairs[SaidNote], bool]:
    """Pair notifications in order; tell as well whether they are the same ones in another."""
    front = 0
    while front < min(len(a), len(b)) and _same_note(a[front], b[front], rules):
        front += 1
    pairs: Pairs[SaidNote] = list(zip(a[:front], b[:front], strict=True))
    a, b = a[front:], b[front:]
    one, other = ([_sum(note, rules) for note in notes] for notes in (a, b))
    if a and sorted(one) == sorted(other):
        return pairs, True
    if len(a) * len(b) > MOST_ALIGNED:
        return pairs + _in_order(a, b), False
    for kind, i, j, k, m in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if kind == "equal":
            pairs += zip(a[i:j], b[k:m], strict=True)
        else:
            replaced: Pairs[SaidNote] = _aligned(a[i:j], b[k:m], _note_cost)
            pairs += replaced
    return pairs, False


def _same_note(a: SaidNote, b: SaidNote, rules: Rules) -> bool:
    return a.method == b.method and rules.same(a.params, b.params, ("params",))


def _sum(note: SaidNote, rules: Rules) -> bytes:
    return note.method.encode(errors="replace") + (rules.sum(note.params, ("params",)) or b"?")


def _note_cost(a: SaidNote, b: SaidNote) -> float:
    return _OTHER if a.method == b.method else _NEVER


def _aligned(a: Sequence[_T], b: Sequence[_T], cost: Callable[[_T, _T], float]) -> Pairs[_T]:
    """Pair two sequences in order at the least cost; a pair may cost more than two alone."""
    if len(a) * len(b) > MOST_ALIGNED:
        return _in_order(a, b)
    # best[i][j]: the least cost of what comes from a[i] and b[j] on
    best = [[_ALONE * (len(b) - j) for j in range(len(b) + 1)] for _ in range(len(a) + 1)]
    for i in reversed(range(len(a))):
        best[i][len(b)] = _ALONE * (len(a) - i)
        for j in reversed(range(len(b))):
            best[i][j] = min(
                best[i + 1][j + 1] + cost(a[i], b[j]),
                best[i + 1][j] + _ALONE,
                best[i][j + 1] + _ALONE,
            )
    pairs: Pairs[_T] = []
    i = j = 0
    while i < len(a) and j < len(b):
        if best[i][j] == best[i + 1][j + 1] + cost(a[i], b[j]):
            pairs.append((a[i], b[j]))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j] + _ALONE:
            pairs.append((a[i], None))
            i += 1
        else:
            pairs.append((None, b[j]))
            j += 1
    return pairs + _in_order(a[i:], b[j:])


def _in_order(a: Sequence[_T], b: Sequence[_T]) -> Pairs[_T]:
    both = min(len(a), len(b))
    pairs: Pairs[_T] = list(zip(a[:both], b[:both], strict=True))
    pairs += [(x, None) for x in a[both:]]
    pairs += [(None, y) for y in b[both:]]
    return pairs
