"""The demo's MCP client: asks, answers and retries as revision 2026-07-28 has it, without an SDK.

It takes the place of a person too: `Person` says what is answered, after a pause that can be seen
in the timeline.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import aiohttp

from mcp_tap import __version__
from mcp_tap.demo import wire
from mcp_tap.demo.wire import NAMED, VERSION

Json = dict[str, Any]
Person = Callable[[str, str, Json], Json]
"""tool, key of the ask, its params -> the answer."""

CLIENT_INFO = {"name": "demo-client", "version": __version__}
CAPABILITIES: Json = {"elicitation": {"form": {}, "url": {}}}
MAX_ROUNDS = 10


class RpcFailure(Exception):
    """A JSON-RPC error response, or no proper response at all."""


class DemoClient:
    """Speaks to one MCP endpoint; any number of calls may run at once."""

    def __init__(
        self, session: aiohttp.ClientSession, url: str, person: Person, *, pause: float = 0.4
    ) -> None:
        self._session = session
        self._url = url
        self._person = person
        self._pause = pause
        self._last_id = 0
        self._schemas: dict[str, Json] = {}

    async def discover(self) -> Json:
        """Ask what the server is and which revisions it speaks."""
        return await self.request("server/discover", {})

    async def list_tools(self) -> list[str]:
        """List the tools' names and remember their schemas, which say what headers they want."""
        tools = (await self.request("tools/list", {}))["tools"]
        self._schemas = {tool["name"]: tool["inputSchema"] for tool in tools}
        return list(self._schemas)

    async def call(self, name: str, arguments: Json, *, progress: bool = False) -> Json:
        """Call a tool and go as many rounds as the server wants."""
        more: Json = {}
        for _ in range(MAX_ROUNDS):
            params = {"name": name, "arguments": arguments, **more}
            result = await self.request("tools/call", params, progress=progress)
            if result.get("resultType", "complete") == "complete":
                return result
            if result["resultType"] != "input_required":
                raise RpcFailure(f"{name}: resultType {result['resultType']!r}")
            more = await self._answered(name, result)
        raise RpcFailure(f"{name}: not done after {MAX_ROUNDS} rounds")

    async def _answered(self, name: str, result: Json) -> Json:
        """Put together what the retry carries beside the original parameters."""
        more: Json = {}
        if asks := result.get("inputRequests"):
            await asyncio.sleep(self._pause)
            more["inputResponses"] = {
                key: self._person(name, key, ask["params"]) for key, ask in asks.items()
            }
        if "requestState" in result:
            more["requestState"] = result["requestState"]
        return more

    async def request(self, method: str, params: Json, *, progress: bool = False) -> Json:
        """Send one request and give back its result."""
        self._last_id += 1
        request_id = self._last_id
        meta: Json = {
            wire.VERSION_KEY: VERSION,
            wire.CLIENT_KEY: CLIENT_INFO,
            wire.CAPABILITIES_KEY: CAPABILITIES,
        }
        if progress:
            meta["progressToken"] = f"p{request_id}"
        body = {
            "jsonrpc": "2.0",
            "id": request_id,
            "method": method,
            "params": {**params, "_meta": meta},
        }
        data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        async with self._session.post(
            self._url, data=data, headers=self._headers(method, params)
        ) as response:
            async for message in _messages(response):
                if message.get("id") == request_id and "method" not in message:
                    if "error" in message:
                        raise RpcFailure(f"{method}: {message['error'].get('message')}")
                    return dict(message["result"])
        raise RpcFailure(f"{method}: no response in the answer (HTTP {response.status})")

    def _headers(self, method: str, params: Json) -> dict[str, str]:
        """Mirror into headers what the specification wants there."""
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": VERSION,
            "Mcp-Method": method,
        }
        if source := NAMED.get(method):
            headers["Mcp-Name"] = wire.encode_value(params[source])
        if method == "tools/call":
            for header, path in wire.mirrored(self._schemas.get(params["name"])):
                value = wire.value_at(params.get("arguments"), path)
                if value is not None:
                    headers[header] = wire.encode_value(value)
        return headers


async def _messages(response: aiohttp.ClientResponse) -> AsyncIterator[Json]:
    """Read the messages of an answer, be it one object or a stream of events."""
    if response.content_type == "application/json":
        yield json.loads(await response.read())
        return
    if response.content_type != "text/event-stream":
        return
    data: list[str] = []
    async for raw in response.content:
        line = raw.decode().rstrip("\r\n")
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            yield json.loads("\n".join(data))
            data.clear()
