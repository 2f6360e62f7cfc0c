"""Heads pass as they are: nothing added, merged, reordered or respelled, either way."""

from __future__ import annotations

import pytest

from tests.rig import PING, always, get, ok, pong, post, tapped

ODD_REQUEST = [
    b"host: 127.0.0.1:9",
    b"MCP-Protocol-Version: 2026-07-28",
    b"mcp-method: tools/call",
    b"Mcp-Name: add",
    b"Mcp-Name: add",
    b"X-Twice: 1",
    b"accept: application/json, text/event-stream",
    b"x-twice: 2",
    b"Mcp-Param-Region: =?base64?esO8cmljaCDwn4eoIA==?=",
    b"X-Latin: caf\xe9",
    b"X-Empty: ",
    b"CONTENT-LENGTH: %d" % len(PING),
]
ODD_RESPONSE = [
    b"content-TYPE: application/json",
    b"Set-Cookie: a=1",
    b"X-Order: z",
    b"set-cookie: b=2",
    b"X-Order: a",
    b"Content-Length: 2",
]


def block(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\r\n" for line in lines) + b"\r\n"


async def test_request_fields_reach_the_upstream_byte_for_byte(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        sent = b"POST /mcp HTTP/1.1\r\n" + block(ODD_REQUEST) + PING
        await rig.ask(sent)
        assert rig.upstream.received == sent


async def test_response_fields_reach_the_client_byte_for_byte(tmp_path):
    answer = b"HTTP/1.1 200 Well Then\r\n" + block(ODD_RESPONSE) + b"{}"
    async with tapped(always(answer), tmp_path) as rig:
        assert await rig.raw(post()) == answer


async def test_fields_are_recorded_in_order_and_spelling_with_duplicates(tmp_path):
    answer = b"HTTP/1.1 200 Well Then\r\n" + block(ODD_RESPONSE) + b"{}"
    async with tapped(always(answer), tmp_path, default_redaction=False) as rig:
        await rig.ask(b"POST /mcp HTTP/1.1\r\n" + block(ODD_REQUEST) + PING)
        await rig.stop()
        (request,), (response,) = rig.requests(), rig.responses()
        assert [f"{n}: {v}".encode("latin-1") for n, v in request.headers] == ODD_REQUEST
        assert [f"{n}: {v}".encode("latin-1") for n, v in response.headers] == ODD_RESPONSE
        assert response.reason == "Well Then"


async def test_a_bare_request_gets_no_field_of_ours(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        await rig.ask(get())
        assert rig.upstream.received == get()


async def test_a_bare_response_gets_no_field_of_ours(tmp_path):
    bare = b"HTTP/1.1 421 Misdirected Request\r\nContent-Length: 19\r\n\r\nInvalid Host header"
    async with tapped(always(bare), tmp_path) as rig:
        assert await rig.raw(post()) == bare


@pytest.mark.parametrize("method", [b"DELETE", b"GET", b"OPTIONS"])
async def test_a_request_without_a_body_gets_none(tmp_path, method):
    async with tapped(pong, tmp_path) as rig:
        await rig.ask(get(method=method))
        assert rig.upstream.received == get(method=method)


async def test_a_content_length_of_zero_stays(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        sent = get(b"/mcp", b"Content-Length: 0", method=b"DELETE")
        await rig.ask(sent)
        assert rig.upstream.received == sent


async def test_hop_by_hop_fields_of_a_request_are_dropped_with_those_connection_names(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        await rig.ask(
            get(
                b"/mcp",
                b"Connection: keep-alive, X-Mine",
                b"Keep-Alive: timeout=5",
                b"X-Mine: gone",
                b"x-yours: stays",
                b"TE: trailers",
                b"Proxy-Connection: keep-alive",
            )
        )
        assert rig.upstream.received == get(b"/mcp", b"x-yours: stays")


async def test_hop_by_hop_fields_of_a_response_are_dropped(tmp_path):
    answer = ok(b"{}", b"connection: keep-alive", b"Keep-Alive: timeout=5", b"X-Stays: 1")
    async with tapped(always(answer), tmp_path) as rig:
        assert await rig.raw(post()) == ok(b"{}", b"X-Stays: 1")


async def test_connection_cannot_take_the_framing_out_of_a_message(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        answer = await rig.ask(post(PING, b"Connection: Content-Length, Host, close"))
        assert answer.status == 200
        assert rig.upstream.received == post(PING)


async def test_dropped_fields_are_in_the_record(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        await rig.ask(get(b"/mcp", b"Connection: close", b"TE: trailers"))
        await rig.stop()
        assert ("TE", "trailers") in rig.requests()[0].headers


@pytest.mark.parametrize("size", [12_000, 100_000])
async def test_a_long_field_passes_both_ways(tmp_path, size):
    long = b"X-Long: " + b"v" * size
    async with tapped(always(ok(b"{}", long)), tmp_path) as rig:
        answer = await rig.ask(post(PING, long))
        assert answer.get(b"x-long") == b"v" * size
        assert rig.upstream.received == post(PING, long)


async def test_two_hundred_fields_pass_both_ways(tmp_path):
    many = [b"X-%d: %d" % (n, n) for n in range(200)]
    async with tapped(always(ok(b"{}", *many)), tmp_path) as rig:
        answer = await rig.ask(post(PING, *many))
        assert answer.head + answer.body == ok(b"{}", *many)
        assert rig.upstream.received == post(PING, *many)


async def test_a_field_in_many_small_reads_passes_whole(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        client = await rig.client()
        for byte in post():
            await client.send(bytes([byte]))
        assert (await client.message()).status == 200
        assert rig.upstream.received == post()


@pytest.mark.parametrize(
    "target",
    [
        b"/mcp?x=1&y=%2F",
        b"/",
        b"//double//slash/../dots/./",
        b"/.well-known/oauth-protected-resource/mcp",
        b"/%7Bx%7D/%e4%b8%ad?q=a+b%20c&q=",
        b"/mcp?",
        b"http://127.0.0.1:4998/mcp?forward=proxy",
    ],
)
async def test_the_target_passes_raw(tmp_path, target):
    async with tapped(pong, tmp_path) as rig:
        await rig.ask(get(target))
        assert rig.upstream.received == get(target)
        await rig.stop()
        assert rig.requests()[0].path == target.decode()


async def test_a_star_target_passes(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        await rig.ask(get(b"*", method=b"OPTIONS"))
        assert rig.upstream.received == get(b"*", method=b"OPTIONS")


async def test_given_headers_replace_those_of_the_same_name(tmp_path):
    headers = [("authorization", "Bearer given"), ("X-New", "1")]
    async with tapped(pong, tmp_path, headers=headers) as rig:
        await rig.ask(get(b"/", b"Authorization: Bearer a", b"A: b", b"AUTHORIZATION: Bearer c"))
        assert rig.upstream.received == get(
            b"/", b"Authorization: Bearer given", b"A: b", b"X-New: 1"
        )
        await rig.stop()
        client, upstream = rig.requests()
        assert client.leg is None
        assert (upstream.leg, upstream.replaces) == ("upstream", client.seq)
        assert [n for n, _ in upstream.headers] == ["Host", "Authorization", "A", "X-New"]


async def test_heads_that_differ_each_time_are_not_all_remembered(tmp_path):
    """What is remembered of heads must stay small whatever clients send."""
    async with tapped(pong, tmp_path, record=False) as rig:
        client = await rig.client()
        for n in range(40):
            await client.send(get(b"/", b"X-Long: " + b"%08d" % n * 10_000))
            await client.message()
        kept = sum(len(v) for key in rig.run._tap.heads._exact for _, v in key)
        assert kept < 1 << 20
