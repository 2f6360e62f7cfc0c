from __future__ import annotations

import json
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web

from mcp_tap.demo.client import DemoClient, RpcFailure


@asynccontextmanager
async def against(*results, stream=False):
    """A client of a server that gives these results one after the other, and what it was sent."""
    seen = []
    left = list(results)

    async def post(request):
        body = await request.json()
        seen.append(body)
        answer = {"jsonrpc": "2.0", "id": body["id"], **left.pop(0)}
        if not stream:
            return web.json_response(answer)
        lines = f": ping\r\n\r\nevent: message\r\ndata: {json.dumps(answer)}\r\n\r\n"
        return web.Response(text=lines, content_type="text/event-stream")

    app = web.Application()
    app.router.add_post("/mcp", post)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/mcp"
    try:
        async with aiohttp.ClientSession() as session:
            yield DemoClient(session, url, lambda *_: {"action": "decline"}, pause=0), seen
    finally:
        await runner.cleanup()


def result(**fields):
    return {"result": fields}


ASK = {"method": "elicitation/create", "params": {"mode": "form", "message": "?"}}
DONE = result(resultType="complete", content=[])


async def test_a_retry_has_a_new_id_the_answers_and_the_state_as_it_was():
    asked = result(resultType="input_required", inputRequests={"q": ASK}, requestState="s.é")
    async with against(asked, DONE) as (client, seen):
        await client.call("t", {"a": 1})
    first, second = seen
    assert second["id"] != first["id"]
    assert second["params"]["arguments"] == {"a": 1}
    assert second["params"]["inputResponses"] == {"q": {"action": "decline"}}
    assert second["params"]["requestState"] == "s.é"


async def test_a_round_without_state_gets_none_back():
    asked = result(resultType="input_required", inputRequests={"q": ASK})
    async with against(asked, DONE) as (client, seen):
        await client.call("t", {})
    assert "requestState" not in seen[1]["params"]


async def test_a_state_only_round_is_retried_without_answers():
    async with against(result(resultType="input_required", requestState="s"), DONE) as (
        client,
        seen,
    ):
        await client.call("t", {})
    assert "inputResponses" not in seen[1]["params"]


async def test_a_missing_result_type_counts_as_complete():
    async with against(result(content=[])) as (client, _):
        assert (await client.call("t", {}))["content"] == []


async def test_an_unknown_result_type_is_a_failure():
    async with against(result(resultType="later")) as (client, _):
        with pytest.raises(RpcFailure, match="later"):
            await client.call("t", {})


async def test_a_server_that_never_ends_is_left():
    endless = [result(resultType="input_required", requestState="s")] * 10
    async with against(*endless) as (client, _):
        with pytest.raises(RpcFailure, match="10 rounds"):
            await client.call("t", {})


async def test_an_error_is_a_failure():
    async with against({"error": {"code": 1, "message": "no luck"}}) as (client, _):
        with pytest.raises(RpcFailure, match="no luck"):
            await client.discover()


async def test_streams_are_understood():
    async with against(DONE, stream=True) as (client, _):
        assert await client.call("t", {}) == DONE["result"]
