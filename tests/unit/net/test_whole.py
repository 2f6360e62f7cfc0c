"""The short way takes only what the parser took before, and gives what the parser would give."""

from __future__ import annotations

import httptools
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_tap.net.heads import HeadReader, RequestLine
from mcp_tap.net.whole import Whole
from tests.heads import ASK

HEAD = b"POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\nAccept: x\r\n\r\n"


class Parsed:
    """What the parser makes of a request."""

    def __init__(self, data: bytes) -> None:
        self.headers: list[tuple[bytes, bytes]] = []
        self.body = b""
        self.done = False
        httptools.HttpRequestParser(self).feed_data(data)
        self.head = HeadReader().read(ASK, self.headers)

    def on_header(self, name, value):
        self.headers.append((name, value))

    def on_body(self, data):
        self.body += data

    def on_message_complete(self):
        self.done = True


def message(body: bytes, head: bytes = HEAD) -> bytes:
    return head % len(body) + body


def learned(data: bytes) -> Whole[RequestLine]:
    whole: Whole[RequestLine] = Whole()
    whole.learn(data, Parsed(data).head)
    return whole


def test_a_known_head_is_found_with_another_body():
    whole = learned(message(b"first"))
    found = whole.find(message(b"another one"))
    assert found is not None
    head, body = found
    assert (head.line, body) == (ASK, b"another one")
    assert head.headers == [(b"Host", b"h"), (b"Content-Length", b"11"), (b"Accept", b"x")]
    assert head.content_length() == 11


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\r\n\r\n",
        HEAD % 5,
        message(b"first")[:-1],
        message(b"first") + b"x",
        message(b"first") * 2,
        message(b"first", HEAD.replace(b"POST", b"PUT")),
        message(b"first", HEAD.replace(b"h\r", b"i\r")),
        message(b"first", HEAD.replace(b"Accept", b"accept")),
        message(b"first", HEAD.replace(b"Content-Length", b"content-length")),
        message(b"first", HEAD.replace(b"%d", b"+%d")),
        message(b"first", HEAD.replace(b"%d", b"%d ")),
        message(b"first", HEAD.replace(b"%d", b"0x%d")),
        message(b"first", HEAD.replace(b"Host", b"Content-Length: 3\r\nHost")),
        message(b"first", HEAD.replace(b"Accept", b"Content-Length: 5\r\nAccept")),
        message(b"first", HEAD.replace(b"Accept", b"Transfer-Encoding: chunked\r\nAccept")),
        message(b"first", HEAD.replace(b"Host", b"X-Length: 5\r\nHost")),
        message(b"first").replace(b"\r\n", b"\n"),
    ],
)
def test_anything_else_takes_the_long_way(data):
    assert learned(message(b"first")).find(data) is None


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\nHost: h\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\nX-Strength: 5\r\nContent-Length: 5\r\n\r\nabcde",
        b"POST / HTTP/1.1\r\nContent-Length: 5\r\nX: " + b"x" * 20_000 + b"\r\n\r\nabcde",
        b"POST / HTTP/1.1\r\nContent-Length: 0000000005\r\n\r\nabcde",
        b"POST / HTTP/1.1\r\nContent-Length:5\r\n\r\nabcde",
        b"POST / HTTP/1.1\r\nContent-Length:  5\r\n\r\nabcde",
    ],
)
def test_what_is_special_is_not_learned(head):
    assert learned(head).find(head) is None


@given(st.binary(max_size=60), st.binary(max_size=60), st.integers(0, 200), st.binary(max_size=8))
def test_what_is_found_is_what_the_parser_would_give(first, second, at, junk):
    whole = learned(message(first))
    data = message(second)
    data = data[:at] + junk + data[at:]
    found = whole.find(data)
    if found is not None:
        head, body = found
        parsed = Parsed(data)
        assert parsed.done
        assert (parsed.headers, parsed.body) == (head.headers, body)
    elif not junk:
        raise AssertionError("a known head was not found")


def test_little_is_remembered():
    whole: Whole[RequestLine] = Whole()
    for n in range(2_000):
        data = message(b"x", HEAD.replace(b"Host: h", b"Host: %d" % n))
        whole.learn(data, Parsed(data).head)
    assert len(whole._seen) <= 512
