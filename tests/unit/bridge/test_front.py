from __future__ import annotations

import asyncio
import sys

import aiohttp
import pytest

from mcp_tap.bridge import front as module
from mcp_tap.bridge import streams
from tests.bounds import BOUND, until
from tests.bridges import NEW, OLD, fronted, session

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


async def test_whoever_holds_it_is_connected_by_a_pair_of_sockets():
    class Client(asyncio.Protocol):
        def __init__(self):
            self.came = asyncio.get_running_loop().create_future()

        def connection_made(self, transport):
            transport.write(b"PUT /mcp HTTP/1.1\r\nHost: x\r\n\r\n")

        def data_received(self, data):
            self.came.set_result(data)

    async with fronted() as front:
        client = Client()
        await front.front.dial(client)
        async with asyncio.timeout(BOUND):
            assert (await client.came).startswith(b"HTTP/1.1 405 ")


@pytest.mark.parametrize(
    ("method", "fields", "status"),
    [
        ("PUT", {}, 405),
        ("OPTIONS", {}, 405),
        ("GET", {"MCP_Protocol_Version": NEW}, 405),
        ("DELETE", {"MCP_Protocol_Version": NEW}, 405),
        ("GET", {}, 400),
        ("DELETE", {}, 400),
        ("GET", {"Mcp_Session_Id": "none"}, 404),
        ("DELETE", {"Mcp_Session_Id": "none"}, 404),
    ],
)
async def test_methods_beside_post_are_answered_as_the_eras_have_it(method, fields, status):
    async with fronted() as front:
        reply = await front.send(method, **fields)
        assert reply.status == status
        assert status != 405 or "POST" in reply.headers["Allow"]


@pytest.mark.parametrize(
    ("body", "fields", "status"),
    [
        (PING, {"Accept": "application/json"}, 406),
        (PING, {"Content_Type": "text/plain"}, 415),
        (PING, {}, 400),  # of no session
        (PING, {"Mcp_Session_Id": "none"}, 404),
        ([PING], {}, 400),
        ("ping", {}, 400),
        ({**PING, "id": None}, {}, 400),
        ({**PING, "id": True}, {}, 400),
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, {"MCP_Protocol_Version": NEW}, 400),
        ({**PING, "method": "initialize"}, {"Mcp_Session_Id": "none"}, 400),
    ],
)
async def test_what_is_no_message_of_either_era_is_refused_and_marked(body, fields, status):
    async with fronted() as front:
        reply = await front.post(body, **fields)
        assert reply.status == status
        assert reply.headers["Mcp-Tap-Error"]
        assert (await reply.json())["error"]["data"]["sender"] == "mcp-tap bridge"


async def test_an_id_that_is_there_twice_is_refused_before_the_server_sees_it():
    async with fronted() as front:
        body = b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping","params":{"_meta":{"a":1}}}'
        reply = await front.send("POST", body, MCP_Protocol_Version=NEW, Mcp_Method="ping")
        assert (reply.status, reply.headers["Mcp-Tap-Error"]) == (400, "named-twice")


@pytest.mark.parametrize(
    "fields",
    [
        {"Mcp_Method": "tools/list"},
        {"Mcp_Method": ""},
        {"MCP_Protocol_Version": "2026-07-29"},
        {"MCP_Protocol_Version": ""},
        {"Mcp_Name": "other"},
        {"Mcp_Name": ""},
        {"Mcp_Name": "=?base64?!?="},
        {"Mcp_Param_Region": "south"},
        {"Mcp_Param_Region": ""},
    ],
)
async def test_headers_that_are_not_what_the_body_says_are_refused(fields):
    right = {"Mcp_Param_Region": "=?base64?bm9yZA==?="}
    async with fronted() as front:
        assert (await front.ask(1, "tools/list")).status == 200
        assert (await front.call(2, "where", region="nord", fields=right)).status == 200
        reply = await front.call(3, "where", region="nord", fields=right | fields)
        assert reply.status == 400
        document = await reply.json()
        assert (document["id"], document["error"]["code"]) == (3, -32020)


