"""Looking on: what is kept, and who is told."""

from __future__ import annotations

from concurrent.futures import Future

from mcp_tap.core.filters import parse
from mcp_tap.core.model import Call, Exchange, Round
from mcp_tap.plugin.watcher import Watcher
from tests.captures import header


def call(number, outcome="open"):
    rounds = [Round(number=1, exchange=number, request_id=number, t=0.0, request_seq=1)]
    return Call(
        number=number, method="tools/call", name="deploy", t=0.0, outcome=outcome, rounds=rounds
    )


def waiting(watcher, text):
    future = Future()
    watcher.wait(parse(text), future, lambda: None)
    return future


def test_what_came_already_is_told_at_once():
    watcher = Watcher()
    watcher.start(header())
    watcher.update([call(2), call(1)], 0.1)
    assert waiting(watcher, "tool:deploy").result(0).number == 1
    assert [c.number for c in watcher.in_order()] == [1, 2]


def test_what_comes_later_is_told_when_it_comes_and_once():
    watcher = Watcher()
    first, other = waiting(watcher, "state:ok"), waiting(watcher, "state:error")
    watcher.update([call(1)], 0.1)
    assert not first.done()
    watcher.update([call(1, "ok"), Exchange(number=9, t=0.0)], 0.2)
    assert first.result(0).outcome == "ok"
    assert not other.done()
    watcher.update([call(2, "ok")], 0.3)
    assert first.result(0).number == 1


def test_who_gave_up_is_not_told():
    watcher = Watcher()
    future = waiting(watcher, "state:ok")
    future.cancel()
    watcher.update([call(1, "ok")], 0.1)
    assert future.cancelled()


def test_what_is_unseen_is_worked_off_before_it_is_looked_for():
    watcher = Watcher()
    future = Future()
    watcher.wait(parse(""), future, lambda: watcher.update([call(1)], 0.1))
    assert future.result(0).number == 1
