"""Every requestState a run has issued, and what became of it.

Whether a round is linked is the linker's verdict; this is for what did not link, or not to the
round whose state came back: whom a value was given to, for what, and whether that is over.  It is
of the run, not of one client: a state may turn up in other hands.

Servers may give the same value to everybody.  One that too many calls were given tells nothing, and
is kept as such (`Issued.common`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias
from weakref import ref

from msgspec import Struct, field

from mcp_tap.core.bounded import Bounded
from mcp_tap.core.facts.flow import MODERN
from mcp_tap.core.facts.message import is_masked
from mcp_tap.core.facts.places import Place, Who, named, place_of, who_of
from mcp_tap.core.facts.topic import Topic
from mcp_tap.core.spec import INPUT_REQUIRED, MAY_ASK
from mcp_tap.core.values import short

if TYPE_CHECKING:
    from mcp_tap.core.facts.flow import Flow
    from mcp_tap.core.facts.held import Held
    from mcp_tap.core.facts.message import Message
    from mcp_tap.core.model import Call

MOST: Final = 10_000
"""States, chains and undelivered responses that are remembered, of each."""
LONGEST: Final = 12 * 3600.0
MOST_CALLS: Final = 32
"""Calls that may be given the same state before it counts as common."""
MOST_ENDED: Final = 8
"""Sets of keys remembered of finished calls of one client and target."""
MOST_KEYS: Final = 256
"""Keys of a round that are remembered."""
_KEY: Final = 100
"""Bytes one of the keys weighs."""
MOST_POLLS: Final = 20
MOST_LISTED: Final = 2048
"""Tools or prompts looked at of one listing."""
_MEMBERS: Final = ("inputResponses", "requestState")
_LISTS: Final = {"tools/list": "tools", "prompts/list": "prompts"}

Keys: TypeAlias = frozenset[str | bytes] | None
"""Keys of a round, made short; None where they are not known, or too many."""


class Chain(Struct, eq=False, kw_only=True, weakref=True):
    """A call that was asked for input, or at least to come again."""

    place: Place
    call: ref[Call]
    own: frozenset[str]
    """Members a retry has that are arguments of this call from the start."""
    asked: int = 0
    """Rounds that asked."""
    round: int = 0
    """Number of the newest of them."""
    keys: Keys = frozenset()
    """Keys of that round."""
    exchange: int = 0
    """Exchange of its newest response."""
    delivered: bool = False
    """That response went through to its end."""
    over: bool = False
    """It has a final result, or went on as a task."""
    polls: deque[float] = field(default_factory=lambda: deque(maxlen=MOST_POLLS))
    """When the newest retries came that had nothing to answer."""

    def let_go(self) -> None:
        """Forget the keys."""
        self.keys = None

    @property
    def waits(self) -> bool:
        """Its newest round waits for an answer."""
        call = self.call()
        return call is not None and call.outcome == "waiting"


class Issued(Struct, eq=False, kw_only=True):
    """A state: to whom and for what it was given."""

    places: set[Place] = field(default_factory=set)
    whom: set[Who | None] = field(default_factory=set)
    """Whom the credentials named that it was given to; None among them where they named nobody."""
    chains: list[Chain] = field(default_factory=list)
    common: bool = False
    """Given to more calls than are told apart here."""

    def known_to(self, client: int) -> bool:
        """Tell whether a client was given it."""
        return self.common or any(place[0] == client for place in self.places)

    def fits(self, place: Place) -> bool:
        """Tell whether it may have been given for this method and target, to whomever."""
        return self.common or any(known[1:] == place[1:] for known in self.places)


class Untyped(Struct, frozen=True):
    """A result that asks, but does not say that it does."""

    state: str | bytes | None
    keys: Keys


class Ended(Struct, eq=False, weakref=True):
    """What the calls of one place that are over were asked for at last."""

    keys: deque[frozenset[str | bytes]] = field(default_factory=lambda: deque(maxlen=MOST_ENDED))
    forgot: bool = False
    """Some of the keys were too many to be kept."""

    def let_go(self) -> None:
        """Forget the keys."""
        self.keys.clear()
        self.forgot = True


class States(Topic):
    """Every requestState a run has issued; shared by all clients of the run."""

    wants: ClassVar = (
        "retrying",
        "closed",
        *(f"result {method}" for method in sorted(MAY_ASK)),
        *(f"result {method}" for method in _LISTS),
    )

    def __init__(self) -> None:
        """Begin with none."""
        self._issued: Bounded[str | bytes, Issued] = Bounded(MOST, LONGEST)
        self._chains: Bounded[int, tuple[int, Chain]] = Bounded(MOST, LONGEST, self._forget)
        self._of: dict[int, dict[int, Chain]] = {}
        self._passing: Bounded[int, Chain] = Bounded(MOST, LONGEST)
        self._untyped: Bounded[Place, Untyped] = Bounded(MOST, LONGEST)
        self._ended: Bounded[Place, Ended] = Bounded(MOST, LONGEST)
        self._arguments: Bounded[tuple[str | None, str], str] = Bounded(MOST, LONGEST)

    def issued(self, state: Any) -> Issued | None:
        """Say what is known of a state; nothing of an empty one, of which nothing can be told."""
        if type(state) is not str or not state or is_masked(state):
            return None
        return self._issued.get(short(state))

    def chain(self, call: int) -> Chain | None:
        """Give the chain of a call that has no final result yet."""
        found = self._chains.get(call)
        return None if found is None else found[1]

    def waiting(self, client: int) -> Iterator[Chain]:
        """Give the chains of a client whose newest round waits for an answer."""
        return (chain for chain in self._of.get(client, {}).values() if chain.waits)

    @property
    def any(self) -> bool:
        """There are chains without a final result."""
        return bool(self._of)

    def untyped(self, place: Place) -> Untyped | None:
        """Give the newest result of a place that asked without saying so."""
        return self._untyped.get(place)

    def was_asked(self, place: Place, keys: Iterable[str]) -> bool:
        """Tell whether a call of a place that is over may have been asked for these, at last."""
        ended = self._ended.get(place)
        if ended is None:
            return False
        names = short_keys(keys)
        return ended.forgot or any(not names.isdisjoint(asked) for asked in ended.keys)

    def is_argument(self, target: str | None, name: str) -> bool:
        """Tell whether a tool or prompt was listed with an argument of that name."""
        return target is not None and self._arguments.get((named(target), name)) is not None

    def note(self, message: Message) -> None:
        """Take note of a result, or of a retry."""
        flow, result = message.flow, message.result
        if message.method in _LISTS:
            if message.event == "result":
                self._listed(message, _LISTS[message.method])
            return
        if not self._of and result is not None and result.get("resultType") == "complete":
            return
        call, round_ = flow.call, flow.round
        if call is None or round_ is None or flow.band != MODERN:
            return
        if message.event == "request":
            chain = self.chain(call.number)
            if chain is not None and flow.retry is not None and not flow.retry.asks:
                chain.polls.append(message.t)
            return
        if result is not None and round_.response_seq == message.seq:
            self._responded(message, call, round_.number, result)

    def _responded(self, message: Message, call: Call, number: int, result: dict[str, Any]) -> None:
        flow = message.flow
        kind = result.get("resultType")
        if kind == INPUT_REQUIRED:
            self._asked(message, call, number, result)
        elif self._of and (found := self._chains.pop(call.number)) is not None:
            self._drop(found)
            found[1].over = True
            self._pass(flow, found[1])
            self._end(found[1], flow.seen.run.held, message.t)
        if kind is None and ("requestState" in result or "inputRequests" in result):
            state = result.get("requestState")
            self._untyped.put(
                place_of(message),
                Untyped(short(state) if type(state) is str else None, _keys(result)),
                message.t,
            )

    def closed(self, flow: Flow) -> None:
        """Take note that a response has gone through, or has not."""
        if not len(self._passing):
            return
        chain = self._passing.pop(flow.exchange.number)
        if chain is not None and chain.exchange == flow.exchange.number:
            chain.delivered = flow.exchange.how == "complete"

    def _listed(self, message: Message, member: str) -> None:
        entries = (message.result or {}).get(member)
        for entry in entries[:MOST_LISTED] if type(entries) is list else ():
            target = entry.get("name") if type(entry) is dict else None
            if type(target) is not str:
                continue
            for name in _arguments(entry):
                self._arguments.put((named(target), name), name, message.t)

    def _asked(self, message: Message, call: Call, number: int, result: dict[str, Any]) -> None:
        flow = message.flow
        found = self._chains.get(call.number)
        if found is None:
            if call.end is not None:
                return  # it had its final result, or was given up
            found = call.number, Chain(place=place_of(message), call=ref(call), own=_own(message))
            self._of.setdefault(flow.seen.number, {})[call.number] = found[1]
        chain = found[1]
        chain.asked += 1
        chain.round = number
        chain.keys = _keys(result)
        flow.seen.run.held.hold(chain, _KEY * len(chain.keys or ()))
        self._chains.put(call.number, found, message.t)
        for known in (self._chains, self._issued, self._passing, self._untyped, self._ended):
            known.expire(message.t)
        self._pass(flow, chain)
        state = result.get("requestState")
        if type(state) is str and state and not is_masked(state):
            self._issue(short(state), chain, who_of(flow), message.t)

    def _end(self, chain: Chain, held: Held, t: float) -> None:
        ended = self._ended.get(chain.place) or Ended()
        if chain.keys is None:
            ended.forgot = True
        elif chain.keys and chain.keys not in ended.keys:
            ended.keys.append(chain.keys)
        self._ended.put(chain.place, ended, t)
        held.free(chain)
        held.hold(ended, _KEY * sum(map(len, ended.keys)))

    def _issue(self, key: str | bytes, chain: Chain, who: Who | None, t: float) -> None:
        found = self._issued.get(key) or Issued()
        self._issued.put(key, found, t)
        if found.common:
            return
        if chain not in found.chains:
            if len(found.chains) >= MOST_CALLS:
                found.common = True
                found.chains.clear()
                return
            found.chains.append(chain)
        found.places.add(chain.place)
        found.whom.add(who)

    def _pass(self, flow: Flow, chain: Chain) -> None:
        chain.exchange = flow.exchange.number
        chain.delivered = not flow.http  # a pipe loses nothing
        if flow.http:
            self._passing.put(chain.exchange, chain, flow.exchange.t)

    def _forget(self, entry: tuple[int, Chain]) -> None:
        self._drop(entry)

    def _drop(self, entry: tuple[int, Chain]) -> None:
        number, chain = entry
        chains = self._of.get(chain.place[0])
        if chains is not None:
            chains.pop(number, None)
            if not chains:
                del self._of[chain.place[0]]


def _keys(result: dict[str, Any]) -> Keys:
    """Give the keys a result asks by."""
    found = result.get("inputRequests")
    if type(found) is not dict:
        return frozenset()
    return short_keys(found) if len(found) <= MOST_KEYS else None


def short_keys(keys: Iterable[str]) -> frozenset[str | bytes]:
    """Make keys short, as chains have them; the first of them where they are too many."""
    return frozenset(map(short, islice(keys, MOST_KEYS)))


def _arguments(entry: dict[str, Any]) -> list[str]:
    """Say which members of a retry a tool or prompt has as arguments of its own."""
    schema, listed = entry.get("inputSchema"), entry.get("arguments")
    found = schema.get("properties") if type(schema) is dict else None
    names: Any = found if type(found) is dict else ()
    if type(listed) is list:
        names = [given.get("name") for given in listed if type(given) is dict]
    return [name for name in _MEMBERS if name in names]


def _own(message: Message) -> frozenset[str]:
    """Say which members of a retry the call had as arguments of its own."""
    request = message.request
    arguments = request.params.get("arguments") if request is not None else None
    if type(arguments) is not dict:
        return frozenset()
    return frozenset(name for name in _MEMBERS if name in arguments)
