"""Who sent it, in which session, of which era.

Era is decided per request, never per connection: what the body's `_meta` declares, else the
`MCP-Protocol-Version` header, else what `initialize` settled for its session.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from mcp_tap.core import spec
from mcp_tap.core.bounded import Bounded
from mcp_tap.core.fields import header
from mcp_tap.core.linking.state import ClientKey, Live, Session, Track
from mcp_tap.core.model import Era, Exchange, Identity
from mcp_tap.core.records import HttpRequest, HttpResponse

MOST_SESSIONS = 4096
LONGEST_SESSION = 24 * 3600.0
MOST_SPELLINGS = 2048
MOST_IDENTITIES = 4096

_AUTHORIZATION = "authorization"
_FIELDS = {
    "user-agent": "user_agent",
    _AUTHORIZATION: _AUTHORIZATION,
    spec.HEADER_SESSION: "session_id",
    spec.HEADER_VERSION: "version",
    spec.HEADER_LAST_EVENT: "last_event",
    spec.HEADER_METHOD: "method_header",
    spec.HEADER_NAME: "name_header",
}


class Who:
    """Tells clients, sessions and eras apart."""

    def __init__(self) -> None:
        self._sessions: Bounded[str, Session] = Bounded(MOST_SESSIONS, LONGEST_SESSION)
        self._identities: dict[tuple[str | None, ...], Identity] = {}
        self._keys: dict[ClientKey, ClientKey] = {}
        self._settled: dict[tuple[str | None, ...], tuple[ClientKey, Identity]] = {}
        """Who a request without a session is from, by all that tells."""
        self._names: dict[tuple[Any, Any], str] = {}
        self._spellings: dict[str, str] = {}

    @property
    def retired(self) -> int:
        """Sessions that were let go."""
        return self._sessions.retired

    def expire(self, now: float) -> None:
        """Let go of what is too old."""
        self._sessions.expire(now)

    def tracks(self) -> list[Track]:
        """Give the calls in progress in sessions."""
        return [track for session in self._sessions.values() for track in session.active]

    def arrive(self, record: HttpRequest) -> Live:
        """Open an exchange from the head of its request."""
        exchange = Exchange(
            number=record.exchange,
            t=record.t,
            conn=record.conn,
            verb=record.method,
            path=record.path,
            request_seq=record.seq,
        )
        spellings = self._spellings
        found: dict[str, Any] = {}
        for name, value in record.headers:
            what = spellings.get(name)
            if what is None:
                what = self._spell(name)
            if what and what not in found:
                found[what] = value
        credential = found.pop(_AUTHORIZATION, None)
        live = Live(exchange=exchange, peer=record.peer, **found)
        if credential is not None:
            self._credential(live, record)
        return live

    def identify(self, live: Live, version: str | None, info: Any, t: float) -> None:
        """Settle who a request is from, once its message (or the lack of one) is known.

        Args:
            live: its exchange.
            version: the revision its body declares.
            info: its clientInfo, whatever it looks like.
            t: time of the message.
        """
        exchange = live.exchange
        declared = version or live.version
        name = self._name(info) if info is not None else None
        exchange.version = declared
        if live.session is not None or live.session_id:
            self._in_session(live, declared, name, t)
            return
        exchange.era = _era_of(declared)
        key = (name, live.user_agent, live.peer, live.credential, live.principal)
        settled = self._settled.get(key)
        if settled is None:
            client = self._client(live, name)
            settled = client, self._identity(live, name, None)
            self._settled[key] = settled
        live.client, exchange.identity = settled

    def _in_session(self, live: Live, declared: str | None, name: str | None, t: float) -> None:
        """Settle who a request is from that may belong to a session."""
        exchange = live.exchange
        era = _era_of(declared)
        session = live.session
        if live.session_id and era != "stateless":
            live.session = session = self._session(live.session_id, t)
        if session is not None and era != "stateless":
            name = name or session.client
            if era == "unknown" and session.version is not None:
                era = "session"
                exchange.version = declared or session.version
        exchange.era = era
        live.client = self._client(live, name)
        exchange.identity = self._identity(live, name, session)

    def opened(self, live: Live, version: str | None, session_id: str | None, t: float) -> None:
        """Take note that `initialize` was answered, and with which session and revision."""
        exchange = live.exchange
        if version is not None:
            exchange.version = version
        if not session_id:
            return
        session = self._session(session_id, t)
        session.version = version or exchange.version
        session.client = exchange.identity.name
        live.session_id = session_id
        exchange.identity = self._identity(live, session.client, session)

    def closed(self, session_id: str) -> Session | None:
        """Take note that a session was ended by its client."""
        session = self._sessions.pop(session_id)
        if session is not None:
            session.ended = True
        return session

    def _session(self, session_id: str, t: float) -> Session:
        session = self._sessions.get(session_id)
        if session is None:
            session = Session(id=session_id)
        self._sessions.put(session_id, session, t)
        return session

    def _client(self, live: Live, name: str | None) -> ClientKey:
        """Give the one key that is kept of a client, which is compared a lot."""
        key = (name, live.user_agent, live.peer)
        return self._keys.setdefault(key, key)

    def _identity(self, live: Live, name: str | None, session: Session | None) -> Identity:
        key = (
            name,
            live.user_agent,
            live.peer,
            session.id if session is not None and live.session_id is not None else None,
            live.credential,
            live.principal,
        )
        found = self._identities.get(key)
        if found is None:
            if len(self._identities) >= MOST_IDENTITIES:
                self._identities.clear()
                self._keys.clear()
                self._settled.clear()
            found = self._identities[key] = Identity(*key)
        return found

    def _name(self, info: Any) -> str | None:
        if type(info) is not dict:
            return None
        name, version = info.get("name"), info.get("version")
        if type(name) is not str:
            return None
        if type(version) is not str:
            version = ""
        found = self._names.get((name, version))
        if found is None:
            if len(self._names) >= MOST_IDENTITIES:
                self._names.clear()
            found = self._names[name, version] = f"{name}/{version}" if version else name
        return found

    def _spell(self, name: str) -> str:
        if len(self._spellings) >= MOST_SPELLINGS:
            self._spellings.clear()
        what = self._spellings[name] = _FIELDS.get(name.lower(), "")
        return what

    def _credential(self, live: Live, record: HttpRequest) -> None:
        index, value = [
            (index, value)
            for index, (name, value) in enumerate(record.headers)
            if name.lower() == _AUTHORIZATION
        ][-1]
        at = f"/headers/{index}/1"
        for mask in record.masked:
            if mask.at == at:
                live.credential, live.principal = mask.tag, mask.principal
                return
        # Not masked, by the user's own wish: still not a value to hand around.
        live.credential = sha256(value.encode(errors="surrogatepass")).hexdigest()[:16]


def _era_of(declared: str | None) -> Era:
    if declared == spec.STATELESS_SINCE:
        return "stateless"
    return spec.era_of(declared) if declared else "unknown"


def response_facts(live: Live, record: HttpResponse) -> None:
    """Take from the head of a response what linking needs."""
    exchange = live.exchange
    exchange.status = record.status
    if record.status >= 300:
        live.reason = record.reason
    exchange.first_byte = record.t
    exchange.from_tap = record.sender == "tap"
    exchange.content_type = header(record.headers, "content-type")
    if live.round is not None:
        live.round.status = record.status
    if exchange.method == spec.INITIALIZE:
        live.new_session = header(record.headers, spec.HEADER_SESSION)


def words(parts: Sequence[str | None]) -> str | None:
    """Give the first of several names that is one."""
    return next((part for part in parts if part), None)
