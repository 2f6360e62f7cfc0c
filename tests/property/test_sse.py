"""Server-sent events: the same blocks however the stream is cut, and bounded memory."""

from __future__ import annotations

from hashlib import sha256
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from mcp_tap.core.collect import PREFIX
from mcp_tap.core.sse import SseParser

LIMIT = 1 << 20


def parsed(chunks: list[bytes], limit: int = LIMIT) -> list[tuple]:
    parser = SseParser(limit)
    blocks = [block for chunk in chunks for block in parser.feed(chunk)]
    return [
        (b.kind, b.data, b.fields and (b.fields.id, b.fields.event, b.fields.retry), b.size)
        for b in [*blocks, *parser.finish()]
    ]


def reference(stream: bytes) -> list[tuple]:  # noqa: C901 (one algorithm, as its page has it)
    """The algorithm of the specification, word by word, on a stream that is all there."""
    text = stream.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    *lines, rest = text.split(b"\n")
    blocks: list[tuple] = []
    data: list[bytes] = []
    fields: dict[bytes, str] = {}
    begun = False

    def take(line: bytes) -> bool:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            data.append(value)
        elif name in (b"id", b"event", b"retry"):
            fields[name] = value.decode(errors="replace")
        return bool(name)

    def shown() -> tuple | None:
        return (fields.get(b"id"), fields.get(b"event"), fields.get(b"retry")) if fields else None

    for line in lines:
        if line.startswith(b":"):
            blocks.append(("comment", line[1:].removeprefix(b" "), None, None))
        elif line:
            begun |= take(line)
        elif begun:
            blocks.append(("event", b"\n".join(data), shown(), None))
            data, fields, begun = [], {}, False
    if rest or begun:
        if rest and not rest.startswith(b":"):
            take(rest)
        whole = b"\n".join(data) if data else rest
        blocks.append(("cut", whole, shown(), None))
    return blocks


LINES = st.sampled_from(
    b"data: a|data:|data|data:  b:c|id: 1|event: message|retry: 100|: ping|:|||other: x|"
    b"data: \xd0\xb4|data: \xff|datax: no| data: no|\xef\xbb\xbfdata: late|id".split(b"|")
)
ENDS = st.sampled_from([b"\r\n", b"\n", b"\r"])
STREAMS = st.builds(
    lambda bom, lines, rest: bom + b"".join(line + end for line, end in lines) + rest,
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
    st.lists(st.tuples(LINES, ENDS), max_size=12),
    st.sampled_from([b"", b"data: cut", b"dat", b": com", b"\xef\xbb\xbf"]),
)


def cut(stream: bytes, at: list[int]) -> list[bytes]:
    places = sorted({0, len(stream), *(n % (len(stream) + 1) for n in at)})
    return [stream[a:b] for a, b in pairwise(places)]


@given(STREAMS, st.lists(st.integers(0, 400), max_size=20))
@example(b"data: a\r\n\r\ndata: b\r\n\r\n", list(range(25)))
@example(b"\r\n\r\n\r\r\n\n", list(range(9)))
def test_blocks_are_those_of_the_specification_however_the_stream_is_cut(stream, at):
    assert parsed(cut(stream, at)) == reference(stream)


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=10))
def test_any_bytes_are_parsed_alike_in_one_piece_and_in_many(stream, at):
    assert parsed(cut(stream, at)) == parsed([stream]) == parsed([bytes([b]) for b in stream])


@given(
    st.integers(1, 200_000),
    st.integers(1, 60_000),
    st.lists(st.integers(0, 300_000), max_size=6),
    st.booleans(),
)
def test_long_data_keeps_a_prefix_its_size_and_its_digest(size, limit, at, two_lines):
    data = bytes((n * 7 + n // 251) % 94 + 33 for n in range(size))
    lines = [data[: size // 2], data[size // 2 :]] if two_lines else [data]
    stream = b"id: 9\n" + b"".join(b"data: %b\n" % line for line in lines) + b"\n"
    whole = b"\n".join(lines)
    parser = SseParser(limit)
    blocks = []
    for chunk in cut(stream, at):
        blocks += parser.feed(chunk)
    assert parser.finish() == []
    (block,) = blocks
    assert block.fields is not None
    assert block.fields.id == "9"
    if len(whole) <= limit:
        assert (block.data, block.size, block.sha256) == (whole, None, None)
    else:
        assert block.data == whole[: min(limit, PREFIX)]
        assert (block.size, block.sha256) == (len(whole), sha256(whole).hexdigest())


@given(
    st.integers(PREFIX - 3, PREFIX * 3),
    st.lists(st.integers(0, PREFIX * 3), max_size=6),
    st.sampled_from([b"event: ", b"x", b"datax:"]),
)
def test_a_long_line_of_another_kind_does_not_disturb_what_follows(size, at, start):
    stream = start + b"v" * size + b"\n\ndata: next\n\n"
    *_, last = parsed(cut(stream, at))
    assert last == ("event", b"next", None, None)


@given(st.integers(1, PREFIX * 3), st.lists(st.integers(0, PREFIX * 3), max_size=6))
def test_a_long_comment_tells_its_size(size, at):
    (block, following) = parsed(cut(b": " + b"c" * size + b"\rdata: x\r\r", at))
    kind, data, _, told = block
    assert kind == "comment"
    assert len(data) == size if told is None else (told == size and len(data) >= PREFIX - 2)
    assert following[1] == b"x"


def test_a_line_without_end_is_kept_in_bounded_memory():
    for start in (b"data: ", b": ", b"event: ", b"data"):
        parser = SseParser(1 << 16)
        parser.feed(start)
        for _ in range(2_000):
            assert parser.feed(b"v" * 4096) == []
        held = sum(map(len, parser._line)) + (len(parser._data.kept()) if parser._data else 0)
        assert held <= 1 << 18
        (block,) = parser.finish()
        assert block.kind == "cut"
