"""What calls and rounds say of themselves."""

from __future__ import annotations

import pytest

from mcp_tap.replay.index import Index
from mcp_tap.replay.recorded import RecordedAsk, RecordedExchange, RecordedRound
from tests import captures
from tests.replays import answered, asking, complete, exchange, index_of, request


def round_(**fields):
    seen = RecordedExchange(capture=0, number=1, t=0.0)
    return RecordedRound(**{"number": 1, "exchange": seen, "asks": {}, "request_seq": 2, **fields})


def ask(by):
    return RecordedAsk(kind="form", method="elicitation/create", seq=4, by=by)


@pytest.mark.parametrize(("state", "has"), [(None, False), ("", True), ("s", True), (b"x", True)])
def test_a_round_has_a_state_where_its_result_issued_one_even_an_empty_one(state, has):
    assert round_(state=state).has_state is has


@pytest.mark.parametrize(
    ("asks", "by"),
    [
        ({}, "none"),
        ({"a": ask("none")}, "none"),
        ({"a": ask("none"), "b": ask("tap")}, "tap"),
        ({"a": ask("client")}, "client"),
    ],
)
def test_a_round_was_answered_by_who_answered_any_of_its_asks(asks, by):
    assert round_(asks=asks).answered_by == by


def test_a_capture_says_how_whole_it_is(tmp_path):
    whole = captures.write_run(tmp_path / "whole.jsonl", 3)
    torn = tmp_path / "torn.jsonl"
    torn.write_bytes(whole.read_bytes()[:-20])
    gap = tmp_path / "gap.jsonl"
    lines = whole.read_bytes().splitlines(keepends=True)
    gap.write_bytes(b"".join(line for at, line in enumerate(lines) if at != 2))
    with Index.of([str(path) for path in (whole, torn, gap)]) as index:
        assert [c.torn for c in index.captures] == [False, True, False]
        assert [c.lost for c in index.captures] == [0, 0, 1]
        assert [c.lines for c in index.captures] == [5, 5, 4]
        assert [c.name for c in index.captures] == [str(p) for p in (whole, torn, gap)]
        assert {c.header.run for c in index.captures} == {"r1"}


def test_a_call_of_two_rounds_says_who_answered_and_which_state_went_along(tmp_path):
    retry = request(2, requestState="s", **answered("decline"))
    made = exchange(request(1), asking(1, "s")), exchange(retry, complete(2, "no"))
    with index_of(tmp_path / "a.jsonl", *made) as index:
        (call,) = index.calls
        first, second = call.rounds
        assert (first.state, first.sent, first.retry, first.answered_by) == (
            "s",
            None,
            False,
            "client",
        )
        assert (second.state, second.sent, second.retry, second.answered_by) == (
            None,
            "s",
            True,
            "none",
        )
        assert second.answers_round == 1
