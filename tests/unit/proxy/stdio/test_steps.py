"""What becomes of a line: told apart by identity, and passed as it is unless said otherwise."""

from __future__ import annotations

from mcp_tap.proxy.stdio.steps import Seen, ToClient, ToServer


def test_a_line_is_its_writers_and_in_nobodys_place_unless_said():
    for step, writer in ((ToServer(b"x\n"), "client"), (ToClient(b"x\n"), "server")):
        assert (step.sender, step.replaces, step.secrets) == (writer, None, ())


def test_equal_lines_are_not_the_same_line():
    assert Seen(b"x\n", "client") != Seen(b"x\n", "client")
