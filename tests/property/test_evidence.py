"""However rounds are shelved, a retry is linked as if each open one had been looked at."""

from __future__ import annotations

from random import Random
from time import thread_time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_tap.core.linking import evidence, rounds, shelf
from mcp_tap.core.linking.evidence import Found, Retry
from mcp_tap.core.linking.rounds import Linker
from mcp_tap.core.linking.state import NOBODY, Ghost, Pending, Track
from mcp_tap.core.model import Ask, Call, Link, Round
from mcp_tap.core.values import same_arguments

TARGET = (NOBODY, "tools/call", "t")
STATES = [None, "always", "s1", "s2", "s3"]
KEYS = [frozenset(keys) for keys in ("", "a", "b", "ab", "abc", "cdefghi", "i")]
ARGUMENTS: list[Any] = [None, {}, {"n": 1}, {"n": 1.0}, {"n": 2}, {"n": 10**30}, {"n": "\ud83d"}]
PRINCIPALS = [None, None, "p", "q"]
FEW = 4


class Looking:
    """Finds the round a retry answers by looking at each one."""

    def __init__(self, linker: Linker, retry: Retry) -> None:
        self.retry = retry
        self.open = [p for p in linker._all.values() if p.target == retry.target]
        self.fresh = [p for p in self.open if not p.answered]
        self.issued = linker._issued.get(retry.state) if retry.state is not None else None
        self.over = any(
            ghost.state == retry.state and self.fits(ghost) and self.near(ghost)
            for ghost in linker._ghosts.get(retry.target) or ()
        )

    def find(self) -> Found:
        ways = [self.by_state, self.by_keys, self.by_older_state, self.by_params]
        return next((found for way in ways if (found := way()) is not None), Found())

    def near(self, p: Pending | Ghost) -> bool:
        return same_arguments(p.arguments, self.retry.arguments)

    def fits(self, p: Pending | Ghost) -> bool:
        keys = self.retry.keys
        return bool(keys & p.keys) if keys and p.keys else not keys and not p.keys

    def exact(self, p: Pending) -> bool:
        return self.retry.keys in (p.keys, p.known)

    def by_state(self) -> Found | None:
        state = self.retry.state
        if state is None:
            return None
        same = [p for p in self.fresh if p.state == state]
        equal = [p for p in same if self.near(p)]
        fitting = [p for p in equal if self.fits(p)]
        again = []
        if not any(self.exact(p) for p in fitting):
            again = self.again()
        best = [p for p in again if self.exact(p)] or fitting or again
        if best:
            return self.choose("state", best)
        if self.over:
            return Found()
        constant = len(self.issued or ()) > 1
        best = equal or ([p for p in same if self.fits(p)] if constant else same)
        return self.choose("state", best) if best else None

    def again(self) -> list[Pending]:
        found: dict[int, Pending] = {}
        for p in self.open:
            if not p.answered or p.state != self.retry.state or not self.near(p):
                continue
            newest = p.track.pending[-1]
            if not self.retry.keys and not newest.keys and not newest.answered:
                found.pop(newest.serial, None)
                found[newest.serial] = newest
            elif self.fits(p):
                found[p.serial] = p
        return list(found.values())

    def by_keys(self) -> Found | None:
        state, keys = self.retry.state, self.retry.keys
        asked = [p for p in self.open if keys & p.keys]
        fresh = [p for p in asked if not p.answered]
        equal = [p for p in fresh if self.near(p)]
        again = [p for p in asked if p.answered and self.near(p)]
        if not any(self.exact(p) for p in equal):
            equal = [p for p in again if self.exact(p) and p.state == state] or equal
        if equal:
            given = {p.track.call.number for p in self.open if p.state == state is not None}
            mine = [p for p in equal if p.track.call.number in given]
            return self.choose("keys", mine or equal)
        if again:
            return self.choose("keys", again)
        if keys and state is None and self.over:
            return Found()
        return self.choose("keys", fresh) if fresh else None

    def by_older_state(self) -> Found | None:
        state = self.retry.state
        same = [p for p in self.open if p.state == state is not None]
        answered = same and all(p.answered for p in same)
        return self.choose("state", same) if answered else None

    def by_params(self) -> Found | None:
        if self.retry.state is None or self.issued is not None:
            return None
        equal = [p for p in self.fresh if not p.keys and self.near(p)]
        return self.choose("params", equal) if equal else None

    def choose(self, link: Link, some: list[Pending]) -> Found:
        some = [p for p in some if self.exact(p)] or some
        if self.retry.principal is not None:
            some = [p for p in some if p.principal == self.retry.principal] or some
        if len({p.track.call.number for p in some}) == 1:
            return Found(link, some[-1])
        most = evidence.MOST_AMONG
        return Found("ambiguous", None, some[-most:], vague=len(some) > most)


