"""How a head says that its payload is to be understood."""

from __future__ import annotations

from hashlib import sha256

import pytest

from mcp_tap.net.heads import HeadReader
from mcp_tap.proxy.tape import Tape, Way
from tests.heads import ASK


def way(*fields: tuple[bytes, bytes], stream: bool = True, limit: int = 1000) -> Way:
    return Way(HeadReader().read(ASK, list(fields)), limit, stream=stream)


@pytest.mark.parametrize(
    "kind", [b"text/event-stream", b"Text/Event-Stream; charset=utf-8", b"text/event-stream;x"]
)
def test_an_event_stream_is_parsed_when_it_is_a_response(kind):
    assert way((b"content-type", kind)).sse is not None
    assert way((b"content-type", kind), stream=False).sse is None
    assert way((b"content-type", kind), stream=False).collector is not None


def test_anything_else_is_collected():
    for fields in (
        [],
        [(b"Content-Type", b"application/json")],
        [(b"Content-Type", b"text/plain")],
    ):
        assert way(*fields).collector is not None


def test_a_known_encoding_is_undone_and_named():
    assert way((b"Content-Encoding", b"GZip")).encoding == "GZip"
    assert way((b"Content-Encoding", b"rot13")).encoding is None
    assert way((b"Content-Encoding", b"identity")).decoder is None


def test_a_length_beyond_the_limit_is_never_held_whole_unless_it_is_of_coded_bytes():
    long = (b"Content-Length", b"5000")
    for fields, truncated in (([long], True), ([long, (b"Content-Encoding", b"gzip")], False)):
        collector = way(*fields).collector
        assert collector is not None
        assert (collector._digest is not None) is truncated


def test_who_sends_it_is_known():
    assert (way().sender, way(stream=False).sender) == ("server", "client")


def test_a_fresh_tape_has_transferred_nothing():
    tape = Tape(1, 2, "127.0.0.1", HeadReader().read(ASK, []))
    assert (tape.sent.bytes, tape.sent.sha256) == (0, sha256(b"").hexdigest())
    assert tape.received == tape.sent == way().total()