async def test_errors_of_the_server_get_the_status_that_belongs_to_them():
    async with fronted() as front:
        reply = await front.ask(1, "no/such")
        assert (reply.status, (await reply.json())["error"]["code"]) == (404, -32601)
        reply = await front.call(2, "nothing")
        assert (reply.status, (await reply.json())["error"]["code"]) == (200, -32602)


async def test_the_process_of_all_clients_gets_nothing_that_would_make_it_one_of_sessions():
    async with fronted() as front:
        reply = await front.ask(1, "initialize", protocolVersion=OLD)
        assert (reply.status, (await reply.json())["error"]["code"]) == (404, -32601)
        fields = {"MCP_Protocol_Version": NEW, "Mcp_Method": "ping"}
        reply = await front.post({"jsonrpc": "2.0", "id": 2, "method": "ping"}, **fields)
        assert (reply.status, (await reply.json())["error"]["code"]) == (400, -32602)
        note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert (await front.post(note, MCP_Protocol_Version=NEW)).status == 202
        assert await front.seen() == []


@pytest.mark.parametrize(
    ("way", "said"),
    [
        ("legacy", "answers server/discover with the error -32601"),
        ("brittle", "ends when it is asked"),
        ("silent", "says nothing to server/discover"),
    ],
)
async def test_a_client_that_probes_an_older_server_is_told_to_begin_a_session(
    way, said, monkeypatch
):
    if way == "silent":  # the others speak, however long a busy machine takes to start them
        monkeypatch.setattr(module, "PROBE", 0.3)
    async with fronted(way) as front:
        reply = await front.ask(1, "server/discover")
        assert (reply.status, reply.headers["Mcp-Tap-Error"]) == (400, "no-discover")
        error = (await reply.json())["error"]
        assert (error["code"], said in error["message"]) == (-32600, True)
        assert await (await session(front)).result(1, "pid")


async def test_a_server_that_ends_is_started_again_for_the_next_request():
    async with fronted() as front:
        hold = asyncio.create_task(front.call(1, "hold", key="a"))
        listen = await front.ask(2, "subscriptions/listen", notifications={})
        await listen.event()
        pid = (await front.result(3, "pid"))["pid"]
        reply = await front.call(4, "die")
        assert (reply.status, reply.headers["Mcp-Tap-Error"]) == (502, "server-ended")
        assert (await reply.json())["id"] == 4
        assert (await hold).status == 502
        (error,) = await listen.events()
        assert (error["id"], error["error"]["code"]) == (2, -32603)
        assert (await front.result(5, "pid"))["pid"] != pid


async def test_a_command_that_cannot_be_run_is_said_to_whoever_asks():
    async with fronted(command=["/no/such/server"]) as front:
        reply = await front.ask(1, "server/discover")
        assert (reply.status, reply.headers["Mcp-Tap-Error"]) == (502, "command-not-found")
        assert "there is no command /no/such/server" in (await reply.json())["error"]["message"]


async def test_lines_beside_messages_are_told_and_disturb_nobody():
    async with fronted() as front:
        assert (await front.call(1, "noise")).status == 200
        assert front.notices == [
            'not-a-message: the server wrote a line that is none: "hello, I am no message"'
        ]
        await until(lambda: front.words)
        assert front.words == [b"and this is stderr"]


async def test_a_silent_request_becomes_a_stream_that_says_it_is_there(monkeypatch):
    monkeypatch.setattr(module, "SILENCE", 0.02)
    async with fronted() as front:
        reply = await front.call(1, "hold", key="a")
        assert (reply.status, reply.streams) == (200, True)
        await (await front.call(2, "release", key="a")).body()
        assert (await reply.events())[-1]["id"] == 1


