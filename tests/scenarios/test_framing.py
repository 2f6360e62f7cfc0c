"""What HTTP/1.1 framing cannot carry is answered by the tap, marked and recorded."""

from __future__ import annotations

import pytest

from mcp_tap.core.records import HttpRequest
from tests.bounds import until
from tests.handlers import early, staying
from tests.rig import HOST, PING, PONG, chunk, get, ok, pong, post, tapped

CHUNKED = b"POST /mcp HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n"


@pytest.mark.parametrize(
    "request_",
    [
        CHUNKED + b"Content-Length: 4\r\n\r\n0\r\n\r\n",
        b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcde",
        b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 4\r\nContent-Length: 4\r\n\r\nabcd",
        b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: +4\r\n\r\nabcd",
        b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 99999999999999999999999\r\n\r\nabcd",
        b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length : 4\r\n\r\nabcd",
        b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: gzip\r\n\r\nabcd",
        CHUNKED + b"\r\nxyz\r\nabc\r\n0\r\n\r\n",
        CHUNKED + b"\r\n3\r\nabcd\r\n0\r\n\r\n",
        CHUNKED + b"\r\n-3\r\nabc\r\n0\r\n\r\n",
        CHUNKED + b"\r\nfffffffffffffffff\r\nabc\r\n0\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"Folded: a\r\n b\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"Bad\x01Name: a\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"Name: a\x00b\r\n\r\n",
        b"GET / HTTP/1.1\nHost: 127.0.0.1\n\n",
        b"GET / HTTP/2.0\r\n" + HOST + b"\r\n",
        b"GET /\r\n\r\n",
        b"GET / HTTP/1.1 extra\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"CONNECT evil.example:443 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(50),
        b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
        b"bare garbage\r\n\r\n",
    ],
)
async def test_broken_framing_is_answered_with_a_marked_400(tmp_path, request_):
    async with tapped(pong, tmp_path) as rig:
        client = await rig.client()
        await client.send(request_)
        answer = await client.message()
        assert answer.status == 400
        assert answer.get(b"mcp-tap-error") in (b"bad-framing", b"no-forward-proxy")
        if answer.get(b"mcp-tap-error") == b"bad-framing":
            assert answer.get(b"connection") == b"close"
            assert await client.end()
        assert (await rig.ask(post())).status == 200  # the next connection works
        await rig.stop()
        first = rig.closed()[0]
        assert (first.exchange, first.how) == (1, "refused")
        assert rig.of(1, HttpRequest)
        assert [d.hook for d in rig.decisions()] == ["tap"]
        assert [r.sender for r in rig.responses()] == ["tap", "server"]


