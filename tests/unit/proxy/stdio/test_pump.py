"""Bytes are carried as they are, reported first, and both ends learn of each other's end."""

from __future__ import annotations

import os
import threading

import pytest

from mcp_tap.proxy.stdio.pump import Pump, give_up, read, write_all
from tests.bounds import BOUND, wait_until


class Ends:
    """A pump between two pipes, and what it reported."""

    def __init__(self, **options) -> None:
        source, self.giving = os.pipe()
        self.taking, target = os.pipe()
        self.fds = [source, self.giving, self.taking, target]
        self.reports: list[tuple[str, bytes]] = []
        self.before: list[bool] = []
        self.done = threading.Event()
        self.pump = Pump(
            "client", source, target, report=self._report, done=self.done.set, **options
        )
        self.pump.start()

    def _report(self, way, data) -> None:
        self.reports.append((way, data))

    def close(self) -> None:
        for fd in self.fds:
            os.close(fd)


@pytest.fixture
def ends():
    made = Ends()
    yield made
    if not made.pump.over:
        give_up(made.giving)
        assert made.done.wait(BOUND)
    made.close()


def test_what_is_read_goes_on_at_once_and_the_end_too(ends):
    os.write(ends.giving, b"half")
    assert os.read(ends.taking, 99) == b"half"
    assert not ends.pump.over
    give_up(ends.giving)
    assert os.read(ends.taking, 99) == b""
    assert ends.done.wait(BOUND)
    assert ends.reports == [("client", b"half"), ("client", b"")]
    assert (ends.pump.over, ends.pump.ended) == (True, True)


def test_a_target_that_is_gone_is_passed_on_to_the_source(ends):
    give_up(ends.taking)
    os.write(ends.giving, b"x")
    assert ends.done.wait(BOUND)
    with pytest.raises(BrokenPipeError):
        os.write(ends.giving, b"y")
    assert (ends.pump.over, ends.pump.ended) == (True, False)
    assert ends.reports == [("client", b"x"), ("client", b"")]


def test_a_target_that_stays_open_is_not_closed():
    ends = Ends(closes=False)
    give_up(ends.giving)
    assert ends.done.wait(BOUND)
    os.write(ends.fds[3], b"still open")
    assert os.read(ends.taking, 99) == b"still open"
    ends.close()


def test_it_says_whether_it_waits_for_something(ends):
    os.write(ends.giving, b"x" * 65536)
    os.write(ends.giving, b"x" * 65536)
    os.write(ends.giving, b"x")  # there is room for it once the second block is read
    wait_until(lambda: ends.pump.reading is None)
    got = 0
    while got < 2 * 65536 + 1:
        got += len(os.read(ends.taking, 1 << 17))
    os.write(ends.giving, b"y")
    assert os.read(ends.taking, 9) == b"y"


def test_descriptors_that_do_not_block_are_waited_for():
    source, target = os.pipe()
    for fd in (source, target):
        os.set_blocking(fd, False)
    data = os.urandom(1 << 20)
    writer = threading.Thread(target=write_all, args=(target, data))
    writer.start()
    got = b""
    while len(got) < len(data):
        got += read(source)
    writer.join(BOUND)
    assert got == data
    os.close(target)
    assert read(source) == b""
    os.close(source)


def test_what_cannot_be_read_has_ended():
    fd = os.open(os.devnull, os.O_WRONLY)
    assert read(fd) == b""
    os.close(fd)