class Run:
    """Rounds that come and go as they like."""

    def __init__(self, seed: int, *, calls: int) -> None:
        self.random = Random(seed)
        self.linker = Linker()
        self.tracks: list[Track] = []
        self.calls = calls
        self.lost: list[tuple[list[Pending], int]] = []
        self.t = 0.0
        # Most are alike in most runs.
        self.likely = {id(of): self.random.choice(of) for of in (STATES, KEYS, ARGUMENTS)}

    def one(self, of: list[Any]) -> Any:
        alike = self.random.random() < 0.6 and id(of) in self.likely
        return self.likely[id(of)] if alike else self.random.choice(of)

    def step(self) -> None:
        """Ask something, or answer, or end a call."""
        random = self.random
        self.t += 1.0
        chance = random.random()
        if chance < 0.6 or not self.tracks:
            self._ask()
        elif chance < 0.85:
            retry = self.retry()
            found = self.linker.find(retry)
            if found.pending is not None:
                self.linker.answer(found.pending, retry.state)
                self.lost.append(([found.pending], 0))
            elif found.among and not found.vague:
                call = 10_000 + int(self.t)
                self.linker.claim(found.among, call)
                self.lost.append((found.among, call))
        elif chance < 0.9 and self.lost:
            self.linker.lost(*self.lost.pop(random.randrange(len(self.lost))))
        elif chance < 0.99:
            self.linker.finish(self.tracks.pop(random.randrange(len(self.tracks))))
        else:
            self.linker._all.retire()

    def retry(self) -> Retry:
        return Retry(
            TARGET,
            self.one(STATES),
            self.one(KEYS),
            self.one(ARGUMENTS),
            self.random.choice(PRINCIPALS),
        )

    def _ask(self) -> None:
        if len(self.tracks) < self.calls:
            number = int(self.t)
            call = Call(number=number, method=TARGET[1], name=TARGET[2], t=self.t)
            self.tracks.append(Track(call=call, client=NOBODY, ball="server", since=self.t))
        track = self.random.choice(self.tracks)
        keys = self.one(KEYS)
        asks = [Ask(key=key, method="m", kind="other", params={}, seq=1, t=self.t) for key in keys]
        round_ = Round(number=1, exchange=1, request_id=1, t=self.t, request_seq=1)
        round_.asks, round_.arguments, round_.state = asks, self.one(ARGUMENTS), self.one(STATES)
        self.linker.issue(track, round_, self.random.choice(PRINCIPALS), self.t)


def told(found: Found) -> Any:
    serial = None if found.pending is None else found.pending.serial
    return found.link, serial, [p.serial for p in found.among], found.vague


def check(run: Run, steps: int, every: int = 1) -> None:
    for n in range(steps):
        run.step()
        if n % every == 0:
            retry = run.retry()
            assert told(run.linker.find(retry)) == told(Looking(run.linker, retry).find())


@given(seed=st.integers(0, 2**32), plain=st.integers(0, 6), calls=st.integers(1, 30))
def test_a_round_is_found_as_if_each_had_been_looked_at(seed, plain, calls):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shelf, "MOST_PLAIN", plain)
        patch.setattr(evidence, "MOST_AMONG", FEW)
        patch.setattr(rounds, "MOST_IN_CALL", FEW)
        patch.setattr(rounds, "MOST_PENDING", 40)
        check(Run(seed, calls=calls), 120)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=settings.default.max_examples // 5)  # each makes a thousand rounds
def test_of_very_many_rounds_one_is_found_as_well(seed):
    check(Run(seed, calls=400), 1200, every=300)


def test_a_retry_costs_no_more_among_thousands_than_among_a_few():
    def seconds(rounds_: int) -> float:
        run = Run(1, calls=rounds_)
        while len(run.linker._all) < rounds_:
            run._ask()
        retries = [run.retry() for _ in range(100)]
        taken = []
        for _ in range(5):
            begin = thread_time()
            for retry in retries:
                run.linker.find(retry)
            taken.append(thread_time() - begin)
        return min(taken)

    assert seconds(5000) < 30 * seconds(50)  # some hundred times, if each were looked at
