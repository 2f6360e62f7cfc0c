"""Pages of foreign origin cannot speak to the tap."""

from __future__ import annotations

import pytest

from tests.rig import PING, get, pong, post, tapped


def request(*lines: bytes, body: bytes = b"") -> bytes:
    block = b"".join(line + b"\r\n" for line in lines)
    if body:
        block += b"Content-Length: %d\r\n" % len(body)
    return b"POST /mcp HTTP/1.1\r\n%b\r\n%b" % (block, body)


@pytest.mark.parametrize(
    "lines",
    [
        [b"Host: evil.example"],
        [b"Host: evil.example:7777"],
        [b"Host: 127.0.0.1.evil.example"],
        [b"Host: localhost.evil.example"],
        [b"Host: 192.168.0.1"],
        [b"Host: [2001:db8::1]:80"],
        [b"Host: "],
        [b"Host: 127.0.0.1", b"Host: 127.0.0.1"],
        [b"Host: 127.0.0.1", b"host: evil.example"],
        [b"Host: 127.0.0.1", b"Origin: https://evil.example"],
        [b"Host: 127.0.0.1", b"Origin: null"],
        [b"Host: 127.0.0.1", b"Origin: http://127.0.0.1", b"Origin: http://evil.example"],
        [b"Host: 127.0.0.1", b"Origin: http://evil.example", b"Origin: http://127.0.0.1"],
        [b"Host: 127.0.0.1", b"Origin: "],
        [b"Host: 127.0.0.1", b"Origin: file://"],
        [b"Host: 127.0.0.1", b"Origin: http://127.0.0.1@evil.example"],
    ],
)
async def test_foreign_hosts_and_origins_are_refused_and_recorded(tmp_path, lines):
    async with tapped(pong, tmp_path) as rig:
        answer = await rig.ask(request(*lines, body=PING))
        assert answer.status == 403
        assert answer.get(b"mcp-tap-error") == b"foreign-host"
        assert answer.json["id"] == 7
        assert answer.json["error"]["message"].startswith("mcp-tap: ")
        assert rig.upstream.connections == []
        await rig.stop()
        (response,), (decision,), (closed,) = rig.responses(), rig.decisions(), rig.closed()
        assert (response.status, response.sender) == (403, "tap")
        assert (decision.hook, decision.verdict) == ("tap", "foreign-host")
        assert closed.how == "refused"


@pytest.mark.parametrize(
    "lines",
    [
        [b"Host: 127.0.0.1"],
        [b"Host: localhost"],
        [b"Host: LOCALHOST:1"],
        [b"Host: app.localhost:3000"],
        [b"Host: 127.8.8.8:65535"],
        [b"Host: [::1]"],
        [b"Host: [::1]:7777"],
        [b"Host: 127.0.0.1:1", b"Origin: http://localhost:5173"],
        [b"Host: 127.0.0.1:1", b"Origin: https://127.0.0.1"],
        [b"Host: 127.0.0.1:1", b"Origin: http://[::1]:8080"],
    ],
)
async def test_this_machines_names_pass_with_any_port(tmp_path, lines):
    async with tapped(pong, tmp_path) as rig:
        answer = await rig.ask(request(*lines, body=PING))
        assert answer.status == 200


@pytest.mark.parametrize(
    ("allowed", "lines", "status"),
    [
        ({"allow_host": ["tap.example"]}, [b"Host: TAP.example:7777"], 200),
        ({"allow_host": ["tap.example:80"]}, [b"Host: tap.example:7777"], 200),
        ({"allow_host": ["*.example"]}, [b"Host: a.example"], 200),
        ({"allow_host": ["*.example"]}, [b"Host: a.example.org"], 403),
        ({"allow_host": ["*"]}, [b"Host: evil.example"], 200),
        ({"allow_host": ["*"]}, [b"Host: evil.example", b"Origin: null"], 403),
        ({"allow_origin": ["https://a.io"]}, [b"Host: [::1]", b"Origin: https://A.io"], 200),
        ({"allow_origin": ["https://a.io"]}, [b"Host: [::1]", b"Origin: http://a.io"], 403),
        ({"allow_origin": ["*"]}, [b"Host: [::1]", b"Origin: null"], 200),
        ({"allow_origin": ["*"]}, [b"Host: evil.example", b"Origin: null"], 403),
    ],
)  # fmt: skip
async def test_lists_widen_what_may_speak(tmp_path, allowed, lines, status):
    async with tapped(pong, tmp_path, **allowed) as rig:
        assert (await rig.ask(request(*lines, body=PING))).status == status


async def test_a_refusal_without_an_id_is_plain_text(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        answer = await rig.ask(b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n")
        assert answer.get(b"content-type") == b"text/plain; charset=utf-8"
        assert b"evil.example" in answer.body


async def test_the_answer_to_a_refused_head_request_has_no_body(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        client = await rig.client()
        await client.send(b"HEAD / HTTP/1.1\r\nHost: evil.example\r\n\r\n", get())
        assert (await client.message(no_body=True)).status == 403
        assert (await client.message()).status == 200


async def test_a_refused_client_waiting_for_100_continue_is_told_at_once(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        client = await rig.client()
        await client.send(
            b"POST / HTTP/1.1\r\nHost: evil.example\r\nExpect: 100-continue\r\n"
            b"Content-Length: 5\r\n\r\n"
        )
        assert (await client.message()).status == 403


async def test_a_refusal_keeps_the_connection_for_the_next_request(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        client = await rig.client()
        await client.send(request(b"Host: evil.example", body=PING))
        assert (await client.message()).status == 403
        await client.send(post())
        assert (await client.message()).status == 200


async def test_a_large_refused_body_is_answered_without_waiting_for_its_end(tmp_path):
    async with tapped(pong, tmp_path) as rig:
        client = await rig.client()
        await client.send(
            b"POST / HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 900000000\r\n\r\n",
            b"x" * (2 << 20),
        )
        answer = await client.message()
        assert (answer.status, answer.get(b"connection")) == (403, b"close")
        await client.end()
