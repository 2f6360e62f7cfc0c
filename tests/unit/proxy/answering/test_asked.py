"""Responses that ask are told from all others."""

from __future__ import annotations

import json

import pytest

from mcp_tap.core.splice import SpliceError
from mcp_tap.proxy.answering.asked import is_id, is_response, may_ask, read, with_id
from tests.asking import STATE, asks, form, result


def test_an_ask_is_read_with_its_state_as_it_came():
    found = read(asks(7, day=form("day")))
    assert list(found.requests) == ["day"]
    assert found.state == STATE.encode()
    assert found.state_text == json.loads(STATE)
    assert found.server is None


def test_the_servers_name_is_read_too():
    meta = {"io.modelcontextprotocol/serverInfo": {"name": "billing", "version": "1"}}
    body = {"resultType": "input_required", "requestState": "s", "_meta": meta}
    found = read(json.dumps({"id": 1, "result": body}).encode())
    assert (found.server, found.requests) == ("billing", {})


@pytest.mark.parametrize(
    "body",
    [
        result(7),
        b'{"id":1,"result":{"x":"input_required"}}',
        b'{"id":1,"result":{"resultType":"complete","x":"input_required"}}',
        b'{"result":{"resultType":"input_required"}}',
        b'{"id":1,"method":"x","result":{"resultType":"input_required"}}',
        b'{"id":1,"error":{"message":"input_required"}}',
        b'[{"id":1,"result":{"resultType":"input_required"}}]',
        b"input_required",
        b'{"id":1,"result":{"resultType":"input_required"},"result":{"resultType":"input_required"}}',
    ],
)
def test_everything_else_asks_nothing(body):
    assert read(body) is None


def test_words_may_be_escaped():
    body = asks(7, day=form("day")).replace(b"input_required", b"input\\u005frequired")
    assert may_ask(body)
    assert read(body) is not None
    assert not may_ask(b'{"a":"\\n"}')


def test_a_state_that_is_null_is_none():
    assert read(asks(7, state="null")).state is None
    odd = read(asks(7, state="5"))
    assert (odd.state, odd.state_text) == (b"5", None)


def test_responses_are_told_from_requests_and_notifications():
    assert is_response(result(7))
    assert is_response(b'{"id":null,"error":{}}')
    assert not is_response(b'{"id":1,"method":"x"}')
    assert not is_response(b"[]")


def test_the_id_is_changed_only_where_it_is_ours():
    body = b'{"id" : "mcp-tap-1" , "result":{"n":1.50}}'
    assert with_id(body, b'"mcp-tap-1"', b"7") == b'{"id" : 7 , "result":{"n":1.50}}'
    escaped = body.replace(b"tap-1", b"tap\\u002d1")
    assert with_id(escaped, b'"mcp-tap-1"', b"7") == b'{"id" : 7 , "result":{"n":1.50}}'
    other = b'{"id":null,"error":{}}'
    assert with_id(other, b'"mcp-tap-1"', b"7") is other
    with pytest.raises(SpliceError):
        with_id(b'{"id":"mcp-tap-1","id":"mcp-tap-1"}', b'"mcp-tap-1"', b"7")


def test_a_state_that_is_no_text_has_none():
    for state in ("5", "1e400", '["a"]'):
        assert read(asks(1, state=state)).state_text is None


def test_only_a_text_or_a_number_identifies_a_request():
    assert all(is_id(token) for token in (b'"a"', b"0", b"-1.5"))
    assert not any(is_id(token) for token in (b"null", b"true", b"[1]", b"{}", b""))
