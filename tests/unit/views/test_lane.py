from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mcp_tap.core.model import Said
from mcp_tap.views.lane import ask_detail, heading, lane_rows, request_rows, result_rows
from mcp_tap.views.look import LINES, Look, text_of
from tests import builders as b

LOOK = Look(start=datetime(2026, 7, 28, 12, 4, tzinfo=UTC))


def texts(rows):
    return [text_of(row) for row in rows]


def test_a_call_of_three_rounds_is_drawn_message_by_message():
    assert texts(lane_rows(b.deploy(), LOOK, now=23.0)) == [
        "       client           tap          server",
        " 07.218   |-- id 7 ------+------------->|  r1",
        " 07.229   |<-- asks 1 ---+--------------|  confirm (form)  state dc4038..",
        ' 07.230   |-- id "t1" ---+------------->|  r2 accept  state dc4038..',
        " 07.390   |<-- asks 1 ---+--------------|  window (form)  state 295df2..",
        "          : 5.81s, the client           :",
        " 13.204   |-- id 8 ------+------------->|  r3 accept  state 0936f1..  changed",
        " 13.338   |<-- complete -+--------------|  HTTP 200, 312 B",
    ]


def test_what_the_tap_wrote_itself_leaves_the_client_alone():
    call = b.deploy()
    call.rounds[1].by_tap = True
    call.rounds[0].asks[0].entry = "confirm deploys"
    rows = texts(lane_rows(call, LOOK, now=23.0))
    assert rows[2] == " 07.229   |              |<-- asks 1 ---|  confirm (form)  state dc4038.."
    assert rows[3].startswith(' 07.230   |              |-- id "t1" -->|  r2 accept by "confirm')


def test_lines_are_drawn_with_line_glyphs():
    rows = texts(lane_rows(b.deploy(), Look(start=LOOK.start, glyphs=LINES), now=23.0))
    assert rows[1] == " 07.218   │── id 7 ──────┼─────────────►│  r1"
    assert rows[2].startswith(" 07.229   │◄── asks 1 ───┼──────────────│")


def test_what_is_waited_for_stands_below():
    assert texts(lane_rows(b.booking(), LOOK, now=23.0))[-1] == (
        "          : waiting for the client, 7s  :"
    )
    assert texts(lane_rows(b.stream(), LOOK, now=None))[-1] == (
        "          : a stream, still open        :"
    )


def test_an_error_a_cancelled_call_and_several_asks_are_told():
    assert texts(lane_rows(b.failed(), LOOK, now=23.0))[-1] == (
        " 16.009   |<-- error ----+--------------|  -32602: Unknown tool: exprt"
    )
    gone = b.call(1, outcome="cancelled")
    gone.rounds[0].result_type = None
    assert "<-- cancelled" in texts(lane_rows(gone, LOOK, now=23.0))[-1]
    gone.why = "the client left"
    assert ": the client left" in texts(lane_rows(gone, LOOK, now=23.0))[-1]
    call = b.booking()
    call.rounds[1].asks.append(b.ask("meal", kind="url"))
    assert [row[41:] for row in texts(lane_rows(call, LOOK, now=23.0))[-3:-1]] == [
        "  seat (form)  state e26d2d..",
        "  meal (url)",
    ]


def test_the_heading_says_how_the_call_stands():
    assert text_of(heading(b.deploy(), now=23.0)) == (
        "#16 tools/call deploy  3 rounds  ok  6.12s (server 305ms, client 5.82s)"
    )


def test_a_request_is_told_with_the_state_it_was_given():
    call = b.deploy()
    last = call.rounds[2]
    assert texts(request_rows(last, call.rounds[1], call, LOOK, 60)) == [
        "r3 request  id 8",
        ' name           "deploy"',
        ' arguments      {service: "billing", version: "2026.7.1"}',
        " inputResponses window: accept {ok: true}",
        " requestState   sha256:0936f1.., 312 B, differs at byte 40 from the one given,",
        "                sha256:295df2.., 312 B",
    ]


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ("same", "0967f1"),
        (None, "none sent, given"),
    ],
)
def test_a_missing_or_equal_state_is_told(sent, words):
    before = b.round_(1, 1, 2, state="same")
    row = texts(
        request_rows(b.round_(2, 3, 4, sent_state=sent), before, b.call(1, None), LOOK, 60)
    )[-1]
    assert ("as given" if sent else words) in row
    assert "same" not in row


def test_an_invented_state_and_odd_answers_are_told():
    round_ = b.round_(2, 3, 4, sent_state="x", answers={"a": {"role": "assistant"}, "b": [1]})
    rows = texts(request_rows(round_, b.round_(1, 1, 2), b.call(1, None), LOOK, 60))
    assert rows[1:] == [
        ' inputResponses a: {role: "assistant"}',
        "                b: [1]",
        f" requestState   {rows[-1].split()[1]} 1 B, none was given",
    ]


def test_asks_are_told_in_full():
    assert texts(ask_detail(b.booking().rounds[1])) == [
        '  ? seat (form)  "Which seat do you want?"  fields seat*, bags'
    ]


def test_ambiguous_answers_say_whose_they_may_be():
    asked = b.booking()
    asked.outcome, asked.end, asked.rounds[-1].claimants = "unlinked", 20.0, (19, 20)
    assert ": answered by #19 or #20" in texts(lane_rows(asked, LOOK, now=None))[-1]
    first = b.round_(1, 1.0, 1.1, link="ambiguous", candidates=[17, 18], sent_state="s" * 25)
    retry = b.call(19, outcome="unlinked", rounds=[first])
    assert "ambiguous: #17 or #18" in texts(lane_rows(retry, LOOK, now=None))[1]
    assert texts(request_rows(first, None, retry, LOOK, 60))[-1].endswith(", 25 B, of #17 or #18")
    first.candidates = []
    assert texts(request_rows(first, None, retry, LOOK, 60))[-1].endswith(
        ", of no call that is known"
    )


def test_states_are_seen_however_long_the_words_before_them():
    call = b.booking()
    call.rounds[0].asks[0].key = "a key that goes on and on"
    call.rounds[0].asks[0].entry = "an answer with a name that goes on and on"
    call.rounds[1].asks[0].key = "another key that goes on and on, " * 3
    for glyphs in (LINES, LOOK.glyphs):
        rows = texts(lane_rows(call, Look(start=LOOK.start, glyphs=glyphs), now=23.0, cells=79))
        states = [row for row in rows if "  state " in row]
        assert [row[-8:] for row in states] == [
            f" {digits}{glyphs.more}"[-8:] for digits in ("e33cdf", "e33cdf", "e26d2d")
        ]
        assert {len(row) for row in states} == {79}


def test_a_round_tells_its_result_and_an_error_whole():
    round_ = b.deploy().rounds[2]
    assert texts(result_rows(round_, 60)) == [' result         "billing 2026.7.1 is out", +1 block']
    assert texts(result_rows(b.failed().rounds[0], 60)) == [
        " error          -32602: Unknown tool: exprt"
    ]


def test_a_result_without_a_type_is_marked():
    call = b.call(1)
    call.rounds[0].result_type, call.rounds[0].result = None, Said(text="exported")
    row = texts(lane_rows(call, LOOK, now=None))[-1]
    assert row.endswith("<-- complete -+--------------|  HTTP 200, 312 B, no resultType")
    call.era = "session"
    assert "no resultType" not in texts(lane_rows(call, LOOK, now=None))[-1]
