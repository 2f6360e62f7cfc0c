"""What the correlator remembers of things in motion.

`Exchange`, `Round` and `Call` are for everyone; these are for the correlator alone, so that what it
needs to know does not end up in what views and rules see.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from msgspec import Struct, field

from mcp_tap.core.linking.active import Active
from mcp_tap.core.model import Ask, Call, Exchange, Round

if TYPE_CHECKING:
    from mcp_tap.core.facts.flow import Flow
    from mcp_tap.core.facts.message import Message
    from mcp_tap.core.facts.retry import Asking
    from mcp_tap.core.records import HttpRequest

Change: TypeAlias = Call | Exchange
"""What a record changed: a call, or an exchange that belongs to no call."""

ClientKey: TypeAlias = tuple[str | None, str | None, str | None]
"""clientInfo as `NAME/VERSION`, User-Agent, peer address: what rounds are compared within."""

Target: TypeAlias = tuple[ClientKey, str, str | None]
"""A client, a method, and the tool, prompt or resource it names."""

Ball: TypeAlias = Literal["server", "client"]
"""Whose turn it is."""

MOST_ASKED = 64
"""Asks kept that came on the stream of another exchange."""

MOST_ROUNDS = 1000
"""Rounds kept of one call; beyond it, the oldest but the first are let go."""

NOBODY: ClientKey = (None, None, None)


class Session(Struct, eq=False, kw_only=True):
    """A session of the session era, as far as it is known."""

    id: str
    version: str | None = None
    """Revision that `initialize` settled on; None when that was not seen."""
    client: str | None = None
    ended: bool = False
    active: Active = field(default_factory=Active)
    """Calls of the session that have not ended."""


class Track(Struct, eq=False, kw_only=True):
    """A call, and what it takes to follow it."""

    call: Call
    client: ClientKey
    ball: Ball
    since: float
    """`t` up to which the time of the call is accounted for."""
    session: Session | None = None
    origin: Live | None = None
    """Its first exchange; session-era rounds all belong to that one."""
    unlinked: bool = False
    """It began with a retry of no known call."""
    done: bool = False
    """A final result has come: nothing opens it again."""
    flying: int = 0
    """Its exchanges that still lack a response."""
    pending: list[Pending] = field(default_factory=list)
    asked: dict[str, Ask] = field(default_factory=dict)
    """Unanswered asks of a server-sent request or of a task, by key."""
    known: frozenset[str] = frozenset()
    """Every key asked by its `input_required` results."""
    task_keys: set[str] = field(default_factory=set)
    """Every key asked by its task."""
    first: Message | None = None
    """The request it began with, for whoever judges; linking does not look at it."""


class Live(Struct, eq=False, kw_only=True):
    """An exchange that has not been closed yet."""

    exchange: Exchange
    user_agent: str | None = None
    peer: str | None = None
    session_id: str | None = None
    version: str | None = None
    """Revision its header declares."""
    credential: str | None = None
    principal: str | None = None
    last_event: str | None = None
    method_header: str | None = None
    name_header: str | None = None
    client: ClientKey = NOBODY
    session: Session | None = None
    track: Track | None = None
    round: Round | None = None
    retries: list[Pending] = field(default_factory=list)
    """The round its request answers, or all that it may answer."""
    poll: str | None = None
    """The tasks/* method, where it is about the task of a known call."""
    resumes: bool = False
    """A GET that takes up the broken stream of a call."""
    token: tuple[bool, str] | None = None
    """Progress token of its request, where nothing else tells whose progress a line is (stdio)."""
    new_session: str | None = None
    """Mcp-Session-Id of its response."""
    event_id: str | None = None
    """Last SSE event id its client has seen in it."""
    asked: dict[str, Track] | None = None
    """Calls of other exchanges whose asks came on its stream, by key, until it is decided of them;
    the newest."""
    reason: str = ""
    """Reason phrase of a response that is not 2xx."""
    said: str = ""
    """Beginning of a response body that is no JSON-RPC message."""
    head: HttpRequest | None = None
    """Head of its request, for whoever judges."""
    flow: Flow | None = None
    """What judging knows of it; linking does not look at it."""


class Pending(Struct, eq=False, kw_only=True):
    """A delivered `input_required`: what a retry has to fit."""

    serial: int
    target: Target
    track: Track
    round: Round
    state: str | None
    keys: frozenset[str]
    known: frozenset[str]
    """Keys asked in the call so far, these included: a client may repeat older answers."""
    arguments: Any
    sum: bytes | None
    """Digest of the arguments; None where there can be none."""
    principal: str | None
    size: int = 0
    """Bytes of the round when it was issued."""
    answered: bool = False
    """It is not open: a retry was linked to it, or as many as there were rounds may have been."""
    linked: bool = False
    asking: Asking | None = None
    """What judging knows of it; linking does not look at it."""


class Ghost(Struct, eq=False):
    """A round of a finished call."""

    state: str | None
    keys: frozenset[str]
    arguments: Any
