"""A loop on a thread of its own, and what is done in it."""

from __future__ import annotations

import asyncio
import threading

import pytest

from mcp_tap.plugin.thread import LoopThread
from tests.bounds import BOUND


async def named():
    return threading.current_thread().name


async def fails():
    raise LookupError("no")


def test_it_runs_coroutines_and_functions_on_its_thread(thread):
    assert thread.run(named(), BOUND) == "loop"
    assert thread.call(lambda: threading.current_thread().name) == "loop"


def test_what_is_raised_there_is_raised_here(thread):
    with pytest.raises(LookupError):
        thread.run(fails(), BOUND)
    with pytest.raises(ZeroDivisionError):
        thread.call(lambda: 1 // 0)


def test_what_takes_too_long_is_cancelled(thread):
    ended = threading.Event()

    async def long():
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    with pytest.raises(TimeoutError):
        thread.run(long(), 0.01)
    assert ended.wait(BOUND)


def test_what_still_runs_at_the_end_is_cancelled():
    thread, ended = LoopThread("loop"), threading.Event()

    async def long():
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def begin():
        task = asyncio.get_running_loop().create_task(long())
        await asyncio.sleep(0)
        return task

    task = thread.run(begin(), BOUND)
    thread.close()
    assert ended.is_set()
    assert task.cancelled()
