"""Payloads become messages, bodies and noise, whatever pieces they come in."""

from __future__ import annotations

import gzip
import zlib
from hashlib import sha256

import pytest

from mcp_tap.core.records import Body, Decision, Message, Noise
from mcp_tap.core.redact import Redactor
from mcp_tap.core.wire import UNPARSED
from mcp_tap.net.heads import HeadReader
from mcp_tap.proxy.payloads import Payloads
from mcp_tap.proxy.tape import Tape
from tests.heads import ASK

RPC = b'{"jsonrpc":"2.0","id":1,"result":{}}'


def recorded(
    payload: bytes,
    kind: bytes = b"application/json",
    *more: tuple[bytes, bytes],
    sender: str = "server",
    step: int = 0,
    whole: bool = True,
    limit: int = 1 << 20,
    **settings,
) -> list:
    """Record a payload in pieces of `step` bytes, or in one; give records with their values."""
    pairs: list = []
    counter = iter(range(1, 1000))
    payloads = Payloads(pairs.append, Redactor(b"k" * 32, **settings), limit, lambda: next(counter))
    fields = [(b"Content-Type", kind)] if kind else []
    head = HeadReader().read(ASK, [*fields, *more])
    tape = Tape(9, 1, "", head)
    if not step:
        digest = payloads.whole(tape, 1.0, sender, head, payload)
    else:
        way = payloads.begin(head, stream=sender == "server")
        for at in range(0, len(payload), step):
            payloads.data(tape, way, 1.0, payload[at : at + step])
        payloads.end(tape, way, 1.0, sender, whole=whole)
        digest = way.total()
    assert (digest.bytes, digest.sha256) == (len(payload), sha256(payload).hexdigest())
    assert all(r.exchange == 9 for r, _ in pairs)
    return pairs


KINDS = [
    (b"", b"", []),
    (RPC, b"application/json", [Message]),
    (RPC, b"", [Message]),
    (RPC, b"text/html", [Message]),
    (b"[" + RPC + b"]", b"application/json", [Message]),
    (b"[]", b"application/json", [Message]),
    (b'{"method":"m"}', b"application/json", [Message]),
    (b'{"issuer":"x"}', b"application/json", [Body]),
    (b"5", b"application/json", [Body]),
    (b"{broken", b"application/json", [Message]),
    (b"{broken", b"application/problem+json", [Message]),
    (b"{broken", b"text/plain", [Body]),
    (b"<html>", b"text/html", [Body]),
    (b"\xff\xfe", b"", [Body]),
    (b"\r\n{}\r\n", b"application/json", [Body]),
    (b"data: " + RPC + b"\n\n", b"text/event-stream", [Message]),
    (b"data: hello\n\n", b"text/event-stream", [Message]),
    (b'data: {"a":1}\n\n', b"text/event-stream", [Body]),
    (b": ping\n\ndata:\n\nevent: x\n\n", b"text/event-stream", [Noise, Noise, Noise]),
    (b": 5\n\n", b"text/event-stream", [Noise]),
    (b"data: cut", b"text/event-stream", [Body]),
]


@pytest.mark.parametrize(("payload", "kind", "records"), KINDS)
@pytest.mark.parametrize("settings", [{}, {"specs": ["key:nothing"]}, {"default": False}])
def test_what_a_payload_is_recorded_as_does_not_depend_on_its_pieces(
    payload, kind, records, settings
):
    pairs = recorded(payload, kind, **settings)
    assert [type(r) for r, _ in pairs] == records
    for step in (1, 5, 1000):
        assert recorded(payload, kind, step=step, **settings) == pairs


def test_the_value_comes_with_a_whole_message_and_never_with_a_cut_one():
    assert recorded(RPC)[0][1] == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert recorded(RPC, step=4, whole=False)[0][1] is UNPARSED
    assert recorded(RPC, limit=5)[0][1] is UNPARSED


def test_an_event_stream_sent_by_a_client_is_one_body():
    ((record, _),) = recorded(b"data: {}\n\n", b"text/event-stream", sender="client")
    assert (record.payload(), record.sender) == (b"data: {}\n\n", "client")


