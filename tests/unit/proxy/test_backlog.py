"""What is recorded is written at once; looking at it may be late, and says so when it is."""

from __future__ import annotations

from mcp_tap.core.records import Footer, Gap
from mcp_tap.core.wire import UNPARSED
from mcp_tap.proxy import backlog as module
from mcp_tap.proxy.backlog import Backlog


class House:
    """A backlog, and what it did with records that say no more than their number."""

    def __init__(self) -> None:
        self.written: list[list[int]] = []
        self.fed: list = []
        self.shown: list = []
        self.notices: list[str] = []
        self.backlog = Backlog(
            write=lambda items: self.written.append([record.seq for record, _ in items]),
            feed=self.feed,
            show=lambda changes, now: self.shown.append((list(changes), now)),
            notice=self.notices.append,
        )

    def feed(self, record, value):
        self.fed.append(record)
        return [record.seq] if record.seq % 2 else []

    def take(self, *seqs: int) -> None:
        for seq in seqs:
            self.backlog.accept((Footer(seq=seq, t=float(seq), exchanges=0), UNPARSED))


def test_records_are_written_together_and_looked_at_one_by_one():
    house = House()
    house.take(1, 2, 3)
    assert not house.backlog.behind
    house.backlog.hand_on()
    assert (house.written, house.fed) == ([[1, 2, 3]], [])
    assert house.backlog.behind
    house.backlog.analyse(until=float("inf"))
    assert [r.seq for r in house.fed] == [1, 2, 3]
    assert house.shown == [([1], 1.0), ([3], 3.0)]
    assert not house.backlog.behind


def test_looking_ends_when_its_time_is_over():
    house = House()
    house.take(*range(1, 100))
    house.backlog.hand_on()
    house.backlog.analyse(until=0.0)
    assert len(house.fed) == module.AT_ONCE
    assert house.backlog.behind


def test_who_is_too_far_behind_skips_and_says_so(monkeypatch):
    monkeypatch.setattr(module, "MOST_BEHIND", 10)
    house = House()
    house.take(*range(1, 11))
    house.backlog.hand_on()
    house.backlog.keep_up()
    assert house.backlog.behind
    house.take(11)
    house.backlog.hand_on()
    house.backlog.keep_up()
    (gap,) = house.fed
    assert isinstance(gap, Gap)
    assert (gap.seq, gap.lost, house.backlog.skipped) == (11, 11, 11)
    assert "11 records" in house.notices[0]


def test_who_is_not_behind_skips_nothing():
    house = House()
    house.backlog.skip()
    assert (house.fed, house.notices, house.backlog.skipped) == ([], [], 0)
