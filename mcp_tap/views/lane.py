"""One call as a swimlane: client, tap and server as lines, a row for each message that counts.

    07.218   |-- id 7 ------+------------->|  r1
    07.229   |<-- asks 1 ---+--------------|  confirm (form)  state 3f9a1c..
         : 2.01s, the client            :
    09.239   |-- id 8 ------+------------->|  r2 accept  state 3f9a1c..
    09.244   |<-- complete -+--------------|  HTTP 200, 118 B

Below it, what a round's request said.  No clock: `now` is given.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mcp_tap.core.model import Ask, Call, Round
from mcp_tap.core.text import (
    brief,
    cut,
    fingerprint,
    pad,
    plural,
    running,
    safe,
    short_print,
    size,
    took,
    width,
)
from mcp_tap.views.look import Look, Row
from mcp_tap.views.words import (
    NO_TYPE,
    ask_label,
    ask_words,
    awaited,
    duration,
    fault_words,
    numbers,
    request_id,
    result_type,
    result_words,
    split,
    state,
    title,
)

_LANE: Final = 14
LONG_WAIT: Final = 0.5
"""Seconds between two rounds that are worth a word."""


def heading(call: Call, *, now: float | None) -> Row:
    """Name the call and say how it stands."""
    whose = split(call, now)
    return [
        (f"#{call.number} {title(call)}", "strong"),
        (f"  {plural(len(call.rounds), 'round')}  ", ""),
        state(call),
        (f"  {duration(call, now)}", ""),
        (f" ({whose})" if whose else "", "dim"),
    ]


def lane_rows(call: Call, look: Look, *, now: float | None, cells: int = 120) -> Iterator[Row]:
    """Draw the messages of a call; words give way so that states stay within `cells`."""
    yield [("       client           tap          server", "dim")]
    before: Round | None = None
    for n, round_ in enumerate(call.rounds):
        if round_.answers_round is not None:
            before = next((r for r in call.rounds if r.number == round_.answers_round), before)
        yield from _wait(before, round_, look)
        yield _request(round_, before, look, cells)
        following = call.rounds[n + 1] if n + 1 < len(call.rounds) else None
        yield from _outcome(call, round_, following, look, cells)
        before = round_
    if waits := awaited(call).partition(" to answer ")[0]:  # the row above says what
        time = "" if now is None else f", {running(max(0.0, now - _since(call)))}"
        yield _quiet(look, f"{waits}{time}", "wait")
    if call.outcome == "unlinked" and before and before.claimants:
        yield _quiet(look, f"answered by {numbers(before.claimants)}", "wait")


def request_rows(
    round_: Round, before: Round | None, call: Call, look: Look, cells: int
) -> Iterator[Row]:
    """Tell what the request of a round said."""
    more = look.glyphs.more
    yield [(f"r{round_.number} request", "strong"), (f"  id {request_id(round_.request_id)}", "")]
    if call.name is not None:
        yield _field("name", brief(call.name, cells))
    if round_.arguments is not None:
        yield _field("arguments", brief(round_.arguments, cells))
    if isinstance(round_.answers, dict):
        for n, (key, answer) in enumerate(round_.answers.items()):
            yield _field("" if n else "inputResponses", f"{safe(key)}: {_answer(answer, cells)}")
    given = before.state if before else None
    if round_.sent_state is not None or given is not None:
        words, unlike = _states(round_.sent_state, given, more)
        if before is None and round_.sent_state is not None:
            whose = numbers(round_.candidates) if round_.candidates else "no call that is known"
            words = f"{fingerprint(round_.sent_state, more)}, of {whose}"
        yield _field("requestState", words)
        if unlike:
            yield _field("", unlike)


def result_rows(round_: Round, cells: int) -> Iterator[Row]:
    """Tell what a round brought: its result in one line, or what went wrong, whole."""
    if round_.fault:
        yield [(f" {'error':<15}", "dim"), (fault_words(round_.fault, round_.status), "bad")]
    if words := result_words(round_, cells):
        yield _field("result", words)


def ask_detail(round_: Round) -> Iterator[Row]:
    """Tell what a round asked, one row an ask."""
    for ask in round_.asks:
        yield [(f"  ? {ask_label(ask)}  ", "ask"), (ask_words(ask), "")]


def _since(call: Call) -> float:
    last = call.rounds[-1] if call.rounds else None
    if last is None:
        return call.t
    return last.end if last.end is not None and call.outcome == "waiting" else last.t


def _arrow(t: float, label: str, *, ahead: bool, half: bool, look: Look) -> Row:
    """Draw a message: ahead to the server or back from it; `half` only between tap and server."""
    g = look.glyphs
    label = cut(label, _LANE - 5)
    if ahead:
        named = f"{g.join * 2} {label} "
        first, second = named + g.join * (_LANE - width(named)), g.join * (_LANE - 1) + g.right
        if half:
            second = first[:-1] + g.right
    else:
        named = f"{g.left}{g.join * 2} {label} "
        first, second = named + g.join * (_LANE - width(named)), g.join * _LANE
        if half:
            second = first
    middle = g.bar if half else g.cross
    lane = f"{g.bar}{' ' * _LANE if half else first}{middle}{second}{g.bar}"
    return [(f" {look.fine(t)}   ", "dim"), (lane, "")]


def _quiet(look: Look, words: str, style: str = "dim") -> Row:
    """Draw a time in which nothing passed; long words go beside it."""
    bar, inside = look.glyphs.gap, 2 * _LANE + 1
    fits = width(words) < inside
    row: Row = [(" " * 10, ""), (bar, "dim"), (pad(f" {words}" if fits else "", inside), style)]
    return [*row, (bar, "dim"), ("" if fits else f"  {words}", style)]


def _more(words: str, style: str, look: Look) -> Row:
    """Continue the words of the row above."""
    bar, blank = look.glyphs.bar, " " * _LANE
    return [(f"{'':10}{bar}{blank}{bar}{blank}{bar}", ""), (f"  {words}", style)]


def _wait(before: Round | None, round_: Round, look: Look) -> Iterator[Row]:
    if before is None or before.end is None:
        return
    waited = round_.t - before.end
    if waited >= LONG_WAIT:
        yield _quiet(look, f"{took(waited)}, {'the tap' if round_.by_tap else 'the client'}")


def _request(round_: Round, before: Round | None, look: Look, cells: int) -> Row:
    row = _arrow(
        round_.t, f"id {request_id(round_.request_id)}", ahead=True, half=round_.by_tap, look=look
    )
    row.append((f"  r{round_.number}", "strong"))
    facts: Row = []
    if round_.sent_state is not None:
        facts.append((f"  state {short_print(round_.sent_state, look.glyphs.more)}", "dim"))
    if before and before.echo not in ("none", "same"):
        facts.append((f"  {before.echo}", "wait"))
    if round_.link == "ambiguous":
        calls = f": {numbers(round_.candidates)}" if round_.candidates else ""
        facts.append((f"  ambiguous{calls}", "wait"))
    words = ", ".join(_answered(ask) for ask in before.asks) if before else ""
    return _joined(row, f" {words}" if words else "", "answer", facts, cells)


def _joined(row: Row, words: str, style: str, facts: Row, cells: int) -> Row:
    """Put facts behind words, of which so much is cut that the facts are seen."""
    room = cells - sum(width(text) for text, _ in [*row, *facts])
    return [*row, (cut(words, max(8, room)) if facts else words, style), *facts]


def _answered(ask: Ask) -> str:
    entry = f' by "{safe(ask.entry)}"' if ask.entry else ""
    return f"{ask.action or 'no answer'}{entry}"


def _outcome(
    call: Call, round_: Round, following: Round | None, look: Look, cells: int
) -> Iterator[Row]:
    if round_.end is None:
        return
    if call.why and following is None and round_.response_seq is None:
        yield _quiet(look, safe(call.why))
        return
    kind = result_type(round_, call.era)
    label, style = kind.partition(",")[0] or "result", ""
    if round_.asks:
        label, style = f"asks {len(round_.asks)}", "ask"
    elif round_.fault:
        label, style = "error", "bad"
    elif call.outcome == "cancelled" and following is None:
        label = "cancelled"
    kept = following is not None and following.by_tap  # the tap answered, so it passed nothing on
    row = _arrow(round_.end, label, ahead=False, half=kept, look=look)
    words = _result_words(round_)
    facts: Row = []
    if round_.state is not None:
        facts.append((f"  state {short_print(round_.state, look.glyphs.more)}", "dim"))
    if kind.endswith(f", {NO_TYPE}") and not round_.fault:
        facts.append((f", {NO_TYPE}", "wait"))
    yield _joined(row, f"  {words[0]}", style, facts, cells)
    for more in words[1:]:
        yield _more(more, style, look)


def _result_words(round_: Round) -> list[str]:
    if round_.asks:
        return [ask_label(ask) for ask in round_.asks]
    if round_.fault:
        return [fault_words(round_.fault, round_.status)]
    facts = [] if round_.status is None else [f"HTTP {round_.status}"]
    if round_.size:
        facts.append(size(round_.size))
    if round_.progress:
        facts.append(f"{round_.progress} progress")
    if round_.logs:
        facts.append(plural(round_.logs, "log"))
    return [", ".join(facts)]


def _field(name: str, words: str) -> Row:
    return [(f" {name:<15}", "dim"), (words, "")]


def _answer(answer: Any, cells: int) -> str:
    if isinstance(answer, dict) and isinstance(answer.get("action"), str):
        content = answer.get("content")
        return safe(answer["action"]) + (f" {brief(content, cells)}" if content else "")
    return brief(answer, cells)


def _states(sent: str | None, given: str | None, more: str) -> tuple[str, str]:
    """Compare the state that was sent with the one that was given; with a line for the latter."""
    if sent is None:
        return f"none sent, given {fingerprint(given or '', more)}", ""
    if given is None:
        return f"{fingerprint(sent, more)}, none was given", ""
    if sent == given:
        return f"{fingerprint(sent, more)}, as given", ""
    a, b = (text.encode("utf-8", "surrogatepass") for text in (sent, given))
    at = next(
        (n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )
    words = f"{fingerprint(sent, more)}, differs at byte {at} from the one given,"
    return words, fingerprint(given, more)
