"""An exchange as rules see it: heads, the request, what has come back, and whose it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from msgspec import Struct

from mcp_tap.core.facts.message import NONE
from mcp_tap.core.spec import CLIENT_CAPABILITIES, INITIALIZE, REVISIONS, STATELESS_SINCE

if TYPE_CHECKING:
    from mcp_tap.core.facts.ask import Answer
    from mcp_tap.core.facts.cancelled import Sent
    from mcp_tap.core.facts.message import Message
    from mcp_tap.core.facts.progress import Token
    from mcp_tap.core.facts.retry import Retry
    from mcp_tap.core.facts.seen import Seen
    from mcp_tap.core.facts.steady import Known, Reply
    from mcp_tap.core.model import Call, Exchange, Round
    from mcp_tap.core.records import Body, Closed, Headers, HttpRequest, HttpResponse
    from mcp_tap.core.records import Message as MessageRecord

Band: TypeAlias = Literal["2026-07-28", "2025-11-25", "2025-06-18", "other", "ambiguous"]
"""The revisions rules are written for.  `2026-07-28` stands for all from then on, `other` for what
no rule is written for, `ambiguous` for where nothing was declared: only the rules of JSON-RPC
itself apply there."""

MODERN: Final = "2026-07-28"


def band_of(version: str | None) -> Band:
    """Say which rules hold for a revision; None where none was declared."""
    if version is None:
        return "ambiguous"
    found = _BANDS.get(version)
    if found is not None:
        return found
    if version in REVISIONS or len(version) != len(STATELESS_SINCE):
        return "other"
    return MODERN if version > STATELESS_SINCE and version[:2] == "20" else "other"


_BANDS: Final[dict[str, Band]] = {
    MODERN: MODERN,
    "2025-11-25": "2025-11-25",
    "2025-06-18": "2025-06-18",
}


class Flow(Struct, eq=False, weakref=True):
    """One exchange, and what it takes to judge its messages."""

    exchange: Exchange
    """As the correlator knows it."""
    seen: Seen
    """What its client has shown so far."""
    http: bool
    """It passed over HTTP, not over stdio."""
    upstream: str
    """URL of the server, or its command line."""
    call: Call | None = None
    """The call it belongs to, where it belongs to one."""
    round: Round | None = None
    """The round it is, where it is one."""
    credential: str | None = None
    """Tag of its Authorization value."""
    principal: str | None = None
    """Tag of the person or service its JWT or Basic credential names."""
    is_endpoint: bool = True
    """It went to the MCP endpoint, not to another path of its origin."""
    head: HttpRequest | None = None
    """Head of the request; None on stdio."""
    reply: HttpResponse | None = None
    """Head of the response, once it has come."""
    sent: Message | None = None
    """The client's message, whatever it is."""
    request: Message | None = None
    """The client's message, where it is a JSON-RPC request."""
    response: Message | None = None
    """The first response to the request."""
    retry: Retry | None = None
    """The client's message as the answer to a round, where it is linked to one."""
    upstream_meta: dict[str, Any] | None = None
    """`_meta` of its request as it went upstream, where the tap changed that."""
    closed: Closed | None = None
    """How it ended, once it has; None on stdio."""
    known: Known | None = None
    """What its request is equal to, as far as steady rules look at it."""
    reply_known: Reply | None = None
    """The same of the head of the response."""
    spent: bool = False
    """It held too much and had to let go of it: memory still learns from it, no rule looks."""
    asked: Sent | None = None
    """What is remembered of its request when all else is let go."""
    token: Token | None = None
    """Progress token of its request."""
    small: bool = False
    """What it holds is so little that it is not weighed."""
    answered: bool = False
    """A response with the id of its request has come."""
    settled: bool = False
    """Its response is equal to one in which steady rules found nothing."""
    event_fields: bool = False
    """Events without data gave an id, or a time to reconnect."""
    responses: int = 0
    """Responses that have come in it."""
    band: Band = "ambiguous"
    """The rules that hold for it."""
    answers: tuple[Answer, ...] = ()
    """Answers given for its request that no further ask has followed: those a retry carries,
    or those to pushed asks.  The first hundred."""
    asks: bool = False
    """Something in it asks, so an answer may come when it is long over."""
    memo: dict[str, Any] = {}
    """For rules and memory: what they worked out for this exchange alone, by their own name."""
    _fields: dict[str, list[str]] | None = None
    _reply_fields: dict[str, list[str]] | None = None

    def release(self) -> None:
        """Let go of its messages, which name it as it names them; asks still need theirs."""
        self.answers = ()
        if not self.asks:
            self.sent = self.request = self.response = self.retry = None

    def let_go(self) -> None:
        """Let go of all it holds, for good."""
        self.spent = True
        self.answers, self.memo = (), {}
        self.sent = self.request = self.response = self.retry = None
        self.known = self.reply_known = self.head = self.reply = None
        self._fields = self._reply_fields = None

    @property
    def modern(self) -> bool:
        """Its revision is 2026-07-28 or later."""
        return self.band == MODERN

    @property
    def version(self) -> str | None:
        """The revision it declared, the body before the head, or its session settled on."""
        return self.exchange.version

    @property
    def capabilities(self) -> dict[str, Any] | None:
        """What its client can do: declared in its request, or by `initialize` in older sessions.

        As the server was told: the tap may have declared more.  None where nothing (usable) was
        declared.
        """
        if self.band != MODERN:
            return self.seen.session.capabilities
        meta = self.upstream_meta
        if meta is None:
            if self.request is None:
                return None
            meta = self.request.meta
        found = meta.get(CLIENT_CAPABILITIES)
        return found if type(found) is dict else None

    @property
    def extensions(self) -> dict[str, Any]:
        """Extensions its client can do, as far as `capabilities` tells; mostly there are none."""
        declared = self.capabilities
        found = declared.get("extensions") if declared is not None else None
        return found if type(found) is dict else NONE

    def went_instead(self, record: MessageRecord | Body, value: Any) -> None:
        """Take note of a request that went upstream in the place of the client's own."""
        if record.leg == "upstream":
            params = value.get("params") if type(value) is dict else None
            meta = params.get("_meta") if type(params) is dict else None
            if type(meta) is dict:
                self.upstream_meta = meta
            if type(params) is dict and self.exchange.method == INITIALIZE:
                self.seen.session.instead(params.get("capabilities"))

    @property
    def fields(self) -> dict[str, list[str]]:
        """Header fields of the request, by lower-case name."""
        if self._fields is None:
            self._fields = _by_name(self.head.headers) if self.head is not None else NONE
        return self._fields

    @property
    def reply_fields(self) -> dict[str, list[str]]:
        """Header fields of the response, by lower-case name."""
        if self._reply_fields is None:
            if self.reply is None:
                return NONE
            self._reply_fields = _by_name(self.reply.headers)
        return self._reply_fields

    def header(self, name: str) -> str | None:
        """Give the first value of a request's field, blanks around it taken off.

        Args:
            name: in lower case.
        """
        values = self.fields.get(name)
        return None if values is None else values[0]

    def reply_header(self, name: str) -> str | None:
        """Give the first value of a response's field, blanks around it taken off."""
        values = self.reply_fields.get(name)
        return None if values is None else values[0]

    @property
    def status(self) -> int | None:
        """HTTP status of the response."""
        return None if self.reply is None else self.reply.status

    @property
    def streams(self) -> bool:
        """The response is an event stream."""
        kind = self.reply_header("content-type")
        return kind is not None and kind.lower().startswith("text/event-stream")


def _by_name(headers: Headers) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in headers:
        key = name.lower()
        if key in found:
            found[key].append(value.strip(" \t"))
        else:
            found[key] = [value.strip(" \t")]
    return found
