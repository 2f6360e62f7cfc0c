"""Payloads in pieces, in bounded memory."""

from __future__ import annotations

from hashlib import sha256

import pytest

from mcp_tap.core.collect import PREFIX, Collector

DATA = bytes(range(256)) * 1024


def collected(data: bytes, limit: int, step: int = 1000, expected: int | None = None) -> Collector:
    collector = Collector(limit, expected=expected)
    for at in range(0, len(data), step):
        collector.add(data[at : at + step])
    return collector


@pytest.mark.parametrize("limit", [len(DATA), len(DATA) + 1])
def test_a_payload_up_to_the_limit_is_kept_whole(limit):
    collector = collected(DATA, limit)
    assert collector.kept() == DATA
    assert not collector.truncated
    assert collector.sha256() is None


@pytest.mark.parametrize("limit", [10, PREFIX - 1, PREFIX, PREFIX + 1, len(DATA) - 1])
@pytest.mark.parametrize("step", [1000, 1 << 20])
def test_a_longer_one_leaves_a_prefix_its_size_and_its_digest(limit, step):
    collector = collected(DATA, limit, step)
    assert collector.kept() == DATA[: min(limit, PREFIX)]
    assert (collector.truncated, collector.size) == (True, len(DATA))
    assert collector.sha256() == sha256(DATA).hexdigest()


def test_one_known_to_be_longer_is_never_held_whole():
    collector = Collector(200_000, expected=len(DATA))
    for at in range(0, 150_000, 1000):
        collector.add(DATA[at : at + 1000])
        assert len(collector.kept()) <= PREFIX
    assert collector.truncated


def test_one_announced_as_longer_that_ends_early_is_whole():
    collector = collected(DATA[:100], 1000, expected=5000)
    assert collector.kept() == DATA[:100]
    assert not collector.truncated
    assert collector.sha256() is None


def test_nothing_is_kept_of_nothing():
    assert Collector(10).kept() == b""
    assert Collector(10).size == 0
