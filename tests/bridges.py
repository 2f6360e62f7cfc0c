"""A bridge's HTTP front before a plain server, spoken to as the tap does."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp

from mcp_tap.bridge.front import KEY, Front
from mcp_tap.bridge.served import Ways
from mcp_tap.core.sse import SseParser

BOUND = 10.0
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

    def __init__(self, front: Front, http: aiohttp.ClientSession) -> None:
        self.front = front
        self.words: list[bytes] = []
        self.notices: list[str] = []
        self._http = http

    async def send(self, method: str, body: bytes | None = None, **fields: str) -> Reply:
        """Send a request; fields are spelled with underscores, and an empty one is left out."""
        head = {
            KEY: self.front.key,
            "Accept": "application/json, text/event-stream",
            **({} if body is None else {"Content-Type": "application/json"}),
        }
        for name, value in fields.items():
            head[name.replace("_", "-")] = value
        head = {name: value for name, value in head.items() if value}
        async with asyncio.timeout(BOUND):
            return Reply(await self._http.request(method, self.front.url, data=body, headers=head))

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
    found: list[Fronted] = []
    ways = Ways(
        words=lambda line: found[0].words.append(line),
        notice=lambda text: found[0].notices.append(text),
    )
    front = Front(command or [*PLAIN, *words], ways)
    await front.start()
    async with aiohttp.ClientSession() as http:
        found.append(Fronted(front, http))
        try:
            yield found[0]
        finally:
            async with asyncio.timeout(BOUND):
                await front.stop(0.5, 0.5)


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
