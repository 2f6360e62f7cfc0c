"""When a run ends, and what is done to the server before."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from mcp_tap.proxy.stdio import ending as module
from mcp_tap.proxy.stdio.ending import Ending


class Server:
    """Stands for a server: keeps what is done to it, and ends when told to."""

    def __init__(self, *, ends_on: object = None) -> None:
        self.done: list[object] = []
        self.status: int | None = None
        self.group = False
        self.on_done = lambda: None
        self._ends_on = ends_on

    def _do(self, what: object) -> None:
        self.done.append(what)
        if what == self._ends_on:
            self.status = 0
        self.on_done()

    def signal(self, number: int) -> None:
        self._do(number)

    def close_stdin(self) -> None:
        self._do("closed")

    def kill(self) -> None:
        self._do("killed")
        self.group = False

    def has_group(self) -> bool:
        return self.group


class Stream:
    def __init__(self, *, over: bool = False, ended: bool = False) -> None:
        self.over = over
        self.ended = ended
        self.reading: float | None = None


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    for name in ("GRACE", "TERMINATE", "AFTER", "LINGER"):
        monkeypatch.setattr(module, name, 0.05)
    monkeypatch.setattr(module, "LOOK", 0.01)


@pytest.fixture
def ending():
    made = Ending()
    yield made
    made.restore()


def waits_not() -> bool:
    return False


CLOSED = {"over": True, "ended": True}


def test_a_server_that_ends_by_itself_is_let_alone(ending):
    server = Server()
    server.status = 3
    ending.wait(server, Stream(), waits=waits_not)
    assert (server.done, ending.how) == ([], "child")


def test_after_the_clients_end_the_server_has_time_then_sigterm_then_sigkill(ending):
    server = Server(ends_on="killed")
    start = time.monotonic()
    ending.wait(server, Stream(**CLOSED), waits=waits_not)
    assert (server.done, ending.how) == ([signal.SIGTERM, "killed"], "end")
    assert time.monotonic() - start >= 0.1


def test_as_long_as_the_client_waits_for_something_so_does_the_server(ending):
    server = Server(ends_on=signal.SIGTERM)
    asked: list[bool] = []

    def waits() -> bool:
        asked.append(True)
        return len(asked) < 20

    ending.wait(server, Stream(**CLOSED), waits=waits)
    assert len(asked) == 20


def test_nobody_waits_for_a_client_that_is_gone(ending, monkeypatch):
    monkeypatch.setattr(os, "getppid", lambda: 1 << 30)
    server = Server(ends_on=signal.SIGTERM)
    ending.wait(server, Stream(**CLOSED), waits=lambda: True)
    assert server.done == [signal.SIGTERM]


def test_a_server_that_reads_no_more_is_let_alone_while_the_client_is_there(ending):
    server = Server()
    ticks: list[bool] = []

    def tick() -> None:
        ticks.append(True)
        server.status = 0 if len(ticks) == 20 else None

    ending.wait(server, Stream(over=True), waits=waits_not, tick=tick)
    assert (server.done, ending.how) == ([], "child")


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"])
def test_a_signal_is_passed_on_at_once_with_the_end_of_input(ending, name):
    number = signal.Signals[name]
    server = Server(ends_on="killed")
    os.kill(os.getpid(), number)
    ending.wait(server, Stream(), waits=lambda: True)
    assert (server.done, ending.how) == ([number, "closed", "killed"], "signal")


def test_the_second_signal_does_not_wait(ending, monkeypatch):
    monkeypatch.setattr(module, "AFTER", 60.0)
    server = Server(ends_on="killed")
    server.on_done = lambda: (
        server.done == [signal.SIGTERM, "closed"] and os.kill(os.getpid(), signal.SIGINT)
    )
    os.kill(os.getpid(), signal.SIGTERM)
    ending.wait(server, Stream(), waits=waits_not)
    assert server.done == [signal.SIGTERM, "closed", "killed"]


def test_a_signal_with_another_meaning_ends_nothing(ending):
    server = Server(ends_on=signal.SIGUSR1)
    os.kill(os.getpid(), signal.SIGUSR1)
    ending.wait(server, Stream(), waits=waits_not)
    assert (server.done, ending.how) == ([signal.SIGUSR1], "child")


def test_what_was_ignored_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        ending = Ending()
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
        ending.restore()
    finally:
        signal.signal(signal.SIGHUP, before)


def test_handlers_are_put_back():
    before = signal.getsignal(signal.SIGTERM)
    ending = Ending()
    assert signal.getsignal(signal.SIGTERM) != before
    ending.restore()
    assert signal.getsignal(signal.SIGTERM) == before


def test_output_is_waited_for_but_not_silence(ending):
    server, stream, silent = Server(), Stream(), Stream()
    silent.reading = time.monotonic()
    threading.Timer(0.1, lambda: setattr(stream, "over", True)).start()
    ending.drain(server, (stream, silent))
    assert stream.over
    assert server.done == []


def test_last_words_on_a_stream_that_was_silent_for_long_are_waited_for(ending, monkeypatch):
    monkeypatch.setattr(module, "LINGER", 50.0)
    stream = Stream()
    stream.reading = time.monotonic() - 60
    threading.Timer(0.02, lambda: setattr(stream, "over", True)).start()
    ending.drain(Server(), (stream,))
    assert stream.over


def test_after_a_signal_a_client_that_reads_no_more_holds_up_no_end(ending):
    server, stuck = Server(), Stream()
    server.status = 0
    ending.how = "signal"
    ending.drain(server, (stuck,))
    assert not stuck.over


def test_what_is_left_of_a_group_that_was_signalled_is_killed(ending):
    server = Server(ends_on=signal.SIGTERM)
    server.group = True
    os.kill(os.getpid(), signal.SIGTERM)
    ending.wait(server, Stream(), waits=waits_not)
    ending.drain(server, ())
    assert server.done == [signal.SIGTERM, "closed", "killed"]


def test_what_a_server_that_ended_by_itself_has_started_is_let_alone(ending):
    server = Server()
    server.status, server.group = 0, True
    ending.wait(server, Stream(**CLOSED), waits=waits_not)
    ending.drain(server, ())
    assert server.done == []


def test_a_recording_is_waited_for_and_only_a_signal_cuts_it_short(ending):
    recorded = iter([False, False, True])
    cuts = []
    ending.poke()
    ending.poke()
    ending.settle(lambda: next(recorded), lambda: cuts.append(1))
    assert cuts == []
    os.kill(os.getpid(), signal.SIGUSR1)
    os.kill(os.getpid(), signal.SIGTERM)
    started = time.monotonic()
    ending.settle(lambda: bool(cuts), lambda: cuts.append(1))
    assert cuts == [1]
    assert time.monotonic() - started > 0.04


def test_a_second_signal_does_not_wait_for_the_recording(ending):
    os.kill(os.getpid(), signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGINT)
    ending.settle(lambda: False, lambda: None)


def test_a_recording_that_begins_to_end_after_a_signal_has_a_moment(ending):
    ending.how = "signal"
    cuts = []
    ending.settle(lambda: bool(cuts), lambda: cuts.append(1))
    assert cuts == [1]
