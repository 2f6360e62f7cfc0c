"""Heads of messages whose bodies were changed."""

from __future__ import annotations

from mcp_tap.net.heads import HeadReader, RequestLine, StatusLine
from mcp_tap.proxy.answering.heads import STREAM, endless, field, with_body, with_length

OK = StatusLine(200, b"OK", "1.1")


def reply(*fields):
    return HeadReader().read(OK, list(fields))


def test_a_stream_loses_its_length_and_its_coding():
    head = endless(reply((b"Content-Length", b"9"), (b"Content-Encoding", b"gzip"), (b"A", b"b")))
    assert head.headers == [(b"A", b"b"), (b"Transfer-Encoding", b"chunked")]
    assert head.fields.chunked


def test_another_body_has_another_length_in_the_same_place():
    head = with_body(reply((b"a", b"b"), (b"content-length", b"9"), (b"c", b"d")), b"12")
    assert head.block() == b"a: b\r\ncontent-length: 2\r\nc: d\r\n"


def test_a_changed_body_is_not_coded_any_more():
    head = with_body(reply((b"Content-Encoding", b"br"), (b"Content-Length", b"9")), b"123")
    assert head.headers == [(b"Content-Length", b"3")]
    chunked = reply((b"Transfer-Encoding", b"chunked"))
    assert with_body(chunked, b"1") is chunked


def test_a_request_keeps_its_framing():
    line = RequestLine(b"POST", b"/", "1.1")
    sized = HeadReader().read(line, [(b"Content-Length", b"9"), (b"X-A", b" b ")])
    assert with_length(sized, 12).headers[0] == (b"Content-Length", b"12")
    chunked = HeadReader().read(line, [(b"Transfer-Encoding", b"chunked")])
    assert with_length(chunked, 12) is chunked
    assert field(sized, b"x-a") == "b"
    assert field(sized, b"x-b") is None


def test_our_own_events_have_a_head_to_be_read_by():
    assert STREAM.fields.content_type == "text/event-stream"
