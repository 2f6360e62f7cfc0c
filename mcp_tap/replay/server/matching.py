"""Which recorded round is the one to serve.

Rules of this file:

- Calls are equal by method, target and arguments; rounds of equal calls by what was asked and
  answered before them.  The n-th equal one gets the n-th recorded.
- A call goes on as the recorded call it began with, as long as its client answers as that one's
  did.  Otherwise it goes on as the first of the equal calls whose client answered so.
- What a recorded client did wrong with a state is matched like all it did: if its server let it
  pass, so is it here, and if that refused it, so is it here.
- A state that a server gave to several calls is its constant, and stays; all others are new.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from mcp_tap.core.facts.message import is_masked
from mcp_tap.core.spec import META_VERSION
from mcp_tap.core.values import digest, short
from mcp_tap.core.wire import UNPARSED
from mcp_tap.replay.fitting import fits
from mcp_tap.replay.index import Index
from mcp_tap.replay.keys import matched, params_of
from mcp_tap.replay.recorded import RecordedCall, RecordedExchange, RecordedRound

MOST_LOOKED_AT: Final = 1_000
"""Recorded calls that are compared one by one where no digest decides."""
AfterLast: TypeAlias = Literal["repeat", "fail"]
_SEVERAL: Final = 0
"""Stands for more calls than one; none has this number."""
Relation: TypeAlias = Literal["same", "missing", "other"]
"""How the state of a retry relates to the one its round was given."""
Target: TypeAlias = tuple[str | None, str | None]


class Node(Struct, frozen=True):
    """A round of a recorded call, as a client saw it."""

    call: RecordedCall
    round: RecordedRound

    @property
    def exchange(self) -> RecordedExchange:
        """Its exchange."""
        return self.round.exchange


class Given(Struct, frozen=True):
    """What a client's request brings."""

    key: bytes | None
    value: dict[str, Any]
    target: Target
    answers: Any = None
    tasks: dict[str, str] | None = None
    """Recorded ids of tasks it names -> those its client knows."""

    @property
    def is_stateless(self) -> bool:
        """It says its revision itself, as no request of a session does."""
        meta = params_of(self.value).get("_meta")
        return type(meta) is dict and META_VERSION in meta


class Exhausted(Exception):
    """All recorded answers were given, and none is to be given again."""


