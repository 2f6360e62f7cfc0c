"""Lines that wait for a decision: whole, in order, and without one side holding up the other."""

from __future__ import annotations

import json
import os
import threading

import pytest

from mcp_tap.core.records import Decision, Message
from mcp_tap.proxy.answering.verdicts import Told
from mcp_tap.proxy.stdio import sluice
from mcp_tap.proxy.stdio.steps import Decided, Seen, ToClient, ToServer
from tests.bounds import BOUND
from tests.piped import piped
from tests.shim import ECHO, PING, python, request


class Answerer:
    """Passes everything, but for what a test says."""

    busy = False

    def __init__(self) -> None:
        self.holds = 4 << 20
        self.unseen: list[tuple[str, bytes, bytes]] = []
        self.seen: list[tuple[str, bytes]] = []
        self.ticks = 0
        self.ticked = threading.Event()

    def from_client(self, line, t):
        self.seen.append(("client", line))
        return [ToServer(line)]

    def from_server(self, line, t):
        self.seen.append(("server", line))
        return [ToClient(line)]

    def most(self, way):
        return self.holds

    def passed(self, way, head, tail, t):
        self.unseen.append((way, head, tail))
        return []

    def client_eof(self, t):
        self.seen.append(("client", b""))
        return []

    def server_eof(self, t):
        self.seen.append(("server", b""))
        return []

    def tick(self, t):
        self.ticked.set()
        return []


class Swallower(Answerer):
    """Answers what the server asks, in the client's place."""

    def from_server(self, line, t):
        if b"elicitation" not in line:
            return super().from_server(line, t)
        seen = Seen(line, "server")
        answer = ToServer(b'{"jsonrpc":"2.0","id":9,"result":{"action":"accept"}}\n', "tap")
        return [seen, Decided(Told("answered", "by a test", "entry", "key")), answer]


class Changer(Answerer):
    """Changes what the client sends."""

    def from_client(self, line, t):
        seen = Seen(line, "client")
        changed = line.replace(b'"ping"', b'"pong"').replace(b"{", b'{"more":"s3cret",', 1)
        return [seen, ToServer(changed, "tap", replaces=seen, secrets=(("more",),))]


def test_what_is_passed_is_as_it_came_and_recorded_once(tmp_path):
    answerer = Answerer()
    with piped(ECHO, tmp_path, answering=answerer) as run:
        run.send(PING[:9])
        run.send(PING[9:] + b"hello\r\n")
        assert (run.line(), run.line()) == (PING, b"hello\r\n")
        run.send(b"no end")
        assert run.end() == 0
        assert os.read(run.stdout, 99) == b"no end"
        assert os.read(run.stdout, 99) == b""
    lines = [PING, b"hello\r\n", b"no end", b""]
    assert [line for who, line in answerer.seen if who == "client"] == lines
    assert [line for who, line in answerer.seen if who == "server"] == lines
    records = run.records()[1:-1]
    assert [(r.sender, r.leg, r.replaces) for r in records] == [
        (who, None, None) for who, line in answerer.seen if line
    ]


def test_what_the_tap_answers_itself_the_client_never_sees(tmp_path):
    server = python(
        "line = os.read(I, 999)\n"
        'os.write(O, b\'{"jsonrpc":"2.0","id":9,"method":"elicitation/create"}\\n\')\n'
        "answer = os.read(I, 999)\n"
        'os.write(O, b\'{"jsonrpc":"2.0","id":1,"result":%s}\\n\' % answer.strip())'
    )
    with piped(server, tmp_path, answering=Swallower()) as run:
        run.send(PING)
        assert json.loads(run.line())["result"]["result"] == {"action": "accept"}
        assert run.end() == 0
    asked, decision, answer = run.records()[2:5]
    assert (asked.sender, asked.leg) == ("server", "upstream")
    assert isinstance(decision, Decision)
    assert (decision.hook, decision.verdict, decision.entry) == ("answers", "answered", "entry")
    assert (answer.sender, answer.leg) == ("tap", "upstream")


def test_what_goes_instead_says_what_it_replaces_and_hides_what_is_secret(tmp_path):
    with piped(ECHO, tmp_path, answering=Changer()) as run:
        run.send(PING)
        assert b'"pong"' in run.line()
        assert run.end() == 0
        records = [r for r in run.records() if isinstance(r, Message)]
        came, went, back = records
        assert (came.leg, came.payload()) == (None, PING[:-1])
        assert (went.sender, went.leg, went.replaces) == ("tap", "upstream", came.seq)
        assert b"s3cret" not in went.payload()
        assert b"s3cret" in back.payload()


