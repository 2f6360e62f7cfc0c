from __future__ import annotations

import asyncio

from mcp_tap.bridge import session as module
from tests.bounds import until
from tests.bridges import OLD, fronted, session

NOTE = {"method": "notifications/shout", "params": {}}
ANSWER = {"id": "ask-1", "result": {"action": "accept", "content": {"n": 1}}}


async def test_each_session_has_a_process_which_ends_with_it():
    async with fronted() as front:
        one, two = await session(front), await session(front)
        pids = {(await each.result(1, "pid"))["pid"] for each in (one, two)}
        assert len(pids) == 2
        assert (await one.send("DELETE")).status == 200
        assert (await one.call(2, "pid")).status == 404
        assert (await two.call(2, "pid")).status == 200


async def test_messages_pass_as_they_are():
    async with fronted() as front:
        begun = await session(front)
        raw = (
            b'{"id" : "x", "jsonrpc":"2.0","method":"tools/call",\n "params":{"name":"raw",'
            b'"arguments":{"n": 1.10, "s":"\\u00e9\xc3\xa9"}}}'
        )
        reply = await front.send("POST", raw, Mcp_Session_Id=begun.name)
        assert await reply.body() == (
            b'{"jsonrpc":"2.0","id":"x","result":{"raw":{"n": 1.10, "s":"\\u00e9\xc3\xa9"}}}'
        )
        seen = (await begun.result(2, "seen"))["seen"]
        assert seen[2] == raw.replace(b"\n", b" ").decode()


async def test_a_request_whose_id_is_named_twice_does_not_reach_the_server():
    async with fronted() as front:
        begun = await session(front)
        raw = b'{"jsonrpc":"2.0","id":8,"id":9,"method":"ping"}'
        reply = await front.send("POST", raw, Mcp_Session_Id=begun.name)
        assert (reply.status, reply.headers["Mcp-Tap-Error"]) == (400, "named-twice")
        assert raw.decode() not in (await begun.result(2, "seen"))["seen"]


async def test_what_the_server_asks_goes_to_the_one_open_call():
    async with fronted() as front:
        begun = await session(front)
        reply = await begun.call(1, "ask")
        asked = await reply.event()
        assert (asked["id"], asked["method"]) == ("ask-1", "elicitation/create")
        answer = await begun.post(ANSWER)
        assert (answer.status, await answer.body()) == (202, b"")
        (result,) = await reply.events()
        assert (result["id"], result["result"]["answer"]["content"]) == (1, {"n": 1})


async def test_what_the_server_asks_while_several_calls_are_open_goes_to_the_get():
    async with fronted() as front:
        begun = await session(front)
        stream = await begun.send("GET")
        hold = asyncio.create_task(begun.call(1, "hold", key="a"))
        while not any('"hold"' in line for line in (await begun.result(2, "seen"))["seen"]):
            pass
        ask = asyncio.create_task(begun.call(3, "ask"))
        assert (await stream.event())["method"] == "elicitation/create"
        await begun.post(ANSWER)
        assert (await (await ask).json())["result"]["answer"]["action"] == "accept"
        await begun.result(4, "release", key="a")
        assert (await (await hold).json())["id"] == 1


async def test_what_is_about_no_request_waits_for_a_get():
    async with fronted() as front:
        begun = await session(front)
        await begun.post(NOTE)
        await until(lambda: front.front._sessions[begun.name]._waiting)
        stream = await begun.send("GET")
        assert (await stream.event())["method"] == "notifications/tools/list_changed"


async def test_of_several_gets_the_newest_one_has_what_the_server_says():
    changed = "notifications/tools/list_changed"
    async with fronted() as front:
        begun = await session(front)
        first = await begun.send("GET")
        second = await begun.send("GET")
        await begun.post(NOTE)
        assert (await second.event())["method"] == changed
        second.close()
        await until(lambda: len(front.front._sessions[begun.name]._listens) == 1)
        await begun.post(NOTE)
        assert (await first.event())["method"] == changed


async def test_progress_goes_to_the_request_with_its_token():
    async with fronted() as front:
        begun = await session(front)
        token = {"progressToken": "p"}
        reply = await begun.call(1, "progress", steps=2, _meta=token)
        *progress, result = await reply.events()
        assert [p["params"]["progressToken"] for p in progress] == ["p", "p"]
        assert result["id"] == 1


async def test_a_request_that_is_cancelled_and_never_answered_gets_an_end(monkeypatch):
    monkeypatch.setattr(module, "CANCELLED", 0.01)
    async with fronted() as front:
        begun = await session(front)
        hold = asyncio.create_task(begun.call(1, "hold", key="a"))
        while not any('"hold"' in line for line in (await begun.result(2, "seen"))["seen"]):
            pass
        cancel = {"method": "notifications/cancelled", "params": {"requestId": 1}}
        assert (await begun.post(cancel)).status == 202
        assert await (await hold).events() == []


async def test_an_id_that_is_in_use_is_refused():
    async with fronted() as front:
        begun = await session(front)
        hold = asyncio.create_task(begun.call(1, "hold", key="a"))
        while not any('"hold"' in line for line in (await begun.result(2, "seen"))["seen"]):
            pass
        reply = await begun.call(1, "pid")
        assert reply.status == 400
        assert (await reply.json())["error"]["data"]["error"] == "duplicate-id"
        hold.cancel()


async def test_a_server_that_refuses_to_initialize_has_no_session():
    async with fronted() as front:
        params = {"protocolVersion": "no"}
        message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        reply = await front.post(message)
        assert (reply.status, (await reply.json())["error"]["code"]) == (200, -32602)
        assert "Mcp-Session-Id" not in reply.headers


async def test_when_the_process_dies_its_calls_are_answered_and_its_session_is_over():
    async with fronted() as front:
        begun = await session(front)
        stream = await begun.send("GET")
        reply = await begun.call(1, "die")
        assert (reply.status, reply.headers["Mcp-Tap-Error"]) == (502, "server-ended")
        error = (await reply.json())["error"]
        assert error["message"] == "mcp-tap bridge: the server exited with code 3"
        assert await stream.events() == []
        assert (await begun.call(2, "pid")).status == 404
        assert await (await session(front)).result(1, "pid")
        assert front.notices == ["server-ended: the server exited with code 3"]


async def test_the_revision_named_in_a_session_has_to_be_one():
    async with fronted() as front:
        begun = await session(front)
        fields = {"Mcp_Session_Id": begun.name, "MCP_Protocol_Version": "1999"}
        message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        assert (await front.post(message, **fields)).status == 400
        assert (await front.post(message, Mcp_Session_Id=begun.name)).status == 200
        fields["MCP_Protocol_Version"] = OLD
        assert (await front.post(message, **fields)).status == 200
