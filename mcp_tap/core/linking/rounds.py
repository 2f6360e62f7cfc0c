"""Which open round a retry belongs to: the linking of revision 2026-07-28.

A round is one delivered `input_required`; it is open until its answer got a response.  What ties a
retry to one is in `evidence`.

Answered rounds stay known while their call has no final result: an answer may be sent again, even
after an error.  Rounds of finished calls stay known for a while as reasons *not* to
link: the better explanation of a retry may be a call that is already over.
"""

from __future__ import annotations

from collections import deque

from mcp_tap.core.bounded import Bounded
from mcp_tap.core.linking.evidence import Evidence, Found, Retry, Rounds, sum_of
from mcp_tap.core.linking.shelf import traits_of
from mcp_tap.core.linking.state import Ghost, Pending, Target, Track
from mcp_tap.core.model import Echo, Round
from mcp_tap.core.values import short

MOST_PENDING = 10_000
LONGEST_PENDING = 12 * 3600.0
MOST_BYTES = 64 << 20
"""Payload bytes of all open rounds together."""
MOST_STATES = 10_000
MOST_IN_CALL = 64
"""Rounds of one call that an answer may be sent to again."""
MOST_KEYS = 4096
GHOSTS = 16
"""Finished rounds remembered for one target."""
MOST_TARGETS = 256
"""Targets whose finished rounds are remembered."""
GHOST_SIZE = 4 << 10
"""Rounds with more bytes than this are not remembered once finished."""


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
        self._open: dict[Target, Rounds] = {}
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
        if not keys <= track.known and len(track.known) < MOST_KEYS:
            track.known = track.known | keys if track.known else keys
        self._serial += 1
        pending = Pending(
            serial=self._serial,
            target=(track.client, call.method, call.name),
            track=track,
            round=round_,
            state=round_.state,
            keys=keys,
            known=track.known,
            arguments=round_.arguments,
            sum=sum_of(round_.arguments),
            principal=principal,
            size=round_.size,
        )
        track.pending.append(pending)
        if len(track.pending) > MOST_IN_CALL:
            oldest = track.pending.pop(0)
            self._drop(oldest)
        self._place(pending)
        self._all.put(pending.serial, pending, t)
        self._bytes += pending.size
        while self._bytes > MOST_BYTES and len(self._all) > 1:
            self._all.retire()
        if round_.state is not None:
            self._note(round_.state, call.number, t)

    def answer(self, pending: Pending, sent: str | None) -> None:
        """Mark a round as answered; the first answer decides what its echo was."""
        if not pending.linked:
            pending.linked = True
            self._mark(pending, answered=True)
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
            self._mark(pending, answered=True)
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
            retried[0].linked = False
            self._mark(retried[0], answered=False)
            return []
        claimed = [p for p in retried if call in p.round.claimants]
        for pending in claimed:
            pending.round.claimants = tuple(n for n in pending.round.claimants if n != call)
            self._mark(pending, answered=pending.linked)
        return claimed

    def finish(self, track: Track) -> None:
        """Take the rounds of a call with a final result out of the running."""
        for pending in track.pending:
            self._drop(pending)
            if pending.round.size > GHOST_SIZE:
                continue
            ghosts = self._ghosts.get(pending.target) or deque(maxlen=GHOSTS)
            ghosts.append(Ghost(pending.state, pending.keys, pending.arguments))
            self._ghosts.put(pending.target, ghosts, track.since)
        track.pending.clear()

    def find(self, retry: Retry) -> Found:
        """Find the round a retry answers, in the order of evidence."""
        rounds = self._open.get(retry.target)
        if rounds is None:
            return Found()
        ghosts = self._ghosts.get(retry.target) or ()
        issued = None if retry.state is None else self._issued.get(short(retry.state))
        return Evidence(retry, rounds, ghosts, len(issued or ())).judge()

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

    def _place(self, pending: Pending) -> None:
        rounds = self._open.get(pending.target)
        if rounds is None:
            rounds = self._open[pending.target] = Rounds()
        rounds.shelf(pending).add(pending, traits_of(pending))

    def _mark(self, pending: Pending, *, answered: bool) -> None:
        """Say whether a round is answered, also of one that is not known any more."""
        if pending.answered == answered:
            return
        known = self._all.get(pending.serial) is pending
        if known:
            self._displace(pending)
        pending.answered = answered
        if known:
            self._place(pending)

    def _drop(self, pending: Pending) -> None:
        """Have done with a round."""
        self._all.pop(pending.serial)
        self._remove(pending)

    def _remove(self, pending: Pending) -> None:
        self._bytes -= pending.size
        self._displace(pending)

    def _displace(self, pending: Pending) -> None:
        rounds = self._open[pending.target]
        rounds.shelf(pending).remove(pending, traits_of(pending))
        if not rounds.fresh.rounds and not rounds.answered.rounds:
            del self._open[pending.target]
