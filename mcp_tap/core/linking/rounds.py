"""Which open round a retry belongs to: the linking of revision 2026-07-28.

A round is one delivered `input_required`; it is open until its answer got a response.  Evidence
ranks `state` > `keys` > `params`, and equal arguments decide between rounds that the same evidence
fits.  Servers use constant states, so an equal state alone proves nothing when it was issued to
several calls.  Calls that nothing tells apart make a retry ambiguous: wrong links are worse than
none.

Answered rounds stay known while their call has no final result: an answer may be sent again, even
after an error.  Rounds of finished calls stay known for a while as reasons *not* to
link: the better explanation of a retry may be a call that is already over.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from mcp_tap.core.bounded import Bounded
from mcp_tap.core.linking.state import Ghost, Pending, Target, Track
from mcp_tap.core.model import Echo, Link, Round
from mcp_tap.core.values import digest, same_arguments, short

MOST_PENDING = 10_000
LONGEST_PENDING = 12 * 3600.0
MOST_BYTES = 64 << 20
"""Payload bytes of all open rounds together."""
MOST_STATES = 10_000
MOST_IN_CALL = 64
"""Rounds of one call that an answer may be sent to again."""
MOST_AMONG = 64
"""Rounds among which an answer is ambiguous: where it may belong to more, none is held for it."""
MOST_KEYS = 4096
GHOSTS = 16
"""Finished rounds remembered for one target."""
MOST_TARGETS = 256
"""Targets whose finished rounds are remembered."""
GHOST_SIZE = 4 << 10
"""Rounds with more bytes than this are not remembered once finished."""


class Retry(Struct, eq=False):
    """What a request brings that may tie it to a round."""

    target: Target
    state: str | None
    keys: frozenset[str]
    arguments: Any
    principal: str | None


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


def echo_of(issued: str | None, sent: str | None) -> Echo:
    """Say how a state came back."""
    if issued is None:
        return "none" if sent is None else "invented"
    if sent is None:
        return "missing"
    return "same" if issued == sent else "changed"


class Linker:
    """Knows every open round and finds the one a retry answers."""

    def __init__(self) -> None:
        self._open: dict[Target, list[Pending]] = {}
        self._all: Bounded[int, Pending] = Bounded(MOST_PENDING, LONGEST_PENDING, self._forget)
        self._ghosts: Bounded[Target, deque[Ghost]] = Bounded(MOST_TARGETS, LONGEST_PENDING)
        self._issued: Bounded[str | bytes, list[int]] = Bounded(MOST_STATES, LONGEST_PENDING)
        self._serial = 0
        self._bytes = 0

    @property
    def retired(self) -> int:
        """Open rounds that were let go unanswered."""
        return self._all.retired

    def expire(self, now: float) -> None:
        """Let go of what is too old."""
        self._all.expire(now)
        self._ghosts.expire(now)
        self._issued.expire(now)

    def tracks(self) -> list[Track]:
        """Give the calls that have rounds here."""
        return [pending.track for pending in self._all.values()]

    def issue(self, track: Track, round_: Round, principal: str | None, t: float) -> None:
        """Take note of a round that waits for its retry."""
        call = track.call
        keys = frozenset(ask.key for ask in round_.asks)
        if len(track.known) < MOST_KEYS:
            track.known |= keys
        self._serial += 1
        pending = Pending(
            serial=self._serial,
            target=(track.client, call.method, call.name),
            track=track,
            round=round_,
            state=round_.state,
            keys=keys,
            known=frozenset(track.known),
            arguments=round_.arguments,
            sum=sum_of(round_.arguments),
            principal=principal,
            size=round_.size,
        )
        track.pending.append(pending)
        if len(track.pending) > MOST_IN_CALL:
            oldest = track.pending.pop(0)
            self._all.pop(oldest.serial)
            self._remove(oldest)
        self._open.setdefault(pending.target, []).append(pending)
        self._all.put(pending.serial, pending, t)
        self._bytes += pending.size
        while self._bytes > MOST_BYTES and len(self._all) > 1:
            self._all.retire()
        if round_.state is not None:
            self._note(round_.state, call.number, t)

    def answer(self, pending: Pending, sent: str | None) -> None:
        """Mark a round as answered; the first answer decides what its echo was."""
        if not pending.linked:
            pending.answered = pending.linked = True
            pending.round.echo = echo_of(pending.state, sent)
            pending.round.claimants = ()

    def claim(self, among: list[Pending], call: int) -> list[Pending]:
        """Take note of a call that answers one of several rounds; give those now answered.

        With as many such calls as rounds all are answered, even if nobody can say which by which.
        """
        for pending in among:
            pending.round.claimants += (call,)
        if any(len(p.round.claimants) < len(among) for p in among):
            return []
        for pending in among:
            pending.answered = True
        return among

    def lost(self, retried: list[Pending], call: int) -> list[Pending]:
        """Open again what an answer without a response was for: it may be sent once more.

        Args:
            retried: the round it was linked to, or all rounds it may have been for.
            call: the call the answer stands in.

        Returns:
            The rounds whose answer by one of several calls that was.
        """
        if len(retried) == 1:
            retried[0].answered = retried[0].linked = False
            return []
        claimed = [p for p in retried if call in p.round.claimants]
        for pending in claimed:
            pending.round.claimants = tuple(n for n in pending.round.claimants if n != call)
            pending.answered = pending.linked
        return claimed

    def finish(self, track: Track) -> None:
        """Take the rounds of a call with a final result out of the running."""
        for pending in track.pending:
            self._all.pop(pending.serial)
            self._remove(pending)
            if pending.round.size > GHOST_SIZE:
                continue
            ghosts = self._ghosts.get(pending.target) or deque(maxlen=GHOSTS)
            ghosts.append(Ghost(pending.state, pending.keys, pending.arguments))
            self._ghosts.put(pending.target, ghosts, track.since)
        track.pending.clear()

    def find(self, retry: Retry) -> Found:
        """Find the round a retry answers, in the order of evidence."""
        rounds = self._open.get(retry.target)
        if not rounds:
            return Found()
        mine = sum_of(retry.arguments)
        near = {
            p.serial
            for p in rounds
            if p.sum == mine and (mine is not None or same_arguments(p.arguments, retry.arguments))
        }
        return (
            self._by_state(retry, rounds, near)
            or self._by_keys(retry, rounds, near)
            or self._by_older_state(retry, rounds)
            or self._by_params(retry, rounds, near)
            or Found()
        )

    def _by_state(self, retry: Retry, rounds: list[Pending], near: set[int]) -> Found | None:
        if retry.state is None:
            return None
        same = [p for p in rounds if p.state == retry.state]
        fresh = [p for p in same if not p.answered]
        equal = [p for p in fresh if p.serial in near]
        fitting = [p for p in equal if _fits(retry, p.keys)]
        best = fitting
        if not any(_exact(retry, p) for p in fitting):
            # What another round asked exactly is rather an answer to that, sent again.
            again = self._again(retry, same, near)
            best = [p for p in again if _exact(retry, p)] or fitting or again
        if best:
            return self._choose("state", best, retry)
        if self._is_over(retry):
            return Found()
        if equal:
            return self._choose("state", equal, retry)
        # Arguments differ from here on.  A state that several calls were given proves too little
        # unless the keys agree as well.
        if fresh and not self._is_constant(retry.state):
            return self._choose("state", fresh, retry)
        fitting = [p for p in fresh if _fits(retry, p.keys)]
        return self._choose("state", fitting, retry) if fitting else None

    def _by_older_state(self, retry: Retry, rounds: list[Pending]) -> Found | None:
        """Take an answered round's state as evidence even where the arguments changed."""
        if retry.state is None:
            return None
        same = [p for p in rounds if p.state == retry.state]
        if not same or any(not p.answered for p in same):
            return None
        return self._choose("state", same, retry)

    def _again(self, retry: Retry, same: list[Pending], near: set[int]) -> list[Pending]:
        """Find answered rounds that the same answer is sent to again, or their newest successor.

        The successor is meant when it asked for nothing and the state is an older one of its call.
        """
        found = []
        for pending in same:
            if not pending.answered or pending.serial not in near:
                continue
            newest = pending.track.pending[-1]
            if not retry.keys and not newest.keys and not newest.answered:
                found.append(newest)
            elif _fits(retry, pending.keys):
                found.append(pending)
        return found

    def _by_keys(self, retry: Retry, rounds: list[Pending], near: set[int]) -> Found | None:
        if not retry.keys:
            return None
        asked = [p for p in rounds if retry.keys & p.keys]
        fresh = [p for p in asked if not p.answered]
        equal = [p for p in fresh if p.serial in near]
        again = [p for p in asked if p.answered and p.serial in near]
        if not any(_exact(retry, p) for p in equal):
            sent = [p for p in again if _exact(retry, p) and p.state == retry.state]
            equal = sent or equal
        if equal:
            owners = {
                p.track.call.number
                for p in rounds
                if retry.state is not None and p.state == retry.state
            }
            mine = [p for p in equal if p.track.call.number in owners]
            return self._choose("keys", mine or equal, retry)
        if again:
            return self._choose("keys", again, retry)
        if retry.state is None and self._is_over(retry):
            return Found()
        return self._choose("keys", fresh, retry) if fresh else None

    def _by_params(self, retry: Retry, rounds: list[Pending], near: set[int]) -> Found | None:
        if retry.state is None or self._issued.get(short(retry.state)) is not None:
            return None
        fresh = [p for p in rounds if not p.answered and not p.keys and p.serial in near]
        return self._choose("params", fresh, retry) if fresh else None

    def _choose(self, link: Link, rounds: list[Pending], retry: Retry) -> Found:
        """Settle on one call, by the closest keys and then the principal; else ambiguous."""
        if len(rounds) > 1:
            rounds = _prefer(rounds, (p for p in rounds if _exact(retry, p)))
            if retry.principal is not None:
                rounds = _prefer(rounds, (p for p in rounds if p.principal == retry.principal))
        calls = {p.track.call.number for p in rounds}
        if len(calls) == 1:
            return Found(link, rounds[-1])
        return Found("ambiguous", None, rounds[-MOST_AMONG:], vague=len(rounds) > MOST_AMONG)

    def _is_over(self, retry: Retry) -> bool:
        """Tell whether a call that already ended explains a retry better than an open one."""
        return any(
            ghost.state == retry.state
            and _fits(retry, ghost.keys)
            and same_arguments(ghost.arguments, retry.arguments)
            for ghost in self._ghosts.get(retry.target) or ()
        )

    def _is_constant(self, state: str) -> bool:
        return len(self._issued.get(short(state)) or ()) > 1

    def _note(self, state: str, call: int, t: float) -> None:
        digest = short(state)
        calls = self._issued.get(digest) or []
        if call not in calls:
            calls = [*calls, call][-2:]
        self._issued.put(digest, calls, t)

    def _forget(self, pending: Pending) -> None:
        """Lose a round that nobody answered for too long."""
        self._remove(pending)
        if pending in pending.track.pending:
            pending.track.pending.remove(pending)

    def _remove(self, pending: Pending) -> None:
        rounds = self._open.get(pending.target)
        if rounds and pending in rounds:
            self._bytes -= pending.size
            rounds.remove(pending)
            if not rounds:
                del self._open[pending.target]


def sum_of(arguments: Any) -> bytes | None:
    """Sum up arguments, so that those of equal sums are the same; None where that cannot be."""
    return digest({} if arguments is None else arguments)


def _fits(retry: Retry, keys: frozenset[str]) -> bool:
    """Tell whether answers and asks have a key in common, or both have none."""
    return bool(retry.keys & keys) if retry.keys and keys else not retry.keys and not keys


def _exact(retry: Retry, pending: Pending) -> bool:
    return retry.keys in (pending.keys, pending.known)


def _prefer(rounds: list[Pending], better: Iterable[Pending]) -> list[Pending]:
    return list(better) or rounds
