from __future__ import annotations

import pytest

from mcp_tap.core.facts.lost import MOST_LOST, MOST_SIZE
from mcp_tap.core.records import HttpResponse
from tests.facts import message, seen_by


def lose(seen, number, how="upstream_cut", *, method="tools/call", status=None, size=10):
    sent = message(method, number, seen=seen)
    exchange = sent.flow.exchange
    exchange.how, exchange.end, exchange.size = how, 2.0, size
    if status is not None:
        kind = [("Content-Type", "text/event-stream")]
        sent.flow.reply = HttpResponse(seq=2, t=1.0, exchange=1, status=status, headers=kind)
        exchange.content_type = "text/event-stream"
    seen.closed(sent.flow)


@pytest.mark.parametrize(
    ("how", "status", "silent"),
    [
        ("upstream_cut", None, True),
        ("timeout", None, True),
        ("complete", 200, False),
    ],
)
def test_a_request_without_response_is_lost(how, status, silent):
    seen = seen_by("a")
    lose(seen, 5, how, status=status)
    lost = seen.lost.of(5)
    assert lost is not None
    assert (lost.silent, lost.t) == (silent, 2.0)
    assert seen.lost.of("5") is None


@pytest.mark.parametrize(
    "given",
    [
        {"how": "upstream_down"},
        {"how": "shutdown"},
        {"how": "client_gone", "status": 200},
        {"how": "complete"},
        {"status": 401},
        {"method": "initialize"},
        {"size": MOST_SIZE + 1},
    ],
)
def test_what_had_a_response_of_a_kind_or_cannot_be_compared_is_not_lost(given):
    seen = seen_by("a")
    lose(seen, 5, **given)
    assert seen.lost.of(5) is None


def test_a_lost_request_is_forgotten_once_it_is_taken_up_or_ids_start_again():
    seen = seen_by("a")
    lose(seen, 5)
    seen.note("request", message("tools/call", 6, seen=seen))
    assert seen.lost.of(5) is not None
    seen.note("request", message("tools/call", 2, seen=seen))
    assert seen.lost.of(5) is None
    lose(seen, "a")
    seen.note("request", message("server/discover", "b", seen=seen))
    assert seen.lost.of("a") is None


def test_only_so_many_are_kept():
    seen = seen_by("a")
    for number in range(3 * MOST_LOST):
        lose(seen, number)
    kept = [number for number in range(3 * MOST_LOST) if seen.lost.of(number) is not None]
    assert kept == list(range(2 * MOST_LOST, 3 * MOST_LOST))