async def test_a_session_nobody_uses_ends_by_itself(monkeypatch):
    monkeypatch.setattr(module, "SWEEP", 0.01)
    async with fronted() as front:
        begun = await session(front)
        stream = await begun.send("GET")
        monkeypatch.setattr(module, "IDLE", 0.0)
        await asyncio.sleep(0.05)
        assert (await begun.call(1, "pid")).status == 200  # a stream is a use
        stream.close()
        await until(lambda: begun.name not in front.front._sessions)
        assert (await begun.call(1, "pid")).status == 404


async def test_no_more_sessions_are_open_than_there_is_room_for(monkeypatch):
    monkeypatch.setattr(module, "MOST_SESSIONS", 1)
    async with fronted() as front:
        await session(front)
        body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
        assert (await front.post(body)).status == 503


async def test_messages_of_any_size_pass():
    async with fronted() as front:
        text = "é" * (1 << 18) + "x" * (3 << 20)
        reply = await front.call(1, "raw", s=text)
        assert (await reply.json())["result"]["raw"] == {"s": text}


async def test_nothing_of_a_server_is_left_when_the_front_stops():
    code = "import sys, time; sys.stdin.read(); time.sleep(60)"
    async with fronted(command=[sys.executable, "-S", "-c", code]) as front:
        asking = asyncio.create_task(front.ask(1, "tools/list"))
        shared = await until(lambda: front.front._shared)
        child = shared.process._child
        await front.front.stop(0.05, 0.5)
        assert (child.status, child.has_group()) == (-15, False)
        assert (await asking).status == 502


SLEEPS = [sys.executable, "-S", "-E", "-c", "import time; time.sleep(60)"]


async def test_a_process_that_ends_at_once_is_started_again_with_the_next_request():
    async with fronted(command=["true"]) as front:
        for number in range(3):
            reply = await front.ask(number, "tools/list")
            assert (reply.status, reply.headers["Mcp-Tap-Error"]) == (502, "server-ended")
        ended = "server-ended: the server exited with code 0"
        await until(lambda: front.notices == [ended] * 3)


async def test_a_request_right_after_the_process_has_ended_is_for_the_next_one():
    async with fronted() as front:
        for number in range(4):
            assert (await front.call(number, "die")).status == 502
            assert (await front.call(number, "pid")).status == 200


async def test_requests_of_clients_that_leave_do_not_pile_up_before_a_server_that_does_not_read():
    async with fronted(command=SLEEPS) as front:
        connections = front.front._runner.server._connections
        for number in range(4):
            asking = asyncio.ensure_future(front.call(number, "raw", text="x" * (1 << 20)))
            await until(lambda: connections)
            await asyncio.wait([asking], timeout=0.03)
            asking.cancel()
            await asyncio.wait([asking])
            await until(lambda: not connections)
        assert front.front._shared.process._stdin.get_write_buffer_size() < 2 << 20


async def test_a_server_that_asks_without_end_and_does_not_read_gets_no_endless_answer():
    code = """
import os
os.read(0, 1)
line = b'{"jsonrpc":"2.0","id":1,"method":"roots/list"}\\n' * 1000
for _ in range(20): os.write(1, line)
os.write(1, b'{"jsonrpc":"2.0","id":1,"result":{}}\\n')
import time; time.sleep(60)
"""
    async with fronted(command=[sys.executable, "-S", "-E", "-c", code]) as front:
        assert (await front.ask(7, "tools/list")).status == 200
        assert front.front._shared.process._stdin.get_write_buffer_size() < 1 << 17


async def test_a_message_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(module, "MOST_LINE", 1000)
    async with fronted() as front:
        assert (await front.call(1, "raw")).status == 200
        reply = await front.call(2, "raw", text="x" * 1000)
        assert (reply.status, reply.headers["Mcp-Tap-Error"]) == (413, "too-large")


async def test_a_stream_that_is_broken_off_for_want_of_a_reader_is_told(monkeypatch):
    monkeypatch.setattr(streams, "MOST_WAITING", 10)
    async with fronted() as front:
        reply = await front.call(1, "progress", steps=2000, _meta={"progressToken": 1})
        with pytest.raises(aiohttp.ClientPayloadError):
            await reply.events()
        (told,) = front.notices
        assert told.startswith("overrun: ")
