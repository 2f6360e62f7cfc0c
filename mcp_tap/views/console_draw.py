"""The console's screen as rows: 80 columns are a list over a call, 160 a list beside it.

Every row is exactly as wide as the screen.  Nothing is drawn that does not exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from mcp_tap.core.filters import help_text
from mcp_tap.core.model import Call, Exchange
from mcp_tap.core.text import plural, safe, size, width
from mcp_tap.rules.catalogue import BY_ID
from mcp_tap.views.console_list import LIST, WIDE, Line, list_rows, name_cells, named
from mcp_tap.views.console_state import ConsoleState
from mcp_tap.views.found import (
    LETTERS,
    STYLES,
    finding_row,
    finding_rows,
    place_words,
)
from mcp_tap.views.lane import ask_detail, heading, lane_rows, request_rows, result_rows
from mcp_tap.views.look import Look, Row, fit, wrapped
from mcp_tap.views.rule_examples import examples
from mcp_tap.views.rule_page import rule_rows
from mcp_tap.views.timeline import blame_row
from mcp_tap.views.words import exchange_why

MOST_FOUND: Final = 3
"""Findings shown below the calls, the newest last; one on a screen below `LOW` lines."""
LOW: Final = 20
_KEYS: Final = (
    ("esc", "clear", 2), ("/", "filter", 3), ("enter", "open", 4), ("x", "explain", 6),
    ("y", "copy", 7), ("space", "pause", 5), ("?", "help", 1), ("q", "quit", 0),
)  # fmt: skip
"""Keys, what they do, and which are left out first where there is no room: the highest."""
_HELP: Final = """\
j k  up down    move, also in this page     g G  home end    first, last
enter  esc      into the call, and back
/               filter; enter applies, esc leaves it; in the list esc clears it
x               the call's worst finding, else the newest of all, and its rule
y               copy the call as JSON (through the terminal)
space           let the list stand still, and go on
q               quit

The list follows the newest call until another one is chosen; G follows again.

ROUNDS   ? asked and answered   _ waiting   . open    = open stream
         * final   x error   / cancelled           fields a*   a is required
