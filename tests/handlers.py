"""Servers, for `tapped`, that say the same whatever they are asked."""

from __future__ import annotations

import asyncio

from tests.rig import Handler, Wire, ok


def once(*parts: bytes) -> Handler:
    """Answer one request of each connection with these bytes, and hang up."""

    async def handler(wire: Wire) -> None:
        await wire.message()
        await wire.send(*parts)

    return handler


def staying(*parts: bytes) -> Handler:
    """Answer one request of each connection with these bytes, and leave it open."""

    async def handler(wire: Wire) -> None:
        await wire.message()
        await wire.send(*parts)
        await wire.rest()

    return handler


def early(response: bytes) -> Handler:
    """Answer a request before its body is there, which is read nevertheless."""

    async def handler(wire: Wire) -> None:
        await wire.head()
        await wire.send(response)
        await wire.rest()

    return handler


def held(release: asyncio.Event, slow: bytes = b"") -> Handler:
    """Answer each request with its first line; those with `slow` in it wait for the release."""

    async def handler(wire: Wire) -> None:
        while True:
            request = await wire.message()
            if slow in request.start:
                await release.wait()
            await wire.send(ok(request.start))

    return handler


def to_method(method: bytes, response: bytes) -> Handler:
    """Answer requests of this method with these bytes, and all others with a JSON-RPC result."""

    async def handler(wire: Wire) -> None:
        while True:
            request = await wire.message()
            await wire.send(response if request.start.startswith(method) else ok())

    return handler
