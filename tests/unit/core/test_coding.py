"""Content-Encoding is undone on a copy, chunk by chunk, and never without bound."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib

import brotli
import pytest
import zstandard

from mcp_tap.core.coding import CodingError, decoder

TEXT = b'{"jsonrpc":"2.0","id":1,"result":{"text":"' + b"abc " * 500 + b'"}}'


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


PACKED = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.compress,
}


@pytest.mark.parametrize("name", PACKED)
@pytest.mark.parametrize("step", [1, 7, 100_000])
def test_each_encoding_is_undone_in_any_pieces(name, step):
    packed = PACKED[name](TEXT)
    undo = decoder(name, 1 << 20)
    assert undo is not None
    out = b"".join(undo.feed(packed[at : at + step]) for at in range(0, len(packed), step))
    assert out == TEXT
    assert not undo.stopped


def test_raw_deflate_is_understood_too():
    undo = decoder("deflate", 1 << 20)
    assert undo is not None
    assert undo.feed(raw_deflate(TEXT)) == TEXT


def test_several_encodings_are_undone_from_the_last_to_the_first():
    undo = decoder(" GZIP , br,identity", 1 << 20)
    assert undo is not None
    assert undo.feed(brotli.compress(gzip.compress(TEXT))) == TEXT


@pytest.mark.parametrize("name", ["", "identity", "compress", "gzip, secret", "br,br,br,br", ","])
def test_what_is_unknown_or_nothing_has_no_decoder(name):
    assert decoder(name, 1000) is None


@pytest.mark.parametrize("name", PACKED)
def test_a_bomb_stops_at_the_limit_with_little_memory(name):
    packed = PACKED[name](bytes(32 << 20))
    undo = decoder(name, 100_000)
    assert undo is not None
    tracemalloc.start()
    out = b"".join(undo.feed(packed[at : at + 65536]) for at in range(0, len(packed), 65536))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert out == bytes(100_000)
    assert undo.stopped
    assert undo.feed(packed) == b""
    assert peak < 20 << 20


def test_a_payload_of_exactly_the_limit_counts_as_stopped_only_when_reached():
    undo = decoder("gzip", len(TEXT) + 1)
    assert undo is not None
    assert undo.feed(gzip.compress(TEXT)) == TEXT
    assert not undo.stopped


def test_of_a_stream_each_read_has_the_limit_to_itself():
    packer = zlib.compressobj(wbits=31)
    undo = decoder("gzip", 1000, stream=True)
    assert undo is not None
    for _ in range(20):
        assert (
            undo.feed(packer.compress(b"x" * 900) + packer.flush(zlib.Z_SYNC_FLUSH)) == b"x" * 900
        )
    assert not undo.stopped
    undo.feed(packer.compress(b"x" * 1001) + packer.flush(zlib.Z_SYNC_FLUSH))
    assert undo.stopped


@pytest.mark.parametrize("name", PACKED)
def test_what_is_not_so_encoded_is_an_error(name):
    undo = decoder(name, 1000)
    assert undo is not None
    with pytest.raises(CodingError):
        undo.feed(b"\xffplainly not compressed, plainly not compressed, plainly not" * 3)


def test_further_members_of_gzip_are_read_and_what_follows_is_left_alone():
    undo = decoder("gzip", 1000)
    assert undo is not None
    assert undo.feed(gzip.compress(b"one ") + gzip.compress(b"two ")) == b"one two "
    assert undo.feed(gzip.compress(b"three")) == b"three"
    for _ in range(3):
        assert undo.feed(b"garbage" * 1000) == b""
    assert undo.feed(gzip.compress(b"late")) == b""


def test_further_frames_of_zstd_are_read():
    undo = decoder("zstd", 1000)
    assert undo is not None
    assert undo.feed(zstandard.compress(b"one ") + zstandard.compress(b"two")) == b"one two"
