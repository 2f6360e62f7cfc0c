"""Server-sent events as real servers write them."""

from __future__ import annotations

import pytest

from mcp_tap.core.records import Sse
from mcp_tap.core.sse import SseParser, comment, event


def blocks(*chunks: bytes, end: bool = True):
    parser = SseParser(1 << 20)
    found = [block for chunk in chunks for block in parser.feed(chunk)]
    return found + (parser.finish() if end else [])


def test_an_event_has_its_data_and_its_fields():
    (block,) = blocks(b"id: 4\r\nevent: message\r\nretry: 10\r\ndata: {}\r\n\r\n")
    assert (block.kind, block.data) == ("event", b"{}")
    assert block.fields == Sse(id="4", event="message", retry="10")


def test_data_lines_are_joined_with_a_line_feed():
    assert blocks(b"data: {\r\ndata: }\r\n\r\n")[0].data == b"{\n}"


def test_a_priming_event_has_empty_data():
    (block,) = blocks(b"id: 1\r\ndata: \r\nretry: 100\r\n\r\n")
    assert (block.kind, block.data) == ("event", b"")


def test_a_comment_is_a_block_of_its_own_even_inside_an_event():
    comment, event = blocks(b"data: a\n: ping\ndata: b\n\n")
    assert (comment.kind, comment.data) == ("comment", b"ping")
    assert event.data == b"a\nb"


def test_an_event_is_given_out_with_the_byte_that_completes_it():
    parser = SseParser(100)
    assert parser.feed(b"data: a\r\n") == []
    assert [b.data for b in parser.feed(b"\r")] == [b"a"]
    assert parser.feed(b"\n") == []
    assert parser.feed(b"") == []


def test_characters_cut_between_chunks_come_out_whole():
    text = "data: день\n\n".encode()
    assert blocks(*[bytes([b]) for b in text])[0].data.decode() == "день"


def test_what_the_stream_ends_in_is_cut():
    (block,) = blocks(b"id: 3\ndata: {\ndata: par")
    assert (block.kind, block.data, block.fields) == ("cut", b"{\npar", Sse(id="3"))
    assert blocks(b": pin")[0].kind == "cut"
    assert blocks(b"data: whole\n\n", b"") == blocks(b"data: whole\n\n")


def test_an_event_that_only_lacks_its_empty_line_is_cut():
    assert [b.kind for b in blocks(b"data: x\n")] == ["cut"]


def test_a_byte_order_mark_is_dropped_at_the_start_only():
    first, second = blocks(b"\xef\xbb", b"\xbfdata: 1\n\n\xef\xbb\xbfdata: 2\n\n")
    assert (first.data, second.data) == (b"1", b"")
    assert blocks(b"\xef\xbb\xbf") == []


def test_bytes_that_are_no_text_stay_in_the_data():
    assert blocks(b"data: \xff\xfe\n\n")[0].data == b"\xff\xfe"
    assert blocks(b"event: \xff\ndata: x\n\n")[0].fields == Sse(event="\ufffd")


def test_data_beyond_the_limit_is_a_prefix_with_size_and_digest():
    parser = SseParser(10)
    (block,) = parser.feed(b"data: 0123456789abc\n\n")
    assert (block.data, block.size) == (b"0123456789", 13)
    assert block.sha256 is not None


def test_an_event_of_any_text_is_written_as_one_event():
    fields = Sse(id="1\ndata: x", event="m", retry="5\r")
    assert event(b'{"a":\r1,\r\n"b":\n2}', fields) == (
        b'event: m\ndata: {"a":\ndata: 1,\ndata: "b":\ndata: 2}\n\n'
    )


@pytest.mark.parametrize("fields", [None, Sse(id="7", event="message", retry="10"), Sse(id="")])
@pytest.mark.parametrize("data", [b"", b"{}", b"a\nb", b" a"])
def test_what_is_written_is_read_back(fields, data):
    (block,) = blocks(event(data, fields))
    assert (block.kind, block.data, block.fields) == ("event", data, fields)


def test_a_comment_is_written_on_as_many_lines_as_it_has():
    assert comment(b"ping\r\npong") == b": ping\n: pong\n\n"
