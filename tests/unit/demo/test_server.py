from __future__ import annotations

import json
from contextlib import asynccontextmanager

import aiohttp
import pytest

from mcp_tap.demo import wire
from mcp_tap.demo.server import DemoServer

META = {wire.VERSION_KEY: wire.VERSION, wire.CAPABILITIES_KEY: {"elicitation": {"form": {}}}}
HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": wire.VERSION,
}


@asynccontextmanager
async def serving():
    server = DemoServer()
    await server.start()
    try:
        async with aiohttp.ClientSession() as session:
            yield server, session
    finally:
        await server.stop()


def call(name="lookup", arguments=None, meta=None, **params):
    body = {
        "jsonrpc": "2.0",
        "id": 7,
        "method": "tools/call",
        "params": {"name": name, "arguments": arguments or {"service": "billing"}, **params},
    }
    body["params"]["_meta"] = META if meta is None else meta
    return body, {**HEADERS, "Mcp-Method": "tools/call", "Mcp-Name": name}


async def post(server, session, body, headers):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    async with session.post(server.url, data=data, headers=headers) as response:
        text = await response.text()
        return response.status, json.loads(text) if text else None


async def refusal(body, headers):
    async with serving() as (server, session):
        status, answer = await post(server, session, body, headers)
    return status, answer["error"]["code"], answer["error"].get("data")


async def test_a_good_call_is_answered():
    async with serving() as (server, session):
        status, answer = await post(server, session, *call())
    assert status == 200
    assert answer["result"]["resultType"] == "complete"
    assert answer["result"]["_meta"][wire.SERVER_KEY]["name"] == "release-desk"
    assert answer["result"]["structuredContent"]["service"] == "billing"


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("MCP-Protocol-Version", None),
        ("MCP-Protocol-Version", "2025-11-25"),
        ("Mcp-Method", None),
        ("Mcp-Method", "tools/list"),
        ("Mcp-Name", None),
        ("Mcp-Name", "deploy"),
        ("Mcp-Name", "=?base64?*?="),
        ("Mcp-Param-Region", "eu"),
    ],
)
async def test_a_header_that_is_not_the_bodys_is_a_mismatch(header, value):
    body, headers = call()
    headers.pop(header, None)
    if value:
        headers[header] = value
    assert (await refusal(body, headers))[:2] == (400, -32020)


async def test_a_mirrored_argument_needs_its_header():
    body, headers = call(arguments={"service": "billing", "region": "Ōsaka"})
    assert (await refusal(body, headers))[:2] == (400, -32020)
    headers["Mcp-Param-Region"] = wire.encode_value("Ōsaka")
    async with serving() as (server, session):
        assert (await post(server, session, body, headers))[0] == 200


@pytest.mark.parametrize("missing", [wire.VERSION_KEY, wire.CAPABILITIES_KEY])
async def test_a_request_without_its_meta_fields_is_malformed(missing):
    body, headers = call(meta={k: v for k, v in META.items() if k != missing})
    assert (await refusal(body, headers))[:2] == (400, -32602)


async def test_another_revision_is_told_what_is_spoken():
    old = "2025-11-25"
    body, headers = call(meta={**META, wire.VERSION_KEY: old})
    answer = await refusal(body, {**headers, "MCP-Protocol-Version": old})
    assert answer == (400, -32022, {"supported": [wire.VERSION], "requested": old})


async def test_initialize_is_told_what_is_spoken():
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
    status, code, data = await refusal(body, {})
    assert (status, code, data["supported"]) == (400, -32022, [wire.VERSION])


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b"\xff", -32700),
        (b'{"a":NaN}', -32700),
        (b"[]", -32600),
        (b"{}", -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"x"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":[]}', -32600),
    ],
)
async def test_what_is_no_message_is_refused(body, code):
    assert (await refusal(body, HEADERS))[:2] == (400, code)


async def test_an_unknown_method_is_404():
    body = {"jsonrpc": "2.0", "id": 1, "method": "x/y", "params": {"_meta": META}}
    assert (await refusal(body, {**HEADERS, "Mcp-Method": "x/y"}))[:2] == (404, -32601)


async def test_an_unknown_tool_is_refused():
    assert (await refusal(*call("nope")))[:2] == (400, -32602)


async def test_a_forged_state_is_refused():
    body, headers = call("deploy", requestState="a.b", inputResponses={})
    assert (await refusal(body, headers))[:2] == (400, -32602)


async def test_a_capability_that_is_missing_is_named():
    status, code, data = await refusal(*call("connect_registry"))
    assert (status, code) == (400, -32021)
    assert data == {"requiredCapabilities": {"elicitation": {"url": {}}}}


@pytest.mark.parametrize(
    "origin", ["null", "https://evil.example", "http://127.0.0.1.evil.example"]
)
async def test_a_foreign_origin_is_refused(origin):
    body, headers = call()
    assert (await refusal(body, {**headers, "Origin": origin}))[0] == 403


async def test_a_foreign_host_is_refused():
    body, headers = call()
    assert (await refusal(body, {**headers, "Host": "evil.example"}))[0] == 403


async def test_a_notification_is_accepted_without_a_body():
    async with serving() as (server, session):
        message = {"jsonrpc": "2.0", "method": "notifications/x"}
        assert await post(server, session, message, HEADERS) == (202, None)


async def test_get_and_delete_are_not_allowed():
    async with serving() as (server, session):
        for method in ("GET", "DELETE"):
            async with session.request(method, server.url) as response:
                assert response.status == 405


async def test_lists_carry_caching_hints():
    async with serving() as (server, session):
        for method in ("server/discover", "tools/list"):
            body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": META}}
            _, answer = await post(server, session, body, {**HEADERS, "Mcp-Method": method})
            assert answer["result"]["ttlMs"] >= 0
            assert answer["result"]["cacheScope"] == "public"


async def test_only_the_broken_tool_breaks_the_rule():
    async with serving() as (server, session):
        _, answer = await post(server, session, *call("broken_export", {"format": "csv"}))
    assert "resultType" not in answer["result"]


async def test_progress_is_streamed_only_to_who_asked():
    async with serving() as (server, session):
        body, headers = call("build", {"target": "x"})
        async with session.post(server.url, json=body, headers=headers) as response:
            assert response.content_type == "application/json"
        body, headers = call("build", {"target": "x"}, meta={**META, "progressToken": "p"})
        async with session.post(server.url, json=body, headers=headers) as response:
            assert response.content_type == "text/event-stream"
            events = [
                e[len("event: message\ndata: ") :] for e in (await response.text()).split("\n\n")
            ]
    messages = [json.loads(e) for e in events if e]
    assert [m["params"]["progress"] for m in messages[:-1]] == [1, 2, 3, 4]
    assert messages[-1]["id"] == 7
