from __future__ import annotations

import asyncio
import json

from tests.bridges import META, NEW, fronted

TOKEN = {"progressToken": 7}


async def test_ids_of_every_form_come_back_as_they_were():
    async with fronted() as front:
        for token in (b"0", b"-1", b'"a\\u00e9\\"b"', b"12345678901234567890", b"1.50"):
            meta = json.dumps(META).encode()
            body = (
                b'{"jsonrpc":"2.0", "id" : %b,"method":"tools/call","params":{"name":"raw",'
                b'"arguments":{"n": 1.10, "big":123456789012345678901,"s":"\\u00e9\xc3\xa9"},'
                b'"_meta":%b}}' % (token, meta)
            )
            fields = {"MCP_Protocol_Version": NEW, "Mcp_Method": "tools/call", "Mcp_Name": "raw"}
            reply = await front.send("POST", body, **fields)
            assert await reply.body() == (
                b'{"jsonrpc":"2.0","id":%b,"result":{"raw":{"n": 1.10, '
                b'"big":123456789012345678901,"s":"\\u00e9\xc3\xa9"}}}' % token
            )


async def test_clients_with_equal_ids_and_tokens_get_their_own():
    async with fronted() as front:
        replies = await asyncio.gather(
            *(front.call(1, "progress", steps=n, _meta=TOKEN) for n in (1, 2, 3))
        )
        for steps, reply in zip((1, 2, 3), replies, strict=True):
            *progress, answer = await reply.events()
            assert [p["params"]["progressToken"] for p in progress] == [7] * steps
            assert (answer["id"], answer["result"]["steps"]) == (1, steps)


async def test_a_client_that_goes_away_cancels_its_own_request():
    async with fronted() as front:
        first = asyncio.create_task(front.call(5, "hold", key="a"))
        second = asyncio.create_task(front.call(5, "hold", key="b"))
        held = {}
        while len(held) < 2:
            seen = await front.seen()
            held = {
                m["params"]["arguments"]["key"]: m["id"]
                for m in seen
                if m["params"].get("name") == "hold"
            }
        first.cancel()
        note = await front.until_seen("notifications/cancelled")
        assert note["params"]["requestId"] == held["a"]
        assert (await front.result(6, "release", key="b"))["found"]
        assert (await (await second).json()) == {
            "jsonrpc": "2.0",
            "id": 5,
            "result": {"resultType": "complete", "released": "b"},
        }
        assert (await front.result(7, "release", key="a"))["found"]  # late, and nobody's any more
        assert front.notices == []


async def test_each_subscription_gets_its_own_changes_under_its_own_id():
    sub = "io.modelcontextprotocol/subscriptionId"
    async with fronted() as front:
        listens = [await front.ask("l", "subscriptions/listen", notifications={}) for _ in "ab"]
        for listen in listens:
            event = await listen.event()
            assert event["method"] == "notifications/subscriptions/acknowledged"
            assert event["params"]["_meta"] == {sub: "l"}
        assert (await front.result(1, "change"))["told"] == 2
        for listen in listens:
            assert (await listen.event())["params"]["_meta"] == {sub: "l"}
        listens[0].close()
        await front.until_seen("notifications/cancelled")
        assert (await front.result(2, "change"))["told"] == 1
        assert (await listens[1].event())["method"] == "notifications/tools/list_changed"
        assert (await front.call(3, "tear")).status == 200
        assert await listens[1].events() == [
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "l"}}
        ]


async def test_a_log_message_goes_to_the_one_request_that_asked_for_logs():
    async with fronted() as front:
        hold = asyncio.create_task(front.call(1, "hold", key="a"))
        while not [m for m in await front.seen() if m["params"].get("name") == "hold"]:
            pass
        asked = {"io.modelcontextprotocol/logLevel": "info"}
        reply = await front.call(2, "log", text="hi", _meta=asked)
        assert [e.get("method") for e in await reply.events()] == ["notifications/message", None]
        assert front.notices == []
        reply = await front.call(3, "log", text="whose?")
        assert "result" in await reply.json()
        assert len(front.notices) == 1
        assert "notifications/message of the server names no request" in front.notices[0]
        await front.result(4, "release", key="a")
        assert (await hold).status == 200


async def test_a_request_of_the_server_is_refused_in_the_place_of_its_clients():
    async with fronted() as front:
        asking = asyncio.create_task(front.call(1, "ask"))
        answer = (await (await asking).json())["result"]["answer"]
        assert answer is None  # an error has no result
        refused = next(m for m in await front.seen() if m.get("id") == "ask-1")
        assert refused["error"]["code"] == -32601
        assert ["server-request" in n for n in front.notices] == [True]


async def test_a_cancellation_that_is_posted_reaches_the_request_it_plainly_means():
    async with fronted() as front:
        hold = asyncio.create_task(front.call(9, "hold", key="a"))
        held = []
        while not held:
            held = [m["id"] for m in await front.seen() if m["params"].get("name") == "hold"]
        note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}}
        reply = await front.post(note, MCP_Protocol_Version=NEW)
        assert (reply.status, await reply.body()) == (202, b"")
        assert (await front.until_seen("notifications/cancelled"))["params"]["requestId"] == held[0]
        assert await (await hold).events() == []
        note["params"] = {"requestId": "nobody"}
        assert (await front.post(note, MCP_Protocol_Version=NEW)).status == 202
