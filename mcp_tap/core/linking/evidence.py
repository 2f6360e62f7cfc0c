"""What speaks for one open round or another as that which a retry answers.

Evidence ranks `state` > `keys` > `params`, and equal arguments decide between rounds that the same
evidence fits.  Servers use constant states, so an equal state alone proves nothing when it was
issued to several calls.  Calls that nothing tells apart make a retry ambiguous: wrong links are
worse than none.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from operator import attrgetter
from typing import Any

from msgspec import Struct, field

from mcp_tap.core.linking.shelf import ASKED, END, KNOWN, PAST, STATE, SUM, WHO, Shelf, Some
from mcp_tap.core.linking.state import Ghost, Pending, Target
from mcp_tap.core.model import Link
from mcp_tap.core.values import digest, same_arguments

MOST_AMONG = 64
"""Rounds among which an answer is ambiguous: where it may belong to more, none is held for it."""
_NO_KEYS: frozenset[str] = frozenset()


class Retry(Struct, eq=False):
    """What a request brings that may tie it to a round."""

    target: Target
    state: str | None
    keys: frozenset[str]
    arguments: Any
    principal: str | None


class Rounds(Struct, eq=False):
    """The rounds of one target."""

    fresh: Shelf = field(default_factory=Shelf)
    answered: Shelf = field(default_factory=Shelf)

    def shelf(self, pending: Pending) -> Shelf:
        """Give that where a round belongs."""
        return self.answered if pending.answered else self.fresh


class Found(Struct, eq=False):
    """The verdict on a retry."""

    link: Link = "none"
    pending: Pending | None = None
    among: list[Pending] = []
    """What it may answer, where that is ambiguous."""
    vague: bool = False
    """It may answer more than that: these are the newest."""

    @property
    def candidates(self) -> list[int]:
        """The calls it may belong to, where that is ambiguous."""
        return sorted({pending.track.call.number for pending in self.among})


class Evidence:
    """Finds the round that a retry answers."""

    def __init__(self, retry: Retry, rounds: Rounds, ghosts: Iterable[Ghost], issued: int) -> None:
        """Look for the round of a retry.

        Args:
            retry: what came.
            rounds: those of its target.
            ghosts: what is remembered of finished calls of its target.
            issued: how many calls are known to have been given its state; two stand for more.
        """
        self._retry = retry
        self._fresh = Some([rounds.fresh])
        self._answered = Some([rounds.answered])
        self._ghosts = ghosts
        self._issued = issued
        self._sum = sum_of(retry.arguments)

    def judge(self) -> Found:
        """Go by the best evidence there is."""
        return (
            self._by_state()
            or self._by_keys()
            or self._by_older_state()
            or self._by_params()
            or Found()
        )

    def _by_state(self) -> Found | None:
        retry = self._retry
        keys = retry.keys
        if retry.state is None:
            return None
        fresh = self._fresh.having(STATE, retry.state)
        equal = fresh.having(SUM, self._sum)
        fits, exact = _fitting(equal, keys)
        if not exact:
            # What another round asked exactly is rather an answer to that, sent again.
            same = self._answered.having(STATE, retry.state).having(SUM, self._sum)
            again, exact = _fitting(same, keys) if keys else _successors(same, retry.principal)
            fits = exact or fits or again
        if fits:
            return self._choose("state", fits, exact)
        if self._is_over():
            return Found()
        # Arguments or keys differ from here on.  A state that several calls were given proves too
        # little then, unless either agrees.
        if equal:
            return self._choose("state", equal)
        if fresh and self._issued <= 1:
            return self._choose("state", fresh)
        fits, exact = _fitting(fresh, keys)
        return self._choose("state", fits, exact) if fits else None

    def _by_keys(self) -> Found | None:
        retry = self._retry
        keys, state = retry.keys, retry.state
        if not keys:
            return None
        equal = self._fresh.having(SUM, self._sum)
        fits, exact = _fitting(equal, keys)
        if not exact:
            same = self._answered.having(STATE, state).having(SUM, self._sum)
            if sent := _fitting(same, keys)[1]:
                return self._choose("keys", sent, sent)
        if fits:
            if state is not None and (own := self._of_calls_given(state)):
                fits, exact = own, own.exactly(keys, ASKED, KNOWN)
            return self._choose("keys", fits, exact)
        fits, exact = _fitting(self._answered.having(SUM, self._sum), keys)
        if fits:
            return self._choose("keys", fits, exact)
        if state is None and self._is_over():
            return Found()
        fits, exact = _fitting(self._fresh, keys)
        return self._choose("keys", fits, exact) if fits else None

    def _by_older_state(self) -> Found | None:
        """Take an answered round's state as evidence even where the arguments changed."""
        state = self._retry.state
        if state is None or self._fresh.having(STATE, state):
            return None
        same = self._answered.having(STATE, state)
        return self._choose("state", same) if same else None

    def _by_params(self) -> Found | None:
        if self._retry.state is None or self._issued:
            return None
        equal = self._fresh.having(SUM, self._sum)
        fits = equal.asking(_NO_KEYS)
        return self._choose("params", fits, equal.exactly(self._retry.keys, PAST)) if fits else None

    def _choose(self, link: Link, some: Some, exact: Some | None = None) -> Found:
        """Settle on one call, by the closest keys and then the principal; else ambiguous.

        Args:
            link: the evidence.
            some: the rounds it speaks for.
            exact: those of them that ask exactly what was answered, if that is known.
        """
        retry = self._retry
        if exact is None:
            exact = some.exactly(retry.keys, ASKED, KNOWN, PAST)
        some = exact or some
        if retry.principal is not None:
            some = some.having(WHO, retry.principal) or some
        rounds = some.newest(MOST_AMONG + 1)  # more than one call can have
        if len({p.track.call.number for p in rounds}) == 1:
            return Found(link, rounds[-1])
        return Found("ambiguous", None, rounds[-MOST_AMONG:], vague=len(rounds) > MOST_AMONG)

    def _of_calls_given(self, state: str) -> Some:
        """Find what is open with these arguments and keys in calls that were given a state."""
        keys = self._retry.keys
        given = (*self._fresh.having(STATE, state), *self._answered.having(STATE, state))
        tracks = {pending.track.call.number: pending.track for pending in given}
        found = [
            p
            for track in tracks.values()
            for p in track.pending
            if not p.answered and p.sum == self._sum and not keys.isdisjoint(p.keys)
        ]
        return Some([Shelf(END, sorted(found, key=attrgetter("serial")))])

    def _is_over(self) -> bool:
        """Tell whether a call that already ended explains a retry better than an open one."""
        retry = self._retry
        return any(
            ghost.state == retry.state
            and _fits(retry.keys, ghost.keys)
            and same_arguments(ghost.arguments, retry.arguments)
            for ghost in self._ghosts
        )


