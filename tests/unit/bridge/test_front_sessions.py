"""How many sessions there are, whenever they begin."""

from __future__ import annotations

import asyncio

from mcp_tap.bridge import front as module
from tests.bridges import OLD, fronted

BEGIN = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": OLD,
        "capabilities": {},
        "clientInfo": {"name": "c", "version": "1"},
    },
}


async def test_sessions_that_begin_at_once_are_no_more_than_there_is_room_for(monkeypatch):
    monkeypatch.setattr(module, "MOST_SESSIONS", 2)
    async with fronted() as front:
        replies = await asyncio.gather(*(front.post(BEGIN) for _ in range(4)))
        assert sorted(reply.status for reply in replies) == [200, 200, 503, 503]


async def test_one_whose_server_cannot_be_started_leaves_room_for_others(monkeypatch):
    monkeypatch.setattr(module, "MOST_SESSIONS", 1)
    async with fronted() as front:
        front.front._command, right = ["/no/such/program"], front.front._command
        assert (await front.post(BEGIN)).status == 502
        front.front._command = right
        assert (await front.post(BEGIN)).status == 200
