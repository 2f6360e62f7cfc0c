"""Who waits for which response."""

from __future__ import annotations

import json

import pytest

from mcp_tap.proxy.stdio.answering.board import Board, cancelling, error_line, key_of, whole
from tests.asking import answering


class Waiter:
    def came(self, line, t):
        return []

    def unread(self, code, why, t):
        return []


@pytest.mark.parametrize(
    "token", [b"1", b'"1"', b"1e0", b"12345678901234567890123", b'"' * 1 + b'"']
)
def test_a_response_is_found_by_its_id_once(token):
    board, waiter = Board(answering()), Waiter()
    board.wait(token, waiter)
    assert board.answered(b'"other"') is None
    assert board.answered(token) is waiter
    assert board.answered(token) is None


def test_numbers_are_the_same_however_they_are_written_and_no_texts():
    assert key_of(b"1") == key_of(b"1e0") == key_of(b"1.0") != key_of(b'"1"')
    board = Board(answering())
    board.wait(b"1", Waiter())
    assert board.answered(b"1e999") is None
    assert board.answered(b"1.0") is not None


def test_it_knows_whether_a_response_of_its_own_is_to_come():
    board = Board(answering())
    board.wait(b"1", Waiter())
    assert not board.asks
    board.wait(b'"own"', Waiter(), own=True)
    assert board.asks
    board.answered(b'"own"')
    assert not board.asks
    assert board.number() != board.number()


def test_what_the_tap_says_is_a_line_of_json():
    error = json.loads(error_line(b'"a"', "code", 'say "it"', -1).line)
    assert error["error"] == {
        "code": -1,
        "message": 'mcp-tap: say "it"',
        "data": {"sender": "mcp-tap", "error": "code"},
    }
    note = json.loads(cancelling(b"7", "enough\n").line)
    assert note["params"] == {"requestId": 7, "reason": "mcp-tap: enough\n"}
    assert whole(b"{}") == whole(b"{}\n") == b"{}\n"
