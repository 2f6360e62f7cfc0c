from __future__ import annotations

import os
import pty
import termios

import pytest

from mcp_tap.views.keys import Keys, named


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("jk", ["j", "k"]),
        ("\r\n \t", ["enter", "enter", "space", "tab"]),
        ("\x1b", ["esc"]),
        ("\x1b[A\x1b[B\x1bOA", ["up", "down", "up"]),
        ("\x1b[5~\x1b[6~\x1b[H\x1b[4~", ["pageup", "pagedown", "home", "end"]),
        ("\x1b[1;5C\x1b[<0;1;1M", []),
        ("\x7f\b\x15", ["backspace", "backspace", "clear"]),
        ("ж東", ["ж", "東"]),
        ("\x01\x02", ["\x01", "\x02"]),
    ],
)
def test_keys_have_names(text, keys):
    assert named(text) == keys


def test_keys_are_read_one_by_one_and_the_terminal_is_given_back():
    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    with Keys(slave) as keys:
        assert termios.tcgetattr(slave) != before
        assert keys.read(0.0) == []
        os.write(master, b"j\x1b[A")
        assert keys.read(5.0) == ["j", "up"]
        os.write(master, "ж".encode()[:1])
        assert keys.read(5.0) == []
        os.write(master, "ж".encode()[1:])
        assert keys.read(5.0) == ["ж"]
    assert termios.tcgetattr(slave) == before
    os.close(master)
    os.close(slave)


def test_without_a_terminal_nothing_is_changed():
    reader, writer = os.pipe()
    with Keys(reader) as keys:
        os.write(writer, b"q")
        assert keys.read(5.0) == ["q"]
    os.close(reader)
    os.close(writer)
