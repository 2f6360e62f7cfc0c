"""The screens themselves are in tests/data/console; UPDATE_SCREENS=1 writes them anew."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mcp_tap.core.text import width
from mcp_tap.views.base import Stats
from mcp_tap.views.console_draw import screen
from mcp_tap.views.console_list import Line
from mcp_tap.views.console_state import ConsoleState
from mcp_tap.views.look import ASCII, LINES, Look
from tests import builders as b

SCREENS = Path(__file__).parents[2] / "data" / "console"
KEYS_TO_THE_DEPLOY = "k k k k"


def console(keys="", glyphs=ASCII, *, calls=None):
    state = ConsoleState(glyphs)
    run = state.begin(
        b.header(), Look(glyphs=glyphs, start=datetime(2026, 7, 28, 12, 4, tzinfo=UTC))
    )
    refused = b.exchange(
        31, t=16.5, end=16.502, status=403, how="refused", kind="http", method=None, verb="GET",
        why="Host evil.example is foreign",
    )  # fmt: skip
    state.take(run, [*b.run(), refused] if calls is None else calls)
    run.now = 23.0
    state.stats = Stats(records=412, bytes=1_200_000)
    for key in keys.split():
        state.press(key)
    return state


def lines(state, columns, height):
    rows = screen(state, columns, height)
    return ["".join(text for text, _ in row) for row in rows]


CASES = {
    "80_follow": (80, 24, "", ASCII),
    "80_chosen": (80, 24, KEYS_TO_THE_DEPLOY, ASCII),
    "80_open": (80, 24, f"{KEYS_TO_THE_DEPLOY} enter j", ASCII),
    "80_filter_typed": (80, 24, "/ t o o : x enter", ASCII),
    "80_filtered": (80, 24, "/ s t a t e : w a i t i n g enter", LINES),
    "80_help": (80, 24, "?", ASCII),
    "80_exchange": (80, 24, "k", LINES),
    "160_follow": (160, 24, "", ASCII),
    "160_chosen": (160, 30, KEYS_TO_THE_DEPLOY, LINES),
    "160_open_paused": (160, 20, f"space {KEYS_TO_THE_DEPLOY} enter j j", ASCII),
}


@pytest.mark.parametrize("name", CASES)
def test_the_screen_is_the_one_on_file(name):
    columns, height, keys, glyphs = CASES[name]
    drawn = lines(console(keys, glyphs), columns, height)
    assert {width(line) for line in drawn} == {columns}
    assert len(drawn) == height
    path = SCREENS / f"{name}.txt"
    text = "\n".join(line.rstrip() for line in drawn) + "\n"
    if os.environ.get("UPDATE_SCREENS"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("columns", [1, 10, 40, 79, 80, 81, 119, 120, 121, 160, 250])
@pytest.mark.parametrize("height", [1, 2, 5, 12, 24, 60])
def test_every_size_is_filled_exactly(columns, height):
    for keys in ("", "?", "enter", "g", "/ a"):
        state = console(keys, LINES)
        state.notices.append("disk full")
        drawn = lines(state, columns, height)
        assert len(drawn) == height
        assert {width(line) for line in drawn} == {columns}


def test_the_chosen_call_is_marked_by_a_sign_and_a_look():
    rows = screen(console(KEYS_TO_THE_DEPLOY), 160, 24)
    chosen = [row for row in rows if isinstance(row, Line) and row.chosen]
    assert [row.chosen for row in chosen] == [80]
    assert "  > 16 tools/call       deploy" in "".join(text for text, _ in chosen[0])


def test_ascii_screens_are_ascii_but_for_the_wire():
    for keys in ("", "?", "enter"):
        assert "\n".join(lines(console(keys, calls=[b.failed()]), 160, 40)).isascii()


def test_nothing_is_shown_that_does_not_exist_yet():
    text = "\n".join(lines(console(), 160, 40) + lines(console("?"), 80, 60))
    for word in ("held", "accept  ", "decline  ", "pass on"):
        assert word not in text


def test_trouble_is_said_above_the_keys():
    state = console()
    state.notices.append("disk full: 3 records \x1b[2J lost")
    state.stats = Stats(records=9, lost=3)
    drawn = lines(state, 80, 24)
    assert "9 records  3 LOST" in drawn[0]
    assert drawn[-3].startswith("! disk full: 3 records \\x1b[2J lost")


def test_a_run_that_has_ended_is_not_recording():
    state = console()
    state.end(state.runs[0])
    assert lines(state, 80, 24)[0].endswith("412 records, ended")


def test_before_anything_happened_the_screen_says_so():
    state = ConsoleState()
    assert lines(state, 80, 24)[0].startswith("mcp-tap")
    assert "no call yet" in "\n".join(lines(state, 80, 24))
    assert "no call passes the filter" in "\n".join(lines(console("/ z z enter"), 80, 24))


def test_the_list_keeps_the_chosen_call_in_sight():
    calls = [b.call(n, t=float(n)) for n in range(1, 200)]
    state = console("g", calls=calls)
    assert re.search(r"> +1 ", "\n".join(lines(state, 80, 24)))
    state = console("G k k k", calls=calls)
    assert "> 196" in "\n".join(lines(state, 80, 24))


def test_x_tells_a_finding_in_full_above_the_page_of_its_rule():
    found = b.finding(message="echoed \x1b[2J " + "another word " * 12, round=None)
    call = b.failed()
    call.findings = [found]
    drawn = lines(console("x", calls=[call]), 80, 24)
    assert drawn[1].startswith("E #16 client: echoed ")
    assert " ".join(" ".join(drawn[1:5]).split()).count("another word") == 12
    assert "MRTR-016  retry-state-modified" in "\n".join(drawn)
    assert "\x1b" not in "".join(drawn)


def test_findings_of_an_exchange_stand_below_it():
    found = b.finding(
        "HTTP-004", "warning", name="notification-response", blame="server",
        message="answered 200", call=None, round=None, exchange=30,
    )  # fmt: skip
    drawn = "\n".join(lines(console(calls=[b.exchange(status=500, findings=[found])]), 80, 24))
    assert " W HTTP-004 notification-response  server  answered 200" in drawn


def test_wire_text_cannot_break_the_screen():
    nasty = "\x1b[2J\r\n\x9b東\u202e"
    call = b.deploy()
    call.name, call.client, call.version = nasty, nasty, nasty
    call.rounds[0].request_id = nasty
    call.rounds[0].asks[0].key = nasty
    header = b.header(label=nasty, upstream=nasty, listen=nasty)
    for keys in ("", "enter"):
        state = console(keys, calls=[call])
        state.runs[0].header = header
        for columns in (80, 160):
            drawn = lines(state, columns, 30)
            assert {width(line) for line in drawn} == {columns}
            assert not {"\x1b", "\r", "\n", "\x9b", "\u202e"} & set("".join(drawn))


def test_hints_for_which_there_is_no_room_are_left_out_whole():
    state = console("/ s t a t e : w a i t i n g enter")
    order = ("esc", "/", "enter", "y", "space", "?", "q")
    for columns in range(40, 100):
        row = lines(state, columns, 24)[-1].rstrip()
        assert not row.endswith(".."), row
        words = row.partition("6 calls")[2].split()
        assert words[::2] == [key for key in order if key in words]
        assert len(words) % 2 == 0
    assert "esc clear" in lines(state, 100, 24)[-1]
    assert "esc" not in lines(console(), 100, 24)[-1]


def test_the_footer_counts_what_the_filter_lets_pass():
    plain = b.exchange(40, t=18.0)
    assert (
        "n  0 of 6 calls and 1 exchange "
        in lines(
            console("/ k i n d : n o t i f i c a t i o n enter", calls=[*b.run(), plain]), 100, 24
        )[-1]
    )


def test_the_first_line_names_the_runs_that_go_on_or_counts_them():
    state = console()
    for n in range(3):
        state.begin(b.header(run=f"20260728T120400-server-{n}-7f3{n}"), Look())
    state.end(state.runs[0])
    assert "  server-0-7f30  server-1-7f31  server-2-7f32  1 ended  " in lines(state, 160, 30)[0]
    assert lines(state, 60, 24)[0].startswith("mcp-tap  3 runs  1 ended  ")


def test_what_is_waited_for_is_said_whole():
    state = ConsoleState()
    state.waiting = f"no run is being recorded in /home/ada/{'state/' * 10}mcp-tap; waiting for one"
    drawn = " ".join(" ".join(lines(state, 60, 24)).split())
    assert "waiting for one" in drawn


def test_findings_below_the_calls_name_their_run_where_there_are_several():
    state = console()
    other = state.begin(b.header(run="20260728T120400-files-9b1c"), Look())
    found = b.finding(message="round 3 sent another state", call=1, round=None)
    state.take(other, [b.call(1)], [found])
    assert any(line.startswith("files-9b1c   E MRTR-016 ") for line in lines(state, 80, 24))
    state.press("x")
    assert lines(state, 80, 24)[1].startswith("E files-9b1c #1 client: round 3 sent")
