"""Sessions of the era to 2025-11-25, as far as answering needs them.

What a client can do is said once, in `initialize`; what a server asks later comes as requests of
its own.  Who was told what is remembered, since a stream that is taken up again repeats it.

No socket, no clock: what is told here comes with its time.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import urljoin, urlsplit

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field

from mcp_tap.answers.question import EVERY
from mcp_tap.core import spec
from mcp_tap.core.bounded import Bounded
from mcp_tap.core.model import AskKind
from mcp_tap.core.splice import SpliceError
from mcp_tap.core.values import id_key
from mcp_tap.core.wire import loads
from mcp_tap.proxy.answering.request import Meta, Watched, declared_in, declaring

MOST_SESSIONS: Final = 4096
LONGEST_SESSION: Final = 24 * 3600.0
MOST_CALLS: Final = 256
"""Calls of a session that are under way at once."""
MOST_ASKS: Final = 1024
LONGEST_ASK: Final = 12 * 3600.0

Fate: TypeAlias = Literal["taken", "passed"]
"""What became of a pushed ask: the tap deals with it, or the client has it."""


class Called(Struct, eq=False, kw_only=True):
    """A request of a client, while its response is waited for."""

    number: int
    """Number of its exchange."""
    request: Watched
    rounds: int = 0
    """Asks that came for it."""


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
    calls: dict[Hashable, Called] = field(default_factory=dict)
    """Requests without a response, by id."""
    asks: Bounded[Hashable, Fate] = field(default_factory=lambda: Bounded(MOST_ASKS, LONGEST_ASK))
    """Asks that were decided, by id and content."""

    def begin(self, called: Called) -> None:
        """Take note of a request."""
        self.calls[id_key(loads(called.request.id))] = called
        if len(self.calls) > MOST_CALLS:
            self.calls.pop(next(iter(self.calls)))

    def end(self, request_id: Any) -> Called | None:
        """Take note that a request has its response, or will get none; give that request."""
        return self.calls.pop(id_key(request_id), None)

    def only(self) -> Called | None:
        """Give the one call that is under way; None where there are none, or several."""
        found = [c for c in self.calls.values() if c.request.method in spec.MAY_ASK]
        return found[0] if len(found) == 1 else None


class _Params(Struct):
    name: Raw | UnsetType = UNSET
    uri: Raw | UnsetType = UNSET
    capabilities: Raw | UnsetType = UNSET


class _Request(Struct):
    method: str
    id: Raw
    params: _Params | UnsetType = UNSET


_decoder: Final = msgspec.json.Decoder(_Request)


class Sessions:
    """The sessions of a run."""

    def __init__(self, advertise: Mapping[str, Any]) -> None:
        """Declare the capabilities `advertise` where a client does not."""
        self._advertise = advertise
        self._kinds = declared_in(advertise)
        self._sessions: Bounded[Hashable, Session] = Bounded(MOST_SESSIONS, LONGEST_SESSION)

    def find(self, key: Hashable, t: float) -> Session:
        """Give the session of a request."""
        self._sessions.expire(t)
        session = self._sessions.get(key)
        if session is None:
            session = Session(key=key)
        self._sessions.put(key, session, t)
        return session

    def has(self, key: Hashable) -> bool:
        """Tell whether a session is known."""
        return self._sessions.get(key) is not None

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

    def read(self, body: bytes) -> Watched | None:
        """Read a request; an `initialize` declares in it what the tap can answer."""
        try:
            request = _decoder.decode(body)
        except (ValueError, RecursionError):
            return None
        if bytes(request.id) == b"null":
            return None
        params = request.params if request.params is not UNSET else _Params()
        told, declared = body, frozenset[AskKind]()
        if request.method == spec.INITIALIZE:
            try:
                raw = params.capabilities
                capabilities = loads(bytes(raw)) if raw is not UNSET else None
                if self._advertise and request.params is not UNSET:
                    path = ("params", "capabilities")
                    told = declaring(body, capabilities, self._advertise, *path) or body
            except (SpliceError, ValueError):
                return None
            declared = declared_in(capabilities)
        name = params.uri if request.method == "resources/read" else params.name
        meta = Meta(declared=declared)
        return Watched(request.method, told, meta, request.id, name, edited=told is not body)

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
