"""Whatever ends an answered call, at whatever stage: nothing stays open, and all ends are recorded.

The server goes on to a stage and says no more; then its client leaves, the tap stops, or it dies.
"""

from __future__ import annotations

import asyncio
import contextlib
import json

import pytest

from mcp_tap.core.records import Closed, Decision, HttpRequest
from tests.asking import answering, asks_day, asks_seat, call, day, done, ends, progress, streamed
from tests.bounds import until
from tests.rig import SSE_HEAD, ok, tapped

HEAD = b"HTTP/1.1 200 OK\r\nContent-Ty"


def waits(number):
    body = {"resultType": "input_required", "requestState": "later"}
    return ok(json.dumps({"jsonrpc": "2.0", "id": number, "result": body}).encode())


def opened(*parts):
    """Write the beginning of a stream."""
    return streamed(*parts, end=b"")


def cut(turn):
    """Write all of a response but its end."""
    return lambda number: turn(number)[:-20]


def silent(number):
    return b""


FIRST = {
    "nothing": silent,
    "half a head": lambda _: HEAD,
    "half a body": cut(day),
    "half an event": cut(opened(progress(1), asks_day)),
}
ASKS = {"json": day, "a stream": streamed(progress(1), asks_day), "an open one": opened(asks_day)}
THEN = {
    "nothing": silent,
    "half a head": lambda _: HEAD,
    "half a body": cut(done),
    "a head": lambda _: SSE_HEAD,
    "half an event": cut(opened(progress(2), ends)),
    "a result": opened(progress(2), ends),
}
STAGES = [
    *(pytest.param([turn], id=name) for name, turn in FIRST.items()),
    *(
        pytest.param([asks, turn], id=f"{kind}, {name}")
        for kind, asks in ASKS.items()
        for name, turn in THEN.items()
    ),
    *(
        pytest.param([asks, opened(progress(2), asks_seat), silent], id=f"{kind}, another ask")
        for kind, asks in ASKS.items()
    ),
]


class Goes:
    """Answers with `turns`, one after the other, and then not at all."""

    def __init__(self, turns):
        self.turns = list(turns)
        self.got = []
        self.there = asyncio.Event()
        self.open = 0

    async def __call__(self, wire):
        self.open += 1
        try:
            while True:
                message = await wire.message()
                self.got.append(message)
                turn = self.turns.pop(0) if self.turns else silent
                await wire.send(turn(message.json["id"]))
                if not self.turns:
                    self.there.set()
        finally:
            self.open -= 1


def sound(rig):
    """See each exchange end once, with nothing behind."""
    ended = set()
    begun = {record.exchange for record in rig.requests()}
    for record in rig.records():
        number = getattr(record, "exchange", None)
        if isinstance(record, Closed):
            assert number not in ended
            ended.add(number)
        elif not isinstance(record, Decision | HttpRequest):
            assert number not in ended, record
    assert begun == ended


@contextlib.asynccontextmanager
async def called(turns, folder):
    """Bring a call to its last stage; after what is done then, see that nothing is left of it."""
    server = Goes(turns)
    async with tapped(server, folder, answering=answering()) as rig:
        wire = await rig.client()
        await wire.send(call())
        await until(server.there.is_set)
        yield server, rig, wire
        await rig.stop()
        sound(rig)


@pytest.mark.parametrize("turns", STAGES)
async def test_a_client_that_leaves_leaves_no_request_behind(tmp_path, turns):
    async with called(turns, tmp_path) as (server, _, wire):
        wire.reset()
        await until(lambda: not server.open)
        assert len(server.got) <= len(turns) + 1


@pytest.mark.parametrize("turns", STAGES)
async def test_a_tap_that_stops_leaves_no_request_behind(tmp_path, turns):
    async with called(turns, tmp_path) as (server, rig, _):
        await rig.stop()
        await until(lambda: not server.open)


@pytest.mark.parametrize("turns", STAGES)
async def test_a_server_that_dies_leaves_no_client_waiting(tmp_path, turns):
    async with called(turns, tmp_path) as (_, rig, wire):
        for other in rig.upstream.connections:
            other.reset()
        with contextlib.suppress(EOFError):  # a cut is an end, too
            await wire.message()


async def test_a_client_that_leaves_between_two_states_leaves_no_request_behind(tmp_path):
    async with called([waits, waits], tmp_path) as (server, rig, wire):
        wire.reset()
        await until(lambda: not rig.run._tap.clients)
        got = len(server.got)
        await asyncio.sleep(0.15)
        assert len(server.got) == got