"""


def screen(state: ConsoleState, columns: int, lines: int) -> list[Row]:
    """Draw the whole screen: `lines` rows of `columns` cells."""
    more = state.glyphs.more
    top: list[Row] = [_header(state, columns)]
    bottom = list(_bottom(state, columns, lines))
    room = max(1, lines - len(top) - len(bottom))
    if state.help:
        body = _scrolled(state, _help(), room)
    elif state.explained:
        body = _scrolled(state, _page(state, columns), room)
    elif columns >= WIDE:
        body = list(_beside(state, columns, room))
    elif state.open:
        body = list(_scrolled(state, _call(state, columns - 1), room))
    else:
        body = list(_above(state, columns, room))
    body += [[] for _ in range(room - len(body))]
    rows = [*top, *body[:room], *bottom]
    return [_fitted(row, columns, more) for row in rows][:lines]


def _fitted(row: Row, columns: int, more: str) -> Row:
    line = Line(fit(row, columns, more))
    if isinstance(row, Line):
        line.chosen = row.chosen
    return line


# --- header and footer ----------------------------------------------------------------------------


def _header(state: ConsoleState, columns: int) -> Row:
    if not state.runs:
        return [("mcp-tap", "strong")]
    wide = columns >= WIDE
    facts = _facts(state, wide=wide)
    spare = columns - sum(width(text) for text, _ in facts) - 2
    row = _names(state, spare) if state.several else _way(state, wide=wide)
    return [*fit([("mcp-tap", "strong"), *row], spare, state.glyphs.more), ("  ", ""), *facts]


def _names(state: ConsoleState, cells: int) -> Row:
    """Name the runs that go on, or where that takes too long, count them; and count the others."""
    names = [run.name for run in state.runs if not run.ended]
    over = len(state.runs) - len(names)
    rest: Row = [(f"  {over} ended", "dim")] if over else []
    row: Row = [(f"  {name}", "strong") for name in names]
    if len("mcp-tap") + sum(width(text) for text, _ in [*row, *rest]) > cells:
        row = [(f"  {plural(len(names), 'run')}", "strong")]
    return [*row, *rest]


def _way(state: ConsoleState, *, wide: bool) -> Row:
    header = state.runs[0].header
    upstream = header.upstream if wide else header.upstream.partition("://")[2] or header.upstream
    listen = header.listen.partition("://")[2].partition("/")[0] or header.listen
    listen = listen if wide else ":" + listen.rpartition(":")[2]
    way = f"{listen} > {upstream}" if header.listen else upstream
    row: Row = []
    if header.label:
        row.append((f"  {safe(header.label)}", "strong"))
    row.append((f"  {safe(way)}", ""))
    row.append((f"  {_who(state, wide=wide)}", "dim"))
    return row


def _who(state: ConsoleState, *, wide: bool) -> str:
    calls = [item.subject for item in state.rows() if isinstance(item.subject, Call)]
    call = next((c for c in reversed(calls) if c.version), calls[-1] if calls else None)
    if call is None:
        return ""
    version = safe(call.version or "")
    if not wide:
        return version
    client = f"  client {safe(call.client)}" if call.client else ""
    return f"{call.era} {version}{client}"


def _facts(state: ConsoleState, *, wide: bool) -> Row:
    row: Row = []
    stats = state.stats
    if stats is not None:
        style = "" if state.ended else "ok"
        row.append((plural(stats.records, "record"), style))
        if wide and stats.bytes:
            row.append((f", {size(stats.bytes)}", style))
        if state.ended:
            row.append((", ended", ""))
        if stats.lost:
            row.append((f"  {stats.lost} LOST", "bad"))
    if errors := state.found["error"]:
        row.append((f"  E{errors}", "bad"))
    if warnings := state.found["warning"]:
        row.append((f"  W{warnings}", "wait"))
    if state.paused:
        row.append(("  PAUSED", "wait"))
    elif wide and state.selected is None and not state.ended:
        row.append(("  follow", "dim"))
    return row


def _bottom(state: ConsoleState, columns: int, lines: int) -> Iterator[Row]:
    most = MOST_FOUND if lines >= LOW else 1
    found = [found for found in state.findings if found.finding.severity != "note"][-most:]
    if found and not (state.help or state.explained):
        yield _rule(state, columns)
        cells = name_cells(state)
        for run, finding in found:
            yield [*named(state, run, cells), *finding_row(finding)]
    for notice in state.notices:
        yield [("! ", "bad"), (safe(notice), "")]
    yield _rule(state, columns, cross=not found)
    if state.message:
        yield [(safe(state.message), "wait")]
    if state.typing is not None:
        yield [("/ ", "strong"), (safe(state.typing), ""), ("_", "dim")]
        return
    row: Row = []
    if state.filter:
        row.append((f"{safe(str(state.filter))}  {_counts(state)}   ", "wait"))
    yield [*row, *_hints(state, columns - sum(width(text) for text, _ in row))]


def _rule(state: ConsoleState, columns: int, *, cross: bool = True) -> Row:
    rule = state.glyphs.rule
    if columns >= WIDE and not (state.help or state.explained) and cross:
        row = rule * LIST + state.glyphs.cross + rule * (columns - LIST - 1)
        return [(row, "dim")]
    return [(rule * columns, "dim")]


def _counts(state: ConsoleState) -> str:
    """Say how many calls pass the filter, and how many exchanges of no call stand among them."""
    rows = state.rows()
    calls = sum(isinstance(item.subject, Call) for item in rows)
    others = f" and {plural(len(rows) - calls, 'exchange')}" if len(rows) > calls else ""
    return f"{calls} of {plural(state.total, 'call')}{others}"


def _hints(state: ConsoleState, room: int) -> Row:
    """Name the keys for which there is room."""
    keys = [key for key in _KEYS if key[0] != "esc" or (state.filter and not state.open)]
    while keys and sum(len(key) + len(word) + 3 for key, word, _ in keys) - 2 > room:
        keys.remove(max(keys, key=lambda key: key[2]))
    row: Row = []
    for key, word, _ in keys:
        row += [("  " if row else "", ""), (key, "strong"), (f" {word}", "dim")]
    return row


def _help() -> Iterator[Row]:
    for line in [*_HELP.splitlines(), "", *help_text().splitlines()]:
        yield [(line, "")]


def _page(state: ConsoleState, columns: int) -> Iterator[Row]:
    """Give a finding in full, and its rule's page; that of a later version may have none here."""
    if state.explained is None:
        return
    run, finding = state.explained
    style = STYLES[finding.severity]
    said = f"{place_words(finding)} {finding.blame}: {safe(finding.message)}"
    said = f"{run.name} {said}" if state.several else said
    for number, text in enumerate(wrapped(said, columns - 2)):
        yield [("  " if number else f"{LETTERS[finding.severity]} ", style), (text, "")]
    yield []
    rule = BY_ID.get(finding.rule)
    if rule is None:
        yield [(f"no rule {safe(finding.rule)} is known here", "")]
        return
    yield from rule_rows(rule, examples(rule), min(columns, 100))


# --- bodies ---------------------------------------------------------------------------------------


