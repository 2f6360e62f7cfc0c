"""Reports of the data path become records: in order, masked, numbered without a gap."""

from __future__ import annotations

from hashlib import sha256

import pytest

from mcp_tap.core.records import Closed, Decision, HttpRequest, HttpResponse, Message
from mcp_tap.core.redact import Redactor
from mcp_tap.core.wire import UNPARSED
from mcp_tap.net.heads import HeadReader, RequestLine, StatusLine
from mcp_tap.proxy.recording import Recording
from mcp_tap.proxy.tape import Tape
from tests.heads import ASK, FINE

JSON = (b"Content-Type", b"application/json")
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


class Recorder:
    """A recording, and what it made."""

    def __init__(self, *, limit: int = 1 << 20, **settings) -> None:
        self.pairs: list = []
        self.heads = HeadReader()
        self.recording = Recording(self.pairs.append, Redactor(b"k" * 32, **settings), limit)

    @property
    def records(self) -> list:
        return [record for record, _ in self.pairs]

    def tape(self, number: int = 1, *fields, target: bytes = b"/mcp", version: str = "1.1") -> Tape:
        line = RequestLine(b"POST", target, version)
        return Tape(number, 3, "127.0.0.1", self.heads.read(line, list(fields)))


def test_an_exchange_in_pieces_becomes_its_five_records():
    made = Recorder()
    recording, tape = made.recording, made.tape(1, JSON)
    recording.request_head(tape, 0.1)
    recording.request_data(tape, 0.2, PING[:7])
    recording.request_data(tape, 0.3, PING[7:])
    recording.request_end(tape, 0.4)
    recording.response_head(tape, 0.5, made.heads.read(FINE, [JSON]), "server")
    recording.response_data(tape, 0.6, b'{"jsonrpc":"2.0","id":1,')
    recording.response_data(tape, 0.7, b'"result":{}}')
    recording.response_end(tape, 0.8, "server", True)
    recording.closed(tape, 0.9, "complete", None, 0.4, 0.5, 0.0)
    kinds = [type(r) for r in made.records]
    assert kinds == [HttpRequest, Message, HttpResponse, Message, Closed]
    assert [r.seq for r in made.records] == [1, 2, 3, 4, 5]
    assert [r.t for r in made.records] == [0.1, 0.4, 0.5, 0.8, 0.9]
    assert made.pairs[1][1] == {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    closed = made.records[-1]
    assert (closed.request.bytes, closed.request.sha256) == (40, sha256(PING).hexdigest())
    assert (recording.exchanges, recording.seq) == (1, 5)


def test_a_request_that_somebody_has_parsed_is_not_parsed_again():
    made = Recorder()
    tape = made.tape(1, JSON)
    value = tape.value = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    made.recording.request(tape, 0.1, PING)
    assert made.pairs[1][1] is value
    assert tape.value is UNPARSED


def test_an_exchange_in_one_piece_becomes_the_same_records():
    whole, pieces = Recorder(), Recorder()
    answer = b'{"jsonrpc":"2.0","id":1,"result":{}}'
    tape = whole.tape(1, JSON, (b"Content-Length", b"40"))
    whole.recording.request(tape, 0.1, PING)
    head = whole.heads.read(FINE, [JSON, (b"Content-Length", b"36")])
    whole.recording.response(tape, 0.5, head, answer, 0.2, 0.0)
    tape = pieces.tape(1, JSON, (b"Content-Length", b"40"))
    recording = pieces.recording
    recording.request_head(tape, 0.1)
    recording.request_data(tape, 0.1, PING)
    recording.request_end(tape, 0.1)
    recording.response_head(tape, 0.5, head, "server")
    recording.response_data(tape, 0.5, answer)
    recording.response_end(tape, 0.5, "server", True)
    recording.closed(tape, 0.5, "complete", None, 0.2, 0.5, 0.0)
    assert whole.records == pieces.records
    assert [v for _, v in whole.pairs] == [v for _, v in pieces.pairs]


def test_lengths_are_those_of_each_head_although_blocks_are_remembered():
    made = Recorder()
    for length in (b"5", b"77"):
        made.recording.request_head(
            made.tape(1, JSON, (b"Content-Length", length), (b"A", b"b")), 0
        )
    assert [r.headers[1] for r in made.records] == [
        ("Content-Length", "5"),
        ("Content-Length", "77"),
    ]
    assert made.records[0].headers[2] == ("A", "b")


def test_masks_of_target_and_fields_stand_together():
    made = Recorder()
    made.recording.request_head(
        made.tape(1, (b"Authorization", b"Bearer x"), target=b"/?token=y"), 0
    )
    (record,) = made.records
    assert [m.at for m in record.masked] == ["/path", "/headers/0/1"]
    assert "y" not in record.path.partition("=")[2].removeprefix("mcp-tap:").strip(
        "0123456789abcdef"
    )


def test_the_head_that_went_upstream_stands_beside_the_clients():
    made = Recorder()
    tape = made.tape(1, (b"Host", b"a"))
    made.recording.request_head(tape, 0.1)
    made.recording.upstream_request_head(tape, 0.2, made.heads.read(ASK, [(b"Host", b"b")]))
    first, second = made.records
    assert (first.leg, first.replaces) == (None, None)
    assert (second.leg, second.replaces) == ("upstream", first.seq)
    assert made.recording.exchanges == 1


def test_an_interim_response_begins_no_payload():
    made = Recorder()
    tape = made.tape()
    hints = made.heads.read(StatusLine(103, b"Hints", "1.1"), [])
    made.recording.response_head(tape, 0.1, hints, "server")
    made.recording.response_data(tape, 0.1, b"not there")
    made.recording.response_end(tape, 0.1, "server", True)
    assert [type(r) for r in made.records] == [HttpResponse]


def test_other_versions_are_kept():
    made = Recorder()
    tape = made.tape(version="1.0")
    made.recording.request_head(tape, 0)
    old = made.heads.read(StatusLine(200, b"", "1.0"), [])
    made.recording.response_head(tape, 0, old, "server")
    assert [r.version for r in made.records] == ["1.0", "1.0"]


def test_a_decision_says_who_decided_what_and_why():
    made = Recorder()
    made.recording.decision(made.tape(), 0.5, "tap", "foreign-host", "because")
    (record,) = made.records
    assert record == Decision(
        seq=1, t=0.5, exchange=1, hook="tap", verdict="foreign-host", why="because"
    )
    assert made.pairs[0][1] is UNPARSED


@pytest.mark.parametrize("part", [b"", b'{"jso'])
def test_a_request_that_was_cut_is_recorded_as_far_as_it_came(part):
    made = Recorder()
    tape = made.tape(1, JSON, (b"Content-Length", b"40"))
    made.recording.request_head(tape, 0.1)
    if part:
        made.recording.request_data(tape, 0.2, part)
    made.recording.cut_request(tape, 0.3)
    made.recording.closed(tape, 0.4, "client_gone", None, None, None, 0.0)
    bodies = made.records[1:-1]
    assert [(b.payload(), b.truncated, b.size) for b in bodies] == [(part, True, None)] * bool(part)
    assert made.records[-1].request.bytes == len(part)
