"""However a stream is cut into reads, its blocks are the same, and together they are the stream."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mcp_tap.core.sse import SseParser
from mcp_tap.proxy.answering.gate import Gate, data_of, with_data

LINES = st.sampled_from(
    [b"data: a", b"data:b", b"data", b"event: message", b"id: 7", b": ping", b"retry: 1", b"", b""]
)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])
STREAMS = st.lists(st.tuples(LINES, ENDS), max_size=20).map(
    lambda lines: b"".join(line + end for line, end in lines)
)
CUTS = st.lists(st.integers(1, 9), max_size=60)


def reads(stream, cuts):
    out = []
    for size in cuts:
        out.append(stream[:size])
        stream = stream[size:]
    return [piece for piece in [*out, stream] if piece]


@given(STREAMS, CUTS)
def test_blocks_are_the_stream_and_hold_its_events(stream, cuts):
    gate = Gate(1 << 20)
    blocks = [block for piece in reads(stream, cuts) for block in gate.feed(piece)]
    rest = gate.finish()
    assert b"".join([*blocks, rest]) == stream
    wanted = [b.data for b in SseParser(1 << 20).feed(stream) if b.kind == "event" and b.data]
    assert [data for data in (data_of(block, 1 << 20) for block in blocks) if data] == wanted


@given(st.lists(LINES, min_size=1, max_size=6), st.sampled_from([b"x", b'{"a":\n 1}', b"1\r\n2"]))
def test_a_block_with_other_data_says_that_and_what_else_it_said(lines, data):
    block = b"data: old\n" + b"\n".join(line for line in lines if line) + b"\n\n"
    told = with_data(block, data)
    assert data_of(told, 1 << 20) == data.replace(b"\r\n", b"\n")
    old, new = (SseParser(1 << 20).feed(b)[-1].fields for b in (block, told))
    assert old == new


@given(st.binary(max_size=300), CUTS)
def test_anything_passes_and_nothing_is_held_beyond_the_limit(stream, cuts):
    gate = Gate(64)
    out = []
    for piece in reads(stream, cuts):
        out += gate.feed(piece)
        held = len(stream) - len(b"".join(out))
        assert held >= 0
    assert b"".join(out) + gate.finish() == stream
