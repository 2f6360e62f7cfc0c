from __future__ import annotations

import asyncio
import json

import pytest
from aiohttp import web

from mcp_tap.bridge import remote as module
from tests.bounds import until
from tests.bridges import META, NEW, OLD, bridged


async def echo(posted):
    return posted.result(ok=True)


async def test_a_request_carries_the_headers_of_the_stateless_era():
    async with bridged(echo, headers=[("authorization", "Bearer x")]) as client:
        client.ask(1, "tools/call", name="né", arguments={})
        assert (await client.heard())["result"] == {"ok": True}
        head = client.posted[0].headers
        assert head["MCP-Protocol-Version"] == NEW
        assert head["Mcp-Method"] == "tools/call"
        assert head["Mcp-Name"] == "=?base64?bsOp?="
        assert head["Accept"] == "application/json, text/event-stream"
        assert head["Content-Type"] == "application/json"
        assert head["Authorization"] == "Bearer x"
        assert "Mcp-Session-Id" not in head


async def test_bytes_pass_as_they_are_in_both_directions():
    answer = (
        b'{"id" : "a\\u00e9",\n"jsonrpc":"2.0","result":{"n":1.10,"big":123456789012345678901}}'
    )

    async def handle(posted):
        response = posted.result()
        response.body = answer
        return response

    sent = b'{"jsonrpc":"2.0", "id":"a\\u00e9","method":"x","params":{"_meta":%b,"n":1e400}}'
    sent %= json.dumps(META).encode()
    async with bridged(handle) as client:
        client.say(sent.replace(b"1e400", b"1.10"))
        assert await client.line() == answer.replace(b"\n", b" ")
        assert client.posted[0].body == sent.replace(b"1e400", b"1.10")


async def test_what_a_stream_brings_becomes_lines_as_it_comes():
    async def handle(posted):
        note = b'data: {"jsonrpc":"2.0","method":"notifications/progress",\ndata: "params":{}}\n\n'
        done = b'event: message\r\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\r\n\r\n'
        return await posted.stream(b"id: 1\ndata: \n\n", note, done, holds=True)

    async with bridged(handle) as client:
        client.ask(1, "x")
        assert await client.line() == (
            b'{"jsonrpc":"2.0","method":"notifications/progress", "params":{}}'
        )
        assert await client.line() == b'{"jsonrpc":"2.0","id":1,"result":{}}'


async def test_requests_run_side_by_side_and_a_cancellation_closes_the_connection_of_one():
    async def handle(posted):
        if posted.rpc == "hang":
            await asyncio.sleep(10)
        return posted.result(of=posted.rpc)

    async with bridged(handle) as client:
        client.ask(1, "hang")
        client.ask("1", "quick")
        assert (await client.heard())["id"] == "1"
        client.say({"method": "notifications/cancelled", "params": {"requestId": 1}})
        await until(lambda: client.closed)
        assert [p.rpc for p in client.posted] == ["hang", "quick"]
        assert await client.end() == []


async def test_arguments_that_travel_in_headers_are_learned_from_lists_and_from_a_refusal():
    tool = {
        "name": "where",
        "inputSchema": {
            "type": "object",
            "properties": {
                "region": {"type": "string", "x-mcp-header": "Region"},
                "deep": {
                    "type": "object",
                    "properties": {"count": {"type": "integer", "x-mcp-header": "Count"}},
                },
            },
        },
    }

    async def handle(posted):
        if posted.rpc == "tools/list":
            if "cursor" not in posted.said["params"]:
                return posted.result(tools=[], nextCursor="2")
            return posted.result(tools=[tool])
        if "Mcp-Param-Region" not in posted.headers:
            return posted.error(400, -32020)
        return posted.result(ok=True)

    async with bridged(handle) as client:
        arguments = {"region": " nord ", "deep": {"count": 7}}
        client.ask(1, "tools/call", name="where", arguments=arguments)
        assert (await client.heard())["result"] == {"ok": True}
        methods = ["tools/call", "tools/list", "tools/list", "tools/call"]
        assert [p.rpc for p in client.posted] == methods
        head = client.posted[-1].headers
        assert head["Mcp-Param-Region"] == "=?base64?IG5vcmQg?="
        assert head["Mcp-Param-Count"] == "7"
        client.ask(2, "tools/call", name="where", arguments={"region": None})
        assert (await client.heard())["error"]["code"] == -32020
        assert len(client.posted) == 7  # the tools say nothing new: it is not sent again


