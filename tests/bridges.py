"""A bridge's HTTP front before a plain server, spoken to as the tap does."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from mcp_tap.bridge.front import PATH, Front
from mcp_tap.bridge.remote import Client
from mcp_tap.bridge.served import Ways
from mcp_tap.bridge.wire import Remote
from mcp_tap.bridge.wire import Wire as BridgeWire
from mcp_tap.core.sse import SseParser
from tests.bounds import BOUND, until

PLAIN = [sys.executable, "-S", "-E", str(Path(__file__).parent / "peers" / "plain_stdio.py")]
NEW = "2026-07-28"
OLD = "2025-11-25"
META = {
    "io.modelcontextprotocol/protocolVersion": NEW,
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Reply:
    """A response, as far as it has been read."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response
        self._parser = SseParser(1 << 20)
        self._blocks: list[Any] = []
        self.status = response.status
        self.headers = response.headers
        self.streams = response.content_type == "text/event-stream"

    async def body(self) -> bytes:
        async with asyncio.timeout(BOUND):
            return await self._response.read()

    async def json(self) -> Any:
        return json.loads(await self.body())

    async def event(self) -> Any:
        """Give the next message of a stream; None at its end."""
        async with asyncio.timeout(BOUND):
            while not self._blocks:
                chunk = await self._response.content.readany()
                if not chunk:
                    return None
                self._blocks += [b for b in self._parser.feed(chunk) if b.kind == "event"]
        return json.loads(self._blocks.pop(0).data)

    async def events(self) -> list[Any]:
        found = []
        while (event := await self.event()) is not None:
            found.append(event)
        return found

    def close(self) -> None:
        """Go away."""
        self._response.close()


class Fronted:
    """A client of a running front."""

    def __init__(
        self,
        front: Front,
        http: aiohttp.ClientSession,
        url: str,
        words: list[bytes],
        notices: list[str],
    ) -> None:
        self.front = front
        self.words = words
        """Lines of the server's stderr."""
        self.notices = notices
        self.replies: list[Reply] = []
        self._http = http
        self._url = url

    async def send(self, method: str, body: bytes | None = None, **fields: str) -> Reply:
        """Send a request; fields are spelled with underscores, and an empty one is left out."""
        head = {
            "Accept": "application/json, text/event-stream",
            **({} if body is None else {"Content-Type": "application/json"}),
        }
        for name, value in fields.items():
            head[name.replace("_", "-")] = value
        head = {name: value for name, value in head.items() if value}
        data = None if body is None else io.BytesIO(body)  # of bytes, aiohttp wants few
        async with asyncio.timeout(BOUND):
            reply = Reply(await self._http.request(method, self._url, data=data, headers=head))
        self.replies.append(reply)
        return reply

    async def post(self, message: Any, **fields: str) -> Reply:
        return await self.send("POST", json.dumps(message).encode(), **fields)

    async def ask(self, number: Any, method: str, **params: Any) -> Reply:
        """Send a stateless request, with the headers that belong to it."""
        meta = {**META, **params.pop("_meta", {})}
        fields = {"MCP_Protocol_Version": NEW, "Mcp_Method": method}
        if "name" in params:
            fields["Mcp_Name"] = params["name"]
        fields |= params.pop("fields", {})
        body = {"jsonrpc": "2.0", "id": number, "method": method}
        return await self.post(body | {"params": {"_meta": meta, **params}}, **fields)

    async def call(self, number: Any, name: str, **params: Any) -> Reply:
        """Call a tool."""
        fixed = {key: params.pop(key) for key in ("_meta", "fields") if key in params}
        return await self.ask(number, "tools/call", name=name, arguments=params, **fixed)

    async def result(self, number: Any, name: str, **params: Any) -> Any:
        return (await (await self.call(number, name, **params)).json())["result"]

    async def seen(self) -> list[Any]:
        """Give what the stateless process has read, without what this asks for."""
        return [json.loads(line) for line in (await self.result(0, "seen"))["seen"]][:-1]

    async def until_seen(self, method: str) -> Any:
        """Wait until the stateless process has read a message of this method; give the last."""
        async with asyncio.timeout(BOUND):
            while True:
                found = [m for m in await self.seen() if m.get("method") == method]
                if found:
                    return found[-1]
                await asyncio.sleep(0.005)


class InSession:
    """A client of a front that has a session."""

    def __init__(self, fronted: Fronted, name: str) -> None:
        self._fronted = fronted
        self.name = name
        self._fields = {"Mcp_Session_Id": name, "MCP_Protocol_Version": OLD}

    async def post(self, message: dict[str, Any]) -> Reply:
        return await self._fronted.post({"jsonrpc": "2.0", **message}, **self._fields)

    async def call(self, number: Any, name: str, **arguments: Any) -> Reply:
        params = {"name": name, "arguments": arguments}
        if "_meta" in arguments:
            params["_meta"] = arguments.pop("_meta")
        return await self.post({"id": number, "method": "tools/call", "params": params})

    async def result(self, number: Any, name: str, **arguments: Any) -> Any:
        return (await (await self.call(number, name, **arguments)).json())["result"]

    async def send(self, method: str, **fields: str) -> Reply:
        return await self._fronted.send(method, **(self._fields | fields))


