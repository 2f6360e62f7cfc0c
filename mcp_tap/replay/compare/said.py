"""What a call said, in structs small enough to be made of a recorded call or of one just made.

What never means the same in two runs is not in here: ids, states, progress tokens.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from mcp_tap.core.finding import Severity
from mcp_tap.core.model import AskKind, CallKind, Outcome

Steps: TypeAlias = tuple[Any, ...]
"""Keys and indexes that lead to a value in a message."""

End: TypeAlias = Literal["result", "error", "asks", "task", "none"]
"""What a round came to.  `task`: the server made a task of it; `none`: no response was seen."""


class SaidAnswer(Struct, frozen=True, kw_only=True):
    """What an ask was answered with."""

    value: Any
    """`{action, content}`, or the result of sampling and roots; an error's object."""
    at: Steps
    """Where in its message it stands."""
    error: bool = False
    """It is a JSON-RPC error in place of an answer."""


class SaidAsk(Struct, frozen=True, kw_only=True):
    """One thing a server asked for."""

    key: str
    """Key in `inputRequests`; empty where it was a request of its own (session era)."""
    method: str
    kind: AskKind
    params: dict[str, Any]
    """Without `mode`, which `kind` tells."""
    at: Steps
    """Where in its message `params` stands."""
    answer: SaidAnswer | None = None


class SaidNote(Struct, frozen=True, kw_only=True):
    """A notification."""

    method: str
    params: dict[str, Any]


class SaidRound(Struct, frozen=True, kw_only=True):
    """Step n of a call."""

    number: int
    asks: tuple[SaidAsk, ...] = ()
    notes: tuple[SaidNote, ...] = ()
    """What the server notified of, in order."""
    end: End = "none"
    said: Any = None
    """Its result without asks and state, or its error's object; None where neither came."""
    at: Steps = ("result",)
    """Where in its message that stands."""
    status: int | None = None
    """HTTP status."""
    has_state: bool = False
    """Its result issued a `requestState`."""
    cut: str | None = None
    """SHA-256 of its response, where that was longer than the record cap."""
    took: float | None = None
    """Seconds from its request to its response, or to the ask that ended it."""


class SaidFinding(Struct, frozen=True, kw_only=True):
    """What a rule found, as far as it stays the same when a run is recorded anew."""

    rule: str
    name: str
    severity: Severity
    spot: str
    message: str
    method: str | None = None
    round: int | None = None
    path: str = ""


class SaidCall(Struct, frozen=True, kw_only=True):
    """A call, or another request, of one round."""

    number: int
    """As in `show`."""
    method: str
    target: str | None
    params: dict[str, Any]
    """Those of its first request that tell it from others."""
    rounds: tuple[SaidRound, ...]
    kind: CallKind = "call"
    outcome: Outcome = "ok"
    findings: tuple[SaidFinding, ...] = ()

    @property
    def server_s(self) -> float:
        """Seconds the server took over all rounds."""
        return sum(round_.took or 0.0 for round_ in self.rounds)
