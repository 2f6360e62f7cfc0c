"""The tap's own answers are marked, and JSON-RPC where the request was."""

from __future__ import annotations

import pytest

from mcp_tap.core.spec import INTERNAL_ERROR
from mcp_tap.core.wire import loads
from mcp_tap.proxy.replies import make_reply


@pytest.mark.parametrize("number", ["7", '"a"', "0", "1.5", "123456789012345678901234567890"])
def test_a_request_with_an_id_gets_a_json_rpc_error_with_that_id(number):
    body = b'{"jsonrpc":"2.0","id":%b,"method":"m"}' % number.encode()
    reply = make_reply(502, "upstream-down", "no answer from X", body)
    answer = loads(reply.body)
    assert answer["id"] == loads(number)
    assert answer["error"]["code"] == INTERNAL_ERROR
    assert answer["error"]["message"] == "mcp-tap: no answer from X"
    assert answer["error"]["data"] == {"sender": "mcp-tap", "error": "upstream-down"}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"5",
        b'{"method":"m"}',
        b'{"id":1}',
        b'{"id":null,"method":"m"}',
        b'{"id":[1],"method":"m"}',
        b'[{"id":1,"method":"m"}]',
        b"\xff",
        b"[" * 100_000,
    ],
)
def test_anything_else_gets_plain_text(body):
    reply = make_reply(400, "bad-framing", "a reason", body)
    assert reply.body == b"mcp-tap: a reason\n"
    assert (b"Content-Type", b"text/plain; charset=utf-8") in reply.headers


@pytest.mark.parametrize("status", [400, 403, 431, 502, 504])
@pytest.mark.parametrize("close", [False, True])
def test_the_head_says_whose_answer_it_is(status, close):
    reply = make_reply(status, "a-code", "x")
    head = reply.head(close=close)
    assert head.startswith(b"HTTP/1.1 %d %b\r\n" % (status, reply.line.reason))
    assert b"\r\nMcp-Tap-Error: a-code\r\n" in head
    assert b"\r\nContent-Length: %d\r\n" % len(reply.body) in head
    assert (b"\r\nConnection: close\r\n" in head) is close
