"""The words for calls, asks, answers and faults: one place, so that every view says the same.

Everything from the wire is made harmless here.  No clock: `now` is given where something runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, get_args

from mcp_tap.core.model import Ask, Call, Era, Exchange, Fault, Round
from mcp_tap.core.records import How
from mcp_tap.core.text import brief, cut, plural, running, safe, took, width
from mcp_tap.views.look import Glyphs, Piece

_TAP_COUNTS: Final = 0.01
"""Seconds of the tap's own that are worth a word."""
_MARKS: Final = 7
"""Cells of a call's rounds at most."""
_NUMBERS: Final = 6
"""Calls that are named where one of them is meant; the rest is counted."""


def request_id(value: Any) -> str:
    """Show a JSON-RPC id as JSON has it: `7`, `"a"`."""
    return brief(value, 24)


def marks(call: Call, glyphs: Glyphs) -> str:
    """Draw the rounds: `?` asked and answered, `_` waiting, `*` final, `x` error, `/` cancelled.

    A stream is `===`.

    Of too many, those before the last two become their number and a sign: `x` if one failed.
    """
    if call.kind == "stream" and call.outcome in ("open", "ok", "cancelled"):
        return glyphs.stream * 3
    signs = [_mark(call, r) for r in call.rounds]
    shown = glyphs.join.join(signs)
    if len(shown) > _MARKS:
        left_out = signs[:-2]
        sign = "x" if "x" in left_out else left_out[0]
        shown = glyphs.join.join([f"{len(left_out)}{sign}", *signs[-2:]])
    return shown


def _mark(call: Call, round_: Round) -> str:
    last = round_ is call.rounds[-1]
    if last and call.outcome == "cancelled":
        return SIGNS["cancelled"]
    if round_.fault:
        return SIGNS["error"]
    if last:
        sign = SIGNS.get(call.outcome)
        if sign:
            return sign
        if round_.result_type not in ("input_required", "task"):
            return "*"
    return "?"


def state(call: Call) -> Piece:
    """Say how a call stands, in at most 14 cells: `ok`, `error -32602`, `waiting client`."""
    word, style = STATES[call.outcome]
    if call.outcome == "error" and call.fault and call.fault.code is not None:
        code = safe(str(call.fault.code))
        if code in _ENDS:
            word = code.replace("_", " ")
        else:
            word = f"error {code}" if len(code) <= 8 else cut(code, 14)
    return word, style


_ENDS: Final = get_args(How)
"""Codes that are ours: a fault has one where no response came."""
SIGNS: Final = {"error": "x", "cancelled": "/", "waiting": "_", "open": "."}
"""How the last round of a call is drawn that has no result."""

STATES: Final = {
    "open": ("open", "open"),
    "waiting": ("waiting client", "wait"),
    "ok": ("ok", "ok"),
    "error": ("error", "bad"),
    "cancelled": ("cancelled", "dim"),
    "unlinked": ("unlinked", "wait"),
}


def duration(call: Call, now: float | None) -> str:
    """Say how long a call took, or has been running by `now`."""
    if call.end is not None:
        return took(max(0.0, call.end - call.t))
    return "" if now is None else running(max(0.0, now - call.t))


def split(call: Call, now: float | None = None) -> str:
    """Say whose time it was, where that is not only the server's: `server 0.31s, client 5.81s`.

    Of a call that runs, the time up to `now` is counted for whoever has to act.
    """
    server, client = call.server_s, call.client_s
    if call.end is None and now is not None:
        since = max(0.0, now - call.t - server - client - call.tap_s)
        waits = call.outcome == "waiting"
        server, client = server + since * (not waits), client + since * waits
    parts = [("server", server)]
    if client > 0:
        parts.append(("client", client))
    if call.tap_s >= _TAP_COUNTS:
        parts.append(("tap", call.tap_s))
    return ", ".join(f"{who} {took(s)}" for who, s in parts) if len(parts) > 1 else ""


def result_type(round_: Round, era: Era) -> str:
    """Say what kind of result a round got; that it names none counts where it has to."""
    if round_.result_type is not None:
        return safe(round_.result_type)
    if round_.result is None:
        return ""
    return f"complete, {NO_TYPE}" if era == "stateless" else "complete"


NO_TYPE: Final = "no resultType"


def oddity(call: Call) -> str:
    """Say what is odd about the end of a call that ended well."""
    last = call.rounds[-1] if call.rounds else None
    return NO_TYPE if last and result_type(last, call.era).endswith(f", {NO_TYPE}") else ""


