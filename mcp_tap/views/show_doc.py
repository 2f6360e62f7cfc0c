"""The document of `show -f json`: a versioned contract, told by the structs of this file.

Adding fields keeps `VERSION`; renaming, removing or changing the meaning of one does not.  The
schema in docs/show.schema.json and the tables of docs/show-json.md are made from these structs.
No `requestState` is in it, only its size and SHA-256.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from msgspec import Struct

from mcp_tap.core.finding import Blame, Level, Severity
from mcp_tap.core.model import AskKind, CallKind, Echo, Era, Link, Outcome
from mcp_tap.core.records import How, Sender

VERSION: Final = 1


class AskDoc(Struct, frozen=True, kw_only=True):
    """One thing the server asked for, in the round that asked."""

    key: str
    """Key in `inputRequests`; of a server-sent request its JSON-RPC id, as text."""
    kind: AskKind
    """What it asks for: a form, a visit to a URL, sampling, roots, or something else."""
    method: str
    """`elicitation/create`, `sampling/createMessage`, `roots/list`."""
    mode: str | None
    """`form` or `url` for elicitation, null otherwise."""
    message: str | None
    """The text a person is shown, where there is one."""
    action: str | None
    """The answer given: `accept`, `decline`, `cancel`, `answered` (sampling, roots), `error` (a
    JSON-RPC error in place of one); null while none came."""
    answered_by: Literal["client", "tap", "none"]
    """Who wrote the answer; `none` while none came."""
    entry: str | None
    """Name of the script entry that answered."""
    waited_ms: float | None
    """From the ask to its answer."""


class StateDoc(Struct, frozen=True, kw_only=True):
    """The `requestState` a round's result issued; the value itself is never shown."""

    bytes: int
    """Its size in UTF-8; 0 where none was issued."""
    sha256: str | None
    """Of its UTF-8, in hexadecimal; null where none was issued."""
    echo: Echo
    """How the next round sent it: `same`, `changed`, `missing`, `invented` (none was issued), or
    `none` while there is nothing to compare."""


class FaultDoc(Struct, frozen=True, kw_only=True):
    """How a round went wrong."""

    code: int | str | None
    """JSON-RPC error code; `isError` for such a result; where no response came the HTTP status if
    that says failure, else how the exchange ended (`upstream_cut`); null where nothing says."""
    message: str
    """What was said."""
    sender: Sender
    """Who said so."""


class FindingDoc(Struct, frozen=True, kw_only=True):
    """Something a rule found; `mcp-tap rules RULE` prints the rule's page."""

    rule: str
    """Id of the rule."""
    name: str
    """Name of the rule."""
    severity: Severity
    """How bad it is."""
    level: Level
    """The specification's word for what was broken."""
    blame: Blame
    """Whose fault it is."""
    message: str
    """What happened."""
    seq: int
    """Number of the record it is about."""
    round: int | None
    """Round of the call; null outside of calls."""
    path: str
    """JSON pointer into the message; empty for the message as a whole."""


class BlameDoc(Struct, frozen=True, kw_only=True):
    """Whom a call that did not end well waits for, or whose fault it is."""

    party: Blame
    """`unknown` where nobody can tell."""
    waits: bool
    """The party is waited for; nothing has gone wrong yet."""
    why: str
    """In words."""


class RoundDoc(Struct, frozen=True, kw_only=True):
    """Step n of a call."""

    round: int
    """Its number within the call, from 1."""
    exchange: int
    """Number of the exchange, as in the capture's records."""
    request_id: Any
    """The JSON-RPC id, exactly."""
    status: int | None
    """HTTP status."""
    result_type: str | None
    """As the result says: `complete`, `input_required`, `task`, another word of the server; null
    while none came, and where a result names none (before 2026-07-28 none does)."""
    link: Link
    """Evidence that ties it to the round before; `none` on a first round."""
    answers_round: int | None
    """Number of the round whose asks or state it answers; null where it answers none."""
    candidates: list[int]
    """Numbers of the calls it may belong to, where the link is `ambiguous`."""
    claimants: list[int]
    """Numbers of the calls that may hold its answer, where their links are `ambiguous`."""
    request_state: StateDoc
    """The state its result issued."""
    asks: list[AskDoc]
    """What its result, or the server meanwhile, asked for."""
    fault: FaultDoc | None
    """How it went wrong; null where it did not."""
    duration_ms: float | None
    """From the moment its request had come to its result, or to the ask that ended it."""
    size: int
    """Payload bytes, both directions, as recorded."""
    by_tap: bool
    """Its request was written by the tap."""


