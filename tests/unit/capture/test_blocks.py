from __future__ import annotations

import io
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_tap.capture import blocks
from mcp_tap.capture.blocks import Odd, blocks_of


def told(data: bytes) -> list[bytes]:
    """Give what is no blank line, and check that every line and byte is accounted for."""
    kept, lines, size = [], 0, 0
    for line in chain.from_iterable(blocks_of(io.BytesIO(data))):
        if isinstance(line, Odd):
            lines, size = lines + line.lines, size + line.size
            if not line.blank:
                kept.append(b"odd")
        else:
            lines, size = lines + 1, size + len(line)
            if line.strip():
                kept.append(line)
    assert size == len(data)
    assert lines == data.count(b"\n") + (data[-1:] not in (b"", b"\n"))
    return kept


@given(st.lists(st.sampled_from([b"\n", b"a\n", b" ", b"{}\n", b"\r\n", b"b", b"\n\n\n"])))
@pytest.mark.parametrize("read", [1, 2, 3, 7, 1 << 20])
def test_lines_are_those_of_the_stream_however_it_is_read(read, pieces):
    data = b"".join(pieces)
    before, blocks.READ = blocks.READ, read
    try:
        assert told(data) == [line for line in io.BytesIO(data) if line.strip()]
    finally:
        blocks.READ = before


def test_blank_lines_are_passed_over_at_once():
    data = b"{}\n" + b"\n" * 5_000_000 + b"{}\n"
    assert told(data) == [b"{}\n", b"{}\n"]
    assert sum(map(len, blocks_of(io.BytesIO(data)))) < 100


def test_a_line_that_can_be_no_record_is_not_held(monkeypatch):
    monkeypatch.setattr(blocks, "LONGEST", 3 << 20)
    long = b"{" + b"x" * (2 << 20) + b"\n"
    data = b"x" * (9 << 20) + b"\na\n" + long + b"{" * (4 << 20) + b"\nb\n" + b"y" * (2 << 20)
    assert told(data) == [b"odd", b"a\n", long, b"odd", b"b\n", b"odd"]


def test_a_long_last_line_is_put_together_only_if_it_is_whole():
    whole = b"{" + b"x" * (2 << 20) + b"}"
    assert told(b"{}\n" + whole) == [b"{}\n", whole]
    assert told(b"{}\n" + whole[:-1]) == [b"{}\n", b"odd"]
