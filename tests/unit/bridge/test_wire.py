from __future__ import annotations

import ssl
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from mcp_tap.bridge.wire import Remote, Wire
from mcp_tap.errors import UsageError
from tests.bridges import bridged

PEM = Path(__file__).parents[2] / "data" / "localhost.pem"


async def test_headers_that_were_asked_for_replace_others_of_their_name():
    async def handle(posted):
        return posted.result(ok=True)

    async with bridged(handle, headers=[("accept", "a"), ("X-Y", "z")]) as client:
        client.ask(1, "x")
        await client.heard()
        head = client.posted[0].headers
        assert (head.getall("Accept"), head["X-Y"]) == (["a"], "z")
        assert head["User-Agent"].startswith("mcp-tap/")


async def test_bodies_of_any_size_are_sent():
    async def handle(posted):
        return posted.result(size=len(posted.body))

    async with bridged(handle) as client:
        client.ask(1, "x", text="y" * (2 << 20))
        assert (await client.heard())["result"]["size"] > 2 << 20


async def test_what_is_no_url_is_refused():
    with pytest.raises(UsageError, match="is no upstream URL"):
        Wire(Remote(url="localhost:3000"))


@pytest.mark.parametrize(("options", "served"), [({"insecure": True}, True), ({}, False)])
async def test_a_certificate_nobody_knows_is_taken_only_where_that_was_asked_for(options, served):
    async def answer(_):
        return web.Response(text="here")

    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(PEM)
    app = web.Application()
    app.router.add_get("/", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
    wire = Wire(Remote(url=f"https://127.0.0.1:{runner.addresses[0][1]}/", **options))
    try:
        if served:
            async with wire.request("GET", {}) as response:
                assert await response.text() == "here"
        else:
            with pytest.raises(aiohttp.ClientError):
                async with wire.request("GET", {}):
                    pass
    finally:
        await wire.close()
        await runner.cleanup()
