"""States issued anew, and what each was issued for: the lineage by which retries are known.

A retry is refused where its state was changed, was issued for something else, or is of a call that
has completed, unless a recorded client did the same: then it gets what that one got.  The same
retry again, after a lost response, gets the same response again.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any, Final, TypeAlias

from msgspec import Struct, field

from mcp_tap.core.values import digest
from mcp_tap.replay.keys import params_of
from mcp_tap.replay.recorded import RecordedCall
from mcp_tap.replay.server.matching import Book, Given, Node, Relation

MOST_STATES: Final = 100_000
MOST_ALIKE: Final = 256
"""Rounds of equal calls, or of one state, that are remembered where these tell nothing apart."""
Retry: TypeAlias = tuple[tuple[Node, ...], "Served | None", str | None]
"""What a retry gets: the path to the round, what it answers, a state issued before."""


class Served(Struct, eq=False, gc=True):
    """A round that was served and asked for another one."""

    path: tuple[Node, ...]
    """The recorded rounds it came to, this one last."""
    given: Given
    """The request of this round."""
    keys: frozenset[str]
    """What it asked for."""
    token: str | None
    """The state it was issued."""
    life: Life
    retries: dict[bytes | None, tuple[tuple[Node, ...], str | None]] = field(default_factory=dict)
    """What it was answered with, and what that got."""


class Life(Struct, eq=False):
    """A call that is being served."""

    call: RecordedCall | None = None
    """What it has completed as."""


class Refused(Exception):
    """A retry that a server would refuse, and why."""


class States:
    """Knows what was issued."""

    def __init__(self, book: Book) -> None:
        """Begin with nothing issued."""
        self._book = book
        self._issued: OrderedDict[str, list[Served]] = OrderedDict()
        """Of a state, more than one where a server's constant was kept."""
        self._waiting: OrderedDict[bytes | None, list[Served]] = OrderedDict()

    def find(self, given: Given) -> Retry | None:
        """Find what a retry gets; None: no recorded client answered so.

        Raises:
            Refused: as a server would.
            Exhausted: as many were served as were recorded.
        """
        params = params_of(given.value)
        sent, answers = params.get("requestState"), params.get("inputResponses")
        keys = frozenset(answers) if type(answers) is dict else frozenset()
        equal = _open_first(self._waiting.get(given.key, ()))
        fitting = [s for s in equal if keys & s.keys or not (keys or s.keys)]
        issued = self._issued.get(sent, ()) if type(sent) is str else ()
        known = [s for s in (fitting if sent is None else equal) if s.token == sent]
        known += [s for s in issued if s not in known]
        found = self._any(known, given, "same")
        if found is not None:
            return found
        if any(s.given.key == given.key and (sent is None or not _is_over(s)) for s in known):
            return None
        others = [s for s in fitting if s.token != sent]
        found = self._any(others, given, "missing" if sent is None else "other")
        if found is not None:
            return found
        if not known and all(map(_is_over, others)):
            node = self._book.stray(given, state=sent is not None)
            if node is not None:
                return (node,), None, None
        raise Refused(_why_not(given, known))

    def gave(self, given: Given) -> bool:
        """Tell whether the state a request carries was issued here."""
        sent = params_of(given.value).get("requestState")
        return type(sent) is str and sent in self._issued

    def _any(self, rounds: Iterable[Served], given: Given, relation: Relation) -> Retry | None:
        """Find what a retry gets if it answers one of these."""
        meant = _sum(given)
        for served in rounds:
            node, again = served.path[-1], served.retries.get(meant)
            done = again[0][-1].call if again is not None else served.life.call
            if done is None:
                found = self._book.go_on(served.path, given, relation)
            else:
                fresh = again is not None
                found = self._book.once_more(node, given, relation, done, fresh=fresh)
            if found is not None:
                return (*served.path, found), served, None
            if again is not None:
                path, token = again
                return path, served, token
        return None

    def issue(
        self,
        path: tuple[Node, ...],
        given: Given,
        keys: frozenset[str],
        *,
        state: Any,
        before: Served | None,
        token: str | None,
    ) -> str | None:
        """Take note of a round that is being served and asks; give its state, where it has one.

        Args:
            path: the recorded rounds so far, this one last.
            given: the request it answers.
            keys: what it asks for.
            state: what the recorded round was given.
            before: the round that the request answered.
            token: the state it was issued before, where it is served again.
        """
        if token is not None and token in self._issued:
            return token
        token = None if state is None else self._token(path[-1], state)
        life = before.life if before is not None else Life()
        served = Served(path=path, given=given, keys=keys, token=token, life=life)
        if token is not None:
            _remember(self._issued.setdefault(token, []), served)
            self._issued.move_to_end(token)
            if len(self._issued) > MOST_STATES:
                self._issued.popitem(last=False)
        _remember(self._waiting.setdefault(given.key, []), served)
        self._waiting.move_to_end(given.key)
        if len(self._waiting) > MOST_STATES:
            self._waiting.popitem(last=False)
        if before is not None:
            before.retries[_sum(given)] = path, token
        return token

    def _token(self, node: Node, state: Any) -> str:
        if type(state) is str and self._book.is_constant(node.call.capture, state):
            return state
        return secrets.token_urlsafe(24)

    def complete(self, path: tuple[Node, ...], given: Given, before: Served) -> None:
        """Take note of a final result; after an error, the client may try once more."""
        before.retries[_sum(given)] = path, None
        before.life.call = before.life.call or path[-1].call

    def near(self, given: Given) -> list[Node]:
        """List the recorded rounds that follow those a retry may answer."""
        sent = params_of(given.value).get("requestState")
        issued = self._issued.get(sent) if type(sent) is str else None
        rounds = issued or self._waiting.get(given.key, [])
        return [node for s in rounds for node in self._book.following(s.path)]


def _remember(rounds: list[Served], served: Served) -> None:
    """Add a round; what is over goes first where there are too many."""
    rounds.append(served)
    if len(rounds) > MOST_ALIKE:
        del rounds[next((at for at, s in enumerate(rounds) if _is_over(s)), 0)]


def _open_first(rounds: Iterable[Served]) -> list[Served]:
    return sorted(rounds, key=lambda served: bool(served.retries) or _is_over(served))


def _is_over(served: Served) -> bool:
    return served.life.call is not None


def _why_not(given: Given, known: list[Served]) -> str:
    """Say why a retry is refused that gives back the state of these rounds."""
    if params_of(given.value).get("requestState") is None:
        return "requestState is missing: the round it answers was given one"
    if not known:
        return "requestState was not issued for this call, or was changed"
    if all(served.given.target != given.target for served in known):
        return "requestState was issued for another call"
    if all(served.given.key != given.key for served in known):
        return "requestState was issued for other arguments"
    return "requestState is of a call that has completed"


def _sum(given: Given) -> bytes | None:
    """Sum up a retry, whatever its id."""
    params: dict[str, Any] = params_of(given.value)
    return digest({key: value for key, value in params.items() if key != "_meta"})