@contextlib.asynccontextmanager
async def fronted(*words: str, command: list[str] | None = None) -> AsyncIterator[Fronted]:
    """Run a front before the plain server; words tell that how to be."""
    heard: list[bytes] = []
    notices: list[str] = []
    ways = Ways(words=heard.append, notice=notices.append)
    front = Front(command or [*PLAIN, *words], ways)
    await front.start()
    assert front._runner is not None
    await web.TCPSite(front._runner, "127.0.0.1", 0).start()  # one is as good as the other
    url = f"http://127.0.0.1:{front._runner.addresses[0][1]}{PATH}"
    async with aiohttp.ClientSession() as http:
        client = Fronted(front, http, url, heard, notices)
        try:
            yield client
        finally:
            async with asyncio.timeout(BOUND):
                await front.stop(0.5, 0.5)
            for reply in client.replies:
                reply.close()


async def session(fronted: Fronted) -> InSession:
    """Begin a session."""
    params = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "t"}}
    reply = await fronted.post(
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    )
    assert (reply.status, (await reply.json())["result"]["protocolVersion"]) == (200, OLD)
    begun = InSession(fronted, reply.headers["Mcp-Session-Id"])
    reply = await begun.post({"method": "notifications/initialized"})
    assert (reply.status, await reply.body()) == (202, b"")
    return begun


Answer = Callable[["Posted"], Awaitable[web.StreamResponse]]


class Posted:
    """A request that came to the scripted server."""

    def __init__(self, request: web.Request, body: bytes) -> None:
        self.request = request
        self.method = request.method
        self.headers = request.headers
        self.body = body

    @property
    def said(self) -> Any:
        return json.loads(self.body)

    @property
    def rpc(self) -> str:
        """Method of the message; empty without one."""
        return self.said.get("method", "") if self.body else ""

    def result(self, status: int = 200, **members: Any) -> web.Response:
        body = {"jsonrpc": "2.0", "id": self.said["id"], "result": members}
        return web.json_response(body, status=status)

    def error(self, status: int, code: int, number: Any = ...) -> web.Response:
        number = self.said.get("id") if number is ... else number
        body = {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": "no"}}
        return web.json_response(body, status=status)

    async def stream(self, *events: bytes, holds: bool = False) -> web.StreamResponse:
        """Answer with events, written as they are; `holds`: the stream then stays open."""
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(self.request)
        for event in (b": begin\n\n", *events):
            await response.write(event)
        if holds:
            await asyncio.sleep(BOUND)
        return response


class Bridged:
    """A stdio client of a bridge to a scripted HTTP server."""

    def __init__(self, url: str, **options: Any) -> None:
        self.posted: list[Posted] = []
        self.notes: list[str] = []
        self.closed = 0
        """Requests whose connection was closed before they were answered."""
        self._out: asyncio.Queue[bytes] = asyncio.Queue()
        self._in: asyncio.Queue[bytes | None] = asyncio.Queue()
        wire = BridgeWire(Remote(url=url, **options))
        self._client = Client(wire, self._out.put, self.notes.append)
        self._work = asyncio.get_running_loop().create_task(self._client.serve(self._lines()))

    def say(self, message: dict[str, Any] | bytes) -> None:
        if not isinstance(message, bytes):
            message = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._in.put_nowait(message)

    def ask(self, number: Any, method: str, **params: Any) -> None:
        """Send a stateless request."""
        meta = {**META, **params.pop("_meta", {})}
        self.say({"id": number, "method": method, "params": {"_meta": meta, **params}})

    async def line(self) -> bytes:
        async with asyncio.timeout(BOUND):
            return await self._out.get()

    async def heard(self) -> Any:
        return json.loads(await self.line())

    async def end(self) -> list[bytes]:
        """End the input; give the lines that were still to be read."""
        self._in.put_nowait(None)
        async with asyncio.timeout(BOUND):
            await self._work
        return [self._out.get_nowait() for _ in range(self._out.qsize())]

    def stop(self) -> None:
        self._work.cancel()

    async def initialize(self) -> Any:
        """Begin a session."""
        params = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "t"}}
        self.say({"id": 0, "method": "initialize", "params": params})
        answer = await self.heard()
        self.say({"method": "notifications/initialized"})
        await until(lambda: any(p.rpc == "notifications/initialized" for p in self.posted))
        return answer

    async def _lines(self) -> AsyncIterator[bytes]:
        while (line := await self._in.get()) is not None:
            yield line


@contextlib.asynccontextmanager
async def bridged(answer: Answer, **options: Any) -> AsyncIterator[Bridged]:
    """Run a bridge to a server that gives these answers."""
    found: list[Bridged] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        posted = Posted(request, await request.read())
        found[0].posted.append(posted)
        try:
            return await answer(posted)
        except asyncio.CancelledError:
            found[0].closed += 1
            raise

    app = web.Application(client_max_size=0)
    app.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    found.append(Bridged(f"http://127.0.0.1:{runner.addresses[0][1]}/mcp", **options))
    try:
        yield found[0]
    finally:
        found[0].stop()
        with contextlib.suppress(asyncio.CancelledError):
            async with asyncio.timeout(BOUND):
                await found[0]._work
        await runner.cleanup()