@pytest.mark.parametrize("step", [0, 7])
def test_beyond_the_limit_a_prefix_is_kept_with_size_and_digest(step):
    ((record, _),) = recorded(RPC, limit=10, step=step)
    assert record.payload() == RPC[:10]
    assert (record.truncated, record.size) == (True, len(RPC))
    assert record.sha256 == sha256(RPC).hexdigest()


@pytest.mark.parametrize("step", [0, 7])
@pytest.mark.parametrize("sender", ["client", "server"])
def test_an_encoded_payload_is_recorded_decoded(step, sender):
    coding = (b"Content-Encoding", b"gzip")
    ((record, _),) = recorded(gzip.compress(RPC), b"", coding, step=step, sender=sender)
    assert (record.payload(), record.encoding, record.sender) == (RPC, "gzip", sender)


@pytest.mark.parametrize("step", [0, 10])
@pytest.mark.parametrize("sender", ["client", "server"])
def test_a_fault_in_the_coding_is_a_decision_and_what_came_before_is_its_senders(step, sender):
    packer = zlib.compressobj(wbits=31)
    broken = packer.compress(RPC * 50) + packer.flush(zlib.Z_SYNC_FLUSH) + b"\xff" * 40
    coding = (b"Content-Encoding", b"gzip")
    pairs = recorded(broken, b"text/plain", coding, step=step, sender=sender)
    assert isinstance(pairs[0][0], Decision)
    assert len(pairs) == 1 + bool(step)
    assert all(r.sender == sender and r.truncated for r, _ in pairs[1:])


def test_a_decoded_payload_beyond_the_limit_has_no_size_that_could_be_wrong():
    packed = gzip.compress(b"x" * 100_000)
    ((record, _),) = recorded(packed, b"text/plain", (b"Content-Encoding", b"gzip"), limit=1000)
    assert (len(record.payload()), record.truncated) == (1000, True)
    assert (record.size, record.sha256) == (None, None)


@pytest.mark.parametrize("step", [0, 3])
def test_tokens_are_masked_and_messages_are_not(step):
    ((token, _),) = recorded(b'{"access_token":"SECRET"}', step=step)
    assert b"SECRET" not in token.payload()
    assert [m.at for m in token.masked] == ["/body/access_token"]
    message = b'{"jsonrpc":"2.0","method":"m","params":{"access_token":"KEPT"}}'
    ((record, _),) = recorded(message, step=step)
    assert (record.payload(), record.masked) == (message, [])


@pytest.mark.parametrize("cut", [b'{"access_token":"SECRET', b'{"x":1,"code":"SECRET"'])
def test_tokens_in_what_was_cut_are_masked(cut):
    ((record, _),) = recorded(cut, step=5, whole=False)
    assert b"SECRET" not in record.payload()
    assert isinstance(record, Body)


def test_a_cut_message_is_not_taken_for_tokens():
    cut = b'{"jsonrpc":"2.0","method":"m","params":{"code":"KEPT"'
    ((record, _),) = recorded(cut, step=50, whole=False)
    assert record.payload() == cut


def test_specifications_reach_comments_and_cut_events():
    stream = b': SECRET\n\ndata: {"pin":"SECRET"}\n\ndata: {"pin":"SECR'
    pairs = recorded(stream, b"text/event-stream", specs=["value:SECR(ET)?", "key:pin"])
    assert len(pairs) == 3
    assert not any(b"SECR" in r.payload() for r, _ in pairs)


def test_specifications_reach_what_stands_beside_the_data_of_events():
    events = b"id: a-SECRET\nevent: SECRET\ndata: {}\n\nid: SECRET\nretry: 5\n\nid: SECRET\ndata: x"
    usual = b"event: message\ndata: {}\n\n"
    pairs = recorded(usual + events, b"text/event-stream", specs=["value:SECRET"])
    plain, event, noise, cut = (r for r, _ in pairs)
    assert not any("SECRET" in repr(r.sse) for r, _ in pairs)
    assert (plain.sse.event, plain.masked) == ("message", [])
    assert event.sse.id.startswith("a-mcp-tap:")
    assert [m.at for m in event.masked] == ["/sse/id", "/sse/event"]
    assert ([m.at for m in noise.masked], noise.sse.retry) == (["/sse/id"], "5")
    assert [m.at for m in cut.masked] == ["/sse/id"]
