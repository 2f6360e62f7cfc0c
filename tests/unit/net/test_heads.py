"""Heads are read once and written as they came."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_tap.net.heads import (
    HeadReader,
    RequestLine,
    StatusLine,
    lines,
    replaced,
    request_head,
    response_head,
    without_chunking,
)
from tests.heads import ASK, FINE

NAMES = st.sampled_from([b"Host", b"hOST", b"X-A", b"x-a", b"Accept", b"Content-Length", b"Te"])
VALUES = st.sampled_from([b"", b"1", b"22", b"a, b", b"caf\xe9"])
FIELDS = st.lists(st.tuples(NAMES, VALUES), max_size=8)


def one_length(fields):
    seen = [n for n, _ in fields if n == b"Content-Length"]
    return len(seen) <= 1


@given(st.lists(FIELDS.filter(one_length), max_size=6))
def test_blocks_are_written_as_they_were_read_whatever_was_read_before(blocks):
    reader = HeadReader()
    for fields in blocks * 2:
        head = reader.read(ASK, list(fields))
        kept = [f for f in fields if f[0].lower() != b"te"]
        assert head.block() == lines(kept)
        assert list(head.headers) == fields


def test_a_head_says_how_its_body_is_framed():
    def read(*fields):
        return HeadReader().read(ASK, list(fields))

    assert read((b"content-LENGTH", b"12")).content_length() == 12
    assert read().content_length() is None
    assert read((b"Content-Length", b"x")).content_length() is None
    assert read((b"Content-Length", b"9" * 30)).content_length() is None
    assert read((b"Transfer-Encoding", b"gzip , Chunked ")).fields.chunked
    assert not read((b"Transfer-Encoding", b"gzip")).fields.chunked
    assert not read((b"Transfer-Encoding", b"chunked, gzip")).fields.chunked
    assert read((b"Transfer-Encoding", b"chunked")).has_body
    assert read((b"Content-Length", b"0")).has_body
    assert not read((b"Accept", b"*/*")).has_body


def test_what_matters_of_a_block_is_read():
    fields = (
        HeadReader()
        .read(
            ASK,
            [
                (b"HOST", b"h"),
                (b"host", b"i"),
                (b"Origin", b"o"),
                (b"Expect", b"100-Continue"),
                (b"Content-Type", b"Text/HTML"),
                (b"Content-Encoding", b"gzip"),
            ],
        )
        .fields
    )
    assert (fields.host, fields.hosts, fields.origin, fields.origins) == (b"i", 2, b"o", 1)
    assert (fields.expect, fields.content_type, fields.encoding) == (True, "text/html", "gzip")


def test_hop_by_hop_fields_and_those_connection_names_are_left_out():
    head = HeadReader(b"expect").read(
        ASK,
        [
            (b"Connection", b"X-One, close"),
            (b"connection", b" x-TWO,,Host"),
            (b"X-One", b"1"),
            (b"x-two", b"2"),
            (b"Host", b"h"),
            (b"Upgrade", b"h2c"),
            (b"Expect", b"100-continue"),
            (b"Trailer", b"X-T"),
            (b"Proxy-Connection", b"x"),
            (b"Keep-Alive", b"timeout=5"),
            (b"X-Three", b"3"),
        ],
    )
    assert head.block() == b"Host: h\r\nX-Three: 3\r\n"


def test_heads_are_written_with_their_first_line():
    for version in ("1.1", "1.0"):
        head = HeadReader().read(RequestLine(b"GET", b"/x", version), [(b"A", b"b")])
        written = b"GET /x HTTP/%b\r\nA: b\r\n\r\n" % version.encode()
        assert request_head(head) == written
    line = StatusLine(200, b"", "1.1")
    assert response_head(line, head.block(), close=False) == b"HTTP/1.1 200 \r\nA: b\r\n\r\n"
    assert response_head(StatusLine(404, b"No", "1.1"), b"", close=True) == (
        b"HTTP/1.1 404 No\r\nConnection: close\r\n\r\n"
    )


def test_chunking_can_be_taken_out():
    head = HeadReader().read(FINE, [(b"A", b"b"), (b"Transfer-Encoding", b"chunked"), (b"C", b"d")])
    assert without_chunking(head) == b"A: b\r\nC: d\r\n"


@pytest.mark.parametrize(
    ("before", "wanted", "after"),
    [
        ([], [(b"A", b"1")], [(b"A", b"1")]),
        ([(b"a", b"0"), (b"B", b"2")], [(b"A", b"1")], [(b"a", b"1"), (b"B", b"2")]),
        ([(b"A", b"0"), (b"B", b"2"), (b"a", b"3")], [(b"A", b"1")], [(b"A", b"1"), (b"B", b"2")]),
        ([(b"A", b"0")], [(b"B", b"1"), (b"C", b"2")], [(b"A", b"0"), (b"B", b"1"), (b"C", b"2")]),
    ],
)
def test_replaced_fields_take_the_place_of_the_first_of_their_name(before, wanted, after):
    assert replaced(before, wanted) == after


def test_little_is_remembered_and_nothing_large():
    reader = HeadReader()
    for n in range(3_000):
        reader.read(ASK, [(b"X", b"%d" % n), (b"Content-Length", b"5")])
    assert len(reader._exact) <= 512
    assert len(reader._blocks) <= 512
    reader = HeadReader()
    for n in range(100):
        head = reader.read(ASK, [(b"X", b"%d" % n * 10_000)])
        assert head.block() == b"X: " + b"%d" % n * 10_000 + b"\r\n"
    assert not reader._exact
    assert not reader._blocks


def test_content_encodings_in_several_fields_are_one_list():
    fields = [(b"Content-Encoding", b"gzip"), (b"content-encoding", b"identity")]
    assert HeadReader().read(ASK, fields).fields.encoding == "gzip, identity"
