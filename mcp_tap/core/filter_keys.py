"""The keys of the filter language: what each compares, with which values, and how it reads in help.

Rules of this file:

- `KEYS` is the one list of keys.  The parser, the nearest-key error and the printed help come from
  it; a key that has nothing to look at yet is not in it.
- A key gives the values a subject has for it; a condition is a test of one such value.  A term
  holds if any of its conditions holds for any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from difflib import get_close_matches
from typing import Any, Final, TypeAlias, get_args

from msgspec import Struct

from mcp_tap.core import filter_tests as tests
from mcp_tap.core.clock import after
from mcp_tap.core.filter_tests import Form, Test, Value
from mcp_tap.core.finding import Blame, Finding, Severity
from mcp_tap.core.model import AskKind, Call, Exchange, Outcome
from mcp_tap.core.records import Sender
from mcp_tap.core.wire import dumps
from mcp_tap.errors import UsageError

Subject: TypeAlias = Call | Exchange


class Scope(Struct, frozen=True, kw_only=True):
    """What a filter may want to know beside the subject itself."""

    start: datetime | None = None
    """Wall-clock start of the run, in the zone the reader's clock shows; `at:` needs it."""
    bodies: Callable[[Subject], Iterable[str]] | None = None
    """Gives the payload texts of a subject's records.  Without it, text is searched in what the
    model keeps: arguments, asks, answers, faults and the beginnings of results."""


NO_SCOPE: Final = Scope()


class Key(Struct, frozen=True, kw_only=True):
    """One key of the language."""

    name: str
    takes: str
    """Its values, for the help."""
    says: str
    """What it looks at, for the help."""
    get: Callable[[Subject, Scope], Iterable[Any]]
    test: Callable[[str, Value], Test]
    """Builds the condition for a value, given the key's name."""
    forms: tuple[Form, ...] = ("plain", "glob")


def texts(subject: Subject, scope: Scope) -> Iterator[str]:
    """Give the texts in which words are searched."""
    yield subject.method or ""
    if isinstance(subject, Call):
        yield subject.name or ""
        for round_ in subject.rounds:
            for value in (round_.arguments, round_.answers):
                if value is not None:
                    yield dumps(value).decode()
            for ask in round_.asks:
                yield ask.key
                yield dumps([ask.params, ask.answer]).decode()
            if round_.fault:
                yield round_.fault.message
            if round_.result and round_.result.text:
                yield round_.result.text
        yield subject.why or ""
    else:
        yield subject.path
        yield subject.why or ""
    if scope.bodies is not None:
        yield from scope.bodies(subject)


def _of_call(get: Callable[[Call], Iterable[Any]]) -> Callable[[Subject, Scope], Iterable[Any]]:
    return lambda subject, _: get(subject) if isinstance(subject, Call) else ()


def _ids(subject: Subject, _: Scope) -> list[str]:
    found = (
        [r.request_id for r in subject.rounds]
        if isinstance(subject, Call)
        else [subject.request_id]
    )
    return [str(i) for i in found if i is not None]


def _clients(subject: Subject, _: Scope) -> list[str]:
    who = subject.identity
    named = subject.client if isinstance(subject, Call) else None
    full = [name for name in (named, who.name, who.user_agent) if name]
    return full + [name.rpartition("/")[0] for name in full if "/" in name]


def _senders(subject: Subject, _: Scope) -> set[str]:
    if isinstance(subject, Exchange):
        answered = subject.answered or subject.status is not None or subject.messages > 0
        return {"client"} | ({"tap" if subject.from_tap else "server"} if answered else set())
    found: set[str] = set()
    for round_ in subject.rounds:
        found.add("tap" if round_.by_tap else "client")
        found.update("tap" for ask in round_.asks if ask.answered_by == "tap")
        if round_.fault:
            found.add(round_.fault.sender)
        elif round_.result_type or round_.asks or round_.response_seq is not None:
            found.add("server")
    return found


def _statuses(subject: Subject, _: Scope) -> list[int]:
    if isinstance(subject, Exchange):
        return [] if subject.status is None else [subject.status]
    codes = [r.status for r in subject.rounds] + [r.fault.code for r in subject.rounds if r.fault]
    return [code for code in codes if isinstance(code, int)]


def _kinds(subject: Subject, _: Scope) -> list[str]:
    if isinstance(subject, Exchange):
        return [subject.kind]
    return ["request", subject.kind] + (["task"] if subject.task else [])


def _conns(subject: Subject, _: Scope) -> list[int]:
    if isinstance(subject, Exchange):
        return [subject.conn]
    return [r.conn for r in subject.rounds]


def _of_findings(get: Callable[[Finding], Any]) -> Callable[[Subject, Scope], Iterable[Any]]:
    return lambda subject, _: [get(finding) for finding in subject.findings]


def _rules(subject: Subject, _: Scope) -> list[str]:
    return [word for finding in subject.findings for word in (finding.rule, finding.name)]


def _took(subject: Subject, _: Scope) -> list[float]:
    return [] if subject.end is None else [subject.end - subject.t]


def _time_of_day(subject: Subject, scope: Scope) -> list[float]:
    if scope.start is None:
        return []
    at = after(scope.start, subject.t)
    return [at.hour * 3600 + at.minute * 60 + at.second + at.microsecond / 1e6]