@pytest.mark.parametrize(
    ("status", "words"),
    [(500, "HTTP 500: "), (401, "HTTP 401; give it what it asks for"), (202, "HTTP 202")],
)
async def test_a_response_without_an_answer_becomes_a_marked_error(status, words):
    async def handle(posted):
        response = posted.result()
        response.content_type = "text/plain"
        response.body = b"oops"
        response.set_status(status)
        return response

    async with bridged(handle) as client:
        client.ask("x", "y")
        answer = await client.heard()
        assert answer["id"] == "x"
        assert answer["error"]["data"] == {"sender": "mcp-tap bridge", "error": "no-answer"}
        assert words in answer["error"]["message"]


async def test_an_error_that_names_no_request_gets_the_id_of_the_one_it_answers():
    async def handle(posted):
        return posted.error(400, -32022, None)

    async with bridged(handle) as client:
        client.say(
            b'{"jsonrpc":"2.0","id":1.0,"method":"x","params":{"_meta":%b}}'
            % json.dumps(META).encode()
        )
        line = await client.line()
        assert line.startswith(b'{"jsonrpc":"2.0","id":1.0,"error":{"code": -32022')


async def test_a_server_that_cannot_be_reached_is_said_for_each_request():
    async with bridged(echo) as client:
        client._client._wire._url = client._client._wire._url.with_port(1)
        for number in (1, 2):
            client.ask(number, "x")
            answer = await client.heard()
            assert answer["id"] == number
            assert "connection refused" in answer["error"]["message"]


async def test_a_stream_that_breaks_without_an_answer_is_an_error():
    async def handle(posted):
        return await posted.stream(b'data: {"jsonrpc":"2.0","method":"note"}\n\n')

    async with bridged(handle) as client:
        client.ask(1, "x")
        assert (await client.heard())["method"] == "note"
        assert (await client.heard())["error"]["data"]["error"] == "no-answer"


async def test_a_redirect_is_followed_within_the_origin_and_no_further():
    async def handle(posted):
        place = {"/mcp": "/mcp/", "/mcp/": "http://127.0.0.1:1/"}[posted.request.path]
        response = posted.result()
        response.headers["Location"] = place
        response.set_status(307)
        response.body = b""
        return response

    async with bridged(handle) as client:
        client.ask(1, "x")
        assert "HTTP 307" in (await client.heard())["error"]["message"]
        client.ask(2, "x")  # which begins where the URL says: none of them said for good
        await client.heard()
        assert [p.request.path for p in client.posted] == ["/mcp", "/mcp/"] * 2


@pytest.mark.parametrize("line", [b"hello", b"[]", b'{"jsonrpc":"2.0"}'])
async def test_a_line_that_is_no_message_goes_nowhere(line):
    async with bridged(echo) as client:
        client.say(line)
        client.ask(1, "x")
        await client.heard()
        assert len(client.posted) == 1
        assert client.notes == ["a line of the client is no message, and goes nowhere"]


async def test_an_id_that_is_open_or_none_is_refused():
    async def handle(posted):
        await asyncio.sleep(10)

    async with bridged(handle) as client:
        client.ask(1, "x")
        client.ask(1, "y")
        assert (await client.heard())["error"]["data"]["error"] == "bad-id"
        client.ask(None, "z")
        assert (await client.heard())["error"]["code"] == -32600


