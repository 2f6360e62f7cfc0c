"""An upstream that is not there, does not answer, or comes back."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import socket

import pytest

from mcp_tap.net import upstream as upstream_module
from mcp_tap.proxy.exchange import HttpExchange
from tests.bounds import BOUND, until
from tests.rig import PING, PONG, get, pong, post, tapped


async def test_an_upstream_that_is_down_is_a_marked_502_naming_it(tmp_path):
    async with tapped(pong, tmp_path, up=False) as rig:
        answer = await rig.ask(post())
        url = f"http://127.0.0.1:{rig.upstream.port}/mcp"
        assert (answer.status, answer.get(b"mcp-tap-error")) == (502, b"upstream-down")
        assert answer.get(b"content-type") == b"application/json"
        assert (answer.json["jsonrpc"], answer.json["id"]) == ("2.0", 7)
        assert url in answer.json["error"]["message"]
        assert any(url in notice for notice in rig.view.notices)
        await rig.stop()
        (response,), (closed,), (decision,) = rig.responses(), rig.closed(), rig.decisions()
        assert (response.sender, closed.how) == ("tap", "upstream_down")
        assert (decision.hook, decision.verdict) == ("tap", "upstream-down")
        assert url in closed.why
        assert closed.sent is None
        messages = rig.messages()
        assert [(m.sender, m.payload()) for m in messages] == [
            ("client", PING),
            ("tap", answer.body),
        ]


@contextlib.contextmanager
def no_more_files():
    """Let this process open no further file or socket."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.dup(0)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


async def test_running_out_of_files_is_blamed_on_the_tap_and_not_on_the_upstream(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        client = await rig.client()
        await until(lambda: rig.run._tap.clients)
        with no_more_files():
            await client.send(post())
            answer = await client.message()
        assert (answer.status, answer.get(b"mcp-tap-error")) == (502, b"tap-failed")
        assert "Too many open files" in answer.json["error"]["message"]
        await client.send(post())
        assert (await client.message()).status == 200
        await rig.stop()
        assert [c.how for c in rig.closed()] == ["tap_failed", "complete"]


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b'{"jsonrpc":"2.0","method":"n"}', b'{"id":1,"result":{}}', b"{oops", b"\xff"],
)
async def test_the_error_is_plain_text_where_no_request_has_an_id(tmp_path, body):
    async with tapped(pong, tmp_path, up=False) as rig:
        answer = await rig.ask(post(body))
        assert answer.status == 502
        assert answer.get(b"content-type") == b"text/plain; charset=utf-8"
        assert answer.body.startswith(b"mcp-tap: ")


@pytest.mark.parametrize("number", [b"0", b'"a \\u00e9"', b"123456789012345678901234567890", b'""'])
async def test_the_error_carries_the_id_exactly(tmp_path, number):
    async with tapped(pong, tmp_path, up=False) as rig:
        answer = await rig.ask(post(b'{"id":%b,"method":"m","jsonrpc":"2.0"}' % number))
        assert b'"id":' + number.replace(b"\\u00e9", "é".encode()) in answer.body


async def test_the_tap_recovers_when_the_upstream_comes_up(tmp_path):
    async with tapped(pong, tmp_path, up=False) as rig:
        client = await rig.client()
        await client.send(post())
        assert (await client.message()).status == 502
        await rig.upstream.start(rig.upstream.port)
        await client.send(post())
        assert (await client.message()).body == PONG


async def test_an_upstream_that_restarts_is_reached_again(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        client = await rig.client()
        await client.send(post())
        assert (await client.message()).status == 200
        await rig.upstream.stop()
        await until(lambda: not rig.run._tap.pool._idle)
        await client.send(post())
        assert (await client.message()).get(b"mcp-tap-error") == b"upstream-down"
        await rig.upstream.start(rig.upstream.port)
        await client.send(post())
        assert (await client.message()).status == 200


@pytest.mark.parametrize("end", ["close", "reset", "half a head"])
async def test_an_upstream_that_closes_without_an_answer_closes_on_the_client_too(tmp_path, end):
    """As it would without the tap: an answer of ours could make a client choose another era."""

    async def handler(wire):
        await wire.message()
        if end == "reset":
            wire.reset()
        elif end == "half a head":
            await wire.send(b"HTTP/1.1 200 OK\r\nContent-")

    async with tapped(handler, tmp_path) as rig:
        client = await rig.client()
        await client.send(post())
        assert await client.end()
        await rig.stop()
        (closed,) = rig.closed()
        assert closed.how == "upstream_cut"
        assert "without an answer" in closed.why
        assert rig.responses() == []
        assert len(rig.upstream.connections) == 1
        assert rig.upstream.received == post()


async def test_an_upstream_that_closes_in_the_clients_body_closes_on_the_client_at_once(
    tmp_path,
):
    async def handler(wire):
        await wire.head()
        await wire.exactly(10)
        wire.reset()

    async with tapped(handler, tmp_path) as rig:
        client = await rig.client()
        await client.send(post(length=False, body=b"").removesuffix(b"\r\n"))
        await client.send(b"Content-Length: 40000000\r\n\r\n", b"x" * 2_000_000)
        assert await client.end()
        await rig.stop()
        assert rig.closed()[0].how == "upstream_cut"


async def test_a_large_body_for_an_upstream_that_is_down_is_taken_and_answered(tmp_path):
    big = b'{"jsonrpc":"2.0","id":3,"method":"m","params":"' + b"x" * 900_000 + b'"}'
    async with tapped(pong, tmp_path, up=False) as rig:
        answer = await rig.ask(post(big))
        assert (answer.status, answer.json["id"]) == (502, 3)


async def test_a_connection_that_does_not_come_about_is_a_marked_504(tmp_path, monkeypatch):
    monkeypatch.setattr(upstream_module, "CONNECT_TIMEOUT", 0.05)
    loop = asyncio.get_running_loop()

    async def never(*args, **kwargs):
        await loop.create_future()

    async with tapped(pong, tmp_path) as rig:
        monkeypatch.setattr(loop, "create_connection", never)
        sock = socket.create_connection(("127.0.0.1", rig.port))
        sock.setblocking(False)
        await loop.sock_sendall(sock, post())
        async with asyncio.timeout(BOUND):
            answer = await loop.sock_recv(sock, 65536)
        sock.close()
        assert answer.startswith(b"HTTP/1.1 504 ")
        assert b"Mcp-Tap-Error: upstream-timeout\r\n" in answer
        await rig.stop()
        assert rig.closed()[0].how == "timeout"


async def test_a_connection_that_comes_after_its_client_left_serves_the_next_one(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        client = await rig.client()
        await client.send(get())
        await client.close()
        await until(lambda: not rig.run._tap.clients)
        assert (await rig.ask(post())).status == 200


@pytest.mark.parametrize("at", ["upstream_head", "upstream_data", "request_end"])
async def test_a_fault_of_the_tap_ends_the_exchange_and_is_blamed_on_the_tap(
    tmp_path, monkeypatch, at
):
    def fail(*_args, **_options):
        raise KeyError("a slip of ours")

    async with tapped(pong, tmp_path) as rig:
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)  # the rig's would fail
        with monkeypatch.context() as patch:
            patch.setattr(HttpExchange, at, fail)
            client = await rig.client()
            await client.send(post())
            assert b"result" not in await client.rest()
        assert (await rig.ask(post())).status == 200
        await rig.stop()
        broken, sound = rig.closed()
        assert (broken.how, sound.how) == ("tap_failed", "complete")
        assert "a slip of ours" in broken.why
