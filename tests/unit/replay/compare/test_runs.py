from __future__ import annotations

from mcp_tap.replay.compare.matching import Heard
from mcp_tap.replay.compare.runs import SaidRun, compare_runs
from mcp_tap.replay.compare.values import Rules
from tests.saying import call, done, note


def run_of(*calls, **given):
    def heard(made):
        return Heard(
            number=made.number, method=made.method, target=made.target, key=None,
            params=lambda: made.params,
        )  # fmt: skip

    return SaidRun(calls=[heard(made) for made in calls], read=calls.__getitem__, **given)


def test_pairs_come_in_order_after_what_is_outside_of_calls():
    a = run_of(call(number=1), call(number=2, name="gone"), tools={"x": {"a": 1}})
    b = run_of(call(number=1, name="new"), call(number=2), tools={"x": {"a": 2}})
    outside, *pairs = compare_runs(a, b, Rules())
    assert [d.what for d in outside.differences] == ["tool"]
    told = [
        (p.a and p.a.number, p.b and p.b.number, [d.change for d in p.differences]) for p in pairs
    ]
    assert told == [(None, 1, ["added"]), (1, 2, []), (2, None, ["removed"])]


def test_a_call_in_one_run_only_is_told_with_its_parameters():
    _, alone = compare_runs(run_of(call(number=7)), run_of(), Rules())
    (found,) = alone.differences
    assert (found.what, found.a, found.b, found.left) == ("call", 7, None, call().params)


def test_notifications_outside_of_calls_are_compared():
    outside, _ = compare_runs(
        run_of(call(), server_notes=[note(1)]), run_of(call(), client_notes=[note(1)]), Rules()
    )
    assert [(d.what, d.change) for d in outside.differences] == [
        ("notification", "removed"), ("notification", "added"),
    ]  # fmt: skip


def test_the_tools_of_listings_are_not_told_twice():
    listings = [
        call(done(1, said={"tools": [{"name": "x", "a": a}], "ttlMs": a}), method="tools/list",
             target=None, params={})
        for a in (1, 2)
    ]  # fmt: skip
    outside, pair = compare_runs(run_of(listings[0]), run_of(listings[1]), Rules())
    assert outside.differences == []
    assert [d.at for d in pair.differences] == ["/result/ttlMs"]