async def test_at_the_end_of_the_input_what_is_open_is_finished_and_subscriptions_are_left():
    gate = asyncio.Event()

    async def handle(posted):
        if posted.rpc == "subscriptions/listen":
            return await posted.stream(holds=True)
        await gate.wait()
        return posted.result(ok=True)

    async with bridged(handle) as client:
        client.ask(1, "subscriptions/listen")
        client.ask(2, "slow")
        await until(lambda: len(client.posted) == 2)
        ending = asyncio.create_task(client.end())
        await until(lambda: client.closed)
        gate.set()
        (line,) = await ending
        assert json.loads(line)["id"] == 2


async def test_notifications_of_the_stateless_era_arrive_before_what_follows():
    async def handle(posted):
        return posted.result() if "id" in posted.said else _accepted(posted)

    async with bridged(handle) as client:
        client.say({"method": "notifications/custom"})
        client.ask(1, "x")
        await client.heard()
        assert [p.rpc for p in client.posted] == ["notifications/custom", "x"]
        assert client.posted[0].headers["MCP-Protocol-Version"] == NEW
        assert client.notes == []


async def test_what_has_no_answer_long_after_the_end_of_the_input_gets_an_error(monkeypatch):
    monkeypatch.setattr(module, "FINISH", 0.02)

    async def handle(posted):
        await asyncio.sleep(10)

    async with bridged(handle) as client:
        client.ask(1, "subscriptions/listen")
        client.ask(2, "slow")
        await until(lambda: len(client.posted) == 2)
        (line,) = await client.end()
        assert json.loads(line)["id"] == 2
        assert json.loads(line)["error"]["data"]["error"] == "no-answer"


@pytest.mark.parametrize("number", [2, "1", True, 1.5])
async def test_the_response_to_another_request_is_none(number):
    async def handle(posted):
        response = posted.result()
        response.text = json.dumps({"jsonrpc": "2.0", "id": number, "result": {}})
        return response

    async with bridged(handle) as client:
        client.ask(1, "x")
        answer = await client.heard()
        assert (answer["id"], answer["error"]["data"]["error"]) == (1, "no-answer")


async def test_of_a_response_without_end_no_more_is_read_than_a_message_may_have(monkeypatch):
    monkeypatch.setattr(module, "MOST_LINE", 1000)

    async def handle(posted):
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(posted.request)
        while True:
            await response.write(b"[" * 1000)

    async with bridged(handle) as client:
        client.ask(1, "x")
        assert (await client.heard())["error"]["data"]["error"] == "no-answer"


async def test_a_line_with_two_ids_of_which_one_is_none_is_refused_and_the_next_is_read():
    async with bridged(echo) as client:
        client.say(b'{"jsonrpc":"2.0","id":1,"id":null,"method":"x"}')
        assert (await client.heard())["error"]["data"]["error"] == "bad-id"
        client.ask(2, "x")
        assert (await client.heard())["result"] == {"ok": True}


async def test_what_is_said_on_stderr_is_harmless():
    async def handle(posted):
        return posted.error(403, 0, None)

    async with bridged(handle) as client:
        client.say({"method": "a\r\nb\x1b[31m"})
        assert "\\r\\n" in await until(lambda: "".join(client.notes))
        assert "".join(client.notes).isprintable()


def _accepted(posted):
    response = posted.error(202, 0)
    response.body = None
    return response


class Sessions:
    """Answers as a server of the session era does."""

    def __init__(self):
        self.id = "s1"
        self.push = asyncio.Queue()
        self.gets = []

    async def __call__(self, posted):  # noqa: PLR0911 (one for each request)
        named = posted.headers.get("Mcp-Session-Id")
        if posted.rpc == "initialize":
            response = posted.result(protocolVersion=OLD, capabilities={}, serverInfo={})
            response.headers["Mcp-Session-Id"] = self.id
            return response
        if named != self.id:
            return posted.error(404, -32600)
        if posted.method == "DELETE":
            self.id = ""
            return _accepted_get()
        if posted.method == "GET":
            self.gets.append(posted.headers.get("Last-Event-ID"))
            return await posted.stream(b"retry: 1\n\n", await self.push.get())
        if "id" not in posted.said or posted.rpc == "":
            return _accepted(posted)
        if posted.rpc == "broken":
            return await posted.stream(b"id: 5\nretry: 1\ndata:\n\n")
        return posted.result(ok=True)


