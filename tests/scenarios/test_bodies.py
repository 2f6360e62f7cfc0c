"""Payloads and statuses pass untouched, whatever they are."""

from __future__ import annotations

from hashlib import sha256

import pytest

from mcp_tap.core.records import Body, Message
from tests.handlers import early
from tests.rig import HOST, PING, PONG, always, chunk, get, ok, pong, post, tapped

RPC_ERROR = b'{"jsonrpc":"2.0","error":{"code":-32020,"message":"no"},"id":null}'


@pytest.mark.parametrize(
    "answer",
    [
        ok(RPC_ERROR, status=b"400 Bad Request"),
        ok(RPC_ERROR, status=b"404 Not Found"),
        ok(PONG, status=b"200 "),
        b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n",
        b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer x=y\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 405 Method Not Allowed\r\nAllow: POST\r\nContent-Length: 2\r\n\r\nno",
        b"HTTP/1.1 406 Not Acceptable\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 421 Misdirected Request\r\nContent-Length: 19\r\n\r\nInvalid Host header",
        b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 4\r\n\r\noops",
        b"HTTP/1.1 599 Whatever This Is\r\nContent-Length: 0\r\n\r\n",
    ],
)
async def test_status_and_body_pass_untouched(tmp_path, answer):
    async with tapped(always(answer), tmp_path) as rig:
        client = await rig.client()
        for _ in range(2):
            await client.send(post())
            await client.message()
        assert client.received == answer * 2
        await rig.stop()
        assert [c.how for c in rig.closed()] == ["complete"] * 2
        assert {r.status for r in rig.responses()} == {int(answer[9:12])}


@pytest.mark.parametrize("chunked", [False, True])
async def test_five_megabytes_pass_both_ways_and_are_recorded_whole(tmp_path, chunked):
    big = b'{"jsonrpc":"2.0","id":1,"method":"m","params":"' + b"x" * (5 << 20) + b'"}'
    framed = chunk(big) + b"0\r\n\r\n" if chunked else big
    framing = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: %d" % len(big)

    async def handler(wire):
        request = await wire.message()
        assert request.body == big
        await wire.send(b"HTTP/1.1 200 OK\r\n", framing, b"\r\n\r\n", framed)

    async with tapped(handler, tmp_path) as rig:
        answer = await rig.ask(b"POST / HTTP/1.1\r\n", HOST, framing, b"\r\n\r\n", framed)
        assert answer.body == big
        await rig.stop()
        assert [m.payload() for m in rig.records(Message)] == [big, big]
        (closed,) = rig.closed()
        assert closed.request.sha256 == closed.response.sha256 == sha256(big).hexdigest()


async def test_a_413_of_the_upstream_passes(tmp_path):
    """The limit that counts is the server's own; it answers with the whole body still to come."""

    async with tapped(
        early(ok(b"too large", b"Connection: close", status=b"413 Payload Too Large")), tmp_path
    ) as rig:
        answer = await rig.ask(post(b"x" * (5 << 20)))
        assert (answer.status, answer.body) == (413, b"too large")


async def test_a_body_beyond_the_cap_is_recorded_as_prefix_size_and_digest(tmp_path):
    big = b'{"jsonrpc":"2.0","id":1,"method":"m","params":"' + b"x" * 300_000 + b'"}'
    async with tapped(always(ok(big)), tmp_path, max_body=100_000) as rig:
        assert (await rig.ask(post(big))).body == big
        assert rig.upstream.received.endswith(big)
        await rig.stop()
        for record in rig.records(Message, Body):
            assert record.truncated
            assert (record.size, record.sha256) == (len(big), sha256(big).hexdigest())
            assert record.payload() == big[: 64 << 10]
        assert len(rig.records(Message, Body)) == 2


async def test_what_is_no_message_is_recorded_as_a_body_with_its_type(tmp_path):
    page = b"<html>no</html>"
    answer = (
        b"HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nContent-Length: 15\r\n\r\n" + page
    )
    async with tapped(always(answer), tmp_path) as rig:
        await rig.ask(get())
        await rig.stop()
        (body,) = rig.records(Body)
        assert (body.payload(), body.content_type, body.sender) == (page, "text/html", "server")


async def test_metadata_of_oauth_passes_untouched_and_is_a_body(tmp_path):
    metadata = (
        b'{"resource":"http://127.0.0.1:1/mcp","authorization_servers":["http://127.0.0.1:2"]}'
    )
    async with tapped(always(ok(metadata)), tmp_path) as rig:
        answer = await rig.ask(get(b"/.well-known/oauth-protected-resource/mcp"))
        assert answer.body == metadata
        await rig.stop()
        assert [b.payload() for b in rig.records(Body)] == [metadata]
        assert rig.messages() == []


async def test_records_of_an_exchange_come_in_the_order_of_the_wire(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        await rig.ask(post())
        await rig.stop()
        kinds = [type(r).__name__ for r in rig.records()]
        assert kinds == [
            "Header", "HttpRequest", "Message", "HttpResponse", "Message", "Closed", "Footer",
        ]  # fmt: skip
        request, answer = rig.messages()
        assert (request.sender, request.payload()) == ("client", PING)
        assert (answer.sender, answer.payload()) == ("server", PONG)
        assert rig.view.header == rig.records()[0]
        (call,) = rig.view.calls.values() or rig.view.exchanges.values()
        assert call.outcome == "ok"


async def test_the_time_of_an_exchange_is_told(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        await rig.ask(post())
        await rig.stop()
        (request,), (closed,) = rig.requests(), rig.closed()
        assert request.t <= closed.sent <= closed.first_byte <= closed.t
        assert 0 < closed.held <= closed.sent - request.t + 1e-5
