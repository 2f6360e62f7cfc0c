from __future__ import annotations

import pytest

from mcp_tap.wrapping.notation import gap, line_of


def test_lines_are_counted_from_one():
    assert [line_of(b"a\nb\nc", at) for at in (0, 2, 4)] == [1, 2, 3]


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        (b" ", b" "),
        (b"", b" "),
        (b"\n    ", b"\n    "),
        (b"\r\n\t", b"\r\n\t"),
        (b"\n\n  ", b"\n  "),
        (b" # a word\n  ", b"\n  "),
        (b"\n  # a word ", b" "),
    ],
)
def test_another_item_stands_as_the_first_does(before, wanted):
    data = b"[" + before + b"1]"
    assert gap(data, 1, len(data) - 2) == wanted
