"""The document of `check -f json`: a versioned contract, told by the structs of this file.

Adding fields keeps `VERSION`; renaming, removing or changing the meaning of one does not.  The
schema in docs/check.schema.json and the tables of docs/check-json.md are made from these structs.
"""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from mcp_tap.core.finding import Blame, Level, Severity
from mcp_tap.views.show_doc import CaptureDoc

VERSION: Final = 1


class CheckFindingDoc(Struct, frozen=True, kw_only=True):
    """Something a rule found that no exception covers, or an assertion that does not hold."""

    rule: str
    """Id of the rule; of an assertion its option (`expect`, `forbid`, `expect-max-rounds`,
    `max-server-time`, `expect-asks`)."""
    name: str
    """Name of the rule; of an assertion the option again."""
    severity: Severity
    """How bad it is, by the rule or the policy; a failed assertion is an `error`."""
    level: Level
    """The specification's word for what was broken; `heuristic`: it has none."""
    blame: Blame
    """Whose fault it is."""
    message: str
    """What happened, in one sentence; it holds no secret."""
    capture: str | None
    """File it stands in; null for standard input, and where it is about no capture."""
    line: int | None
    """Line of that file; null where it is about no record."""
    seq: int
    """Number of the record it is about; 0 where it is about none."""
    call: int | None
    """Number of the call within its run."""
    round: int | None
    """Round of the call."""
    exchange: int | None
    """Number of the exchange within its run."""
    path: str
    """JSON pointer into the message; empty for the message as a whole."""
    server: str | None
    """The run's label, else the server's own name, else its host."""
    method: str | None
    """JSON-RPC method."""
    target: str | None
    """Tool or prompt name, or resource URI."""
    spot: str
    """Header, key or field it is about: stays the same when the run is recorded anew.  With `rule`,
    `server`, `method` and `target` it is what a line of a baseline matches."""
    spec: str | None
    """The passage of the specification; null where there is none."""
    help: str
    """What the rule finds, and the command that says more."""


class CheckSummaryDoc(Struct, frozen=True, kw_only=True):
    """How many there are of each."""

    error: int
    """Findings that are errors, failed assertions among them."""
    warning: int
    """Findings that are warnings."""
    note: int
    """Findings that are notes."""
    suppressed: int
    """Findings left out because a suppression covers them."""
    baselined: int
    """Findings left out because the baseline has them."""


class CheckDoc(Struct, frozen=True, kw_only=True):
    """The whole document."""

    version: Literal[1]
    """Of this contract."""
    captures: list[CaptureDoc]
    """What was judged, in the order it was given."""
    findings: list[CheckFindingDoc]
    """What counts, in the order of captures and records; what is about no capture is last."""
    summary: CheckSummaryDoc
    """Counts."""
