from __future__ import annotations

from datetime import UTC, datetime

import msgspec
import pytest

from mcp_tap.views.look import ASCII, LINES, Look, fit, text_of, wrapped


def test_ascii_glyphs_are_ascii_and_all_glyphs_are_one_cell():
    ascii_, lines = msgspec.structs.asdict(ASCII), msgspec.structs.asdict(LINES)
    assert all(glyph.isascii() for glyph in ascii_.values())
    assert all(len(glyph) == 1 for name, glyph in lines.items())


def test_times_are_those_of_the_readers_clock():
    look = Look(start=datetime(2026, 7, 28, 12, 4, tzinfo=UTC))
    assert look.clock(67.2189) == "12:05:07"
    assert look.fine(67.2189) == "07.218"
    assert Look().clock(3.0) == "00:00:03"


@pytest.mark.parametrize(
    ("row", "cells", "text"),
    [
        ([("abc", ""), ("def", "bad")], 8, "abcdef  "),
        ([("abc", ""), ("def", "bad")], 6, "abcdef"),
        ([("abc", ""), ("def", "bad")], 5, "abc.."),
        ([("abc", ""), ("def", "bad")], 4, "ab.."),
        ([("東京", ""), ("都", "")], 5, "東 .."),
        ([], 2, "  "),
    ],
)
def test_a_row_is_made_exactly_as_wide_as_asked(row, cells, text):
    assert "".join(piece for piece, _ in fit(row, cells)) == text


@pytest.mark.parametrize(
    ("text", "cells", "lines"),
    [
        ("one two three", 7, ["one two", "three"]),
        ("a  b", 9, ["a  b"]),
        ("to abcdefgh", 3, ["to", "abc", "def", "gh"]),
        ("東京都", 1, ["東", "京", "都"]),
        ("ab", 0, ["a", "b"]),
        ("", 5, []),
    ],
)
def test_text_is_broken_between_words_and_long_words_anywhere(text, cells, lines):
    assert list(wrapped(text, cells)) == lines


def test_the_text_of_a_row_has_no_blanks_at_its_end():
    assert text_of([("a ", "dim"), ("b  ", "")]) == "a b"