async def test_nothing_after_broken_framing_is_taken_for_a_request(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        client = await rig.client()
        await client.send(CHUNKED + b"Content-Length: 4\r\n\r\n0\r\n\r\n" + post())
        assert (await client.message()).status == 400
        assert await client.end()
        assert rig.upstream.received == b""


async def test_a_bad_chunk_after_good_ones_ends_the_request_upstream_too(tmp_path):
    ended = []

    async def handler(wire):
        await wire.head()
        await wire.until(b"abc\r\n")
        ended.append(await wire.rest())

    async with tapped(handler, tmp_path) as rig:
        client = await rig.client()
        await client.send(CHUNKED + b"\r\n" + chunk(b"abc"))
        await until(lambda: rig.upstream.received.endswith(b"abc\r\n"))
        await client.send(b"oops\r\n")
        assert (await client.message()).status == 400
        await client.end()
        await rig.stop()
        assert ended == [b""]
        assert rig.closed()[0].request.bytes == 3


async def test_a_bad_chunk_after_an_early_answer_ends_the_connection(tmp_path):
    async with tapped(early(ok(b"{}", status=b"413 Too Large")), tmp_path) as rig:
        client = await rig.client()
        await client.send(CHUNKED + b"\r\n" + chunk(b"abc"))
        assert (await client.message()).status == 413
        await client.send(b"oops\r\n")
        assert await client.end()


async def test_a_head_without_end_is_answered_with_431(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        client = await rig.client()
        await client.send(b"GET / HTTP/1.1\r\n" + HOST)
        for n in range(40):
            await client.send(b"X-%d: %b\r\n" % (n, b"v" * 40_000))
        answer = await client.message()
        assert (answer.status, answer.get(b"mcp-tap-error")) == (431, b"head-too-large")
        await client.end()
        assert (await rig.ask(post())).status == 200


async def test_a_head_of_very_many_small_fields_is_read_in_no_time(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        sent = get(b"/", *[b"a:%d" % n for n in range(100_000)])
        assert (await rig.ask(sent)).status == 200
        assert len(rig.upstream.received) > len(sent)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nBad\x01Name: 1\r\n\r\n",
        b"HTTP/1.1 2x0 OK\r\n\r\n",
        b"garbage\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: %b\r\n" % (b"v" * 60_000) * 20,
    ],
)
async def test_a_broken_answer_of_the_upstream_is_a_marked_502(tmp_path, answer):
    async with tapped(staying(answer), tmp_path) as rig:
        response = await rig.ask(post())
        assert (response.status, response.get(b"mcp-tap-error")) == (502, b"upstream-garbled")
        assert response.json["id"] == 7
        await rig.stop()
        assert rig.closed()[0].how == "upstream_cut"


async def test_an_interim_answer_passes_before_what_the_tap_says_of_a_broken_final_one(tmp_path):
    hints = b"HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n"

    async with tapped(staying(hints + b"garbage\r\n\r\n"), tmp_path) as rig:
        client = await rig.client()
        await client.send(post() + b"garbage\r\n\r\n")
        assert [(await client.message()).status for _ in range(3)] == [103, 502, 400]
        assert await client.end()


async def test_garbage_behind_an_early_answer_gets_none(tmp_path):
    refused = b"POST / HTTP/1.1\r\nHost: evil\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    async with tapped(pong, tmp_path) as rig:
        client = await rig.client()
        await client.send(refused + b"{}" + post() + b"garbage\r\n\r\n")
        assert (await client.message()).status == 403
        assert await client.end()
        await rig.stop()
        assert len(rig.closed()) == 1


async def test_a_broken_chunk_of_the_upstream_cuts_the_clients_stream(tmp_path):
    async with tapped(
        staying(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\nzz\r\n"), tmp_path
    ) as rig:
        response = await rig.ask(post())
        assert (response.body, response.whole) == (b"{}", False)
        await rig.stop()
        assert rig.closed()[0].how == "upstream_cut"


async def test_an_answer_nobody_asked_for_is_never_taken_for_the_next_one(tmp_path):
    async def handler(wire):
        await wire.message()
        await wire.send(ok(PONG) + ok(b'{"stolen":true}'))
        await wire.message()
        await wire.send(ok(b'{"second":true}'))

    async with tapped(handler, tmp_path) as rig:
        client = await rig.client()
        await client.send(post())
        assert (await client.message()).body == PONG
        await client.send(post())
        assert (await client.message()).body == PONG  # from a new connection
        assert len(rig.upstream.connections) == 2


async def test_part_of_an_answer_nobody_asked_for_poisons_the_connection_too(tmp_path):
    async with tapped(staying(ok(PONG) + b"HTTP/1.1 200 OK\r\nConte"), tmp_path) as rig:
        client = await rig.client()
        for _ in range(2):
            await client.send(post())
            assert (await client.message()).body == PONG
        assert len(rig.upstream.connections) == 2


async def test_trailers_and_chunk_extensions_are_left_out_both_ways(tmp_path):
    """They speak of one connection's framing, which the tap does not pass on."""

    async def handler(wire):
        request = await wire.message()
        assert (request.body, request.trailer) == (b"hello world", b"")
        await wire.send(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n"
            b'4;name="a;b"\r\nabcd\r\n0;last\r\nX-T: 1\r\n\r\n'
        )

    async with tapped(handler, tmp_path) as rig:
        answer = await rig.ask(
            CHUNKED + b"\r\n6;x=1\r\nhello \r\n005\r\nworld\r\n0\r\nX-T: 1\r\nX-U: 2\r\n\r\n"
        )
        assert (answer.body, answer.trailer, answer.get(b"trailer")) == (b"abcd", b"", None)


async def test_a_transfer_coding_before_chunked_is_kept(tmp_path):
    async def handler(wire):
        request = await wire.message()
        assert request.get(b"transfer-encoding") == b"gzip, chunked"
        assert request.body == b"hello"
        await wire.send(ok())

    async with tapped(handler, tmp_path) as rig:
        sent = CHUNKED.replace(b"chunked", b"gzip, chunked") + b"\r\n" + chunk(b"hello")
        assert (await rig.ask(sent + b"0\r\n\r\n")).status == 200


async def test_an_offer_to_upgrade_is_dropped_and_the_body_passes(tmp_path):
    """HTTP clients of Java send this with each first POST."""
    async with tapped(pong, tmp_path) as rig:
        client = await rig.client()
        offer = [b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AAM"]
        for _ in range(2):
            await client.send(post(PING, *offer))
            assert (await client.message()).body == PONG
        await client.send(get(b"/", *offer))
        assert (await client.message()).status == 200
        assert rig.upstream.received == post() * 2 + get(b"/")
        await rig.stop()
        assert [c.request.bytes for c in rig.closed()] == [len(PING), len(PING), 0]


async def test_an_offer_to_upgrade_with_a_chunked_body_passes_in_any_cut(tmp_path):
    sent = (
        CHUNKED
        + b"Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
        + chunk(PING[:10])
        + chunk(PING[10:])
        + b"0\r\n\r\n"
    )
    async with tapped(pong, tmp_path) as rig:
        client = await rig.client()
        for cut in range(1, len(sent), 7):
            await client.send(sent[:cut])
            await client.send(sent[cut:])
            assert (await client.message()).body == PONG
