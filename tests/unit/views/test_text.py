from __future__ import annotations

import io
import threading
import time

import pytest

from mcp_tap.views.look import Look, text_of
from mcp_tap.views.text import Teller, TextView, local_start
from tests import builders as b
from tests.bounds import BOUND


@pytest.fixture(autouse=True)
def in_utc(monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


def told(changes):
    teller = Teller(Look(start=local_start(b.STARTED)))
    return [text_of(row) for change in changes for row in teller.rows(change, 23.0)]


def test_a_plain_call_is_one_line_when_it_ends():
    running = b.call(15, end=None, outcome="open")
    assert told([running]) == []
    assert told([b.call(15)]) == [
        "12:04:03    15 tools/call       search           *       ok            210ms"
    ]


def test_a_call_is_told_when_it_asks_when_it_is_answered_and_when_it_ends():
    call, done = b.deploy(), b.deploy()
    call.rounds, call.end, call.outcome = call.rounds[:1], None, "waiting"
    call.rounds[0].asks[0].action = None
    teller = Teller(Look(start=local_start(b.STARTED)))

    def rows():
        return [text_of(row) for row in teller.rows(call, 8.0)]

    assert rows() == [
        "12:04:07    16 tools/call       deploy           _       asks the client",
        '                   ? confirm (form)  "Deploy billing 2026.7.1?"  fields proceed*, reason',
    ]
    assert rows() == []
    call.rounds[0].asks[0].action = "accept"
    assert rows() == ["12:04:07    16     > confirm  accept {proceed: true}, by client, after 1ms"]
    call.rounds, call.end, call.outcome = done.rounds, done.end, "ok"
    final = "12:04:13    16 tools/call       deploy           ?-?-*   ok            6.12s"
    assert rows() == [
        "12:04:07    16 tools/call       deploy           ?-_     asks the client",
        '                   ? window (form)  "Когда? いつ?"',
        "12:04:13    16     > window  accept {ok: true}, by client, after 5.81s",
        f"{final}  (server 305ms, client 5.82s)",
    ]
    assert rows() == []


def test_a_call_that_goes_on_after_an_error_is_told_to_its_last_end():
    call, done = b.deploy(), b.deploy()
    call.rounds, call.outcome = call.rounds[:1], "error"
    assert len(done.rounds) > 1
    teller = Teller(Look(start=local_start(b.STARTED)))

    def rows():
        return [text_of(row) for row in teller.rows(call, 8.0)]

    first = rows()
    assert rows() == []
    call.rounds, call.outcome = done.rounds, "ok"
    later = rows()
    assert any(" error " in line for line in first)
    assert "?-?-*   ok" in later[-1]
    assert not set(later) & set(first)
    assert rows() == []


def test_faults_are_told_and_streams_when_they_open():
    assert told([b.failed()])[1] == "               x -32602: Unknown tool: exprt"
    stream = b.stream()
    assert told([stream, stream]) == [
        "12:04:17    19 subscriptions/listen              ===     open             6s"
    ]


def test_exchanges_outside_of_calls_are_told_only_when_they_fail():
    refused = b.exchange(status=403, how="refused", why="foreign Host")
    assert told([b.exchange()]) == []
    assert len(told([refused, refused])) == 2


def view(**given):
    stream = io.StringIO()
    made = TextView(stream, ascii=True, **given)
    made.start(b.header())
    return made, stream


def test_the_view_writes_lines_and_its_own_words():
    notices = io.StringIO()
    made, stream = view(notices=notices)
    made.update(b.run(), 23.0)
    made.notice("disk full \x1b[2J")
    made.close()
    assert len(stream.getvalue().splitlines()) == 18
    assert notices.getvalue() == "mcp-tap: disk full \\x1b[2J\n"
    assert "\x1b" not in stream.getvalue()


def test_colour_changes_no_word():
    plain, first = view()
    coloured, second = view(color=True)
    for each in (plain, coloured):
        each.update([b.failed()], 23.0)
        each.close()
    assert "\x1b[" in second.getvalue()
    assert "error -32602" in first.getvalue()
    assert "error -32602" in second.getvalue()


class Stuck(io.StringIO):
    """A reader that takes nothing until it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()
        self.reached = threading.Event()
        self.let_go: bool | None = None

    def write(self, text: str) -> int:
        self.reached.set()
        self.let_go = self.go.wait(BOUND)
        return super().write(text)


def test_a_reader_that_is_stuck_costs_lines_and_never_time():
    stream, notices = Stuck(), io.StringIO()
    made = TextView(stream, ascii=True, notices=notices)
    made.start(b.header())
    made.update([b.call(1)], 1.0)
    assert stream.reached.wait(BOUND)
    for n in range(2, 10_300):
        made.update([b.call(n)], 1.0)
    assert stream.let_go is None
    stream.go.set()
    made.close()
    lost = int(notices.getvalue().split()[1])
    assert lost + len(stream.getvalue().splitlines()) == 10_299
    assert lost > 0


def test_a_reader_that_has_left_is_noticed():
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    made = TextView(Gone(), ascii=True)
    made.start(b.header())
    made.update([b.call(1)], 1.0)
    made.close()
    assert made.gone


def test_a_view_that_never_began_can_be_closed():
    TextView(io.StringIO()).close()


def test_a_start_that_is_no_time_shows_times_from_zero():
    assert local_start("yesterday") is None


def test_nothing_is_written_while_it_is_held_and_nothing_is_lost():
    made, stream = view()
    with made.held():
        with made.held():
            made.update([b.call(15)], 23.0)
        assert stream.getvalue() == ""
    end = time.monotonic() + BOUND
    while "search" not in stream.getvalue():
        assert time.monotonic() < end
    with made.held():
        made.notice("the last word")
        made.close()  # which waits for nobody
    assert stream.getvalue().endswith("mcp-tap: the last word\n")


def test_lines_name_their_run_once_there_are_several():
    stream = io.StringIO()
    view = TextView(stream, ascii=True)
    one = view.join(b.header())
    one.update([b.call(1)], 4.0)
    other = view.join(b.header(run="20260728T120401-files-9b1c"))
    other.update([b.call(1, "read_file")], 4.0)
    other.finished()
    one.update([b.call(2)], 5.0)
    view.close()
    fronts = [line[:29].rstrip() for line in stream.getvalue().splitlines()]
    assert fronts == [
        "12:04:03     1 tools/call",
        "files-9b1c     12:04:03     1",
        "billing-7f3a   12:04:03     2",
    ]
