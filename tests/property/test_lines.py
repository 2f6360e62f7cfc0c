"""Lines are the same however the stream is cut, and long ones are kept in bounded memory."""

from __future__ import annotations

from hashlib import sha256
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from mcp_tap.core.collect import PREFIX
from mcp_tap.core.lines import Line, LineSplitter

BYTES = st.lists(st.sampled_from([b"\n", b"\r", b"{", b"\xff", b"ab", b"x" * 30])).map(b"".join)


def split(pieces: list[bytes], limit: int = 1 << 20) -> list[Line]:
    splitter = LineSplitter(limit)
    lines = [line for piece in pieces for line in splitter.feed(piece)]
    last = splitter.finish()
    return lines if last is None else [*lines, last]


def cut(data: bytes, places: list[int]) -> list[bytes]:
    ends = sorted({place % (len(data) + 1) for place in places} | {0, len(data)})
    return [data[a:b] for a, b in pairwise(ends)]


@given(BYTES, st.lists(st.integers(0, 10_000)))
def test_no_cut_changes_the_lines_and_nothing_is_lost(data, places):
    lines = split(cut(data, places))
    expected = data.split(b"\n")
    assert [line.payload for line in lines] == (expected if expected[-1] else expected[:-1])
    assert all(line.size is None for line in lines)


@given(BYTES, st.lists(st.integers(0, 10_000)), st.integers(0, 40))
def test_a_line_beyond_the_limit_keeps_its_beginning_its_size_and_its_hash(data, places, limit):
    whole = split([data])
    for line, kept in zip(whole, split(cut(data, places), limit), strict=True):
        assert line.payload.startswith(kept.payload)
        assert len(kept.payload) <= min(limit, PREFIX)
        if len(line.payload) > limit:
            assert kept.size == len(line.payload)
            assert kept.sha256 == sha256(line.payload).hexdigest()
        else:
            assert kept == line


@given(BYTES, BYTES)
def test_after_a_gap_the_next_whole_line_is_the_first_one(before, after):
    splitter = LineSplitter(1 << 20)
    first = splitter.feed(before)
    splitter.skip()
    rest = splitter.feed(after)
    last = splitter.finish()
    rest += [] if last is None else [last]
    assert [line.payload for line in first] == before.split(b"\n")[:-1]
    assert [line.payload for line in rest] == split_after(after)


def split_after(after: bytes) -> list[bytes]:
    _, mark, rest = after.partition(b"\n")
    lines = rest.split(b"\n") if mark else []
    return lines[:-1] if lines and not lines[-1] else lines