def _one_of(*words: str) -> Callable[[str, Value], Test]:
    return lambda key, value: tests.text(key, value, words)


_ACTIONS: Final = ("accept", "decline", "cancel", "answered", "error")
_SENDERS: Final = get_args(Sender)
_STATES: Final = get_args(Outcome)
_KINDS: Final = ("call", "stream", "task", "request", "notification", "response", "http", "broken")

KEYS: Final = {
    key.name: key
    for key in (
        Key(
            name="tool",
            takes="NAME",
            says="name of the tool or prompt, or the resource's URI",
            get=_of_call(lambda c: () if c.name is None else (c.name,)),
            test=tests.text,
        ),
        Key(
            name="method",
            takes="METHOD",
            says="JSON-RPC method: tools/call, tools/*",
            get=lambda s, _: () if s.method is None else (s.method,),
            test=tests.text,
        ),
        Key(
            name="id",
            takes="ID",
            says="JSON-RPC id of one of its requests",
            get=_ids,
            test=tests.text,
        ),
        Key(
            name="call",
            takes="N",
            says="number of the call: 16, 10..20",
            get=_of_call(lambda c: (c.number,)),
            test=tests.numeric,
            forms=("plain",),
        ),
        Key(
            name="round",
            takes="N",
            says="how many rounds it has: >=3",
            get=_of_call(lambda c: (len(c.rounds),)),
            test=tests.numeric,
            forms=("plain",),
        ),
        Key(
            name="key",
            takes="KEY",
            says="key of something the server asked for",
            get=_of_call(lambda c: (a.key for r in c.rounds for a in r.asks)),
            test=tests.text,
        ),
        Key(
            name="ask",
            takes=",".join(get_args(AskKind)),
            says="what the server asked for",
            get=_of_call(lambda c: (a.kind for r in c.rounds for a in r.asks)),
            test=_one_of(*get_args(AskKind)),
        ),
        Key(
            name="action",
            takes=",".join(_ACTIONS),
            says="how an ask was answered",
            get=_of_call(lambda c: (a.action for r in c.rounds for a in r.asks if a.action)),
            test=_one_of(*_ACTIONS),
        ),
        Key(
            name="sender",
            takes=",".join(_SENDERS),
            says="who wrote some of it",
            get=_senders,
            test=_one_of(*_SENDERS),
        ),
        Key(
            name="client",
            takes="NAME",
            says="client, with or without its version",
            get=_clients,
            test=tests.folded,
        ),
        Key(
            name="server",
            takes="NAME",
            says="label of the run, else the server's own name, else host",
            get=_of_call(lambda c: () if c.server is None else (c.server,)),
            test=tests.folded,
        ),
        Key(
            name="conn",
            takes="N",
            says="number of the client's connection",
            get=_conns,
            test=tests.numeric,
            forms=("plain",),
        ),
        Key(
            name="state",
            takes=",".join(_STATES),
            says="how it stands or ended",
            get=lambda s, _: (s.outcome,),
            test=_one_of(*_STATES),
        ),
        Key(
            name="status",
            takes="CODE",
            says="HTTP status or JSON-RPC error code: 404, 4xx, -32602",
            get=_statuses,
            test=tests.numeric,
            forms=("plain",),
        ),
        Key(
            name="took",
            takes="TIME",
            says="how long, once it has ended: >2s, 10ms..1s",
            get=_took,
            test=tests.numeric,
            forms=("plain",),
        ),
        Key(
            name="size",
            takes="BYTES",
            says="payload bytes, both directions: >10k, <1MB",
            get=lambda s, _: (s.size,),
            test=tests.numeric,
            forms=("plain",),
        ),
        Key(
            name="kind",
            takes=",".join(_KINDS),
            says="what it is",
            get=_kinds,
            test=_one_of(*_KINDS),
        ),
        Key(
            name="rule",
            takes="RULE",
            says="id or name of a rule that found something in it: MRTR-016, SEC-*",
            get=_rules,
            test=tests.text,
        ),
        Key(
            name="sev",
            takes=",".join(get_args(Severity)),
            says="how bad what rules found in it is",
            get=_of_findings(lambda f: f.severity),
            test=_one_of(*get_args(Severity)),
        ),
        Key(
            name="blame",
            takes=",".join(get_args(Blame)),
            says="whose fault something found in it is",
            get=_of_findings(lambda f: f.blame),
            test=_one_of(*get_args(Blame)),
        ),
        Key(
            name="at",
            takes="TIME",
            says="when it began, by the clock: 12:04, 12:04..12:05, 23:50..",
            get=_time_of_day,
            test=tests.clock,
            forms=("plain",),
        ),
        Key(
            name="text",
            takes="WORD",
            says="bodies hold it; /tok[ae]n/ is a regular expression",
            get=texts,
            test=lambda _, value: tests.contains(value),
            forms=("plain", "regex"),
        ),
    )
}


def unknown_key(name: str, written: str) -> UsageError:
    """Build the error for a key that is not in the table."""
    near = get_close_matches(name, KEYS, 1, 0.6)
    return UsageError(
        "unknown-key",
        f'filters have no key "{name}"',
        why=f"keys are {', '.join(KEYS)}",
        help=f'did you mean "{near[0]}"?' if near else f'to search for text, quote it: "{written}"',
    )