def sum_of(arguments: Any) -> bytes:
    """Sum up arguments, so that those of equal sums are the same."""
    value = {} if arguments is None else arguments
    return digest(value) or _deep_digest(value)


def _deep_digest(value: Any) -> bytes:
    """Sum up a JSON value that has no `digest`: equal ones, as `same_json` has it, alike."""
    sum_ = blake2b(digest_size=16)
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if type(part) is dict:
            sum_.update(b"{%d:" % len(part))
            for name in sorted(part):
                waiting += (part[name], name)
        elif type(part) is list:
            sum_.update(b"[%d:" % len(part))
            waiting += part
        elif type(part) is str:
            text = part.encode(errors="surrogatepass")
            sum_.update(b'"%d:' % len(text) + text)
        else:
            if type(part) is float and part.is_integer():
                part = int(part)
            # Hexadecimal, since there is no limit to its digits.
            sum_.update((hex(part) if type(part) is int else repr(part)).encode() + b",")
    return sum_.digest()


def _fits(sent: frozenset[str], asked: frozenset[str]) -> bool:
    """Tell whether answers and asks have a key in common, or both have none."""
    return not sent.isdisjoint(asked) if sent and asked else not sent and not asked


def _fitting(some: Some, keys: frozenset[str]) -> tuple[Some, Some]:
    """Give the rounds that keys fit, and those of them that ask exactly these."""
    fits = some.asking(keys)
    return fits, some.exactly(keys, ASKED, KNOWN) if fits else fits


def _successors(answered: Some, principal: str | None) -> tuple[Some, Some]:
    """Find the rounds that a state alone, sent again, is for; all of them ask exactly nothing.

    Not a round itself is meant where the newest of its call asks for nothing and is open.
    """
    found: dict[int, Pending] = {}
    own: dict[int, Pending] = {}
    enough = found if principal is None else own
    for pending in answered:
        newest = pending.track.pending[-1]
        meant = pending if newest.keys or newest.answered else newest
        if meant.keys:
            continue
        found.setdefault(meant.serial, meant)
        if principal is not None and meant.principal == principal:
            own.setdefault(meant.serial, meant)
        if len(enough) > MOST_AMONG:
            break
    some = Some([Shelf(END, list(reversed((own or found).values())))])
    return some, some
