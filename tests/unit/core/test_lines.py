"""Streams become lines."""

from __future__ import annotations

from hashlib import sha256

from mcp_tap.core.lines import Line, LineSplitter


def test_a_line_ends_with_a_line_feed_and_keeps_its_carriage_return():
    splitter = LineSplitter(99)
    assert splitter.feed(b"a\r\n\nb") == [Line(b"a\r"), Line(b"")]
    assert splitter.feed(b"c\nd") == [Line(b"bc")]
    assert splitter.finish() == Line(b"d")
    assert splitter.finish() is None


def test_of_a_long_line_the_beginning_is_kept():
    splitter = LineSplitter(3)
    whole = Line(b"abc", 6, sha256(b"abcdef").hexdigest())
    assert splitter.feed(b"ab") == []
    assert splitter.feed(b"cdef\nabcdef\nabc\n") == [whole, whole, Line(b"abc")]


def test_the_line_in_which_bytes_are_missing_is_given_up():
    splitter = LineSplitter(99)
    splitter.feed(b"a\nbegun")
    splitter.skip()
    assert splitter.feed(b"rest of another\nc\n") == [Line(b"c")]
    splitter.skip()
    assert splitter.feed(b"rest") == []
    assert splitter.finish() is None
