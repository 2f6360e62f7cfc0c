"""What counts: which rules, how bad, with which exceptions, and when a run fails.

All rules always run; a policy looks at what they found, live as it comes and afterwards alike.
Exceptions that match nothing are findings themselves (TAP-002), for they hide the next fault of
their kind.  Dates are compared with the day the run began, so that a capture is judged the same
whenever it is judged, but for the exceptions that have been edited since.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Final, Literal, TypeAlias, get_args

from msgspec import Struct
from msgspec.structs import replace

from mcp_tap.core.filters import Filter, Scope
from mcp_tap.core.finding import RANK, Finding, Severity
from mcp_tap.core.model import Call, Exchange
from mcp_tap.core.text import brief
from mcp_tap.errors import UsageError
from mcp_tap.rules.catalogue import BY_ID
from mcp_tap.rules.selectors import Selector, choose, selector

FailOn: TypeAlias = Literal["error", "warning", "note", "never"]
How: TypeAlias = Literal["counts", "ignored", "suppressed", "baselined"]
Subject: TypeAlias = Call | Exchange | None

FAIL_ON: Final[tuple[FailOn, ...]] = get_args(FailOn)
UNUSED: Final = "TAP-002"
_NO_SCOPE: Final = Scope()


class Suppression(Struct, frozen=True, kw_only=True):
    """An exception that somebody gave a reason for."""

    rules: Selector
    where: Filter | None = None
    """Calls and exchanges it holds for; None: everywhere."""
    reason: str
    until: date | None = None
    """Last day it holds on."""
    place: str = ""
    """Where it is written."""

    def __str__(self) -> str:
        return self.rules.word + (f" where {self.where}" if self.where else "")


class Known(Struct, frozen=True, kw_only=True):
    """A line of a baseline: a finding that was there before.

    It has no numbers, times or ids, so that it holds when a run is recorded anew.
    """

    rule: str
    server: str | None
    method: str | None
    name: str | None
    """Tool or prompt name, or resource URI."""
    spot: str

    def __str__(self) -> str:
        words = (self.rule, self.server, self.method, self.name, self.spot)
        return " ".join(brief(word, 80)[1:-1] for word in words if word)


def known(finding: Finding) -> Known:
    """Say of a finding what stays the same when its run is recorded anew."""
    return Known(
        rule=finding.rule,
        server=_without_port(finding.server),
        method=finding.method,
        name=finding.target,
        spot=finding.spot,
    )


def _without_port(server: str | None) -> str | None:
    """Leave the port out where a server is named by its host: a free one is another each time."""
    host, _, port = (server or "").rpartition(":")
    return host if host and port.isascii() and port.isdigit() else server


class Verdict(Struct, frozen=True, kw_only=True):
    """A finding and what it counts for."""

    finding: Finding
    """With the severity the policy gives it."""
    how: How
    """`counts`; `ignored`: its rule is not selected; `suppressed`, `baselined`: an exception."""
    why: str = ""
    """The exception's reason; of a finding that counts, that its exception has run out."""


