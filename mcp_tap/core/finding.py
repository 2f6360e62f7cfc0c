"""What a rule found: one struct for every view, report and filter."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from msgspec import Struct

Severity: TypeAlias = Literal["error", "warning", "note"]
"""How bad it is, in SARIF's words."""

Level: TypeAlias = Literal["must", "should", "may", "heuristic"]
"""The specification's word for what was broken; `heuristic`: it has none, experience does."""

Blame: TypeAlias = Literal["client", "server", "tap", "unknown"]
"""Whose bug it is."""

RANK: Final[dict[Severity, int]] = {"note": 0, "warning": 1, "error": 2}
"""Severities in order, so that they can be compared."""


class Finding(Struct, frozen=True, kw_only=True):
    """One thing one rule found."""

    rule: str
    """Id of the rule."""
    name: str
    """Name of the rule."""
    severity: Severity
    level: Level
    blame: Blame
    message: str
    """What happened, in one sentence: names the party, holds no secret and no state."""
    seq: int
    """Record it is about; with several, the one that showed it."""
    t: float
    """Time of that record."""
    call: int | None = None
    round: int | None = None
    exchange: int | None = None
    path: str = ""
    """JSON pointer into the message; empty where it is about the message as a whole."""
    server: str | None = None
    method: str | None = None
    target: str | None = None
    """Tool or prompt name, or resource URI, of the call."""
    spot: str = ""
    """Header, key or field it is about: stays the same when a run is recorded anew."""
    line: int | None = None
    """Line of the capture file, where it was read from one."""
    capture: str | None = None
    """File it was read from."""
