"""The demo's MCP server: stateless Streamable HTTP of revision 2026-07-28, written without an SDK.

Conformant as far as it goes, with one exception that is the point of it: `broken_export`.

    python -m mcp_tap.demo.server --port 0
"""

from __future__ import annotations

import argparse
import asyncio
import json
import secrets
import signal
from typing import Any, NoReturn
from urllib.parse import urlsplit

from aiohttp import web

from mcp_tap import __version__
from mcp_tap.demo import wire
from mcp_tap.demo.state import BadStateError, Sealer
from mcp_tap.demo.tools import TOOLS, BadArgumentsError, Json, MissingCapabilityError, Request

SERVER_INFO = {"name": "release-desk", "title": "Release desk", "version": __version__}
HINTS = {"ttlMs": 300_000, "cacheScope": "public"}
LOOPBACK = {"127.0.0.1", "localhost", "::1"}


class RpcError(Exception):
    """What the client is told in a JSON-RPC error response."""

    def __init__(self, status: int, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.status = status
        self.error = {"code": code, "message": message}
        if data is not None:
            self.error["data"] = data


class DemoServer:
    """One running server; knows nothing of a request once it is answered."""

    def __init__(self) -> None:
        self._sealer = Sealer(secrets.token_bytes(32))
        self._runner: web.AppRunner | None = None
        self.url = ""

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> None:
        """Listen; `url` is set from here on."""
        app = web.Application()
        app.router.add_post("/mcp", self._post)
        # A client that closes the request cancels it.
        self._runner = web.AppRunner(app, handler_cancellation=True, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, host, port).start()
        self.url = f"http://{host}:{self._runner.addresses[0][1]}/mcp"

    async def stop(self) -> None:
        """Stop listening."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _post(self, request: web.Request) -> web.StreamResponse:
        body: Any = None
        try:
            _guard(request)
            body = _message(await request.read())
            if "id" not in body:
                return web.Response(status=202)
            params = _validated(request, body)
            return await self._dispatch(request, body, params)
        except RpcError as error:
            answer = {"jsonrpc": "2.0", "id": _id(body), "error": error.error}
            if answer["id"] is None:
                del answer["id"]
            return web.Response(
                status=error.status, body=_dump(answer), content_type="application/json"
            )

    async def _dispatch(self, request: web.Request, body: Json, params: Json) -> web.StreamResponse:
        match body["method"]:
            case "server/discover":
                result = {
                    "supportedVersions": [wire.VERSION],
                    "capabilities": {"tools": {}},
                    "instructions": "A release desk that is not real. Nothing it says happens.",
                    **HINTS,
                }
            case "tools/list":
                if params.get("cursor") is not None:
                    raise RpcError(400, -32602, "no such cursor: the list has one page")
                result = {"tools": [entry.listing() for entry in TOOLS.values()], **HINTS}
            case "tools/call":
                return await self._call(request, body["id"], params)
            case method:
                raise RpcError(404, -32601, f"method not found: {method}")
        return _json(body["id"], result)

    async def _call(self, http: web.Request, request_id: Any, params: Json) -> web.StreamResponse:
        name = params.get("name")
        entry = TOOLS.get(name) if isinstance(name, str) else None
        if entry is None:
            raise RpcError(400, -32602, f"unknown tool: {name}")
        _validate_params_headers(http, entry.listing()["inputSchema"], params.get("arguments"))
        request = Request(params=params, seal=self._sealer.seal)
        for field in ("arguments", "inputResponses"):
            if not isinstance(params.get(field, {}), dict):
                raise RpcError(400, -32602, f"{field} must be an object")
        try:
            for argument in entry.required:
                request.argument(argument)
            if "requestState" in params:
                request.facts = self._sealer.open(params, params["requestState"])
            token = params["_meta"].get("progressToken")
            if entry.streams and isinstance(token, str | int) and not isinstance(token, bool):
                return await _streamed(http, request_id, entry.run, request, token)
            result = await entry.run(request)
        except (BadStateError, BadArgumentsError) as error:
            raise RpcError(400, -32602, str(error)) from None
        except MissingCapabilityError as error:
            data = {"requiredCapabilities": error.required}
            raise RpcError(400, -32021, str(error), data) from None
        return _json(request_id, result, broken=entry.run.__name__ == "broken_export")


async def _streamed(
    http: web.Request, request_id: Any, run: Any, request: Request, token: str | int
) -> web.StreamResponse:
    """Answer with a stream: progress notifications, then the result."""
    headers = {"Content-Type": "text/event-stream", "X-Accel-Buffering": "no"}
    stream = web.StreamResponse(headers={**headers, "Cache-Control": "no-cache"})
    stream.enable_chunked_encoding()
    await stream.prepare(http)

    async def send(message: Json) -> None:
        await stream.write(b"event: message\ndata: " + _dump(message) + b"\n\n")

    async def progress(done: float, total: float, text: str) -> None:
        report = {"progressToken": token, "progress": done, "total": total, "message": text}
        await send({"jsonrpc": "2.0", "method": "notifications/progress", "params": report})

    request.progress = progress
    await send(_response(request_id, await run(request)))
    await stream.write_eof()
    return stream


def _guard(request: web.Request) -> None:
    """Refuse what a page in a browser sends after DNS rebinding."""
    origin = request.headers.get("Origin")
    if origin is not None and urlsplit(origin).hostname not in LOOPBACK:
        raise RpcError(403, -32600, "foreign Origin")
    if urlsplit(f"//{request.host}").hostname not in LOOPBACK:
        raise RpcError(403, -32600, "foreign Host")


def _message(data: bytes) -> Json:
    """Read the body as one JSON-RPC request or notification."""
    try:
        body = json.loads(data, parse_constant=_no_number)
    except ValueError:
        raise RpcError(400, -32700, "the body is no JSON") from None
    sound = (
        isinstance(body, dict)
        and body.get("jsonrpc") == "2.0"
        and isinstance(body.get("method"), str)
        and isinstance(body.get("params", {}), dict)
        and ("id" not in body or _id(body) is not None)
    )
    if not sound:
        raise RpcError(400, -32600, "the body is no JSON-RPC request or notification")
    return dict(body)


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def _id(body: Any) -> str | int | None:
    """Read the id of a request, as far as one can be made out."""
    found = body.get("id") if isinstance(body, dict) else None
    return found if isinstance(found, str | int) and not isinstance(found, bool) else None


def _validated(request: web.Request, body: Json) -> Json:
    """Check version, `_meta` and that headers say what the body says; give back the params."""
    method: str = body["method"]
    params: Json = body.get("params", {})
    header = _single(request, "MCP-Protocol-Version")
    meta = params.get("_meta")
    declared = meta.get(wire.VERSION_KEY) if isinstance(meta, dict) else None
    if method == "initialize":
        # Clients of older revisions know no other way to learn what would work.
        _unsupported(params.get("protocolVersion"))
    if header is None:
        raise RpcError(400, -32020, "MCP-Protocol-Version is missing")
    if not isinstance(meta, dict) or not isinstance(declared, str):
        raise RpcError(400, -32602, f"params._meta has no {wire.VERSION_KEY}")
    if header != declared:
        raise RpcError(400, -32020, "MCP-Protocol-Version is not what the body declares")
    if declared != wire.VERSION:
        _unsupported(declared)
    if not isinstance(meta.get(wire.CAPABILITIES_KEY), dict):
        raise RpcError(400, -32602, f"params._meta has no {wire.CAPABILITIES_KEY}")
    if _single(request, "Mcp-Method") != method:
        raise RpcError(400, -32020, "Mcp-Method is not the body's method")
    if (source := wire.NAMED.get(method)) and _decoded(request, "Mcp-Name") != params.get(source):
        raise RpcError(400, -32020, f"Mcp-Name is not the body's params.{source}")
    return params


def _unsupported(requested: Any) -> NoReturn:
    data = {"supported": [wire.VERSION], "requested": requested}
    raise RpcError(400, -32022, "unsupported protocol version", data)


def _validate_params_headers(request: web.Request, schema: Json, arguments: Any) -> None:
    """Check each `Mcp-Param-*` header that the tool's schema asks for."""
    for header, path in wire.mirrored(schema):
        value = wire.value_at(arguments, path)
        sent = _decoded(request, header)
        wanted = None if value is None else wire.decode_value(wire.encode_value(value))
        if sent != wanted:
            raise RpcError(400, -32020, f"{header} is not the body's {'.'.join(path)}")


def _single(request: web.Request, name: str) -> str | None:
    values = request.headers.getall(name, [])
    if len(values) > 1:
        raise RpcError(400, -32020, f"{name} was sent more than once")
    return values[0] if values else None


def _decoded(request: web.Request, name: str) -> str | None:
    value = _single(request, name)
    try:
        return None if value is None else wire.decode_value(value)
    except ValueError:
        raise RpcError(400, -32020, f"{name} cannot be decoded") from None


def _response(request_id: Any, result: Json) -> Json:
    meta = {"_meta": {wire.SERVER_KEY: SERVER_INFO}}
    whole = {"resultType": "complete", **result, **meta}
    return {"jsonrpc": "2.0", "id": request_id, "result": whole}


def _json(request_id: Any, result: Json, *, broken: bool = False) -> web.Response:
    message = _response(request_id, result)
    if broken:
        # The rule it breaks: every result of this revision says its type.
        del message["result"]["resultType"]
    return web.Response(body=_dump(message), content_type="application/json")


def _dump(message: Json) -> bytes:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()


async def _serve(port: int) -> None:
    server = DemoServer()
    await server.start(port=port)
    print(server.url, flush=True)
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await stop.wait()
    await server.stop()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="The MCP server of `mcp-tap demo`, by itself.")
    parser.add_argument("--port", type=int, default=0, help="0 (default): any free port")
    asyncio.run(_serve(parser.parse_args().port))
