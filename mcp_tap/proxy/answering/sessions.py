"""Sessions of the era to 2025-11-25, as far as answering needs them.

What a client can do is said once, in `initialize`; what a server asks later comes as requests of
its own.  Who was told what is remembered, since a stream that is taken up again repeats it.

No socket, no clock: what is told here comes with its time.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Final, Literal, NamedTuple, TypeAlias
from urllib.parse import urljoin, urlsplit

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field

from mcp_tap.answers.question import EVERY
from mcp_tap.core import spec
from mcp_tap.core.bounded import Bounded
from mcp_tap.core.model import AskKind, Era
from mcp_tap.core.splice import SpliceError, find
from mcp_tap.core.values import id_key
from mcp_tap.core.wire import loads
from mcp_tap.net.heads import Fields, Head, RequestLine
from mcp_tap.proxy.answering.heads import field as field_of
from mcp_tap.proxy.answering.request import Meta, Watched, declared_in, declaring

MOST_SESSIONS: Final = 4096
LONGEST_SESSION: Final = 24 * 3600.0
MOST_CALLS: Final = 256
"""Calls of a session that are under way at once."""
MOST_ASKS: Final = 1024
LONGEST_ASK: Final = 12 * 3600.0

_SESSION: Final = b"mcp-session-id"
_VERSION: Final = b"mcp-protocol-version"
_REMEMBERED: Final = 512
_STALE: Final = 60.0
"""Seconds after which a session is marked as used again."""

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


class Facts(NamedTuple):
    """What the fields of a request tell."""

    era: Era
    key: Hashable
    """Of its session; None where it has no id."""


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


class Sessions:
    """The sessions of a run."""

    def __init__(self, advertise: Mapping[str, Any]) -> None:
        """Declare the capabilities `advertise` where a client does not."""
        self._advertise = advertise
        self._kinds = declared_in(advertise)
        self._facts: dict[Fields, Facts] = {}
        self._sessions: Bounded[Hashable, Session] = Bounded(MOST_SESSIONS, LONGEST_SESSION)

    def facts(self, head: Head[RequestLine]) -> Facts:
        """Say what a head tells of era and session; heads repeat."""
        found = self._facts.get(head.fields)
        if found is None:
            session, version = field_of(head, _SESSION), field_of(head, _VERSION)
            era = spec.era_of(version) if version is not None else "unknown"
            found = Facts(era, None if session is None else ("session", session))
            if len(self._facts) >= _REMEMBERED:
                self._facts.clear()
            self._facts[head.fields] = found
        return found

    def key(self, head: Head[RequestLine], peer: str) -> Hashable:
        """Say whose session a request is in."""
        key = self.facts(head).key
        if key is not None:
            return key
        place = at_endpoint(head.line.target)
        if self._sessions.get(place) is not None:
            return place
        return peer, field_of(head, b"user-agent"), field_of(head, b"authorization")

    def find(self, key: Hashable, t: float) -> Session:
        """Give the session of a request."""
        session = self._sessions.get(key)
        if session is None:
            session = Session(key=key)
        elif t - session.seen < _STALE:
            return session
        session.seen = t
        self._sessions.expire(t)
        self._sessions.put(key, session, t)
        return session

    def opened(self, key: Hashable, session: Session, t: float) -> Session:
        """Take note of what an `initialize` began; give the session that it is."""
        known = self._sessions.get(key)
        if known is not None and known.endpoint is not None:
            # Its stream was there before, and knew only where messages go.
            known.declared, known.advertised = session.declared, session.advertised
            return known
        session.key = key
        self._sessions.put(key, session, t)
        return session

    def placed(self, endpoint: bytes, t: float) -> Session:
        """Begin a session whose stream says where messages go (2024-11-05)."""
        session = Session(key=at_endpoint(endpoint), endpoint=endpoint)
        self._sessions.put(session.key, session, t)
        return session

    def closed(self, key: Hashable) -> None:
        """Forget a session that its client ended."""
        self._sessions.pop(key)

    def edited(self, body: bytes) -> Watched | None:
        """Read an `initialize`, and declare in it what the tap can answer; None for all else."""
        request = read(body)
        if request is None or request.method != spec.INITIALIZE or not self._advertise:
            return request if request is not None and request.method == spec.INITIALIZE else None
        try:
            at = find(body, "params", "capabilities")
            if at is None and find(body, "params") is None:
                return request
            capabilities = loads(body[at.start : at.end]) if at is not None else None
            path = ("params", "capabilities")
            told = declaring(body, capabilities, self._advertise, *path)
        except (SpliceError, ValueError):
            return request
        if told is not None:
            request.body, request.edited = told, True
        return request

    def begun(self, request: Watched) -> Session:
        """Make a session of an `initialize`; its key comes with the response."""
        kinds = request.declared | self._kinds if request.edited else request.declared
        return Session(key=None, declared=request.declared, advertised=kinds)


def at_endpoint(target: bytes) -> Hashable:
    """Make the key of a session that has an endpoint of its own for an id."""
    return "endpoint", target


def endpoint_at(target: bytes, where: bytes) -> bytes | None:
    """Read where the messages of a stream's client go; None where nobody can tell.

    Args:
        target: of the request for the stream.
        where: what the stream says, which may be relative to that.
    """
    try:
        parts = urlsplit(urljoin(target, where.strip()))
    except ValueError:
        return None
    found = parts.path + (b"?" + parts.query if parts.query else b"")
    return found if found.startswith(b"/") else None