class Book:
    """The recorded calls, by what tells them apart."""

    def __init__(self, index: Index, after_last: AfterLast) -> None:
        """Sort the calls."""
        self._index = index
        self._after_last = after_last
        self._both = len(set().union(*(capture.eras for capture in index.captures))) > 1
        """Calls of both eras were recorded; one of the other era answers in that era's words."""
        self._by_key: dict[bytes, list[Node]] = {}
        self.by_target: dict[Target, list[Node]] = {}
        self._odd: dict[Target, list[Node]] = {}
        """First rounds that have no digest."""
        self._unlinked: dict[Target, list[Node]] = {}
        """First rounds that are retries of something."""
        self._next: dict[Any, int] = {}
        self._used: set[tuple[int, int]] = set()
        self._freed: dict[bytes | None, list[Node]] = {}
        """First rounds whose call went on as another one's."""
        self._givers: list[dict[str | bytes, int]] = [{} for _ in index.captures]
        """By capture: each state, and the call it was given to; `_SEVERAL` for more than one."""
        for call in index.calls:
            self._sort(call)
            self._note_states(call)

    def _sort(self, call: RecordedCall) -> None:
        first = call.rounds[0]
        if first.by_tap:
            return
        node = Node(call, first)
        target = call.method, call.target
        if first.retry:
            self._unlinked.setdefault(target, []).append(node)
            return
        self.by_target.setdefault(target, []).append(node)
        if call.key is None:
            self._odd.setdefault(target, []).append(node)
        else:
            self._by_key.setdefault(call.key, []).append(node)

    def _note_states(self, call: RecordedCall) -> None:
        givers = self._givers[call.capture]
        for round_ in call.rounds:
            if round_.state is not None:
                giver = givers.setdefault(round_.state, call.number)
                if giver != call.number:
                    givers[round_.state] = _SEVERAL

    def is_constant(self, capture: int, state: str) -> bool:
        """Tell whether a server gave a state to several calls, so that it is no call's own."""
        return self._givers[capture].get(short(state)) == _SEVERAL and not is_masked(state)

    def first(self, given: Given, session: str | None = None) -> Node | None:
        """Find the first round of a call; None: nothing like it was recorded.

        Args:
            given: the request.
            session: a recorded session, whose own calls come first.

        Raises:
            Exhausted: as many were served as were recorded.
        """
        nodes: Sequence[Node] = self._by_key.get(given.key or b"", ())
        if session is not None:
            nodes = [node for node in nodes if node.exchange.session == session] or nodes
        if not nodes or given.target in self._odd:
            nodes = [*nodes, *self._fitting(given)]
        if self._both:
            nodes = [n for n in nodes if _is_stateless(n) == given.is_stateless] or nodes
        if not nodes:
            return None
        first = nodes[0]
        return self._nth(nodes, (given.key, session, first.call.capture, first.exchange.era))

    def _nth(self, nodes: Sequence[Node], counter: Any) -> Node:
        """Choose the next one that was not served, else the last."""
        freed = self._freed.get(nodes[0].call.key)
        if freed and freed[0] in nodes:
            return freed.pop(0)
        at = self._next.get(counter, 0)
        while at < len(nodes) and _place(nodes[at]) in self._used:
            at += 1
        self._next[counter] = at
        if at == len(nodes) and self._after_last == "fail":
            raise Exhausted
        node = nodes[min(at, len(nodes) - 1)]
        self._used.add(_place(node))
        return node

    def _fitting(self, given: Given) -> list[Node]:
        """Compare one by one: what was masked has no digest, and 1.0 another one than 1."""
        wanted = matched(given.value)
        odd = self._odd.get(given.target, [])
        nodes = odd or self.by_target.get(given.target, [])
        return [
            node for node in nodes[:MOST_LOOKED_AT] if fits(matched(self.request(node)), wanted)
        ]

    def request(self, node: Node) -> Any:
        """Read a round's request again."""
        return self._index.value(node.call.capture, node.round.request_seq)

    def result(self, node: Node) -> Any:
        """Read again what a round got."""
        seq = node.round.response_seq
        return UNPARSED if seq is None else self._index.value(node.call.capture, seq)

    def answers(self, node: Node) -> Any:
        """Give the answers a round's request carried."""
        return params_of(self.request(node)).get("inputResponses")

    def go_on(self, path: Sequence[Node], given: Given, relation: Relation) -> Node | None:
        """Find the round that follows the last one of `path`, given its answers.

        Raises:
            Exhausted: as many were served as were recorded.
        """
        node = path[-1]
        mine = [n for n in self.after(node) if self._is_it(n, node, given, relation)]
        if mine:
            return self._unused(mine)
        others = [n for n, before in self._alike(path) if self._is_it(n, before, given, relation)]
        if not others:
            return None
        found = self._unused(others)
        self.changed(path[0], found.call)
        return found

    def once_more(
        self, node: Node, given: Given, relation: Relation, call: RecordedCall, *, fresh: bool
    ) -> Node | None:
        """Find a retry that was recorded beside another one of the same round, or after its call.

        Args:
            node: the round that is answered.
            given: the retry.
            relation: of its state.
            call: the recorded call as which the other retry went on.
            fresh: only one that was not served yet.
        """
        found = [
            n
            for n in self.after(node)
            if (n.call is call or _is_stray(n)) and self._is_it(n, node, given, relation)
        ]
        if fresh:
            found = [n for n in found if _place(n) not in self._used]
        return self._unused(found) if found else None

    def stray(self, given: Given, *, state: bool) -> Node | None:
        """Find a retry of nothing that was recorded; `state`: it carries one nobody saw issued.

        Raises:
            Exhausted: as many were served as were recorded.
        """
        nodes = [
            node
            for node in self._unlinked.get(given.target, ())[:MOST_LOOKED_AT]
            if _is_stray(node)
            and (node.round.sent is not None) == state
            and node.round.sent not in self._givers[node.call.capture]
            and self._says(node, given)
        ]
        return self._nth(nodes, ("stray", given.key, _place(nodes[0]))) if nodes else None

    def following(self, path: Sequence[Node]) -> Iterator[Node]:
        """List all that was recorded after such a history, this call's own first."""
        yield from self.after(path[-1])
        for node, _ in self._alike(path):
            yield node

    def equal(self, node: Node) -> Iterator[Node]:
        """List calls that began as this one did, itself first, then those not yet served."""
        yield node
        others = [n for n in self._by_key.get(node.call.key or b"", ()) if n.call is not node.call]
        fresh = [n for n in others[:MOST_LOOKED_AT] if _place(n) not in self._used]
        yield from fresh
        yield from (n for n in others[:MOST_LOOKED_AT] if _place(n) in self._used)

    def changed(self, first: Node, to: RecordedCall) -> None:
        """Take note that what began as one call goes on as another."""
        place = to.capture, to.rounds[0].exchange.number
        if place not in self._used:
            self._used.add(place)
            self._freed.setdefault(first.call.key, []).append(first)

    def _unused(self, nodes: list[Node]) -> Node:
        fresh = next((node for node in nodes if _place(node) not in self._used), None)
        node = fresh or nodes[-1]
        self._used.add(_place(node))
        return node

    def after(self, node: Node) -> Iterator[Node]:
        """List what followed a round, also where nothing told by which of several calls."""
        call = node.call
        for round_ in call.rounds:
            if not round_.by_tap and round_.answers_round == node.round.number:
                yield Node(call, round_)
        for other in self._unlinked.get((call.method, call.target), ()):
            if other.call.capture != call.capture:
                continue
            ambiguous = call.number in other.round.candidates
            if ambiguous or (node.round.state is not None and other.round.sent == node.round.state):
                yield other

    def _is_it(self, node: Node, before: Node, given: Given, relation: Relation) -> bool:
        round_ = node.round
        had: Relation = "other"
        if round_.sent == before.round.state:
            had = "same"
        elif round_.sent is None:
            had = "missing"
        return had == relation and self._says(node, given)

    def _says(self, node: Node, given: Given) -> bool:
        """Tell whether a recorded retry has these arguments and answers."""
        if node.exchange.key != given.key and not fits(
            matched(self.request(node)), matched(given.value)
        ):
            return False
        return fits(self.answers(node) or {}, given.answers or {})

    def _alike(self, path: Sequence[Node]) -> Iterator[tuple[Node, Node]]:
        """List what followed the same history in other calls, each with the round before it."""
        first = path[0]
        target = first.call.method, first.call.target
        for other in self.by_target.get(target, ())[:MOST_LOOKED_AT]:
            if other.call is first.call:
                continue
            same_key = other.call.key == first.call.key
            if same_key or fits(matched(self.request(other)), matched(self.request(first))):
                yield from self._along(other, path)

    def _along(self, node: Node, path: Sequence[Node]) -> Iterator[tuple[Node, Node]]:
        if asked(self.result(node)) != asked(self.result(path[0])):
            return
        if len(path) == 1:
            for following in self.after(node):
                yield following, node
            return
        wanted = self.answers(path[1]) or {}
        for following in self.after(node):
            if fits(self.answers(following) or {}, wanted):
                yield from self._along(following, path[1:])


def asked(response: Any) -> bytes | None:
    """Sum up what a response asks for."""
    result = response.get("result") if type(response) is dict else None
    return digest(result.get("inputRequests")) if type(result) is dict else None


def _is_stray(node: Node) -> bool:
    """Tell whether a round is a retry of nothing that was open then."""
    return node.round.retry and node.round.number == 1 and not node.round.candidates


def _place(node: Node) -> tuple[int, int]:
    return node.call.capture, node.exchange.number


def _is_stateless(node: Node) -> bool:
    return node.exchange.era == "stateless"