def _accepted_get():
    return web.Response(status=200)


async def test_a_session_is_named_in_all_that_follows_and_ended_at_the_end():
    sessions = Sessions()
    async with bridged(sessions) as client:
        await client.initialize()
        client.say({"id": 1, "method": "ping"})
        assert (await client.heard())["result"] == {"ok": True}
        first, second, *_ = (p.headers for p in client.posted if p.method == "POST")
        assert "Mcp-Session-Id" not in first
        assert "MCP-Protocol-Version" not in first
        assert (second["Mcp-Session-Id"], second["MCP-Protocol-Version"]) == ("s1", OLD)
        assert "Mcp-Method" not in second
        await client.end()
        assert client.posted[-1].method == "DELETE"
        assert sessions.id == ""


async def test_what_the_server_asks_on_its_own_stream_is_a_line_and_its_answer_a_post():
    sessions = Sessions()
    async with bridged(sessions) as client:
        await client.initialize()
        ask = b'id: 9\ndata: {"jsonrpc":"2.0","id":"q","method":"roots/list"}\n\n'
        sessions.push.put_nowait(ask)
        assert (await client.heard())["method"] == "roots/list"
        client.say({"id": "q", "result": {"roots": []}})
        client.say({"method": "notifications/cancelled", "params": {"requestId": 77}})
        client.say({"id": 2, "method": "ping"})
        await client.heard()
        said = [p.said for p in client.posted if p.method == "POST"]
        assert [m.get("method", m.get("id")) for m in said[2:]] == [
            "q",
            "notifications/cancelled",
            "ping",
        ]
        sessions.push.put_nowait(b"")
        await until(lambda: len(sessions.gets) > 1)
        assert sessions.gets[:2] == [None, "9"]


async def test_a_stream_that_broke_goes_on_with_what_came_after_its_last_event():
    sessions = Sessions()
    async with bridged(sessions) as client:
        await client.initialize()
        await until(lambda: sessions.gets)
        sessions.push.put_nowait(b"")
        client.say({"id": 1, "method": "broken"})
        await until(lambda: "5" in sessions.gets)
        sessions.push.put_nowait(b'data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n')
        sessions.push.put_nowait(b'data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n')
        assert (await client.heard())["id"] == 1


async def test_when_the_server_has_ended_the_session_a_new_one_begins_in_silence():
    sessions = Sessions()
    async with bridged(sessions) as client:
        await client.initialize()
        sessions.id = "s2"
        client.say({"id": 1, "method": "ping"})
        assert (await client.heard())["result"] == {"ok": True}
        client.say({"method": "notifications/custom"})
        await until(lambda: client.posted[-1].rpc == "notifications/custom")
        assert client.posted[-1].headers["Mcp-Session-Id"] == "s2"
        assert client.notes == ["the server had ended the session; a new one has begun"]


async def test_a_stream_that_ends_at_once_each_time_is_not_asked_for_without_a_pause():
    sessions = Sessions()
    for _ in range(500):
        sessions.push.put_nowait(b"retry: 0\n\n")
    async with bridged(sessions) as client:
        await client.initialize()
        await until(lambda: len(sessions.gets) > 1)
        for number in range(100):
            client.say({"id": number, "method": "ping"})
            await client.heard()
        assert len(sessions.gets) < 50


async def test_a_stream_is_asked_for_again_when_a_gateway_has_no_server_for_it_for_a_moment():
    class Behind(Sessions):
        async def __call__(self, posted):
            if posted.method == "GET" and len(self.gets) == 1:
                self.gets.append("503")
                return web.Response(status=503)
            return await super().__call__(posted)

    sessions = Behind()
    async with bridged(sessions) as client:
        await client.initialize()
        sessions.push.put_nowait(b"retry: 1\n\n")
        sessions.push.put_nowait(b'data: {"jsonrpc":"2.0","method":"notifications/x"}\n\n')
        assert (await client.heard())["method"] == "notifications/x"
        assert sessions.gets[1] == "503"