class CallDoc(Struct, frozen=True, kw_only=True):
    """What the user meant: one or more rounds linked by evidence."""

    call: int
    """Its number within the run, from 1."""
    method: str
    """JSON-RPC method."""
    name: str | None
    """Tool or prompt name, or resource URI."""
    era: Era
    """`stateless` (2026-07-28 on), `session` (to 2025-11-25) or `unknown`."""
    version: str | None
    """Protocol revision."""
    kind: CallKind
    """`call`, or `stream` for a subscription."""
    client: str | None
    """The client's name and version, else its User-Agent."""
    server: str | None
    """The run's label, else the server's own name, else its host."""
    outcome: Outcome
    """`open` (the server has it), `waiting` (asks are unanswered), `ok`, `error`, `cancelled`, or
    `unlinked` (a retry of no known call, or answered by one of several calls, its `claimants`)."""
    why: str | None
    """What cancelled it: the client left, its session ended, the tap was stopped; null where
    nothing did, or where the server's answer says so (`fault`)."""
    task: str | None
    """taskId, where the server made a task of it."""
    started_ms: float
    """From the start of the run to the moment its first request had come."""
    duration_ms: float | None
    """From there to its end; null while it has none."""
    server_ms: float
    """Time the server took."""
    client_ms: float
    """Time the client, or a person behind it, took to answer."""
    tap_ms: float
    """Time the tap itself took."""
    fault: FaultDoc | None
    """The last round's."""
    blame: BlameDoc | None
    """Whom it waits for, or whose fault it is; null where it ended well."""
    findings: list[FindingDoc]
    """What rules found in it, at most a hundred."""
    dropped: int
    """Rounds left out of `rounds`, where there were too many to keep; the first one stays."""
    rounds: list[RoundDoc]
    """In order."""
    other_exchanges: list[int]
    """Numbers of exchanges that belong to it beside those of its rounds: answers to pushed asks, a
    stream that was taken up again, polls of its task, its cancellation."""


class ExchangeDoc(Struct, frozen=True, kw_only=True):
    """An exchange that belongs to no call: a notification, a stream, plain HTTP."""

    number: int
    """Its number, as in the capture's records."""
    verb: str
    """HTTP method; empty on stdio."""
    path: str
    """Request target."""
    kind: Literal["request", "notification", "response", "http", "broken"]
    """What the client sent; `http`: no message, `broken`: nonsense."""
    method: str | None
    """JSON-RPC method."""
    status: int | None
    """HTTP status."""
    how: How | None
    """How it ended; null while it has not."""
    why: str | None
    """The fault in words, where there was one."""
    findings: list[FindingDoc]
    """What rules found in it, at most a hundred."""
    started_ms: float
    """From the start of the run to the moment the head of its request had come."""
    duration_ms: float | None
    """From there to its end; null while it has none."""


class TornDoc(Struct, frozen=True, kw_only=True):
    """A last line that is not whole, and was skipped."""

    line: int
    """Its number within its file."""
    bytes: int
    """How much of it there is."""


class CaptureDoc(Struct, frozen=True, kw_only=True):
    """The capture all of it comes from."""

    run: str
    """Run id."""
    path: str | None
    """First file of the run; null for standard input."""
    started: str
    """Wall-clock start, RFC 3339, UTC."""
    tool: str
    """What recorded it."""
    transport: Literal["http", "stdio"]
    """How client and server spoke."""
    upstream: str
    """URL or command line of the server."""
    label: str | None
    """Name the user gave the server."""
    format: int
    """Version of the capture format."""
    records: int
    """Records read."""
    lost: int
    """Records that are missing."""
    torn: TornDoc | None
    """The last line, if it is not whole."""
    clean: bool
    """The run ended cleanly: a footer was read."""


class ShowDoc(Struct, frozen=True, kw_only=True):
    """The whole document."""

    version: Literal[1]
    """Of this contract."""
    capture: CaptureDoc
    """Where all of it comes from."""
    calls: list[CallDoc]
    """In the order they began."""
    exchanges: list[ExchangeDoc]
    """Those that belong to no call."""
