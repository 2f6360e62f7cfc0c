"""What a test sees of its traffic: calls, rounds, asks, findings.

These are copies, made when they are asked for: a test can hold on to them, and nothing changes in
them while it looks.  Their fields are part of the interface; new ones may come.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from typing import Any, Literal, overload

from msgspec import Struct

from mcp_tap.core import model
from mcp_tap.core.filters import parse
from mcp_tap.core.finding import Blame, Level, Severity
from mcp_tap.core.finding import Finding as FoundFinding
from mcp_tap.core.model import AskKind, Echo, Era, Link, Outcome


class Finding(Struct, frozen=True, kw_only=True):
    """One thing one rule found."""

    rule: str
    """Id of the rule: `MRTR-016`."""
    name: str
    """Name of the rule: `retry-state-modified`."""
    severity: Severity
    level: Level
    """The specification's word for what was broken."""
    blame: Blame
    """Whose bug it is."""
    message: str
    call: int | None
    """Number of the call, where it is about one."""
    round: int | None
    exchange: int | None
    path: str
    """JSON pointer into the message; empty where it is about the message as a whole."""
    spot: str
    """Header, key or field it is about."""


class Ask(Struct, frozen=True, kw_only=True):
    """One thing the server asked, and the answer to it."""

    key: str
    """Key in `inputRequests`; of a server-sent request (to 2025-11-25) its id, as text."""
    kind: AskKind
    method: str
    message: str | None
    """The text a person would be shown."""
    params: dict[str, Any]
    action: str | None
    """`accept`, `decline`, `cancel`; `answered` (sampling, roots); `error`; None: no answer."""
    content: dict[str, Any] | None
    """What was filled in."""
    answer: Any
    """The whole answer."""
    answered_by: Literal["client", "tap", "none"]
    entry: str | None
    """Name of the script entry that answered."""


class Round(Struct, frozen=True, kw_only=True):
    """One request of a call and what came of it."""

    number: int
    outcome: str
    """`input_required` (also where a server of an older revision asked by a request of its own),
    `complete`, `task`, another `resultType` as the server wrote it, `error`, or `open`."""
    asks: dict[str, Ask]
    """By key."""
    link: Link
    """Evidence that ties it to the round before; `none` on a first round."""
    echo: Echo
    """How the next round sent the state issued here."""
    status: int | None
    """HTTP status."""
    by_tap: bool
    """The tap sent its request, with answers of a script."""


class Call(Struct, frozen=True, kw_only=True):
    """What the client meant: one or more rounds, linked by evidence."""

    number: int
    """As `mcp-tap show` numbers it."""
    method: str
    name: str | None
    """Tool or prompt name, or resource URI."""
    arguments: Any
    """Of its first request."""
    outcome: Outcome
    """`open`, `waiting`, `ok`, `error`, `cancelled`, `unlinked`."""
    rounds: list[Round]
    era: Era
    """`stateless` (2026-07-28 on) or `session`."""
    error: str | None
    """What went wrong, as the last round says."""
    error_code: int | str | None
    duration: float | None
    """Seconds; None while it runs."""
    findings: list[Finding]

    @property
    def outcomes(self) -> list[str]:
        """Outcome of each round, in order."""
        return [each.outcome for each in self.rounds]

    @property
    def asks(self) -> list[Ask]:
        """All that was asked, in order."""
        return [ask for each in self.rounds for ask in each.asks.values()]

    @property
    def tool(self) -> str | None:
        """Name of the tool, where it is a tool's call."""
        return self.name if self.method == "tools/call" else None


class Calls(Sequence[Call]):
    """Calls in the order in which they began."""

    def __init__(self, calls: Iterable[model.Call]) -> None:
        """Copy what was seen."""
        self._seen = list(calls)
        self._calls = [call_of(seen) for seen in self._seen]

    @overload
    def __getitem__(self, at: int) -> Call: ...
    @overload
    def __getitem__(self, at: slice) -> list[Call]: ...
    def __getitem__(self, at: int | slice) -> Call | list[Call]:
        return self._calls[at]

    def __len__(self) -> int:
        return len(self._calls)

    def __iter__(self) -> Iterator[Call]:
        return iter(self._calls)

    def __repr__(self) -> str:
        return f"<{len(self)} calls: {self._listed()}>" if self else "<no calls>"

    def where(
        self,
        filter: str = "",  # noqa: A002 - what it is
        *,
        tool: str | None = None,
        method: str | None = None,
    ) -> list[Call]:
        """Give those that match.

        Args:
            filter: in the filter language of `mcp-tap show`: `state:error round:>=2`.
            tool: name of a tool, exactly.
            method: JSON-RPC method, exactly.

        Raises:
            UsageError: the text is no filter.
        """
        wanted = parse(filter)
        return [
            call
            for call, seen in zip(self._calls, self._seen, strict=True)
            if (tool is None or call.tool == tool)
            and (method is None or call.method == method)
            and wanted.matches(seen)
        ]

    def one(
        self,
        filter: str = "",  # noqa: A002 - what it is
        *,
        tool: str | None = None,
        method: str | None = None,
    ) -> Call:
        """Give the one that matches; arguments as in `where`.

        Raises:
            AssertionError: none does, or several do.
        """
        __tracebackhide__ = True
        found = self.where(filter, tool=tool, method=method)
        if len(found) == 1:
            return found[0]
        wanted = [filter, f"tool {tool}" if tool else "", f"method {method}" if method else ""]
        words = ", ".join(filter_ for filter_ in wanted if filter_) or "any"
        count = f"{len(found)} calls match" if found else "no call matches"
        raise AssertionError(f"{count} ({words}); there are: {self._listed() or 'none'}")

    def _listed(self) -> str:
        names = [f"#{c.number} {c.method} {c.name or ''}".rstrip() for c in self._calls]
        return ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")


def call_of(call: model.Call) -> Call:
    """Copy a call as it stands."""
    fault = call.fault
    return Call(
        number=call.number,
        method=call.method,
        name=call.name,
        arguments=deepcopy(call.rounds[0].arguments) if call.rounds else None,
        outcome=call.outcome,
        rounds=[_round(each) for each in call.rounds],
        era=call.era,
        error=fault.message if fault else call.why,
        error_code=fault.code if fault else None,
        duration=call.duration(),
        findings=[finding_of(finding) for finding in call.findings],
    )


def finding_of(finding: FoundFinding) -> Finding:
    """Copy a finding."""
    return Finding(**{name: getattr(finding, name) for name in Finding.__struct_fields__})


def _round(seen: model.Round) -> Round:
    return Round(
        number=seen.number,
        outcome=_outcome(seen),
        asks={ask.key: _ask(ask) for ask in seen.asks},
        link=seen.link,
        echo=seen.echo,
        status=seen.status,
        by_tap=seen.by_tap,
    )


def _outcome(seen: model.Round) -> str:
    if seen.fault is not None:
        return "error"
    if seen.asks:
        return "input_required"
    if seen.result_type is not None:
        return seen.result_type
    return "open" if seen.result is None else "complete"


def _ask(ask: model.Ask) -> Ask:
    content = ask.answer.get("content") if isinstance(ask.answer, dict) else None
    return Ask(
        key=ask.key,
        kind=ask.kind,
        method=ask.method,
        message=ask.message,
        params=deepcopy(ask.params),
        action=ask.action,
        content=deepcopy(content) if isinstance(content, dict) else None,
        answer=deepcopy(ask.answer),
        answered_by=ask.answered_by,
        entry=ask.entry,
    )