def _above(state: ConsoleState, columns: int, room: int) -> Iterator[Row]:
    spare = room - len(state.rows()) - 1  # what a short list leaves
    most = max(min(room // 2, 14), spare) if room >= 12 else 0
    below = _fitting(state, columns - 1, most - 1) if most else []
    yield from list_rows(state, columns, room - (len(below) + 1 if below else 0))
    if below:
        yield [(state.glyphs.rule * columns, "dim")]
        yield from below


def _beside(state: ConsoleState, columns: int, room: int) -> Iterator[Row]:
    more, bar = state.glyphs.more, state.glyphs.bar
    left = list(list_rows(state, LIST, room))
    cells = columns - LIST - 2
    right = (
        _scrolled(state, _call(state, cells), room) if state.open else _fitting(state, cells, room)
    )
    for n in range(room):
        row = left[n] if n < len(left) else []
        line = Line(fit(row, LIST, more))
        line.chosen = row.chosen if isinstance(row, Line) else 0
        mark = ">" if state.open and n == 0 else " "
        line += [(bar, "dim"), (mark, "strong"), *(right[n] if n < len(right) else [])]
        yield line


def _scrolled(state: ConsoleState, rows: Iterable[Row], room: int) -> list[Row]:
    shown = list(rows)
    state.page = room
    state.scroll = min(state.scroll, max(0, len(shown) - room))
    return shown[state.scroll : state.scroll + room]


def _call(state: ConsoleState, cells: int) -> Iterator[Row]:
    """Tell all about the selected call."""
    yield from _messages(state, cells)
    chosen = state.chosen()
    if chosen is not None and isinstance(call := chosen.subject, Call):
        yield [(" " + state.glyphs.rule * (cells - 1), "dim")]
        for n in range(len(call.rounds)):
            yield from _request(call, n, chosen.run.look, cells)
            yield from ([(" ", ""), *row] for row in result_rows(call.rounds[n], cells - 20))


def _fitting(state: ConsoleState, cells: int, room: int) -> list[Row]:
    """Tell what fits: the messages, the newest rather than the first, the last round's result.

    Where there is more room: what the last round's request said.
    """
    rows = list(_messages(state, cells))
    chosen = state.chosen()
    call = chosen.subject if chosen is not None else None
    last = call.rounds[-1] if isinstance(call, Call) and call.rounds else None
    if last is not None:
        rows += [[(" ", ""), *row] for row in result_rows(last, cells - 20)]
    if len(rows) > room:
        return rows[:2] + rows[len(rows) - room + 2 :]
    if chosen is not None and isinstance(call, Call) and last and room - len(rows) > 2:
        rows.append([(" " + state.glyphs.rule * (cells - 1), "dim")])
        rows += _request(call, len(call.rounds) - 1, chosen.run.look, cells)
    return rows[:room]


def _messages(state: ConsoleState, cells: int) -> Iterator[Row]:
    chosen = state.chosen()
    if chosen is None:
        return
    (run, change), more = chosen, state.glyphs.more
    front: Row = [(" ", "")]
    if state.several:
        front.append((f"{run.name}{', ended' if run.ended else ''}  ", "dim"))
    if isinstance(change, Call):
        yield [*front, *heading(change, now=run.now)]
        for row in lane_rows(change, run.look, now=run.now, cells=cells):
            yield fit(row, cells, more)
        if row_ := blame_row(change, " "):
            yield fit(row_, cells, more)
    else:
        for n, row in enumerate(_exchange(change)):
            yield [*front, *row] if n == 0 else [(" ", ""), *row]
    for row in finding_rows(change.findings, " "):
        yield fit(row, cells, more)


def _request(call: Call, n: int, look: Look, cells: int) -> Iterator[Row]:
    round_, before = call.rounds[n], call.rounds[n - 1] if n else None
    room = cells - 20
    yield from (
        [(" ", ""), *row]
        for row in (
            *request_rows(round_, before, call, look, room),
            *ask_detail(round_),
        )
    )


def _exchange(exchange: Exchange) -> Iterator[Row]:
    yield [(safe(f"{exchange.verb} {exchange.path}"), "strong")]
    facts = [f"exchange {exchange.number}", plural(exchange.messages, "message")]
    if exchange.status is not None:
        facts.append(f"HTTP {exchange.status}")
    if exchange.how:
        facts.append(exchange.how.replace("_", " "))
    yield [(", ".join(facts), "")]
    if why := exchange_why(exchange):
        sign, style = ("/ ", "dim") if exchange.outcome == "cancelled" else ("x ", "bad")
        yield [(sign, style), (why, "")]
