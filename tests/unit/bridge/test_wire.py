from __future__ import annotations

import pytest

from mcp_tap.bridge.wire import Remote, Wire
from mcp_tap.errors import UsageError
from tests.bridges import bridged


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
