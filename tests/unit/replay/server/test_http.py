"""What a replay writes to its clients over HTTP, whatever a capture says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcp_tap.replay.index import Index
from mcp_tap.replay.server.http import ReplayPool
from mcp_tap.replay.server.play import Clock
from mcp_tap.replay.server.player import Player
from tests.replays import complete, exchange, index_of, never, request

BODY = json.dumps(request("mine")).encode()
POST = b"POST /mcp HTTP/1.1\r\nContent-Length: %d\r\n\r\n%b" % (len(BODY), BODY)


class Sink:
    """Who asked: keeps what comes."""

    def __init__(self) -> None:
        self.line: Any = None
        self.block = self.body = b""
        self.over = ""

    def upstream_head(self, head, *, to_eof):
        self.line, self.block = head.line, head.block()

    def upstream_whole(self, head, body):
        self.upstream_head(head, to_eof=False)
        self.body, self.over = body, "whole"
        return True

    def upstream_lost(self, why, loss):
        self.over = f"{loss}: {why}"


@pytest.fixture
def got(tmp_path):
    """Give what an edited capture of one call answers."""

    def get(old: str, new: str) -> Sink:
        path = tmp_path / "run.jsonl"
        index_of(path, exchange(request(1), complete(1, "x"))).close()
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
        sink = Sink()
        with Index.of([str(path)]) as index:
            player = Player(index, Clock(never, None), report=lambda miss: None)
            connection = ReplayPool(player).take()
            connection.begin(sink, no_body=False)
            connection.write(POST)
        return sink

    return get


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('["X-Kept","yes"]', r'["X-Kept","yes\r\nSet-Cookie: a=1"]'),
        ('["X-Kept","yes"]', r'["X-Kept\nSet-Cookie: a=1","yes"]'),
        ('["X-Kept","yes"]', '["X-Kept","\u6f22"]'),
        ('"status":200', r'"status":200,"reason":"OK\r\nSet-Cookie: a=1"'),
        ('"status":200', '"status":200,"reason":"\u6f22"'),
    ],
)
def test_a_head_that_nobody_can_have_got_adds_nothing_to_a_response(got, old, new):
    sink = got(old, new)
    assert (sink.over, json.loads(sink.body)) == ("whole", complete("mine", "x"))
    head = b"%b\r\n%b" % (sink.line.reason, sink.block)
    assert b"Content-Type: application/json" in head
    assert b"Set-Cookie" not in head


def test_a_response_whose_head_was_not_recorded_is_broken_off_and_keeps_nobody_waiting(got):
    sink = got('{"kind":"http_response"', '{"kind":"decision","hook":"","verdict":"","why":""')
    assert sink.over.startswith("cut: the head of the recorded response")
