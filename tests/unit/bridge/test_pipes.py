from __future__ import annotations

import asyncio
import os

import pytest

from mcp_tap.bridge.pipes import Pipes
from tests.bounds import BOUND


@pytest.fixture
def ends():
    """Give our two ends of the pipes, and the others'."""
    ours, theirs = os.pipe(), os.pipe()
    yield ours[0], theirs[1], ours[1], theirs[0]
    for fd in (*ours, *theirs):
        try:
            os.close(fd)
        except OSError:
            continue


async def test_lines_come_until_the_end_with_or_without_a_line_break(ends):
    source, target, write, _ = ends
    pipes = Pipes(source, target)
    os.write(write, b"a\nb\n\xff")
    os.close(write)
    async with asyncio.timeout(BOUND):
        assert [line async for line in pipes.lines()] == [b"a", b"b", b"\xff"]


async def test_what_is_said_is_written_in_order(ends):
    source, target, _, read = ends
    pipes = Pipes(source, target)
    async with asyncio.timeout(BOUND):
        await asyncio.gather(*(pipes.say(b"%d" % n) for n in range(5)))
    assert os.read(read, 100) == b"0\n1\n2\n3\n4\n"
    assert not pipes.broken.is_set()


async def test_it_is_told_when_nobody_reads(ends):
    source, target, _, read = ends
    pipes = Pipes(source, target)
    os.close(read)
    async with asyncio.timeout(BOUND):
        await pipes.say(b"x")
    assert pipes.broken.is_set()


async def test_no_more_lines_are_given_to_whom_does_not_read_what_is_said(ends):
    source, target, write, read = ends
    pipes = Pipes(source, target)
    given = pipes.lines()
    os.write(write, b"a\nb\n")
    async with asyncio.timeout(BOUND):
        assert await anext(given) == b"a"
        saying = [asyncio.ensure_future(pipes.say(b"x" * 100_000)) for _ in range(100)]
        second = asyncio.ensure_future(anext(given))
        await asyncio.wait([second], timeout=0.03)
        assert not second.done()
        await asyncio.gather(second, *saying, _read(read, 100 * 100_001))
    assert second.result() == b"b"


async def _read(fd, size):
    while size:
        size -= len(await asyncio.to_thread(os.read, fd, size))
