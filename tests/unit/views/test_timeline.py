from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mcp_tap.core.model import Fault
from mcp_tap.views.look import STYLES, Look, text_of
from mcp_tap.views.timeline import (
    HEADING,
    ask_rows,
    asking_row,
    call_row,
    exchange_row,
    fault_rows,
    round_row,
)
from tests import builders as b

LOOK = Look(start=datetime(2026, 7, 28, 12, 4, tzinfo=UTC))


def texts(rows):
    return [text_of(row) for row in rows]


def test_calls_stand_in_the_columns_of_the_heading():
    rows = [HEADING, *(text_of(call_row(c, LOOK, now=23.0)) for c in b.run())]
    assert "\n".join(rows) == (
        "TIME      CALL METHOD           NAME             ROUNDS  STATE          TOOK\n"
        "12:04:01    14 tools/list                        *       ok             12ms\n"
        "12:04:03    15 tools/call       search           *       ok            210ms\n"
        "12:04:07    16 tools/call       deploy           ?-?-*   ok            6.12s\n"
        "12:04:15    17 tools/call       book_flight      ?-_     waiting client   8s\n"
        "12:04:16    18 tools/call       exprt            x       error -32602    9ms\n"
        "12:04:17    19 subscriptions/listen              ===     open             6s"
    )


def test_a_marked_call_keeps_its_columns():
    plain, marked = (text_of(call_row(b.deploy(), LOOK, marker=m)) for m in ("", "> "))
    assert marked == plain.replace("    16", "  > 16")


@pytest.mark.parametrize("number", [1, 12345, 999_999])
def test_numbers_do_not_move_the_columns(number):
    assert text_of(call_row(b.call(number), LOOK)).index("tools/call") == 15


def test_long_names_are_cut_in_a_console_and_whole_in_a_listing():
    call = b.call(1, "a_very_long_tool_name_indeed")
    assert "a_very_long_to.. *" in text_of(call_row(call, LOOK))
    assert "a_very_long_tool_name_indeed *" in text_of(call_row(call, LOOK, extra=None))
    assert "a_very_long_tool_name_indeed *" in text_of(call_row(call, LOOK, extra=12))


def test_wide_letters_keep_the_columns():
    plain, wide = (text_of(call_row(b.call(1, n), LOOK, extra=e)) for n, e in
                   (("deploy", 0), ("東京タワー", None)))  # fmt: skip
    assert wide.index("*") + 5 == plain.index("*")


def test_exchanges_outside_of_calls_have_no_number():
    assert text_of(exchange_row(b.exchange(), LOOK)) == (
        "12:04:02       notifications/cancelled           *       ok              3ms"
    )
    refused = b.exchange(status=403, how="refused", kind="http", method=None, verb="GET", path="/x")
    assert text_of(exchange_row(refused, LOOK)) == (
        "12:04:02       GET              /x               x       error 403       3ms"
    )
    down = b.exchange(status=None, how="upstream_down")
    assert "x       upstream down" in text_of(exchange_row(down, LOOK))
    listening = b.exchange(status=200, how=None, end=None, method=None, verb="GET")
    assert "===     open             8s" in text_of(exchange_row(listening, LOOK, now=10.0))


def test_rounds_say_their_evidence_and_their_state():
    assert [t[15:] for t in texts(round_row(r, LOOK) for r in b.deploy().rounds)] == [
        "r1  id 7  HTTP 200  input_required  1 ask  state sha256:dc4038.., 312 B  echo same  11ms",
        'r2  id "t1"  linked by state  HTTP 200  input_required  1 ask'  # noqa: ISC004 - one row
        "  state sha256:295df2.., 312 B  echo changed  160ms",
        "r3  id 8  linked by keys  HTTP 200  complete  134ms",
    ]


def test_an_ambiguous_round_names_its_candidates():
    round_ = b.round_(1, 1.0, 1.1, link="ambiguous", candidates=[3, 5], progress=2, logs=1)
    words = text_of(round_row(round_, LOOK))
    assert "ambiguous: #3 or #5" in words
    assert words.endswith("2 progress  1 log  100ms")
    invented = b.round_(1, 1.0, 1.1, echo="invented")
    assert "state invented" in text_of(round_row(invented, LOOK))


