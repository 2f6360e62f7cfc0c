"""Rounds in order, found by what they have in common, however many there are.

Of thousands that are open at once most may be alike in all but one thing, and nobody knows in
which.  So a shelf with many rounds keeps a smaller one for each trait of theirs, which does the
same for the traits that come after it in the order below.  A shelf with few is looked through.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import Any, Final, TypeAlias

from mcp_tap.core.linking.state import Pending

STATE: Final = 0
SUM: Final = 1
"""Digest of the arguments."""
KEY: Final = 2
"""One of the keys it asks."""
MANY: Final = 3
"""It asks too many keys to be found by each."""
ASKED: Final = 4
"""All the keys it asks."""
KNOWN: Final = 5
"""All the keys asked in its call so far, where it asks some of them."""
PAST: Final = 6
"""All the keys asked in its call so far, where it asks none."""
WHO: Final = 7
"""Its principal."""
END: Final = 8

Trait: TypeAlias = tuple[int, Any]

MOST_PLAIN: Final = 32
"""Rounds up to which a shelf is looked through."""
MOST_KEYS: Final = 4
"""Keys of one round by each of which it is found."""

_AFTER: Final = (SUM, KEY, WHO, WHO, WHO, WHO, WHO, END)
"""Where the traits begin that tell apart rounds with the same trait of each kind."""
_OF: Final[dict[int, Callable[[Pending], Any]]] = {
    STATE: attrgetter("state"),
    SUM: attrgetter("sum"),
    WHO: attrgetter("principal"),
}
_serial: Final = attrgetter("serial")


class Shelf:
    """Rounds, oldest first."""

    __slots__ = ("_by", "_from", "rounds")

    def __init__(self, begin: int = STATE, rounds: list[Pending] | None = None) -> None:
        """Hold rounds that only traits from `begin` on tell apart."""
        self.rounds: list[Pending] = [] if rounds is None else rounds
        self._from = begin
        self._by: dict[Trait, Shelf] | None = None

    def having(self, trait: Trait) -> Shelf:
        """Give those that have a trait: `STATE`, `SUM` or `WHO`."""
        what, value = trait
        if self._by is not None:
            return self._by.get(trait) or Shelf(END)
        get = _OF[what]
        return Shelf(END, [p for p in self.rounds if get(p) == value])

    def asking(self, keys: frozenset[str]) -> Iterator[Shelf]:
        """Give those that ask one of some keys or, where there are none, ask nothing."""
        if self._by is None:
            yield Shelf(END, fitting(self.rounds, keys))
            return
        by = self._by
        wanted = {(KEY, key) for key in keys} if keys else {(ASKED, keys)}
        for trait in by.keys() & wanted:
            yield by[trait]
        if keys and (many := by.get((MANY, None))) is not None:
            yield Shelf(END, fitting(many.rounds, keys))

    def exactly(self, keys: frozenset[str], kinds: tuple[int, ...]) -> Iterator[Shelf]:
        """Give those that one of some kinds of traits makes ask exactly these keys."""
        if self._by is None:
            yield Shelf(END, [p for p in self.rounds if _exact(p, keys, kinds)])
            return
        for kind in kinds:
            found = self._by.get((kind, keys))
            if found is not None:
                yield found

    def add(self, pending: Pending, traits: list[Trait]) -> None:
        """Put a round with its `traits_of` in its place."""
        rounds = self.rounds
        if rounds and rounds[-1].serial > pending.serial:
            rounds.insert(bisect_left(rounds, pending.serial, key=_serial), pending)
        else:
            rounds.append(pending)
        if self._by is not None:
            self._divide(pending, traits)
        elif len(rounds) > MOST_PLAIN and self._from < END:
            self._by = {}
            for one in rounds:
                self._divide(one, traits_of(one))

    def _divide(self, pending: Pending, traits: list[Trait]) -> None:
        by = self._by
        assert by is not None
        for trait in traits:
            if trait[0] >= self._from:
                below = by.get(trait)
                if below is None:
                    below = by[trait] = Shelf(_AFTER[trait[0]])
                below.add(pending, traits)

    def remove(self, pending: Pending, traits: list[Trait]) -> None:
        """Take out a round that is here."""
        rounds = self.rounds
        del rounds[bisect_left(rounds, pending.serial, key=_serial)]
        by = self._by
        if by is None:
            return
        if len(rounds) <= MOST_PLAIN // 2:
            self._by = None
            return
        for trait in traits:
            if trait[0] >= self._from:
                below = by[trait]
                below.remove(pending, traits)
                if not below.rounds:
                    del by[trait]


class Some:
    """Rounds of some shelves, which are looked at only as far as needed."""

    __slots__ = ("_shelves",)

    def __init__(self, shelves: Iterable[Shelf]) -> None:
        """Take the rounds of these; one that is on several counts once."""
        self._shelves = [shelf for shelf in shelves if shelf.rounds]

    def __bool__(self) -> bool:
        return bool(self._shelves)

    def having(self, what: int, value: Any) -> Some:
        """Give those that have a trait: `STATE`, `SUM` or `WHO`, in this order."""
        trait = (what, value)
        return Some([shelf.having(trait) for shelf in self._shelves])

    def asking(self, keys: frozenset[str]) -> Some:
        """Give those that ask one of some keys or, where there are none, ask nothing."""
        return Some(found for shelf in self._shelves for found in shelf.asking(keys))

    def exactly(self, keys: frozenset[str], *kinds: int) -> Some:
        """Give those whose `ASKED`, `KNOWN` or `PAST` keys are exactly these."""
        return Some(found for shelf in self._shelves for found in shelf.exactly(keys, kinds))

    def newest(self, most: int) -> list[Pending]:
        """Give no more than so many, the newest, oldest first."""
        if len(self._shelves) == 1:
            return self._shelves[0].rounds[-most:]
        found = {p.serial: p for shelf in self._shelves for p in shelf.rounds[-most:]}
        return [found[serial] for serial in sorted(found)[-most:]]

    def __iter__(self) -> Iterator[Pending]:
        """Give all, those of one shelf newest first."""
        for shelf in self._shelves:
            yield from reversed(shelf.rounds)


def fitting(rounds: list[Pending], keys: frozenset[str]) -> list[Pending]:
    """Give those that have a key in common with `keys`, or like them have none."""
    if keys:
        return [p for p in rounds if not keys.isdisjoint(p.keys)]
    return [p for p in rounds if not p.keys]


def _exact(pending: Pending, keys: frozenset[str], kinds: tuple[int, ...]) -> bool:
    if pending.keys == keys:
        return ASKED in kinds
    return pending.known == keys and (KNOWN if pending.keys else PAST) in kinds


def traits_of(pending: Pending) -> list[Trait]:
    """List the traits of a round, in order."""
    keys, known = pending.keys, pending.known
    traits: list[Trait] = [(STATE, pending.state), (SUM, pending.sum)]
    if len(keys) > MOST_KEYS:
        traits.append((MANY, None))
    else:
        traits += [(KEY, key) for key in keys]
    traits.append((ASKED, keys))
    if known != keys:
        traits.append((KNOWN if keys else PAST, known))
    if pending.principal is not None:
        traits.append((WHO, pending.principal))
    return traits
