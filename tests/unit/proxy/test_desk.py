"""Reports become records at once; looking at them may wait, and may be skipped, openly."""

from __future__ import annotations

import asyncio

from mcp_tap.core.records import Footer, Gap
from mcp_tap.core.wire import UNPARSED
from mcp_tap.proxy import backlog
from mcp_tap.proxy import desk as module
from mcp_tap.proxy.desk import Desk
from tests.bounds import until


class House:
    """A desk, and what it did with records that say no more than their number."""

    def __init__(self, *, sync: bool = False) -> None:
        self.written: list[int] = []
        self.batches = 0
        self.fed: list = []
        self.shown: list = []
        self.notices: list[str] = []
        self.on_feed = lambda record: None
        self.desk = Desk(
            write=self.write, feed=self.feed, show=self.show, notice=self.notices.append, sync=sync
        )
        self.seq = 0

    def write(self, items) -> None:
        self.batches += 1
        self.written += [record.seq for record, _ in items]

    def feed(self, record, value):
        self.on_feed(record)
        self.fed.append(record)
        return [record.seq] if record.seq % 2 else []

    def show(self, changes, now) -> None:
        self.shown.append((list(changes), now))

    def take(self, count: int) -> None:
        for _ in range(count):
            self.seq += 1
            self.desk.accept((Footer(seq=self.seq, t=float(self.seq), exchanges=0), UNPARSED))

    def report(self, count: int = 1) -> None:
        self.desk.report(self.take, count)


async def test_a_report_is_worked_on_after_the_bytes_are_gone():
    house = House()
    house.report()
    assert house.written == []
    await until(lambda: house.fed)
    assert house.written == [1]
    assert [r.seq for r in house.fed] == [1]
    assert house.shown == [([1], 1.0)]


async def test_reports_of_one_turn_are_written_together_and_in_order():
    house = House()
    for _ in range(5):
        house.report(2)
    await until(lambda: len(house.fed) == 10)
    assert house.written == list(range(1, 11))
    assert house.batches == 1
    assert [changes for changes, _ in house.shown] == [[1], [3], [5], [7], [9]]


async def test_with_sync_a_record_is_written_before_the_report_returns():
    house = House(sync=True)
    house.report()
    assert house.written == [1]
    assert house.fed == []
    await until(lambda: house.fed)
    assert [r.seq for r in house.fed] == [1]


async def test_slow_looking_holds_up_no_writing(monkeypatch):
    monkeypatch.setattr(module, "SLICE", 0.0)
    house = House()
    held_up = []
    house.on_feed = lambda record: held_up.append(len(house.written))
    house.report(100)
    await until(lambda: house.fed)
    house.report(1)
    await until(lambda: len(house.fed) == 101)
    assert [r.seq for r in house.fed] == list(range(1, 102))
    assert min(held_up) == 100


async def test_who_is_too_far_behind_skips_and_says_so(monkeypatch):
    monkeypatch.setattr(backlog, "MOST_BEHIND", 10)
    house = House()
    house.report(11)
    await until(lambda: house.fed)
    assert house.written == list(range(1, 12))
    (gap,) = house.fed
    assert isinstance(gap, Gap)
    assert (gap.seq, gap.lost) == (11, 11)
    assert house.desk.skipped == 11
    assert "11 records" in house.notices[0]
    house.report(1)
    await until(lambda: len(house.fed) == 2)
    assert house.fed[-1].seq == 12


async def test_finishing_works_off_everything():
    house = House()
    house.report(40)
    house.desk.finish()
    assert len(house.written) == len(house.fed) == 40


async def test_a_look_that_raises_loses_no_record(monkeypatch):
    loop = asyncio.get_running_loop()
    troubles: list = []
    loop.set_exception_handler(lambda _, context: troubles.append(context["exception"]))
    house = House()

    def fault(record) -> None:
        if record.seq == 2:
            raise LookupError("a fault of ours")

    house.on_feed = fault
    house.report(3)
    await until(lambda: troubles)
    house.report(1)
    await until(lambda: len(house.fed) == 3)
    assert house.written == [1, 2, 3, 4]
    assert [r.seq for r in house.fed] == [1, 3, 4]
    assert [str(t) for t in troubles] == ["a fault of ours"]
