"""Chunks wait in the order of what happened, and not without bound."""

from __future__ import annotations

import threading

import pytest

from mcp_tap.proxy.stdio import intake as module
from mcp_tap.proxy.stdio.intake import Intake
from mcp_tap.proxy.stdio.steps import Seen
from tests.bounds import BOUND


@pytest.fixture(autouse=True)
def hurry(monkeypatch):
    monkeypatch.setattr(module, "GATHER", 0.0)
    monkeypatch.setattr(module, "PATIENCE", 0.01)


def told(intake: Intake) -> list[tuple]:
    return [(c.way, c.data, c.lost) for c in intake.take(0.0)]


def test_what_is_put_comes_out_in_order_with_times_that_never_run_backwards():
    intake = Intake()

    def put(way) -> None:
        for number in range(500):
            intake.put(way, b"%d" % number)

    threads = [threading.Thread(target=put, args=(way,)) for way in ("client", "server")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    chunks = intake.take(0.0)
    assert len(chunks) == 1000
    for way in ("client", "server"):
        assert [int(c.data) for c in chunks if c.way == way] == list(range(500))
    times = [c.t for c in chunks]
    assert times == sorted(times)


def test_it_is_idle_once_everything_is_recorded():
    intake = Intake()
    assert intake.idle
    intake.put("client", b"")
    assert not intake.idle
    chunks = intake.take(0.0)
    assert not intake.idle
    intake.done(chunks)
    assert intake.idle


def test_what_nobody_records_in_time_is_dropped_and_told(monkeypatch):
    monkeypatch.setattr(module, "BOUND", 10)
    intake = Intake()
    intake.put("client", b"x" * 11)
    intake.put("client", b"a\nb\n")
    intake.put("server", b"part")
    intake.put("client", b"c")
    chunks = intake.take(0.0)
    assert [c.data for c in chunks] == [b"x" * 11]
    intake.done(chunks)
    intake.put("server", b"again\n")
    assert told(intake) == [("client", b"", 3), ("server", b"", 1), ("server", b"again\n", 0)]


def test_what_was_dropped_last_is_told_at_the_end(monkeypatch):
    monkeypatch.setattr(module, "BOUND", 10)
    intake = Intake()
    intake.put("client", b"x" * 11)
    intake.put("server", b"dropped\n")
    intake.close()
    assert told(intake) == [("client", b"x" * 11, 0), ("server", b"", 1)]


def test_a_burst_waits_a_moment_for_room(monkeypatch):
    monkeypatch.setattr(module, "BOUND", 10)
    monkeypatch.setattr(module, "PATIENCE", 5.0)
    intake = Intake()
    intake.put("client", b"x" * 11)
    late = threading.Thread(target=intake.put, args=("client", b"y"))
    late.start()
    intake.done(intake.take(0.0))
    late.join(BOUND)
    assert told(intake) == [("client", b"y", 0)]


def test_the_end_and_what_was_decided_are_never_dropped(monkeypatch):
    monkeypatch.setattr(module, "BOUND", 10)
    intake = Intake()
    intake.put("client", b"", Seen(b"x" * 11, "client"))
    intake.put("client", b"", Seen(b"y", "client"))
    intake.put("client", b"")
    chunks = intake.take(0.0)
    assert [c.step.line if c.step else None for c in chunks] == [b"x" * 11, b"y", None]


def test_much_comes_out_in_portions(monkeypatch):
    monkeypatch.setattr(module, "PORTION", 10)
    intake = Intake()
    for number in range(5):
        intake.put("client", b"%d\n" % number * 3)
    intake.close()
    taken = [intake.take(0.0) for _ in range(4)]
    assert [len(chunks) for chunks in taken] == [2, 2, 1, 0]
    assert [c.data[:1] for chunks in taken for c in chunks] == [b"0", b"1", b"2", b"3", b"4"]


def test_what_is_cut_is_told_as_lost_and_nobody_waits_for_it():
    intake = Intake()
    intake.put("client", b"a\nb\nc")
    intake.put("server", b"d")
    intake.put("client", b"", Seen(b"e\n", "client"))
    intake.put("server", b"")
    intake.cut()
    assert told(intake) == [("client", b"", 3), ("server", b"", 1)]
    intake.put("client", b"f")
    assert told(intake) == [("client", b"f", 0)]


def test_in_sync_whoever_puts_waits_until_it_is_recorded():
    intake = Intake(sync=True)
    order: list[str] = []

    def put() -> None:
        intake.put("client", b"x")
        order.append("put")

    thread = threading.Thread(target=put)
    thread.start()
    chunks = intake.take(5.0)
    order.append("recorded")
    intake.done(chunks)
    thread.join(BOUND)
    assert order == ["recorded", "put"]


def test_where_nobody_records_any_more_nobody_waits():
    intake = Intake(sync=True)
    thread = threading.Thread(target=intake.put, args=("client", b"x"))
    thread.start()
    intake.forget()
    thread.join(BOUND)
    intake.put("client", b"y")
    assert (told(intake), intake.idle) == ([], True)


def test_closing_wakes_who_waits():
    intake = Intake()
    threading.Timer(0.01, intake.close).start()
    assert intake.take(5.0) == []
    assert intake.closed
