from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mcp_tap.core.filters import parse
from mcp_tap.core.model import Fault, Said
from mcp_tap.core.records import Body
from mcp_tap.views.listing import call_rows, exchange_rows, listed
from mcp_tap.views.look import Look, text_of
from tests import builders as b

LOOK = Look(start=datetime(2026, 7, 28, 12, 4, tzinfo=UTC))
RECORDS = [Body(seq=9, t=1.0, sender="server", exchange=20, text="the body")]


@pytest.mark.parametrize(("depth", "count"), [(0, 1), (1, 5), (2, 10), (3, 12), (4, 12)])
def test_each_depth_adds_to_the_one_before(depth, count):
    rows = list(call_rows(b.deploy(), LOOK, depth, now=None, records=RECORDS))
    assert len(rows) == count
    assert text_of(rows[0]).endswith("6.12s  (server 305ms, client 5.82s)")


def test_a_fault_is_told_at_every_depth():
    rows = [text_of(row) for row in call_rows(b.failed(), LOOK, 0, now=None)]
    assert rows[1] == "               x -32602: Unknown tool: exprt"


def test_a_fault_in_the_middle_of_a_call_stands_below_its_round():
    call = b.deploy()
    call.rounds[1].fault = Fault(code=-32602, message="Invalid or expired requestState")
    rows = [text_of(row) for row in call_rows(call, LOOK, 1, now=None)]
    at = next(i for i, row in enumerate(rows) if row.strip().startswith("r2"))
    words = "x -32602: Invalid or expired requestState"
    assert rows[at + 1] == " " * 19 + words
    assert sum(words in row for row in rows) == 1


@pytest.mark.parametrize(
    ("how", "why", "told"),
    [
        ("client_gone", None, "/ the client left"),
        ("shutdown", "the tap stopped", "/ the tap stopped"),
        ("upstream_cut", "it broke off", "x it broke off"),
        ("tap_failed", "KeyError: 'x'", "x a fault of mcp-tap: KeyError: 'x'"),
        ("tap_failed", None, "x a fault of mcp-tap"),
    ],
)
def test_an_exchange_says_why_it_did_not_end_well(how, why, told):
    rows = exchange_rows(b.exchange(how=how, why=why), LOOK, 0, now=None)
    assert [text_of(r).strip() for r in rows][1:] == [told]


def test_an_exchange_says_what_went_wrong_and_shows_its_records():
    refused = b.exchange(status=403, how="refused", why="foreign Host \x1b")
    rows = [text_of(r) for r in exchange_rows(refused, LOOK, 3, now=None, records=RECORDS)]
    assert rows[1] == "               x foreign Host \\x1b"
    assert rows[-1] == "                 the body"


def test_arguments_and_results_are_a_line_each_of_the_given_width():
    call = b.deploy()
    call.rounds[0].arguments = {"note": "x" * 500}
    call.rounds[2].result = Said(text="line one\nline \x1b[2J two " * 20, more=2)
    rows = [text_of(row) for row in call_rows(call, LOOK, 2, now=None, cells=90)]
    (arguments,) = [row for row in rows if row.strip().startswith("arguments")]
    (result,) = [row for row in rows if row.strip().startswith("result")]
    assert arguments.startswith(" " * 19 + 'arguments  {note: "xxx')
    assert result.startswith(" " * 19 + 'result  "line one\\nline \\x1b[2J two')
    assert result.endswith(", +2 blocks")
    assert max(len(arguments), len(result)) <= 90


def test_a_call_that_ended_without_a_result_type_is_odd_at_every_depth():
    call = b.call(10)
    call.rounds[0].result_type, call.rounds[0].result = None, Said(text="exported")
    rows = [text_of(row) for row in call_rows(call, LOOK, 1, now=None)]
    assert rows[0].endswith("(no resultType)")
    assert "HTTP 200  complete, no resultType" in rows[1]
    call.era = "session"
    rows = [text_of(row) for row in call_rows(call, LOOK, 1, now=None)]
    assert rows[1].endswith("HTTP 200  complete  210ms")
    assert "resultType" not in "".join(rows)


@pytest.mark.parametrize(
    ("how", "filter_", "asked", "is_listed"),
    [
        ("complete", "", False, False),
        ("client_gone", "", False, False),
        (None, "", False, False),
        ("refused", "", False, True),
        ("complete", "", True, True),
        ("complete", "kind:http", False, True),
        ("complete", "status:2xx", False, True),
        ("complete", "tool:a", False, False),
    ],
)
def test_one_rule_says_which_exchanges_are_listed(how, filter_, asked, is_listed):
    assert listed(b.exchange(how=how), parse(filter_), asked=asked) is is_listed
    assert not listed(b.exchange(how=how, call=3), parse(filter_), asked=True)
