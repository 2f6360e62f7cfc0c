"""A call in columns: the rows that text output, the console and reports share.

No clock: `now` is given where something still runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mcp_tap.core.model import Ask, Call, Era, Exchange, Round
from mcp_tap.core.text import brief, cut, fingerprint, pad, plural, running, safe, took, width
from mcp_tap.views.blame import verdict
from mcp_tap.views.look import Look, Piece, Row
from mcp_tap.views.words import (
    SIGNS,
    STATES,
    answer_words,
    ask_key,
    ask_label,
    ask_words,
    awaited,
    duration,
    fault_words,
    marks,
    numbers,
    request_id,
    result_type,
    result_words,
    state,
)

HEADING: Final = "TIME      CALL METHOD           NAME             ROUNDS  STATE          TOOK"
INDENT: Final = " " * 15


def call_row(
    call: Call,
    look: Look,
    *,
    now: float | None = None,
    extra: int | None = 0,
    marker: str = "",
    at: float | None = None,
) -> Row:
    """Lay a call out in the columns of `HEADING`.

    Args:
        call: what to show.
        look: glyphs and clock.
        now: for the time a running call has taken.
        extra: cells to widen the name's column by; None lets a long name push the rest aside.
        marker: stands before the number.
        at: time to show in place of its beginning.
    """
    number = f"{marker}{call.number}"
    return [
        *_front(
            look.clock(call.t if at is None else at), number, call.method, call.name or "", extra
        ),
        (pad(marks(call, look.glyphs), 8), ""),
        *_back(state(call), duration(call, now)),
    ]


def asking_row(call: Call, round_: Round, look: Look) -> Row:
    """Lay a call out as it stood when a round of it asked, whatever came after."""
    signs = look.glyphs.join.join(["?"] * (round_.number - 1) + ["_"])
    at = round_.asks[0].t if round_.asks else round_.t
    return [
        *_front(look.clock(at), str(call.number), call.method, call.name or "", None),
        (pad(signs if len(signs) <= 7 else f"{round_.number - 1}?{look.glyphs.join}_", 8), ""),
        ("asks the client", "wait"),
    ]


def exchange_row(
    exchange: Exchange, look: Look, *, now: float | None = None, extra: int | None = 0
) -> Row:
    """Lay an exchange that belongs to no call out in the same columns, without a number."""
    what = exchange.method or exchange.verb
    name = "" if exchange.method else exchange.path
    outcome = exchange.outcome
    word, style = STATES[outcome]
    status = exchange.status
    if outcome == "error":
        failed = status is not None and status >= 400
        word = f"error {status}" if failed else str(exchange.how).replace("_", " ")
    sign = SIGNS.get(outcome, "*")
    if outcome == "open" and exchange.verb == "GET":
        sign = look.glyphs.stream * 3
    end = exchange.end
    if end is not None:
        time = took(max(0.0, end - exchange.t))
    else:
        time = "" if now is None else running(max(0.0, now - exchange.t))
    return [
        *_front(look.clock(exchange.t), "", what, name, extra),
        (pad(sign, 8), ""),
        *_back((cut(word, 14), style), time),
    ]


def _front(clock: str, number: str, method: str, name: str, extra: int | None) -> Row:
    method, name = safe(method), safe(name)
    room = 16 + (extra or 0)
    if not name:
        what: Row = [(pad(method, 17 + room), "strong")]
    elif extra is None:
        what = [(_at_least(method, 16) + " ", ""), (_at_least(name, 16), "strong")]
    else:
        what = [(pad(method, 16) + " ", ""), (pad(name, room), "strong")]
    return [(clock, "dim"), (number.rjust(6) + " ", ""), *what, (" ", "")]


def _at_least(text: str, cells: int) -> str:
    return pad(text, max(cells, width(text)))


def _back(state_: Piece, time: str) -> Row:
    apart = " " if time and width(state_[0]) >= 14 else ""  # 2h00m fills its column
    return [(pad(state_[0], 14), state_[1]), ((apart + time).rjust(5), "")]


def round_row(round_: Round, look: Look, era: Era = "unknown") -> Row:
    """Describe a round in one row: ids, evidence, status, what came of it."""
    words: Row = [
        (f"{INDENT}r{round_.number}", "strong"),
        (f"  id {request_id(round_.request_id)}", ""),
        *_link(round_),
    ]
    if round_.status is not None:
        words.append((f"  HTTP {round_.status}", "" if round_.status < 400 else "bad"))
    if kind := result_type(round_, era):
        words.append((f"  {kind}", "" if kind == round_.result_type or "," not in kind else "wait"))
    if round_.asks:
        words.append((f"  {plural(len(round_.asks), 'ask')}", "ask"))
    words += _state(round_, look)
    if round_.progress:
        words.append((f"  {round_.progress} progress", "dim"))
    if round_.logs:
        words.append((f"  {plural(round_.logs, 'log')}", "dim"))
    if round_.end is not None:
        words.append((f"  {took(max(0.0, round_.end - round_.t))}", "dim"))
    return words


def arguments_row(round_: Round, cells: int) -> Row | None:
    """Show in one line of `cells` what a round's request asked for, if that is known."""
    if round_.arguments in (None, {}):
        return None
    front = f"{INDENT}    arguments  "
    return [(front, "dim"), (brief(round_.arguments, max(20, cells - len(front))), "")]


