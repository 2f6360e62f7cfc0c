"""A session of the era to 2025-11-25: what its client declared, what is under way, what was asked.

No socket, no clock, and nothing of a transport: what is told here comes with its time.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field

from mcp_tap.answers.question import EVERY, Question, questions
from mcp_tap.core import spec
from mcp_tap.core.bounded import Bounded
from mcp_tap.core.model import AskKind
from mcp_tap.core.splice import SpliceError, find
from mcp_tap.core.values import id_key
from mcp_tap.core.wire import loads
from mcp_tap.proxy.answering.capabilities import declared_in, declaring
from mcp_tap.proxy.answering.request import Meta, Watched
from mcp_tap.proxy.answering.verdicts import Fail
from mcp_tap.proxy.replies import error_of

MOST_CALLS: Final = 256
"""Calls of a session that are under way at once."""
MOST_ASKS: Final = 1024
LONGEST_ASK: Final = 12 * 3600.0

Fate: TypeAlias = Literal["taken", "passed"]
"""What became of a pushed ask: the tap deals with it, or the client has it."""


class Called(Struct, eq=False):
    """A POST of a client, while its response is waited for; mostly nobody asks what is in it."""

    number: int
    """Number of its exchange."""
    body: bytes
    rounds: int = 0
    """Asks that came for it."""
    answered: bool = False
    """Its response has come, or will not."""
    unwanted: bool = False
    """Its client has cancelled it; some servers leave its stream open all the same."""
    _read: Watched | Literal[False] | None = None

    @property
    def request(self) -> Watched | None:
        """What it asks for; None where it is no request."""
        if self._read is None:
            self._read = read(self.body) or False
        return self._read or None

    @property
    def key(self) -> Hashable:
        """Its id, so that it can be compared."""
        request = self.request
        return id_key(loads(request.id)) if request is not None else None


class Session(Struct, eq=False, kw_only=True):
    """A session."""

    key: Hashable
    declared: frozenset[AskKind] = EVERY
    """What its client can answer; all, where its beginning was not seen."""
    advertised: frozenset[AskKind] = frozenset()
    """What its server was told that it can."""
    server: str | None = None
    """The name the server gave itself."""
    endpoint: bytes | None = None
    """Where messages go, if that is not where the stream came from (2024-11-05)."""
    seen: float = 0.0
    """When its client was last heard of."""
    calls: dict[int, Called] = field(default_factory=dict)
    """Requests without a response, by exchange."""
    asks: Bounded[Hashable, Fate] = field(default_factory=lambda: Bounded(MOST_ASKS, LONGEST_ASK))
    """Asks that were decided, by id and content."""

    def begin(self, called: Called) -> None:
        """Take note of a request."""
        self.calls[called.number] = called
        if len(self.calls) > MOST_CALLS:
            self.calls.pop(next(iter(self.calls)))

    def answered(self, request_id: Any) -> Called | None:
        """Give the request that a response is for, which may come on any stream."""
        key = id_key(request_id)
        for called in self.calls.values():
            if called.key == key:
                return called
        return None

    def cancelled(self, body: bytes) -> None:
        """Take note of a call that is not wanted any more, if that is what a message says."""
        try:
            number = loads(bytes(_cancellation.decode(body).params.request_id))
        except (ValueError, RecursionError):
            return
        called = self.answered(number)
        if called is not None:
            called.unwanted = True

    def only(self) -> Called | None:
        """Give the one call that is under way; None where there are none, or several."""
        found = [
            called
            for called in self.calls.values()
            if not called.unwanted
            and called.request is not None
            and called.request.method in spec.MAY_ASK
        ]
        return found[0] if len(found) == 1 else None


class _Params(Struct):
    capabilities: Raw | UnsetType = UNSET


class _Request(Struct):
    method: str
    id: Raw
    params: _Params | UnsetType = UNSET


class _Cancelled(Struct, rename="camel"):
    request_id: Raw


class _Cancellation(Struct, tag_field="method", tag=spec.NOTE_CANCELLED):
    params: _Cancelled


_decoder: Final = msgspec.json.Decoder(_Request)
_cancellation: Final = msgspec.json.Decoder(_Cancellation)


def read(body: bytes) -> Watched | None:
    """Read a request; None for what is none."""
    try:
        request = _decoder.decode(body)
        if bytes(request.id) == b"null":
            return None
        params = request.params if request.params is not UNSET else _Params()
        raw, declared = params.capabilities, frozenset[AskKind]()
        if request.method == spec.INITIALIZE and raw is not UNSET:
            declared = declared_in(loads(bytes(raw)))
    except (ValueError, RecursionError):
        return None
    return Watched(request.method, body, Meta(declared=declared))


def edited(body: bytes, advertise: Mapping[str, Any]) -> Watched | None:
    """Read an `initialize`, and declare in it what the tap can answer; None for all else."""
    request = read(body)
    if request is None or request.method != spec.INITIALIZE:
        return None
    if not advertise:
        return request
    try:
        at = find(body, "params", "capabilities")
        if at is None and find(body, "params") is None:
            return request
        capabilities = loads(body[at.start : at.end]) if at is not None else None
        told = declaring(body, capabilities, advertise, "params", "capabilities")
    except (SpliceError, ValueError):
        return request
    if told is not None:
        request.body, request.edited = told, True
    return request


def begun(request: Watched, advertise: Mapping[str, Any]) -> Session:
    """Make a session of an `initialize`; its key comes with the response."""
    kinds = request.declared | declared_in(advertise) if request.edited else request.declared
    return Session(key=None, declared=request.declared, advertised=kinds)


def server_name(message: Any) -> str | None:
    """Read off the response to `initialize` how the server calls itself."""
    result = message.get("result") if type(message) is dict else None
    info = result.get("serverInfo") if type(result) is dict else None
    name = info.get("name") if type(info) is dict else None
    return name if type(name) is str else None


def pushed_ask(
    session: Session,
    called: Called | None,
    key: str,
    message: dict[str, Any],
    server: str | None,
) -> Question:
    """Read a request of the server as an ask.

    Args:
        session: in which it came.
        called: the call it is for, of which it is a round; None where that is not known.
        key: its id as text.
        message: the request.
        server: its server, in words.
    """
    call: Hashable = ("session", session.key)
    facts: dict[str, Any] = {}
    round_ = 1
    if called is not None:
        called.rounds += 1
        call, round_, request = called.number, called.rounds, called.request
        if request is not None:
            facts = {"method": request.method, "name": request.name}
            facts["arguments"] = request.arguments()
    (ask,) = questions(
        {key: message},
        **facts,
        server=server,
        call=call,
        round=round_,
        declared=session.declared,
        pushed=True,
    )
    return ask


def refusal(session: Session, ask: Question, verdict: Fail) -> dict[str, Any]:
    """Make the JSON-RPC error that the server gets in the place of an answer."""
    code = spec.INTERNAL_ERROR
    if ask.ask not in session.declared | session.advertised:
        # 2025-11-25, client/roots and client/elicitation
        code = spec.METHOD_NOT_FOUND if ask.mode is None else spec.INVALID_PARAMS
    return error_of(verdict.code, verdict.why, code)
