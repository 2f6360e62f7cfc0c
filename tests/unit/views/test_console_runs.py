from __future__ import annotations

from datetime import UTC, datetime

from mcp_tap.core.filters import parse
from mcp_tap.views.console_runs import MOST_EXCHANGES, Item, ShownRun
from mcp_tap.views.look import Look
from tests import builders as b


def shown(key=0, hour=12, **header):
    look = Look(start=datetime(2026, 7, 28, hour, 4, tzinfo=UTC))
    return ShownRun(key, b.header(**header), look)


def test_rows_of_two_runs_are_ordered_by_time_of_day():
    early, late = shown(1, hour=11), shown(0, hour=12)
    items = [Item(late, b.call(1, t=1.0)), Item(early, b.call(1, t=60.0))]
    assert sorted(items, key=lambda item: item.place) == items[::-1]


def test_two_runs_of_one_moment_are_ordered_as_they_joined():
    one, other = shown(0), shown(1)
    assert Item(one, b.call(9)).place < Item(other, b.call(1)).place


def test_a_run_is_empty_until_something_is_there_to_show():
    run = shown()
    run.take([b.exchange(1)])
    assert run.empty
    run.take([b.exchange(2, status=500)])
    assert not run.empty


def test_exchanges_are_bounded_the_newest_stay():
    run = shown()
    run.take([b.exchange(n, status=500) for n in range(MOST_EXCHANGES + 5)])
    numbers = [item.subject.number for item in run.rows(parse(""))]
    assert (len(numbers), numbers[0]) == (MOST_EXCHANGES, 5)


def test_what_passed_a_filter_is_asked_anew_of_another():
    run = shown()
    run.take([b.call(1, "search"), b.call(2, "deploy")])
    assert [i.subject.number for i in run.rows(parse("tool:deploy"))] == [2]
    run.refilter()
    assert [i.subject.number for i in run.rows(parse("tool:search"))] == [1]
