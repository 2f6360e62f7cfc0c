"""Compressed payloads pass as they are; a copy is decoded for the record."""

from __future__ import annotations

import gzip
import resource
import zlib
from hashlib import sha256

import brotli
import pytest
import zstandard

from mcp_tap.core.records import Body, Message, Noise
from tests.handlers import once, staying
from tests.rig import LAST_CHUNK, PING, PONG, chunk, event, ok, post, tapped

PACKED = {
    b"gzip": gzip.compress,
    b"deflate": zlib.compress,
    b"br": brotli.compress,
    b"zstd": zstandard.compress,
    b"gzip, br": lambda data: brotli.compress(gzip.compress(data)),
}


def from_server(rig, *kinds):
    return [r for r in rig.records(*kinds) if r.sender == "server"]


@pytest.mark.parametrize("coding", PACKED)
async def test_the_wire_is_verbatim_and_the_record_is_decoded(tmp_path, coding):
    packed = PACKED[coding](PONG)
    answer = ok(packed, b"Content-Encoding: " + coding)
    async with tapped(staying(answer), tmp_path) as rig:
        assert await rig.raw(post(PING, b"Accept-Encoding: gzip, deflate, br, zstd")) == answer
        await rig.stop()
        (message,) = from_server(rig, Message)
        assert (message.payload(), message.encoding) == (PONG, coding.decode())
        (closed,) = rig.closed()
        assert closed.response.sha256 == sha256(packed).hexdigest()
        assert closed.response.bytes == len(packed)


async def test_a_compressed_request_is_decoded_for_the_record_too(tmp_path):
    packed = gzip.compress(PING)
    async with tapped(staying(ok()), tmp_path) as rig:
        await rig.ask(post(packed, b"Content-Encoding: gzip"))
        assert rig.upstream.received.endswith(packed)
        await rig.stop()
        first = rig.messages()[0]
        assert (first.payload(), first.encoding) == (PING, "gzip")


async def test_a_compressed_stream_is_recorded_event_by_event(tmp_path):
    packer = zlib.compressobj(wbits=31)
    chunks = [
        chunk(packer.compress(event(b'{"method":"n%d"}' % n)) + packer.flush(zlib.Z_SYNC_FLUSH))
        for n in range(3)
    ]
    head = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n"
    )
    async with tapped(staying(head, *chunks, LAST_CHUNK), tmp_path) as rig:
        await rig.ask(post())
        await rig.stop()
        assert [m.payload() for m in from_server(rig, Message)] == [
            b'{"method":"n%d"}' % n for n in range(3)
        ]


async def test_a_compressed_stream_is_recorded_beyond_the_cap_of_one_body(tmp_path):
    packer = zlib.compressobj(wbits=31)
    body = b'{"method":"' + b"x" * 700 + b'"}'
    head = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n"
    )

    async def handler(wire):
        await wire.message()
        await wire.send(head)
        for _ in range(20):
            packed = packer.compress(event(body)) + packer.flush(zlib.Z_SYNC_FLUSH)
            await wire.send(chunk(packed))
        await wire.send(LAST_CHUNK)

    async with tapped(handler, tmp_path, max_body=100_000) as rig:
        await rig.ask(post())
        await rig.stop()
        assert len(from_server(rig, Message)) == 20


async def test_an_unknown_coding_is_recorded_as_it_came(tmp_path):
    async with tapped(staying(ok(b"\x00\xff?", b"Content-Encoding: secret")), tmp_path) as rig:
        assert (await rig.ask(post())).body == b"\x00\xff?"
        await rig.stop()
        (record,) = from_server(rig, Message, Body)
        assert (record.payload(), record.encoding) == (b"\x00\xff?", None)


@pytest.mark.parametrize("coding", [b"gzip", b"br", b"zstd", b"deflate"])
async def test_a_corrupt_payload_passes_and_the_record_says_so(tmp_path, coding):
    corrupt = b"\xff\xff this is nothing of the kind " * 10
    answer = ok(corrupt, b"Content-Encoding: " + coding)
    async with tapped(staying(answer), tmp_path) as rig:
        assert await rig.raw(post()) == answer
        await rig.stop()
        (decision,) = rig.decisions()
        assert (decision.hook, decision.verdict) == ("recorder", "undecodable")
        assert decision.why.startswith(coding.decode())
        assert rig.closed()[0].how == "complete"
        assert rig.closed()[0].response.sha256 == sha256(corrupt).hexdigest()


async def test_what_came_before_the_corruption_is_kept(tmp_path):
    text = b'{"jsonrpc":"2.0","id":7,"result":{}}' * 50
    packer = zlib.compressobj(wbits=31)
    good = packer.compress(text) + packer.flush(zlib.Z_SYNC_FLUSH)

    async def handler(wire):
        await wire.message()
        await wire.send(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n")
        await wire.send(b"Transfer-Encoding: chunked\r\n\r\n", chunk(good))
        await wire.head()

    async with tapped(handler, tmp_path) as rig:
        client = await rig.client()
        await client.send(post())
        await client.head()
        await client.until(good)
        rig.upstream.connections[0]._writer.write(chunk(b"\xff" * 40) + LAST_CHUNK)
        await client.until(LAST_CHUNK)
        await rig.stop()
        (body,) = from_server(rig, Body)
        assert (body.payload(), body.truncated, body.size) == (text, True, None)


async def test_a_compressed_body_that_is_cut_is_recorded_as_far_as_it_came(tmp_path):
    packed = gzip.compress(PONG)

    async with tapped(once(ok(packed, b"Content-Encoding: gzip")[:-6]), tmp_path) as rig:
        await rig.ask(post())
        await rig.stop()
        (body,) = from_server(rig, Body)
        assert body.truncated
        assert PONG.startswith(body.payload())
        assert rig.closed()[0].how == "upstream_cut"


@pytest.mark.parametrize("kind", [b"application/json", b"text/event-stream"])
async def test_a_bomb_passes_and_is_recorded_within_bounds(tmp_path, kind):
    bomb = gzip.compress(b"data: " * (32 << 20))
    head = (
        b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nContent-Encoding: gzip\r\n"
        b"Content-Length: %d\r\n\r\n" % (kind, len(bomb))
    )
    async with tapped(staying(head, bomb), tmp_path, max_body=1 << 20) as rig:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert (await rig.ask(post())).body == bomb
        await rig.stop()
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert grown < 100_000  # KiB; whole, it has twice as many
        assert len(rig.capture_bytes()) < 4 << 20
        if kind == b"application/json":
            (record,) = from_server(rig, Message, Body)
            assert (record.truncated, record.size, record.sha256) == (True, None, None)
        else:
            assert [d.verdict for d in rig.decisions()] == ["undecodable"]
            assert from_server(rig, Noise) == []
