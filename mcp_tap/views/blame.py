"""Whom a call that did not end well is waiting for, or whose fault it is, in one line.

What rules found counts most, since each has its page of the specification.  Then how the exchange
ended, whose turn it was, and what the server's own words say.  An error a server answers with is
its word against the client's: where no rule confirms either, nobody is blamed.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from mcp_tap.core.finding import RANK, Blame, Finding
from mcp_tap.core.model import NO_ANSWER, Ask, Call, Fault, Round
from mcp_tap.core.text import safe, took
from mcp_tap.views.words import ask_key, numbers

NOBODY: Final = 0.05
"""Seconds within which no person reads a question and answers it."""
SLOW: Final = 1.0
"""Seconds from which a share of the time is worth a word."""

_CLIENTS: Final[dict[int | str | None, str]] = {
    -32700: "the server could not read its request",
    -32600: "the server says its request is none",
    -32021: "it lacks a capability the server needs",
    -32022: "the server does not speak its version",
    -32020: "the server says its headers do not fit its body",
}
"""Errors that, by their definition, speak of the client's side."""
_SERVERS: Final[dict[int | str | None, str]] = {
    -32603: "it reports an internal error",
    "isError": "its tool says it failed",
}
"""Ends a server owns up to."""

_STOPPED: Final = ("tap was stopped", "tap stopped")
"""What a capture says of calls that the end of its run ended; the former where it says nothing."""


class Verdict(Struct, frozen=True, kw_only=True):
    """Who, and why."""

    party: Blame
    why: str
    waits: bool = False
    """The party is waited for: nothing has gone wrong yet."""

    @property
    def words(self) -> str:
        """Say it in one line."""
        who = "cannot tell" if self.party == "unknown" else self.party
        return f"{who}: {self.why}"


def verdict(call: Call) -> Verdict | None:
    """Say who is waited for or at fault; None for a call that ended well or has just begun."""
    last = call.rounds[-1] if call.rounds else None
    if last is None or call.outcome == "ok":
        return None
    if call.outcome == "open":
        return _open(call)
    if call.outcome == "waiting":
        return _waiting(last)
    ends = {"unlinked": _unlinked, "cancelled": _cancelled, "error": _failed}
    return ends[call.outcome](call, last)


def _open(call: Call) -> Verdict | None:
    if call.kind == "stream":
        return None
    return Verdict(party="server", why="no response came before the capture ends", waits=True)


def _waiting(last: Round) -> Verdict:
    open_ = [ask for ask in last.asks if ask.action is None]
    if last.claimants:
        words = f"its answer may be in {numbers(last.claimants)}"
        return Verdict(party="unknown", why=words)
    if not open_:
        why = "did not repeat the call with its requestState"
        return Verdict(party="client", why=why, waits=True)
    keys = ", ".join(ask_key(ask) for ask in open_[:4])
    return Verdict(party="client", why=f"has not answered {keys}", waits=True)


def _unlinked(call: Call, last: Round) -> Verdict:
    found = _worst(call, call.rounds[0].number)
    if found is not None:
        return found
    first = call.rounds[0]
    if first.candidates:
        return Verdict(party="unknown", why=f"it may answer {numbers(first.candidates)}")
    if last.claimants:
        return Verdict(party="unknown", why=f"its answer may be in {numbers(last.claimants)}")
    return Verdict(party="unknown", why="it answers a round that is not in the capture")


def _cancelled(call: Call, last: Round) -> Verdict:
    why = safe(call.why or "it was cancelled")
    taken = max(0.0, (call.end if call.end is not None else last.t) - last.t)
    if any(words in why for words in _STOPPED):
        return Verdict(party="tap", why=f"it was stopped after the server had {took(taken)}")
    if taken >= SLOW:
        return Verdict(party="server", why=f"slow: {took(taken)} without a response")
    return Verdict(party="client", why=f"gave up after {took(taken)}")


def _failed(call: Call, last: Round) -> Verdict:
    fault = last.fault or Fault(code=None, message="")
    asked = _asks_before(call, last)
    return (
        _broken(call, last, fault)
        or _worst(call, last.number)
        or next((_refusal(ask) for ask in asked if ask.action in ("decline", "cancel")), None)
        or _said(fault, asked)
    )


def _broken(call: Call, last: Round, fault: Fault) -> Verdict | None:
    """Say whose end of the connection failed, where that ended the call."""
    words = safe(fault.message).removeprefix("mcp-tap: ")
    if fault.code == "tap_failed":
        return Verdict(party="tap", why="a fault of mcp-tap ended it")
    if fault.code == "refused":
        return Verdict(party="client", why=f"mcp-tap refused it: {words}")
    if fault.code == "upstream_cut":
        taken = max(0.0, (call.end if call.end is not None else last.t) - last.t)
        return Verdict(party="server", why=f"broke off after {took(taken)} without a response")
    if fault.sender == "tap" and fault.code == NO_ANSWER:  # what each entry wanted stands above
        return Verdict(party="tap", why=words.partition(": ")[0])
    if fault.sender == "tap" or fault.code in ("upstream_down", "timeout"):
        return Verdict(party="server", why=words or "no connection to it")
    return None


def _said(fault: Fault, asked: list[Ask]) -> Verdict:
    """Judge by the server's own words, which blame a client only where their meaning is fixed."""
    code, late = fault.code, _late(asked)
    if code in _CLIENTS:
        return Verdict(party="client", why=_CLIENTS[code])
    if code in _SERVERS:
        return Verdict(party="server", why=_SERVERS[code] + late)
    words = f"the server answered {safe(str(code))}" if code is not None else "no response came"
    return Verdict(party="unknown", why=f"{words}, and no rule says who is wrong{late}")


def _worst(call: Call, round_: int) -> Verdict | None:
    """Give the worst that rules found in a round, if that is an error and names a party."""
    found = [
        finding
        for finding in call.findings
        if finding.round == round_ and finding.severity == "error" and finding.blame != "unknown"
    ]
    if not found:
        return None
    first: Finding = max(found, key=lambda finding: (RANK[finding.severity], -finding.seq))
    return Verdict(party=first.blame, why=f"{first.rule} {safe(first.message)}")


def _asks_before(call: Call, last: Round) -> list[Ask]:
    return [ask for r in call.rounds if r.number < last.number for ask in r.asks if ask.action]


def _refusal(ask: Ask) -> Verdict:
    """Say that somebody did not want to, and whether that can have been a person."""
    after = max(0.0, (ask.answer_t if ask.answer_t is not None else ask.t) - ask.t)
    did = "declined" if ask.action == "decline" else "cancelled"
    words = f"{did} {ask_key(ask)} after {took(after)}"
    if ask.answered_by == "tap":
        return Verdict(party="client", why=f"the answer script {did} {ask_key(ask)}")
    if after < NOBODY:
        words += ": no person did that"
    return Verdict(party="client", why=words)


def _late(asked: list[Ask]) -> str:
    """Add how long a person took, where that may be why a server no longer wants the answer."""
    waits = [a.answer_t - a.t for a in asked if a.answer_t is not None]
    longest = max(waits, default=0.0)
    return f"; the client took {took(longest)} to answer" if longest >= SLOW else ""