def test_a_server_that_reads_nothing_before_it_has_written_all_is_answered(tmp_path):
    server = python(
        'ask = b\'{"jsonrpc":"2.0","id":9,"method":"elicitation/create"}\\n\'\n'
        "for n in range(9000): os.write(O, ask)\n"
        "left = 9000\n"
        "while left: left -= os.read(I, 65536).count(b'\\n')\n"
        "os.write(O, b'all\\n')"
    )
    with piped(server, tmp_path, answering=Swallower()) as run:
        assert run.line() == b"all\n"
        assert run.end() == 0


def test_a_line_too_long_to_hold_passes_whole_and_nothing_comes_within(tmp_path):
    answerer = Answerer()
    answerer.holds = 100
    long = b'{"pad":"' + b"x" * 200_000 + b'"}\n'
    with piped(ECHO, tmp_path, answering=answerer) as run:
        run.send(long)
        run.send(PING)
        assert run.line() == long
        assert run.line() == PING
        assert run.end() == 0
    assert [line for _, line in answerer.seen if len(line) > 100] == []
    ends = (long[: sluice.EDGE], long[-sluice.EDGE :])
    assert answerer.unseen == [("client", *ends), ("server", *ends)]
    sizes = [len(r.payload()) for r in run.records() if isinstance(r, Message)]
    assert sorted(sizes) == sorted([len(long) - 1, len(PING) - 1] * 2)


def test_what_is_put_beside_a_passing_line_comes_after_it():
    source, target = os.pipe()
    box = sluice.Outbox(target, source=source, done=lambda: None)
    box.part(b"long", last=False)
    box.put(b"short\n")
    box.part(b"er\n", last=True)
    box.put(b"last\n")
    box.close()
    box.run()
    assert os.read(source, 99) == b"longer\nshort\nlast\n"
    assert box.over
    for fd in (source, target):
        os.close(fd)


def test_time_passes_for_who_decides(tmp_path):
    answerer = Answerer()
    with piped(ECHO, tmp_path, answering=answerer) as run:
        assert answerer.ticked.wait(BOUND)
        assert run.end() == 0


def nowhere(fd):
    """Close what a descriptor stands for, and keep the descriptor."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, fd, inheritable=False)
    os.close(null)


@pytest.mark.parametrize("late", [False, True])
def test_a_client_that_takes_nothing_more_ends_the_server(tmp_path, late):
    server = python(
        "signal.signal(signal.SIGPIPE, signal.SIG_IGN)\n"
        "try:\n while True: os.write(O, b'x' * 5000 + b'\\n'); time.sleep(0.001)\n"
        "except BrokenPipeError: sys.exit(6)"
    )
    with piped(server, tmp_path, answering=Answerer()) as run:
        if late:
            run.line()
        nowhere(run.stdout)
        assert run.ended() == 6


class Waiting(Answerer):
    """Waits for the server once the client has closed its end."""

    busy = True

    def from_server(self, line, t):
        self.busy = line.startswith(b"more")
        return [*super().from_server(line, t), *([ToServer(line, "tap")] if self.busy else [])]


def test_a_server_still_hears_what_follows_on_what_the_client_has_sent(tmp_path):
    server = python(
        "line = os.read(I, 99)\n"
        "os.write(O, b'more\\n')\n"
        "heard = os.read(I, 99)\n"
        "os.write(O, b'last ' + heard)\n"
        "sys.exit(len(os.read(I, 99)))"
    )
    with piped(server, tmp_path, answering=Waiting()) as run:
        run.send(PING)
        assert run.end() == 0
        assert (run.line(), run.line()) == (b"more\n", b"last more\n")


@pytest.mark.parametrize("gone", ["", "its process", "its end of stdout"])
def test_a_server_that_says_nothing_is_not_waited_for_beyond_measure(tmp_path, monkeypatch, gone):
    monkeypatch.setattr(sluice, "LAST", 10 * BOUND if gone else 0.1)
    server = python("os.write(O, b'more\\n')\nwhile os.read(I, 99): pass")
    with piped(server, tmp_path, answering=Waiting()) as run:
        assert run.line() == b"more\n"
        if gone == "its process":
            monkeypatch.setattr(sluice.os, "getppid", lambda: -1)
        elif gone:
            nowhere(run.stdout)
        assert run.end() == 0


def test_order_of_requests_and_answers_is_kept(tmp_path):
    with piped(ECHO, tmp_path, answering=Answerer()) as run:
        for n in range(200):
            run.send(request(n))
            assert run.line() == request(n)
        assert run.end() == 0
    senders = [r.sender for r in run.records() if isinstance(r, Message)]
    assert senders == ["client", "server"] * 200
