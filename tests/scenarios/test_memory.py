"""Of what has ended nothing is kept, and nothing that clients send is kept without bound."""

from __future__ import annotations

import gc
from collections import Counter

from mcp_tap.net.heads import Fields, Head
from mcp_tap.net.upstream import UpstreamConnection
from mcp_tap.proxy.exchange import HttpExchange
from mcp_tap.proxy.listener import ClientConnection
from mcp_tap.proxy.tape import Tape, Way
from tests.bounds import until
from tests.rig import LAST_CHUNK, PONG, SSE_HEAD, chunk, event, get, ok, post, tapped

OURS = (HttpExchange, Tape, Way, Head, Fields, ClientConnection, UpstreamConnection)


async def settled(rig) -> Counter:
    """Wait until all is worked off, and count what is left of our objects."""
    await until(lambda: not (rig.run._desk._reports or rig.run._desk._records))
    gc.collect()
    return Counter(type(o).__name__ for o in gc.get_objects() if isinstance(o, OURS))


async def test_nothing_is_kept_of_exchanges_that_ended(tmp_path):
    async def handler(wire):
        while True:
            request = await wire.message()
            if b"/stream" in request.start:
                await wire.send(SSE_HEAD, chunk(event(PONG)), LAST_CHUNK)
            else:
                await wire.send(ok())

    async def talk(count: int) -> None:
        for n in range(count):
            client = await rig.client(keep=False)
            await client.send(
                post(), get(b"/stream"), get(b"/%d" % n), b"GET" if n % 2 else b"bad\r\n"
            )
            for _ in range(3):
                assert (await client.message()).status == 200
            await client.close()
        rig._clients.clear()
        await until(lambda: not rig.run._tap.clients)

    async with tapped(handler, tmp_path) as rig:
        await talk(30)
        before = await settled(rig)
        await talk(120)
        after = await settled(rig)
        for name in ("HttpExchange", "Tape", "Way", "ClientConnection"):
            assert after[name] <= 2, after
        assert after["UpstreamConnection"] <= before["UpstreamConnection"] + 1
        assert after["Fields"] + after["Head"] <= before["Fields"] + before["Head"] + 10


async def test_fields_that_differ_each_time_fill_no_memory(tmp_path):
    async def handler(wire):
        n = 0
        while True:
            n += 1
            await wire.message()
            await wire.send(ok(PONG, b"X-Id: %d" % n))

    async with tapped(handler, tmp_path) as rig:
        client = await rig.client(keep=False)
        for n in range(1_300):
            await client.send(post(b"{}", b"traceparent: %d" % n, b"Authorization: Bearer %d" % n))
            await client.message()
        left = await settled(rig)
        assert left["Fields"] < 2_500
        assert left["Head"] < 10
