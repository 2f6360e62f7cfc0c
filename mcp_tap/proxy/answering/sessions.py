"""Sessions of the era to 2025-11-25, as far as answering needs them.

What a client can do is said once, in `initialize`; what a server asks later comes as requests of
its own.  Who was told what is remembered, since a stream that is taken up again repeats it.

No socket, no clock: what is told here comes with its time.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urljoin, urlsplit

from mcp_tap.core import spec
from mcp_tap.core.bounded import Bounded
from mcp_tap.core.model import Era
from mcp_tap.net.heads import Fields, Head, RequestLine
from mcp_tap.proxy.answering.heads import field as field_of
from mcp_tap.proxy.answering.request import Watched
from mcp_tap.proxy.answering.session import Session, begun, edited

MOST_SESSIONS: Final = 4096
LONGEST_SESSION: Final = 24 * 3600.0

_SESSION: Final = b"mcp-session-id"
_VERSION: Final = b"mcp-protocol-version"
_REMEMBERED: Final = 512
_STALE: Final = 60.0
"""Seconds after which a session is marked as used again."""


class Facts(NamedTuple):
    """What the fields of a request tell."""

    era: Era
    key: Hashable
    """Of its session; None where it has no id."""


class Sessions:
    """The sessions of a run."""

    def __init__(self, advertise: Mapping[str, Any]) -> None:
        """Declare the capabilities `advertise` where a client does not."""
        self._advertise = advertise
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
        return edited(body, self._advertise)

    def begun(self, request: Watched) -> Session:
        """Make a session of an `initialize`; its key comes with the response."""
        return begun(request, self._advertise)


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
