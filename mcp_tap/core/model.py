"""What records add up to: exchanges, rounds and calls.

Filled in by the correlator, read by rules and views, which must not change them.  All times are
the records' own `t`: seconds since the run's start.
"""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from mcp_tap.core.finding import Finding
from mcp_tap.core.records import How, Sender

Era: TypeAlias = Literal["stateless", "session", "unknown"]
"""`stateless`: revision 2026-07-28 on; `session`: to 2025-11-25; `unknown`: nothing says which."""

Outcome: TypeAlias = Literal["open", "waiting", "ok", "error", "cancelled", "unlinked"]
"""`open`: the server has it; `waiting`: asks are unanswered; `unlinked`: it retries no known call,
or was answered by one of several calls and nothing tells which."""

Link: TypeAlias = Literal["state", "keys", "params", "none", "ambiguous"]
Echo: TypeAlias = Literal["same", "changed", "missing", "invented", "none"]
AskKind: TypeAlias = Literal["form", "url", "sampling", "roots", "other"]
CallKind: TypeAlias = Literal["call", "stream"]


class Identity(Struct, frozen=True):
    """Who a client is, as far as the wire tells: state and ids are compared within one identity."""

    name: str | None = None
    """`NAME/VERSION` of clientInfo."""
    user_agent: str | None = None
    peer: str | None = None
    session: str | None = None
    """Mcp-Session-Id (session era)."""
    credential: str | None = None
    """Tag of the Authorization value."""
    principal: str | None = None
    """Tag of the person or service a JWT or Basic credential names."""


class Exchange(Struct, kw_only=True):
    """One request and what ended it; on HTTP one POST, GET or DELETE, on stdio one id."""

    number: int
    t: float
    conn: int = 0
    verb: str = ""
    """HTTP method; empty on stdio."""
    path: str = ""
    status: int | None = None
    content_type: str | None = None
    identity: Identity = Identity()
    era: Era = "unknown"
    version: str | None = None
    """Protocol revision the request declared."""
    kind: Literal["request", "notification", "response", "http", "broken"] = "http"
    """What the client sent: a request, notification, response, no message (`http`), or nonsense."""
    method: str | None = None
    """JSON-RPC method."""
    request_id: Any = None
    call: int | None = None
    """Number of the call it belongs to."""
    answered: bool = False
    """The response to the request has been seen."""
    how: How | None = None
    why: str | None = None
    request_seq: int | None = None
    response_seq: int | None = None
    sent: float | None = None
    first_byte: float | None = None
    held: float = 0.0
    end: float | None = None
    messages: int = 0
    """JSON-RPC messages the server sent in it."""
    size: int = 0
    """Bytes of the payloads seen in it so far, both directions, as recorded."""
    from_tap: bool = False
    """The answer was the tap's own."""
    findings: list[Finding] = []
    """What rules found in it, where it belongs to no call; the first hundred."""
    asks: list[Ask] = []
    """What the server asked on its stream that is for no call, or for one of several (session
    era); the first hundred."""

    @property
    def outcome(self) -> Outcome:
        """How it stands or ended, in the words calls have."""
        if self.how is None:
            return "open"
        if self.how in ("client_gone", "shutdown"):
            return "cancelled"
        return "error" if self.how != "complete" or (self.status or 0) >= 400 else "ok"


class Said(Struct, frozen=True, kw_only=True):
    """What a result said, as much of it as a line can show; all of it is in the capture."""

    text: str | None = None
    """Its beginning: the first block's text."""
    block: str | None = None
    """Kind of the first block where that is no text: `image`."""
    more: int = 0
    """Blocks beside the first."""
    unit: str = "block"
    """What they are: a `block`, `message` (of a prompt) or `content` (of a resource)."""
    words: tuple[str, ...] = ()
    """Of a result without blocks: its members, such as `7 tools`."""


class Ask(Struct, kw_only=True):
    """One thing a server asks of the client's side, and the answer to it."""

    key: str
    """Key in `inputRequests`; of a server-sent request its JSON-RPC id, as text."""
    method: str
    kind: AskKind
    params: dict[str, Any]
    seq: int
    """Record that asked."""
    t: float
    action: str | None = None
    """`accept`, `decline`, `cancel`; `answered` for sampling and roots; `error` for a JSON-RPC
    error in place of an answer; None while no answer came."""
    answer: Any = None
    answered_by: Literal["client", "tap", "none"] = "none"
    entry: str | None = None
    """Name of the script entry that answered."""
    answer_seq: int | None = None
    answer_t: float | None = None
    pushed: bool = False
    """It was sent as a request of its own, so its key is that request's id."""
    completed_t: float | None = None
    """When `notifications/elicitation/complete` named it (session era, URL mode)."""

    @property
    def message(self) -> str | None:
        """The text a person would be shown, if the ask has one."""
        message = self.params.get("message")
        return message if isinstance(message, str) else None


