"""A run begins and ends cleanly, or says why it cannot."""

from __future__ import annotations

import asyncio
import socket
import ssl
from pathlib import Path

import pytest

from mcp_tap.core.records import Footer, Message
from mcp_tap.errors import CaptureError, UsageError
from mcp_tap.proxy.run import HttpRun
from mcp_tap.proxy.settings import TapSettings
from tests.bounds import BOUND, until
from tests.rig import PING, PONG, SSE_HEAD, Looker, chunk, event, get, ok, pong, post, tapped

CERTIFICATE = Path(__file__).parent.parent / "data" / "localhost.pem"
"""For localhost and 127.0.0.1, signed by itself, with its key."""


async def test_stopping_cuts_open_streams_and_writes_the_footer(tmp_path):
    ended = asyncio.Event()

    async def handler(wire):
        await wire.message()
        await wire.send(SSE_HEAD, chunk(event(PONG)))
        await wire.rest()
        ended.set()

    async with tapped(handler, tmp_path) as rig:
        streams = [await rig.client() for _ in range(5)]
        for stream in streams:
            await stream.send(get())
            await stream.until(PONG)
        async with asyncio.timeout(BOUND):
            await rig.stop("signal")
        for stream in streams:
            assert b"0\r\n\r\n" not in stream.received
        await asyncio.wait_for(ended.wait(), BOUND)
        assert [c.how for c in rig.closed()] == ["shutdown"] * 5
        footer = rig.records(Footer)[0]
        assert (footer.exchanges, footer.lost, footer.how) == (5, 0, "signal")
        assert rig.view.closed


async def test_stopping_waits_for_no_client_that_takes_nothing(tmp_path):
    async def handler(wire):
        await wire.message()
        await wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 90000000\r\n\r\n")
        for _ in range(1000):
            await wire.send(b"x" * 65536)

    async with tapped(handler, tmp_path, keep=False) as rig:
        client = await rig.client()
        client._reader._transport.pause_reading()
        await client.send(get())
        await until(lambda: rig.run.records == 2)
        async with asyncio.timeout(BOUND):
            await rig.stop()
        assert rig.closed()[0].how == "shutdown"


@pytest.mark.parametrize("stage", ["connecting", "waiting", "uploading", "refused", "idle"])
async def test_stopping_ends_an_exchange_at_any_stage(tmp_path, stage, monkeypatch):
    loop = asyncio.get_running_loop()

    async def never(*args, **kwargs):
        await loop.create_future()

    async def handler(wire):
        await wire.rest()

    request = {
        "uploading": b"POST / HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 9\r\n\r\nabc",
        "refused": b"POST / HTTP/1.1\r\nHost: evil\r\nContent-Length: 9\r\n\r\nabc",
        "idle": b"",
    }.get(stage, get())
    async with tapped(handler, tmp_path) as rig:
        client = await rig.client()
        if stage == "connecting":
            monkeypatch.setattr(loop, "create_connection", never)
        await client.send(request)
        await until(lambda: rig.run.exchanges or stage == "idle")
        if stage in ("waiting", "uploading"):
            await until(lambda: rig.upstream.received)
        await rig.stop()
        assert await client.end()
        assert [c.how for c in rig.closed()] == ["shutdown"] * (stage != "idle")


