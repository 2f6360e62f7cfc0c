"""States issued anew, and what each was issued for: the lineage by which retries are known.

A retry is refused where its state was changed, was issued for something else, or is of a call that
has completed, unless the recorded client did the same.  The same retry again, after a lost
response, gets the same response again.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from typing import Any, Final

from msgspec import Struct, field

from mcp_tap.core.values import digest
from mcp_tap.replay.keys import params_of
from mcp_tap.replay.server.matching import Book, Given, Node, Relation

MOST_STATES: Final = 100_000
MOST_STATELESS: Final = 64
"""Rounds of equal calls that are remembered where no state tells them apart."""


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

    done: bool = False


class Refused(Exception):
    """A retry that a server would refuse, and why."""


class States:
    """Knows what was issued."""

    def __init__(self, book: Book) -> None:
        """Begin with nothing issued."""
        self._book = book
        self._issued: OrderedDict[str, Served] = OrderedDict()
        self._waiting: OrderedDict[bytes | None, list[Served]] = OrderedDict()

    def find(self, given: Given) -> tuple[tuple[Node, ...], Served, str | None] | None:
        """Find what a retry gets: the path to the round, what it answers, a state issued before.

        None: no recorded client answered so.

        Raises:
            Refused: as a server would.
            Exhausted: as many were served as were recorded.
        """
        params = params_of(given.value)
        sent, answers = params.get("requestState"), params.get("inputResponses")
        keys = frozenset(answers) if type(answers) is dict else frozenset()
        served = self._issued.get(sent) if type(sent) is str else None
        if served is not None:
            return self._answered(served, given, "same")
        relation: Relation = "missing" if sent is None else "other"
        open_ = self._open(given, keys)
        stateless = [s for s in open_ if s.token is None] if sent is None else []
        for candidate in stateless:
            found = self._answered(candidate, given, "same")
            if found is not None:
                return found
        if stateless:
            return None
        for candidate in open_:
            path = self._found(candidate, given, relation)
            if path is not None:
                return path, candidate, None
        if sent is None:
            raise Refused("requestState is missing: the round it answers was given one")
        raise Refused("requestState was not issued for this call, or was changed")

    def gave(self, given: Given) -> bool:
        """Tell whether the state a request carries was issued here."""
        sent = params_of(given.value).get("requestState")
        return type(sent) is str and sent in self._issued

    def _open(self, given: Given, keys: frozenset[str]) -> list[Served]:
        """List the rounds that answers without a known state may be for, open ones first."""
        rounds = [
            s for s in self._waiting.get(given.key, ()) if keys & s.keys or not (keys or s.keys)
        ]
        return sorted(rounds, key=lambda s: bool(s.retries) or s.life.done)

    def _answered(
        self, served: Served, given: Given, relation: Relation
    ) -> tuple[tuple[Node, ...], Served, str | None] | None:
        again = served.retries.get(_sum(given))
        if again is not None:
            path, token = again
            return path, served, token
        found = self._found(served, given, relation)
        if found is not None:
            return found, served, None
        if served.token is None:
            return None
        if served.given.target != given.target:
            raise Refused("requestState was issued for another call")
        if served.given.key != given.key:
            raise Refused("requestState was issued for other arguments")
        if served.life.done:
            raise Refused("requestState is of a call that has completed")
        return None

    def _found(self, served: Served, given: Given, relation: Relation) -> tuple[Node, ...] | None:
        node = self._book.go_on(served.path, given, relation, own=served.life.done)
        return None if node is None else (*served.path, node)

    def issue(
        self,
        path: tuple[Node, ...],
        given: Given,
        keys: frozenset[str],
        *,
        state: bool,
        before: Served | None,
        token: str | None,
    ) -> str | None:
        """Take note of a round that is being served and asks; give its state, where it has one.

        Args:
            path: the recorded rounds so far, this one last.
            given: the request it answers.
            keys: what it asks for.
            state: the recorded round was given a state.
            before: the round that the request answered.
            token: the state it was issued before, where it is served again.
        """
        if token is not None and token in self._issued:
            return token
        token = secrets.token_urlsafe(24) if state else None
        life = before.life if before is not None else Life()
        served = Served(path=path, given=given, keys=keys, token=token, life=life)
        if token is not None:
            self._issued[token] = served
            if len(self._issued) > MOST_STATES:
                self._issued.popitem(last=False)
        waiting = self._waiting.setdefault(given.key, [])
        waiting.append(served)
        del waiting[:-MOST_STATELESS]
        self._waiting.move_to_end(given.key)
        if len(self._waiting) > MOST_STATES:
            self._waiting.popitem(last=False)
        if before is not None:
            before.retries[_sum(given)] = path, token
        return token

    def complete(self, path: tuple[Node, ...], given: Given, before: Served) -> None:
        """Take note of a final result; after an error, the client may try once more."""
        before.retries[_sum(given)] = path, None
        before.life.done = True

    def near(self, given: Given) -> list[Node]:
        """List the recorded rounds that follow those a retry may answer."""
        sent = params_of(given.value).get("requestState")
        served = self._issued.get(sent) if type(sent) is str else None
        rounds = [served] if served is not None else self._waiting.get(given.key, [])
        return [node for s in rounds for node in self._book.following(s.path)]


def _sum(given: Given) -> bytes | None:
    """Sum up a retry, whatever its id."""
    params: dict[str, Any] = params_of(given.value)
    meant = {key: value for key, value in params.items() if key not in ("_meta", "requestState")}
    return digest(meant)