def result_row(round_: Round, cells: int) -> Row | None:
    """Show in one line of `cells` what a round's result said, if there is something to show."""
    front = f"{INDENT}    result  "
    words = result_words(round_, max(20, cells - len(front)))
    return [(front, "dim"), (words, "")] if words else None


def _link(round_: Round) -> Row:
    if round_.link == "ambiguous":
        calls = numbers(round_.candidates) if round_.candidates else ""
        return [(f"  ambiguous: {calls}" if calls else "  ambiguous", "wait")]
    if round_.number == 1 and round_.link == "none":
        return []
    if round_.link == "none":
        return [("  no link", "dim")]
    before = round_.answers_round in (None, round_.number - 1)
    to = "" if before else f" to r{round_.answers_round}"
    return [(f"  linked by {round_.link}{to}", "dim")]


def _state(round_: Round, look: Look) -> Row:
    echo = round_.echo
    if round_.state is None:
        return [] if echo == "none" else [(f"  state {echo}", "wait")]
    words: Row = [(f"  state {fingerprint(round_.state, look.glyphs.more)}", "dim")]
    if echo != "none":
        words.append((f"  echo {echo}", "dim" if echo == "same" else "wait"))
    return words


def ask_rows(call: Call, round_: Round, *, over: bool = False) -> Iterator[Row]:
    """Describe the asks of a round and the answers to them, a row each; `over`: none will come."""
    for ask in round_.asks:
        yield ask_row(ask)
        if ask.action is not None:
            yield answer_row(ask)
        elif round_.claimants and call.outcome == "unlinked":
            words = f"answered by {numbers(round_.claimants)}"
            yield [(f"{INDENT}    _ {ask_key(ask)}  ", "wait"), (words, "wait")]
        elif call.end is None and not over:
            yield [(f"{INDENT}    _ {ask_key(ask)}  ", "wait"), ("not answered yet", "wait")]
        else:
            yield [(f"{INDENT}    _ {ask_key(ask)}  ", "dim"), ("never answered", "dim")]


def ask_row(ask: Ask) -> Row:
    """Describe an ask."""
    return [(f"{INDENT}    ? {ask_label(ask)}  ", "ask"), (ask_words(ask), "")]


def answer_row(ask: Ask) -> Row:
    """Describe the answer to an ask."""
    return [(f"{INDENT}    > {ask_key(ask)}  ", "answer"), (answer_words(ask), "")]


def blame_row(call: Call, indent: str = INDENT) -> Row | None:
    """Say whose fault it is that a call did not end well; None where it did, or has not ended."""
    if call.end is None or (found := verdict(call)) is None:
        return None
    if call.outcome == "unlinked" and found.party == "unknown":
        return None  # the row that says so says why
    return [(f"{indent}! ", "wait" if found.party == "unknown" else "bad"), (found.words, "")]


def fault_rows(call: Call, *, over: bool = False) -> Iterator[Row]:
    """Say what went wrong in a call, what cancelled it, and whom it waits for, or did to the end.

    Args:
        call: as it stands.
        over: its run has ended.
    """
    last = call.rounds[-1] if call.rounds else None
    sign, style = ("/ ", "dim") if call.outcome == "cancelled" else ("x ", "bad")
    if call.why:
        yield [(f"{INDENT}{sign}", style), (safe(call.why), "")]
    if last and last.fault:
        yield [(f"{INDENT}{sign}", style), (fault_words(last.fault, last.status), "")]
    if call.kind != "stream" and (waits := awaited(call, over=over)):
        yield [(f"{INDENT}_ ", "wait"), (waits, "")]
    if row := blame_row(call):
        yield row
    if last is None or call.outcome not in ("unlinked", "waiting"):
        return
    first = call.rounds[0]
    if first.candidates:
        words = f"it may continue {numbers(first.candidates)}; nothing tells which"
        yield [(f"{INDENT}_ ", "wait"), (words, "")]
    elif call.outcome == "unlinked" and not last.claimants:
        yield [(f"{INDENT}_ ", "wait"), ("a retry of no call that is known", "")]
    if call.outcome == "unlinked" and last.claimants:
        words = f"answered by {numbers(last.claimants)}; nothing tells which"
        yield [(f"{INDENT}_ ", "wait"), (words, "")]