class Policy:
    """Judges findings; keeps in mind which exceptions were used."""

    def __init__(
        self,
        *,
        select: Iterable[Selector] | None = None,
        ignore: Iterable[Selector] = (),
        severities: Mapping[str, tuple[Selector, Severity]] | None = None,
        suppressions: Sequence[Suppression] = (),
        baseline: Iterable[Known] = (),
        fail_on: FailOn = "error",
    ) -> None:
        """Set out what counts; with no arguments, all rules do and errors fail.

        Args:
            select: rules that count; None: all.
            ignore: rules that do not.
            severities: how bad rules are, where that is not their own, by the words used.
            suppressions: exceptions with a reason.
            baseline: findings that were there before.
            fail_on: how bad a finding must be to fail the run.
        """
        chosen = (selector("ALL", where="select"),) if select is None else tuple(select)
        self.selected = choose(chosen, tuple(ignore))
        self.fail_on: FailOn = fail_on
        self.suppressions = tuple(suppressions)
        self.baseline = tuple(dict.fromkeys(baseline))
        self._severities = _by_rule((severities or {}).values())
        self._by_rule: dict[str, list[Suppression]] = {}
        for each in self.suppressions:
            for identity in each.rules.ids:
                self._by_rule.setdefault(identity, []).append(each)
        self._known = frozenset(self.baseline)
        self._used: set[int] = set()
        self._matched: set[Known] = set()

    @property
    def needs_subject(self) -> bool:
        """Whether a verdict depends on the call or exchange; only then one must be given."""
        return any(each.where for each in self.suppressions)

    def judge(
        self,
        finding: Finding,
        subject: Subject = None,
        *,
        started: str = "",
        scope: Scope = _NO_SCOPE,
    ) -> Verdict:
        """Say what a finding counts for.

        Args:
            finding: what a rule found.
            subject: the call or exchange that holds it.
            started: when the run began, RFC 3339, as its header says.
            scope: what filters may want to know of the run.
        """
        severity = self._severities.get(finding.rule)
        if severity is not None and severity != finding.severity:
            finding = replace(finding, severity=severity)
        if finding.rule not in self.selected:
            return Verdict(finding=finding, how="ignored")
        why = ""
        for each in self._by_rule.get(finding.rule, ()):
            if each.where and (subject is None or not each.where.matches(subject, scope)):
                continue
            self._used.add(id(each))
            if each.until is None or _day(started) <= each.until.isoformat():
                return Verdict(finding=finding, how="suppressed", why=each.reason)
            why = f"its exception ({each.reason}) held until {each.until.isoformat()}"
        if self._known:
            line = known(finding)
            if line in self._known:
                self._matched.add(line)
                return Verdict(finding=finding, how="baselined", why="in the baseline")
        return Verdict(finding=finding, how="counts", why=why)

    def fails(self, verdict: Verdict) -> bool:
        """Tell whether a finding fails the run."""
        if verdict.how != "counts" or self.fail_on == "never":
            return False
        return RANK[verdict.finding.severity] >= RANK[self.fail_on]

    def stale(self) -> list[Known]:
        """Give the lines of the baseline that matched nothing, of rules that were looked at."""
        return [
            line
            for line in self.baseline
            if line not in self._matched and (line.rule in self.selected or line.rule not in BY_ID)
        ]

    def unused(self) -> list[Suppression]:
        """Give the suppressions that matched nothing, of rules that were looked at."""
        return [
            each
            for each in self.suppressions
            if id(each) not in self._used and not each.rules.ids.isdisjoint(self.selected)
        ]

    def leftover(self) -> list[Verdict]:
        """Judge exceptions that match nothing; it is for the end of all there is to look at."""
        found = [
            self._left(
                f"the suppression of {each} matches nothing: take it out of {each.place}"
                if each.place
                else f"the suppression of {each} matches nothing: take it out",
                str(each),
            )
            for each in self.unused()
        ]
        found += [
            self._left(f"a line of the baseline matches nothing: {line}", str(line))
            for line in self.stale()
        ]
        return [verdict for verdict in map(self._own, found) if verdict.how != "ignored"]

    def _own(self, finding: Finding) -> Verdict:
        severity = self._severities.get(finding.rule, finding.severity)
        how: How = "counts" if finding.rule in self.selected else "ignored"
        return Verdict(finding=replace(finding, severity=severity), how=how)

    @staticmethod
    def _left(message: str, spot: str) -> Finding:
        rule = BY_ID[UNUSED]
        return Finding(
            rule=rule.id,
            name=rule.name,
            severity=rule.severity,
            level=rule.level,
            blame="tap",
            message=message,
            seq=0,
            t=0.0,
            spot=spot,
        )


def _day(started: str) -> str:
    """Give the day of a time; one that nobody knows is past every date."""
    day = started[:10]
    try:
        return date.fromisoformat(day).isoformat()
    except ValueError:
        return "9999-99-99"


def _by_rule(given: Iterable[tuple[Selector, Severity]]) -> dict[str, Severity]:
    """Give each rule the severity of the word that names it most closely."""
    found: dict[str, Severity] = {}
    for named, severity in sorted(given, key=lambda pair: pair[0].rank):
        found.update(dict.fromkeys(named.ids, severity))
    return found


def selectors(words: Iterable[str], *, where: str) -> list[Selector]:
    """Read words, each perhaps several with commas between.

    Raises:
        UsageError: one of them names no rule.
    """
    return [
        selector(word, where=where) for text in words for word in text.split(",") if word.strip()
    ]


def read_fail_on(word: str) -> FailOn:
    """Read a word that says what fails a run.

    Raises:
        UsageError: it is none of them.
    """
    for each in FAIL_ON:
        if word == each:
            return each
    raise UsageError("bad-value", f"--fail-on: {word!r} is none of {', '.join(FAIL_ON)}")