def test_asks_have_their_answers_below():
    call = b.booking()
    assert texts(row for r in call.rounds for row in ask_rows(call, r)) == [
        '                   ? who (form)  "What about who?"',
        "                   > who  accept {ok: true}, by client",
        '                   ? seat (form)  "Which seat do you want?"  fields seat*, bags',
        "                   _ seat  not answered yet",
    ]
    call.end = 99.0
    assert "never answered" in texts(ask_rows(call, call.rounds[1]))[1]
    call.outcome, call.rounds[1].claimants = "unlinked", (19, 20)
    assert "answered by #19 or #20" in texts(ask_rows(call, call.rounds[1]))[1]


def test_a_call_that_asks_is_shown_as_it_stood_then():
    call = b.deploy()
    assert texts(asking_row(call, r, LOOK) for r in call.rounds[:2]) == [
        "12:04:07    16 tools/call       deploy           _       asks the client",
        "12:04:07    16 tools/call       deploy           ?-_     asks the client",
    ]


def test_faults_and_who_is_waited_for_are_said():
    assert texts(fault_rows(b.failed())) == [
        "               x -32602: Unknown tool: exprt",
        "               ! cannot tell: the server answered -32602, and no rule says who is wrong",
    ]
    assert texts(fault_rows(b.booking())) == [
        "               _ waiting for the client to answer seat"
    ]
    assert texts(fault_rows(b.deploy())) == []
    lost = b.call(1, outcome="unlinked")
    assert texts(fault_rows(lost)) == ["               _ a retry of no call that is known"]
    lost.rounds[0].candidates = [3, 5]
    assert texts(fault_rows(lost)) == [
        "               _ it may continue #3 or #5; nothing tells which"
    ]


def test_a_call_with_one_of_several_answers_says_which_they_are():
    call = b.booking()
    call.rounds[-1].claimants = (19,)
    assert texts(fault_rows(call)) == [
        "               _ waiting for the client to answer seat, unless #19 did"
    ]
    call.outcome, call.end, call.rounds[-1].claimants = "unlinked", 20.0, (19, 20)
    assert texts(fault_rows(call)) == [
        "               _ answered by #19 or #20; nothing tells which"
    ]
    call.rounds[0].candidates = [14, 15]
    assert [t.strip() for t in texts(fault_rows(call))] == [
        "_ it may continue #14 or #15; nothing tells which",
        "_ answered by #19 or #20; nothing tells which",
    ]


@pytest.mark.parametrize("fault", [None, Fault(code=-32800, message="Request cancelled")])
def test_a_cancelled_call_has_one_sign_and_says_why(fault):
    call = b.call(1, outcome="cancelled", fault=fault, why="the client left \x1b")
    assert " / " in text_of(call_row(call, LOOK))
    told = ["/ the client left \\x1b"] + (["/ -32800: Request cancelled"] if fault else [])
    told.append("! client: gave up after 210ms")
    assert [t.strip() for t in texts(fault_rows(call))] == told


def test_rows_use_known_styles_and_hold_nothing_a_terminal_obeys():
    call = b.call(
        1,
        "\x1b[2J",
        method="\x9bx",
        outcome="error",
        fault=Fault(code=1, message="\x07\u202e"),
    )
    rows = [call_row(call, LOOK), *fault_rows(call), *(round_row(r, LOOK) for r in call.rounds)]
    assert {style for row in rows for _, style in row} <= set(STYLES)
    assert not {"\x1b", "\x9b", "\x07", "\u202e"} & set("".join(texts(rows)))


def test_a_round_that_answers_an_earlier_one_says_which():
    before, earlier = (
        text_of(round_row(b.round_(4, 1.0, 1.1, link="state", answers_round=n), LOOK))
        for n in (3, 1)
    )
    assert "linked by state  HTTP" in before
    assert "linked by state to r1  HTTP" in earlier
