"""What was recorded, as far as it can be served or sent again: runs, exchanges, calls, rounds.

Bodies are not in here: a record is named by its `seq`, and read again when it is wanted.
"""

from __future__ import annotations

from array import array
from typing import Final, Literal, TypeAlias

from msgspec import Struct, field

from mcp_tap.core.model import AskKind, CallKind, Era, Link, Outcome
from mcp_tap.core.records import Header, How
from mcp_tap.replay.source import Source

ExchangeKind: TypeAlias = Literal["request", "notification", "response", "http", "broken"]


class RecordedExchange(Struct, kw_only=True, eq=False, gc=False):
    """One request and what ended it; on stdio one line of a client and the lines it is answered by.

    A line of a stdio server that belongs to no request is an exchange too: of kind `http`, without
    a `verb`.
    """

    capture: int
    """Index in `Index.captures`."""
    number: int
    """As in `show`."""
    t: float
    end: float | None = None
    how: How | None = None
    """None: the run ended before it did."""
    kind: ExchangeKind = "http"
    """What the client sent in it."""
    verb: str = ""
    """HTTP method; empty on stdio."""
    path: str = ""
    """Request target; empty on stdio."""
    method: str | None = None
    target: str | None = None
    """Tool or prompt name, resource URI, task id."""
    era: Era = "unknown"
    session: str | None = None
    """Mcp-Session-Id it was sent in, or that its response opened."""
    status: int | None = None
    by_tap: bool = False
    """The tap sent it on its own: it is on the upstream leg only."""
    plain: bool = False
    """It is stateless and has five records: head and message of the request, head and message of a
    response that is the final result, and the end."""
    key: bytes | None = None
    """Of a request: digest of method, target and arguments, by which calls are matched; None where
    something in these was masked or not recorded, so that they have to be compared."""
    seqs: array[int] = field(default_factory=lambda: array("Q"))
    """`seq` of each of its records, in order."""


class RecordedAsk(Struct, kw_only=True, eq=False, gc=False):
    """One thing that was asked, and how it was answered."""

    kind: AskKind
    method: str
    seq: int
    """Record that asked."""
    pushed: bool = False
    """It was a request of its own (session era)."""
    action: str | None = None
    """`accept`, `decline`, `cancel`, `answered`, `error`; None: it was not answered."""
    by: Literal["client", "tap", "none"] = "none"
    answer_seq: int | None = None
    """Record that answered."""


NO_ASKS: Final[dict[str, RecordedAsk]] = {}
"""What most rounds ask."""


class RecordedRound(Struct, kw_only=True, eq=False, gc=False):
    """Step n of a call."""

    number: int
    exchange: RecordedExchange
    asks: dict[str, RecordedAsk]
    """By key: that of `inputRequests`, or of a pushed ask its JSON-RPC id as text."""
    link: Link = "none"
    answers_round: int | None = None
    by_tap: bool = False
    """The tap sent its request: a client saw no such round."""
    result_type: str | None = None
    retry: bool = False
    """Its request carried a state or answers."""
    sent: str | bytes | None = None
    """State its request carried; a long one as its digest (`core.values.short`)."""
    state: str | bytes | None = None
    """State its result issued, likewise."""
    candidates: tuple[int, ...] = ()
    """Calls it may belong to, where nothing tells which (`link` is `ambiguous`)."""
    request_seq: int
    response_seq: int | None = None
    """Record of the response that ended it, or of the ask that did."""

    @property
    def has_state(self) -> bool:
        """Its result issued a state."""
        return self.state is not None

    @property
    def answered_by(self) -> Literal["client", "tap", "none"]:
        """Who answered what it asked."""
        return next((ask.by for ask in self.asks.values() if ask.by != "none"), "none")


class RecordedCall(Struct, kw_only=True, eq=False, gc=False):
    """What the user meant: a call of one or more rounds, or another request, of one."""

    capture: int
    """Index in `Index.captures`."""
    number: int
    """As in `show`."""
    method: str
    target: str | None
    kind: CallKind = "call"
    era: Era
    version: str | None
    outcome: Outcome
    t: float
    end: float | None
    server: str | None
    key: bytes | None
    """That of its first exchange."""
    rounds: tuple[RecordedRound, ...]
    task_seq: int | None = None
    """Record of its task's terminal status, where the server made a task of it."""
    others: tuple[int, ...] = ()
    """Numbers of the exchanges that belong to it beside those of its rounds."""


class Captured(Struct, kw_only=True, eq=False):
    """One run."""

    source: Source
    exchanges: dict[int, RecordedExchange] = field(default_factory=dict)
    """By number, in the order in which they began."""
    eras: set[Era] = field(default_factory=set)
    masked: int = 0
    """Messages of which something in the payload was masked."""
    cut: int = 0
    """Messages that were longer than the record cap."""

    @property
    def name(self) -> str:
        """Its path; `-` for standard input."""
        return self.source.name

    @property
    def header(self) -> Header:
        """The run's header."""
        return self.source.reader.header

    @property
    def lines(self) -> int:
        """Lines of its files."""
        return self.source.reader.lines

    @property
    def lost(self) -> int:
        """Records that are missing in it."""
        return self.source.reader.lost

    @property
    def torn(self) -> bool:
        """Its last line is not whole."""
        return self.source.reader.torn is not None