def result_words(round_: Round, cells: int) -> str:
    """Say in one line what a round's result said: `"4 results", +2 blocks`, `7 tools`.

    Nothing for what asks or a fault tell already.
    """
    said = round_.result
    if said is None or round_.asks or round_.result_type == "input_required":
        return ""
    more = f", +{plural(said.more, said.unit)}" if said.more else ""
    if round_.fault:
        return f"isError{more}" if more else ""
    if said.text is not None:
        return brief(said.text, max(8, cells - width(more))) + more
    if said.block is not None:
        return cut(safe(said.block), max(8, cells - width(more))) + more
    return cut(safe(", ".join(said.words)), cells)


def ask_key(ask: Ask) -> str:
    """Name an ask by its key; of a request of its own, by that request's id: `#1`."""
    return f"#{safe(ask.key)}" if ask.pushed else safe(ask.key)


def title(call: Call) -> str:
    """Name a call: `tools/call deploy`."""
    return safe(f"{call.method} {call.name}" if call.name else call.method)


def ask_label(ask: Ask) -> str:
    """Name an ask: `confirm (form)`; of a kind without a name, its method."""
    return f"{ask_key(ask)} ({safe(ask.method) if ask.kind == 'other' else ask.kind})"


def ask_words(ask: Ask) -> str:
    """Say what an ask wants to know."""
    words = f'"{safe(ask.message)}"' if ask.message is not None else ""
    if ask.kind == "form":
        fields = _fields(ask.params.get("requestedSchema"))
        words += f"  fields {fields}" if fields else ""
    elif ask.kind == "url":
        words += f"  {safe(str(ask.params.get('url', '')))}"
    elif ask.kind == "sampling":
        messages = ask.params.get("messages")
        last = messages[-1] if isinstance(messages, list) and messages else None
        words += brief(last.get("content") if isinstance(last, dict) else last)
    return words.strip()


def _fields(schema: Any) -> str:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict):
        return ""
    required = schema.get("required")
    stars = required if isinstance(required, list) else []
    names = [safe(name) + ("*" if name in stars else "") for name in list(properties)[:12]]
    return ", ".join(names + [".."] * (len(properties) > 12))


def answer_words(ask: Ask) -> str:
    """Say how an ask was answered: `accept {proceed: true}, by client, after 2.01s`."""
    words = ask.action or "no answer"
    answer = ask.answer
    if isinstance(answer, dict):
        content = answer.get("content", answer if ask.action in ("answered", "error") else None)
        words += f" {brief(content)}" if content not in (None, {}) else ""
    if ask.answered_by != "none":
        words += f", by {ask.answered_by}"
    if ask.entry:
        words += f' "{safe(ask.entry)}"'
    if ask.answer_t is not None:
        words += f", after {took(max(0.0, ask.answer_t - ask.t))}"
    return words


def fault_words(fault: Fault, status: int | None = None) -> str:
    """Say what went wrong: `-32602: Unknown tool`.

    Who said so is named only where it was the tap itself: `-32603, by mcp-tap: no answer from ..`.
    A code that is the response's HTTP status is called that.
    """
    code = "" if fault.code is None or fault.code in _ENDS else safe(str(fault.code))
    if code and fault.code == status:
        code = f"HTTP {code}"
    words = safe(fault.message)
    if fault.code == "tap_failed":
        return _own_fault(words)
    if fault.sender == "tap":
        words = words.removeprefix("mcp-tap: ")
        code = f"{code}, by mcp-tap" if code else "by mcp-tap"
    return f"{code}: {words}" if code and words else code or words


def exchange_why(exchange: Exchange) -> str:
    """Say why an exchange that belongs to no call ended as it did, where it did not end well."""
    why = safe(exchange.why or "")
    if exchange.how == "tap_failed":
        return _own_fault(why)
    return why or {"client_gone": "the client left"}.get(exchange.how or "", "")


def _own_fault(words: str) -> str:
    own = "a fault of mcp-tap"
    if words.startswith(own):
        return words
    return f"{own}: {words}" if words else own


def numbers(calls: Sequence[int]) -> str:
    """Name calls one of which is meant: `#14, #15 or #16`."""
    shown = [f"#{n}" for n in calls[:_NUMBERS]]
    if len(calls) > _NUMBERS:
        return f"{', '.join(shown)} or {len(calls) - _NUMBERS} more"
    return " or ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))


def awaited(call: Call, *, over: bool = False) -> str:
    """Say who has to act next, for a call that has not ended; where the run is `over`, who did not.

    Nothing for one that has ended.
    """
    if call.outcome == "waiting":
        last = call.rounds[-1] if call.rounds else None
        keys = ", ".join(ask_key(a) for a in last.asks if a.action is None) if last else ""
        if over:
            words = f"the client never answered {keys}" if keys else "the client never repeated it"
        else:
            words = "waiting for the client" + (f" to answer {keys}" if keys else "")
        if last and last.claimants:
            words += f", unless {numbers(last.claimants)} did"
        return words
    if call.outcome == "open":
        if call.kind == "stream":
            return "a stream, still open"
        return "no result came before the run ended" if over else "waiting for the server"
    return ""
