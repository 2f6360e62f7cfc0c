from __future__ import annotations

import asyncio
import sys

from mcp_tap.cli import bridged
from mcp_tap.cli.bridged import BridgedServer
from mcp_tap.proxy.run import HttpRun
from mcp_tap.proxy.settings import TapSettings
from mcp_tap.views.base import NullView
from tests.bounds import BOUND, until
from tests.bridges import PLAIN
from tests.rig import Wire

BODY = (
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"noise","_meta":{'
    b'"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
    b'"io.modelcontextprotocol/clientCapabilities":{}}}}'
)
CALL = (
    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\nContent-Type: application/json\r\n"
    b"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: noise\r\n"
    b"Content-Length: %d\r\n\r\n%b" % (len(BODY), BODY)
)


async def running(server):
    """Give a run in front of it, and a connection to that."""
    assert await server.start()
    settings = server.settings(TapSettings(upstream="", port=0))
    run = HttpRun(settings, capture=None, view=NullView(), pool=server.pool)
    await run.start()
    return run, Wire(*await asyncio.open_connection("127.0.0.1", run.port))


async def test_a_run_in_front_of_it_finds_it_and_hears_it():
    shown, heard, told = [], [], []
    server = BridgedServer(PLAIN, show=shown.append, on_end=told.append)
    server.heard = heard.append
    run, client = await running(server)
    await client.send(CALL)
    assert (await client.message()).status == 200
    assert run.header.upstream == " ".join(PLAIN)
    await until(lambda: shown)
    assert (shown, heard) == (["and this is stderr"], [b"and this is stderr"])
    assert told[0].startswith("not-a-message: ")
    await client.close()
    await run.stop()
    async with asyncio.timeout(BOUND):
        await server.stop()
        await server.stop()


async def test_at_the_second_signal_nothing_is_waited_for(monkeypatch):
    monkeypatch.setattr(bridged, "GRACE", 2 * BOUND)
    code = f"import time; time.sleep({4 * BOUND})"
    server = BridgedServer([sys.executable, "-S", "-c", code], show=print)
    run, client = await running(server)
    await client.send(CALL)
    front = server._front
    assert front is not None
    await until(lambda: front._shared and front._shared.process._stdin)
    await client.close()
    await run.stop()
    process = front._shared.process
    async with asyncio.timeout(BOUND):
        await server.stop(lambda: True)
    assert all(pipe.is_closing() for pipe in (process._stdin, process._stdout, process._stderr))