NO_ANSWER: Final = -31999
"""JSON-RPC error of the tap's own where asks got no answer; JSON-RPC and MCP do not reserve it."""


class Fault(Struct, frozen=True, kw_only=True):
    """How a round went wrong: a JSON-RPC error, an `isError` result or a transport failure."""

    code: int | str | None
    """JSON-RPC error code; `isError` for such a result; without a response the HTTP status where
    that says failure, else how the exchange ended (`upstream_cut`); None where nothing says."""
    message: str
    sender: Sender = "server"


class Round(Struct, kw_only=True):
    """An exchange seen as step n of a call."""

    number: int
    exchange: int
    request_id: Any
    t: float
    """When the client's message of this round was seen."""
    request_seq: int
    status: int | None = None
    result_type: str | None = None
    """`complete`, `input_required`, `task`, another word of the server; None where it said none."""
    result: Said | None = None
    """What its result said; None while none came."""
    link: Link = "none"
    """Evidence that ties this round to the one before; `none` on a first round."""
    answers_round: int | None = None
    """Number of the round whose asks or state it answers.  Mostly the one before; an earlier one
    where an answer was sent again, after an error, a lost response or an echo of an older state."""
    candidates: list[int] = []
    """Calls it may belong to, where the link is ambiguous; the newest, where they are very many."""
    claimants: tuple[int, ...] = ()
    """Calls whose first round may be the answer to this one, where that is ambiguous.  With as many
    of them as there are rounds they may answer, this round counts as answered."""
    state: str | None = None
    """requestState issued by this round's result."""
    sent_state: str | None = None
    """requestState this round's request carried."""
    echo: Echo = "none"
    """How the next round sent the state issued here."""
    asks: list[Ask] = []
    arguments: Any = None
    answers: Any = None
    """`inputResponses` of this round's request, as sent."""
    fault: Fault | None = None
    progress: int = 0
    """Progress notifications within it."""
    logs: int = 0
    """Log notifications within it."""
    response_seq: int | None = None
    end: float | None = None
    """When its response, or the ask that ended it, was seen."""
    by_tap: bool = False
    """Its request was written by the tap."""
    conn: int = 0
    """TCP connection its request came on; 0 where there is none (stdio)."""
    size: int = 0
    """Bytes of the payloads seen in it so far, both directions, as recorded."""


class Call(Struct, kw_only=True, weakref=True):
    """What the user meant: one or more rounds linked by evidence."""

    number: int
    method: str
    name: str | None
    """Tool or prompt name, or resource URI."""
    t: float
    """When its first message had come."""
    era: Era = "unknown"
    version: str | None = None
    kind: CallKind = "call"
    """`stream` for subscriptions/listen."""
    identity: Identity = Identity()
    client: str | None = None
    """Client in words: clientInfo, else User-Agent."""
    server: str | None = None
    """Server in words: label, else serverInfo name, else host."""
    outcome: Outcome = "open"
    why: str | None = None
    """Why it was cancelled, where its end was not a response."""
    rounds: list[Round] = []
    task: str | None = None
    """taskId, where the server made a task of it."""
    task_seq: int | None = None
    """Record that carried the task's terminal status."""
    dropped: int = 0
    """Rounds left out of `rounds` because there were too many to keep; the first one stays."""
    other_exchanges: tuple[int, ...] = ()
    """Exchanges that belong to it beside those of its rounds: answers to pushed asks, a stream that
    was taken up again, polls of its task, its cancellation.  The first thousand."""
    findings: list[Finding] = []
    """What rules found in it; the first hundred."""
    end: float | None = None
    server_s: float = 0.0
    client_s: float = 0.0
    tap_s: float = 0.0

    @property
    def fault(self) -> Fault | None:
        """The fault of its last round."""
        return self.rounds[-1].fault if self.rounds else None

    @property
    def size(self) -> int:
        """Bytes of the payloads of all its rounds, as recorded."""
        return sum(r.size for r in self.rounds)

    def duration(self, now: float | None = None) -> float | None:
        """Seconds from its first message to its end, or to `now` while it runs."""
        end = self.end if self.end is not None else now
        return None if end is None else max(0.0, end - self.t)
