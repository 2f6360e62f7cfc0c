from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
import tty

import pytest

from mcp_tap.cli import asking_terminal
from mcp_tap.cli.asking_terminal import Gone, Terminal, Withdrawn, open_terminal
from tests import terminals
from tests.bounds import BOUND


@pytest.fixture
def pair():
    """Give a terminal and the descriptor of who sits at it."""
    person, end = os.openpty()
    terminal = Terminal(end, end, color=False)
    yield terminal, person
    terminal.close()
    with contextlib.suppress(OSError):
        os.close(person)


def read_until(person, text):
    """Read what the terminal shows, which begins with an echo."""
    return terminals.read_until(person, text.encode()).decode()


def test_rows_and_labels_are_written_and_a_line_is_read(pair):
    terminal, person = pair
    os.write(person, "grün\n".encode())
    assert read_until(person, "\n") == "grün\r\n"  # the echo, which comes when it likes
    terminal.show([[("a ", "strong"), ("b", "")], [("", "")]])
    assert terminal.ask("name: ") == "grün"
    assert "a b\r\n\r\nname: " in read_until(person, "name: ")


def test_lines_that_came_together_are_taken_one_by_one(pair):
    terminal, person = pair
    tty.setcbreak(terminal._reads)  # a read then may give several lines
    os.write(person, b"one\ntwo\nthr")
    assert terminal.ask("") == "one"
    assert terminal.ask("") == "two"
    os.write(person, b"ee\n\xff\n")
    assert terminal.ask("") == "three"
    assert terminal.ask("") == "\ufffd"


def test_end_that_is_typed_is_told(pair):
    terminal, person = pair
    os.write(person, b"\x04")
    with pytest.raises(EOFError):
        terminal.ask("")
    os.write(person, b"ab\x04c\n")
    assert terminal.ask("") == "abc"


def test_what_was_typed_before_is_forgotten(pair):
    terminal, person = pair
    os.write(person, b"typed ahead\n")
    end = time.monotonic() + BOUND
    while not asking_terminal.select.select([terminal._reads], [], [], 0)[0]:
        assert time.monotonic() < end
    terminal.forget()
    os.write(person, b"meant\n")
    assert terminal.ask("") == "meant"


def test_asking_can_be_ended_from_another_thread(pair):
    terminal, _ = pair
    timer = threading.Timer(0.05, terminal.wake)
    timer.start()
    with pytest.raises(Withdrawn):
        terminal.ask("")
    timer.join()


def test_wake_that_came_too_late_ends_nothing(pair):
    terminal, person = pair
    terminal.wake()
    terminal.wake()
    terminal.settle()
    os.write(person, b"x\n")
    assert terminal.ask("") == "x"


def test_terminal_that_is_taken_away_is_gone(pair):
    terminal, person = pair
    os.close(person)
    with pytest.raises((Gone, EOFError)):
        terminal.ask("")
    with pytest.raises(Gone):
        terminal.show([[("x", "")]])


def test_background_reads_do_not_stop_us(pair):
    def mask():
        terminal.own_thread()
        masks.append(signal.pthread_sigmask(signal.SIG_BLOCK, []))

    terminal, _ = pair
    masks = []
    thread = threading.Thread(target=mask)
    thread.start()
    thread.join()
    assert signal.SIGTTIN in masks[0]
    assert signal.SIGTTIN not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


@pytest.fixture
def ends():
    """Give the two ends of a terminal: the person's, and the program's."""
    both = os.openpty()
    yield both
    for end in both:
        os.close(end)


def test_terminal_of_stdin_is_opened_by_its_name(monkeypatch, ends):
    person, end = ends
    name = os.ttyname(end)
    monkeypatch.setattr(os, "isatty", lambda number: True)
    monkeypatch.setattr(os, "ttyname", lambda number: name)
    terminal = open_terminal(color=False)
    assert terminal is not None
    os.write(person, b"hello\n")
    assert terminal.ask("") == "hello"
    terminal.close()


def test_terminal_without_a_name_is_used_as_it_is(monkeypatch, ends):
    person, end = ends
    own = os.dup

    def nameless(number):
        raise OSError

    monkeypatch.setattr(os, "isatty", lambda number: True)
    monkeypatch.setattr(os, "ttyname", nameless)
    monkeypatch.setattr(os, "dup", lambda number: own(end))
    terminal = open_terminal(color=False)
    assert terminal is not None
    os.write(person, b"hello\n")
    assert terminal.ask("? ") == "hello"
    terminal.close()


def test_without_a_terminal_there_is_none(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "isatty", lambda number: False)
    monkeypatch.setattr(asking_terminal, "_TTY", str(tmp_path / "none"))
    assert open_terminal(color=False) is None
    (tmp_path / "none").touch()
    assert open_terminal(color=False) is None
