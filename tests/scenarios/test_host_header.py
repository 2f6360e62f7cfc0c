"""`Host`: kept as sent for a server on this machine, the server's own name otherwise."""

from __future__ import annotations

from tests.rig import get, pong, tapped


async def test_host_is_kept_as_sent_for_a_loopback_upstream(tmp_path):
    sent = b"GET /mcp HTTP/1.1\r\nhOST: localhost:1234\r\n\r\n"
    async with tapped(pong, tmp_path) as rig:
        await rig.ask(sent)
        assert rig.upstream.received == sent


async def test_host_becomes_the_upstreams_when_asked(tmp_path):
    async with tapped(pong, tmp_path, host_header="upstream") as rig:
        await rig.ask(b"GET /mcp HTTP/1.1\r\nA: 1\r\nhOST: localhost:1234\r\nB: 2\r\n\r\n")
        host = b"127.0.0.1:%d" % rig.upstream.port
        assert rig.upstream.received == (
            b"GET /mcp HTTP/1.1\r\nA: 1\r\nhOST: %b\r\nB: 2\r\n\r\n" % host
        )
        await rig.stop()
        client, upstream = rig.requests()
        assert ("hOST", "localhost:1234") in client.headers
        assert ("hOST", host.decode()) in upstream.headers


async def test_a_location_is_never_touched_nor_followed(tmp_path):
    redirect = (
        b"HTTP/1.1 307 Temporary Redirect\r\nlocation: http://elsewhere.example/mcp/\r\n"
        b"content-length: 0\r\n\r\n"
    )

    async def handler(wire):
        await wire.message()
        await wire.send(redirect)
        assert await wire.end()

    async with tapped(handler, tmp_path) as rig:
        client = await rig.client()
        await client.send(get(b"/mcp/"))
        await client.message()
        assert client.received == redirect
        await client.close()
        await rig.stop()
        assert [r.status for r in rig.responses()] == [307]
