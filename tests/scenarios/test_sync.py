"""`--sync`: what happened is in the file before the bytes go on."""

from __future__ import annotations

import pytest

from mcp_tap.core.records import Closed, HttpRequest, HttpResponse, Message, decode
from tests.bounds import until
from tests.handlers import staying
from tests.rig import PING, PONG, SSE_HEAD, chunk, event, ok, post, tapped


def in_file(folder, *kinds):
    lines = (folder / "run.jsonl").read_bytes().splitlines()
    return [r for r in map(decode, lines) if isinstance(r, kinds)]


async def test_the_request_is_in_the_file_before_the_upstream_sees_it(tmp_path):
    seen = []

    async def handler(wire):
        while True:
            await wire.message()
            seen.append(len(in_file(tmp_path, HttpRequest)))
            assert in_file(tmp_path, Message)[-1].payload() == PING
            await wire.send(ok())

    async with tapped(handler, tmp_path, sync=True) as rig:
        client = await rig.client()
        for _ in range(3):
            await client.send(post())
            assert (await client.message()).body == PONG
        assert seen == [1, 2, 3]
        await rig.stop()
        assert len(rig.closed()) == 3


async def test_each_event_is_in_the_file_before_the_client_sees_it(tmp_path):
    async with tapped(staying(SSE_HEAD, chunk(event(PONG))), tmp_path, sync=True) as rig:
        client = await rig.client()
        await client.send(post())
        await client.head()
        assert in_file(tmp_path, HttpResponse)
        await client.until(PONG)
        assert in_file(tmp_path, Message)[-1].payload() == PONG
        await client.close()
        await until(lambda: in_file(tmp_path, Closed))


BIG = b'{"jsonrpc":"2.0","id":7,"result":{"x":"%b"}}' % (b"y" * 900_000)


@pytest.mark.parametrize("answer", [ok(), ok(BIG), SSE_HEAD + chunk(event(PONG)) + chunk(b"")])
async def test_all_of_an_exchange_is_in_the_file_before_the_client_has_its_last_byte(
    tmp_path, answer
):
    async def handler(wire):
        while True:
            await wire.message()
            await wire.send(answer[:-3])
            await until(lambda: in_file(tmp_path, HttpResponse))
            await wire.send(answer[-3:])

    async with tapped(handler, tmp_path, sync=True) as rig:
        client = await rig.client()
        for number in (1, 2):
            await client.send(post())
            await client.message()
            assert len(in_file(tmp_path, Closed)) == number
            assert in_file(tmp_path, Message)[-1].sender == "server"