async def test_stopping_twice_is_stopping_once(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        await rig.ask(post())
        await rig.stop()
        await rig.run.stop("signal")
        assert [f.how for f in rig.records(Footer)] == ["end"]


async def test_a_run_that_never_started_can_be_stopped(tmp_path):
    run = HttpRun(TapSettings(upstream="http://127.0.0.1:1"), capture=None, view=Looker())
    await run.stop()


async def test_a_taken_port_is_told_with_a_way_out(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        capture = tmp_path / "second.jsonl"
        settings = TapSettings(upstream="http://127.0.0.1:1/mcp", port=rig.port)
        with pytest.raises(UsageError) as caught:
            await HttpRun(settings, capture=capture, view=Looker()).start()
        assert caught.value.code == "port-taken"
        assert f"127.0.0.1:{rig.port}" in caught.value.what
        assert "--listen" in caught.value.help
        assert not capture.exists()


@pytest.mark.parametrize(("host", "dialled"), [("0.0.0.0", "127.0.0.1"), ("::", "[::1]")])
async def test_a_tap_on_all_addresses_names_one_that_can_be_dialled(tmp_path, host, dialled):
    settings = TapSettings(upstream="http://127.0.0.1:1/mcp", port=0, host=host)
    view = Looker()
    run = HttpRun(settings, capture=None, view=view)
    if ":" in host and not socket.has_dualstack_ipv6():
        pytest.skip("this machine has no IPv6")
    await run.start()
    try:
        assert run.url == f"http://{dialled}:{run.port}/mcp"
        bound = f"[{host}]" if ":" in host else host
        assert view.header.listen == f"http://{bound}:{run.port}/mcp"
    finally:
        await run.stop()


@pytest.mark.parametrize("host", ["192.0.2.1", "no-such-host.invalid"])
async def test_an_address_that_is_not_ours_is_told(tmp_path, host):
    settings = TapSettings(upstream="http://127.0.0.1:1/mcp", port=0, host=host)
    with pytest.raises(UsageError) as caught:
        await HttpRun(settings, capture=None, view=Looker()).start()
    assert caught.value.code == "cannot-listen"
    assert host in caught.value.what
    assert host not in caught.value.why


async def test_a_capture_that_cannot_be_written_is_told_and_the_port_is_free_again(tmp_path):
    capture = tmp_path / "file" / "run.jsonl"
    capture.parent.write_text("in the way")
    settings = TapSettings(upstream="http://127.0.0.1:1/mcp", port=0)
    run = HttpRun(settings, capture=capture, view=Looker())
    with pytest.raises(CaptureError):
        await run.start()
    with pytest.raises(OSError, match=r"refused|failed"):
        await asyncio.open_connection("127.0.0.1", run.port)


async def test_a_capture_is_never_written_over(tmp_path):
    (tmp_path / "run.jsonl").write_text("precious")
    settings = TapSettings(upstream="http://127.0.0.1:1/mcp", port=0)
    with pytest.raises(CaptureError):
        await HttpRun(settings, capture=tmp_path / "run.jsonl", view=Looker()).start()
    assert (tmp_path / "run.jsonl").read_text() == "precious"


async def test_the_url_is_the_listeners_with_the_upstreams_path(tmp_path):
    async with tapped(pong, tmp_path, path="/deep/mcp") as rig:
        assert rig.run.url == f"http://127.0.0.1:{rig.port}/deep/mcp"
        assert (rig.view.header.listen, rig.view.header.upstream) == (
            rig.run.url,
            f"http://127.0.0.1:{rig.upstream.port}/deep/mcp",
        )


async def test_without_a_capture_traffic_passes_all_the_same(tmp_path):
    async with tapped(pong, tmp_path, record=False) as rig:
        assert (await rig.ask(post())).body == PONG
        await rig.stop()
        assert list(tmp_path.iterdir()) == []


async def test_a_capture_is_rotated_by_size_and_read_as_one_run(tmp_path):
    async with tapped(pong, tmp_path, rotate=4096) as rig:
        client = await rig.client()
        for _ in range(30):
            await client.send(post())
            await client.message()
        await rig.stop()
        assert len(list(tmp_path.iterdir())) > 2
        assert len(rig.closed()) == 30


async def test_a_removed_capture_stops_no_traffic(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        client = await rig.client()
        await client.send(post())
        await client.message()
        rig.run.capture.unlink()
        for _ in range(3):
            await client.send(post())
            assert (await client.message()).body == PONG
        await rig.stop()
        assert rig.view.notices


async def test_a_view_that_fell_behind_is_told_and_the_capture_has_everything(
    tmp_path, monkeypatch
):
    from mcp_tap.proxy import backlog

    monkeypatch.setattr(backlog, "MOST_BEHIND", 3)
    async with tapped(pong, tmp_path) as rig:
        client = await rig.client()
        await client.send(post() * 40)
        for _ in range(40):
            await client.message()
        await rig.stop()
        assert len(rig.closed()) == 40
        assert rig.run._desk.skipped
        assert any("behind" in notice for notice in rig.view.notices)


@pytest.mark.parametrize("insecure", [True, False])
async def test_tls_upstreams_are_verified_unless_told_otherwise(tmp_path, insecure):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)

    async def serve(reader, writer):
        await reader.readuntil(PING)
        writer.write(ok())
        await writer.drain()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    async with server:
        settings = {"upstream": f"https://127.0.0.1:{port}/mcp", "insecure": insecure}
        async with tapped(pong, tmp_path, **settings) as rig:
            answer = await rig.ask(post())
            if insecure:
                assert answer.body == PONG
            else:
                assert answer.get(b"mcp-tap-error") == b"upstream-down"
                assert "certificate" in answer.json["error"]["message"].lower()


async def test_a_tls_upstream_of_a_given_authority_is_trusted_and_gets_its_own_host(tmp_path):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    heads = []

    async def serve(reader, writer):
        heads.append(await reader.readuntil(PING))
        writer.write(ok())
        await writer.drain()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    async with server:
        settings = {"upstream": f"https://localhost:{port}/mcp", "cacert": str(CERTIFICATE)}
        async with tapped(pong, tmp_path, host_header="upstream", **settings) as rig:
            assert (await rig.ask(post())).body == PONG
            await rig.stop()
            assert [m.sender for m in rig.records(Message)] == ["client", "server"]
    assert b"Host: localhost:%d\r\n" % port in heads[0]
