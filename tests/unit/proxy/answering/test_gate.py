"""Blocks as the bytes they came in; tests/property/test_gate.py cuts streams anywhere."""

from __future__ import annotations

import json

import pytest

from mcp_tap.core.sse import event
from mcp_tap.proxy.answering.gate import ENDS, Gate, Part, data_of, with_data

EVENT = b"event: message\r\ndata: {}\r\n\r\n"


def test_a_whole_event_passes_at_once():
    gate = Gate(100)
    assert gate.feed(EVENT) == [EVENT]
    assert gate.empty


@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n", b"\r\r"])
def test_an_event_is_held_until_its_blank_line(end):
    gate = Gate(100)
    assert gate.feed(b"data: a" + end[: len(end) // 2]) == []
    assert not gate.empty
    assert gate.feed(end[len(end) // 2 :] + b"data: b") == [b"data: a" + end]
    assert gate.finish() == b"data: b"


def test_a_comment_passes_before_its_blank_line():
    gate = Gate(100)
    assert gate.feed(b": ping\r\n") == [b": ping\r\n"]
    assert gate.feed(b"\r\n") == [b"\r\n"]
    assert gate.feed(b": pi") == []


def test_a_comment_within_an_event_belongs_to_it():
    gate = Gate(100)
    assert gate.feed(b"data: a\n: note\n") == []
    assert gate.feed(b"\n") == [b"data: a\n: note\n\n"]


@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n", b"\r\r"])
@pytest.mark.parametrize("size", [1, 2, 3, 20])
def test_a_block_beyond_the_limit_passes_in_parts_and_the_next_one_is_held(end, size):
    gate, large = Gate(10), b"data: " + b"x" * 20
    stream = large + end + b"data: a" + end
    given = [b for at in range(0, len(stream), size) for b in gate.feed(stream[at : at + size])]
    parts, blocks = [b for b in given if type(b) is Part], [b for b in given if type(b) is bytes]
    assert b"".join(parts + blocks) + gate.finish() == stream
    assert b"".join(blocks).lstrip(b"\r\n") == b"data: a" + end
    assert gate.empty


def test_a_block_that_is_passing_is_not_over():
    gate = Gate(10)
    gate.feed(b"data: " + b"x" * 20)
    assert not gate.empty


def test_data_of_several_lines_is_joined():
    assert data_of(b"id: 1\ndata: a\ndata:b\n\n", 100) == b"a\nb"
    assert data_of(EVENT, 100) == b"{}"
    assert data_of(b": ping\n\n", 100) == b""
    assert data_of(b"data: " + b"x" * 200 + b"\n\n", 100) in (b"", b"x" * 200)


def test_data_is_replaced_and_the_other_fields_stay():
    block = b"id: 1\r\ndata: a\r\ndata: b\r\nretry: 5\r\n\r\n"
    assert with_data(block, b"c") == b"id: 1\r\ndata: c\r\nretry: 5\r\n\r\n"


def test_an_event_of_our_own_may_have_lines():
    data = json.dumps({"a": 1}, indent=1).encode()
    assert data_of(event(data, None), 100) == data
    assert event(b"{}", None).endswith(ENDS)
