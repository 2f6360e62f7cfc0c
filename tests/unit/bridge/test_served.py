from __future__ import annotations

import asyncio

from mcp_tap.bridge.served import Ways
from tests.bounds import until
from tests.bridges import fronted


def test_trouble_of_one_kind_is_told_once():
    told: list[str] = []
    ways = Ways(words=print, notice=told.append)
    ways.once("a", "first")
    ways.once("a", "second")
    ways.once("b", "third")
    assert told == ["a: first", "b: third"]


async def test_an_answer_to_nobody_is_told_and_a_late_one_is_not():
    async with fronted() as front:
        assert (await front.call(1, "pid")).status == 200
        shared = front.front._shared
        assert shared is not None
        shared._take(b'{"jsonrpc":"2.0","id":1,"result":{}}')
        assert front.notices == []
        shared._take(b'{"jsonrpc":"2.0","id":99,"result":{}}')
        assert front.notices == ["stray-response: the server answered what nobody had asked"]


async def test_an_answer_that_names_a_member_twice_becomes_an_error():
    async with fronted() as front:
        hold = asyncio.create_task(front.call("x", "hold", key="a"))
        shared = await until(lambda: front.front._shared)
        await until(lambda: shared.open)
        shared._take(b'{"jsonrpc":"2.0","id":1,"id":1,"result":{}}')
        reply = await hold
        assert (reply.status, reply.headers["Mcp-Tap-Error"]) == (502, "named-twice")
        assert (await reply.json())["id"] == "x"


async def test_a_notification_that_cannot_be_changed_is_told():
    async with fronted() as front:
        listen = await front.ask(1, "subscriptions/listen", notifications={})
        await listen.event()
        meta = b'"_meta":{"io.modelcontextprotocol/subscriptionId":1}'
        shared = front.front._shared
        assert shared is not None
        shared._take(b'{"jsonrpc":"2.0","method":"x","params":{%b,%b}}' % (meta, meta))
        assert front.notices == ["not-passed-on: the server named a member twice in a message"]
