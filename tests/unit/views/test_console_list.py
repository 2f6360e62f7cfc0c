"""The list with several runs; the whole screens are in test_console_draw."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mcp_tap.core.text import width
from mcp_tap.views.console_list import list_rows, name_cells
from mcp_tap.views.console_state import ConsoleState
from mcp_tap.views.look import Look, text_of
from tests import builders as b


def console(*names):
    state = ConsoleState()
    for n, name in enumerate(names):
        look = Look(start=datetime(2026, 7, 28, 12, 4, n, tzinfo=UTC))
        run = state.begin(b.header(run=f"20260728T120400-{name}"), look)
        state.take(run, [b.call(1, "search")])
    return state


def lines(state, columns):
    return [text_of(row) for row in list_rows(state, columns, 10)]


def test_one_run_needs_no_name():
    assert name_cells(console("files-7f3a")) == 0
    assert lines(console("files-7f3a"), 80)[0].startswith("TIME      CALL METHOD")


def test_on_a_narrow_screen_the_name_stands_in_place_of_the_time():
    assert lines(console("files-7f3a", "git-9b1c"), 80) == [
        "RUN         CALL METHOD           NAME           ROUNDS  STATE          TOOK",
        "files-7f3a     1 tools/call       search         *       ok            210ms",
        "git-9b1c     > 1 tools/call       search         *       ok            210ms",
    ]


def test_where_there_is_room_the_time_stands_behind_it():
    heading, *rows = lines(console("files-7f3a", "git-9b1c"), 100)
    assert heading.startswith("RUN        TIME      CALL METHOD           NAME ")
    assert [row[:42] for row in rows] == [
        "files-7f3a 12:04:03     1 tools/call      ",
        "git-9b1c   12:04:04   > 1 tools/call      ",
    ]


@pytest.mark.parametrize("columns", [40, 80, 91, 100, 119])
def test_the_columns_of_heading_and_rows_are_the_same(columns):
    state = console("a-very-long-name-of-a-server-7f3a", "git-9b1c")
    heading, *rows = (text_of(row) for row in list_rows(state, columns, 10))
    at = heading.index("STATE")
    assert [width(row[: row.index("ok")]) for row in rows] == [at, at]
    assert rows[0].startswith("a-very..-7f3a ")


def test_rows_of_a_run_that_ended_are_dim():
    state = console("files-7f3a", "git-9b1c")
    state.end(state.runs[0])
    _, ended, going_on = list_rows(state, 80, 10)
    assert {style for _, style in ended} == {"dim"}
    assert {style for _, style in going_on} > {"dim"}
