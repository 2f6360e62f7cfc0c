"""Whatever a peer sends as a payload passes unchanged, is recorded, and breaks nothing."""

from __future__ import annotations

import asyncio
from hashlib import sha256

import pytest

from mcp_tap.core.records import Body, Message
from tests.bounds import until
from tests.handlers import once
from tests.rig import HOST, LAST_CHUNK, PONG, SSE_HEAD, always, chunk, event, ok, pong, post, tapped

DEPTH = 100_000
TO_ARGUMENTS = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":'
ODD = {
    "malformed": b'{"jsonrpc":"2.0","id":1,"method":',
    "trailing comma": b'{"jsonrpc":"2.0",}',
    "two values": b'{"jsonrpc":"2.0"} {"jsonrpc":"2.0"}',
    "wrong UTF-8": b'{"jsonrpc":"2.0","method":"\xff\xfe"}',
    "encoded surrogate": b'{"jsonrpc":"2.0","method":"\xed\xa0\x80"}',
    "lone surrogate": b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}',
    "1e400": b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"n":1e400}}',
    "NaN": b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"n":NaN}}',
    "duplicate keys": b'{"jsonrpc":"2.0","id":1,"id":2,"method":"a","method":"b"}',
    "long integer": b'{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"m"}',
    "CRLF inside": b'{\r\n  "jsonrpc": "2.0",\r\n  "id": 1,\r\n  "method": "m"\r\n}\r\n',
    "byte order mark": b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"m"}',
    "odd ids": b'{"jsonrpc":"2.0","id":{"a":[null]},"method":["m"]}',
    "odd method": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1,"x"]}',
    "odd name": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":{"a":1}}}',
    "number": b"5",
    "null": b"null",
    "string": b'"\\u0000\\u001b[31m"',
    "empty list": b"[]",
    "odd list": b'[1,null,[],{"jsonrpc":5}]',
    "deep": b"[" * DEPTH + b"]" * DEPTH,
    "deep objects": b'{"a":' * DEPTH + b"1" + b"}" * DEPTH,
    "deep message": TO_ARGUMENTS + b"[" * 700 + b"]" * 700 + b"}}",
    "deeper message": TO_ARGUMENTS + b'{"a":' * 3000 + b"1" + b"}" * 3000 + b"}}",
    "zero bytes": bytes(1000),
    "odd versions": b'{"jsonrpc":2,"id":1,"method":"initialize","params":{"protocolVersion":{},'
    b'"clientInfo":[],"capabilities":1,"_meta":5}}',
    "odd result": b'{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required",'
    b'"inputRequests":[1],"requestState":{}}}',
    "odder result": b'{"jsonrpc":"2.0","id":1,"result":{"resultType":5,'
    b'"inputRequests":{"a":null,"b":{"method":1}},"requestState":""}}',
    "odd error": b'{"jsonrpc":"2.0","id":1,"error":"oops"}',
    "odd notification": b'{"jsonrpc":"2.0","method":"notifications/cancelled",'
    b'"params":{"requestId":[]}}',
    "odd progress": b'{"jsonrpc":"2.0","method":"notifications/progress",'
    b'"params":{"progressToken":{}}}',
    "odd answers": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x",'
    b'"inputResponses":[],"requestState":7}}',
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD.keys())
@pytest.mark.parametrize("settings", [{}, {"redact": ["key:zzz", "value:zzz", "path:$..zzz"]}])
async def test_odd_payloads_pass_both_ways_unchanged_and_are_recorded(tmp_path, odd, settings):
    async def handler(wire):
        while True:
            request = await wire.message()
            assert request.body == odd
            await wire.send(ok(odd))

    async with tapped(handler, tmp_path, **settings) as rig:
        client = await rig.client()
        for _ in range(2):
            await client.send(post(odd))
            assert (await client.message()).body == odd
        await rig.stop()
        too_deep = settings and odd.count(b"{") + odd.count(b"[") > 400
        for record in rig.records(Message, Body):
            assert record.payload() == odd or too_deep
        assert len(rig.records(Message, Body)) == 4
        assert [c.how for c in rig.closed()] == ["complete"] * 2
        digests = {d.sha256 for c in rig.closed() for d in (c.request, c.response)}
        assert digests == {sha256(odd).hexdigest()}


@pytest.mark.parametrize(
    "odd", [v for v in ODD.values() if b"\n" not in v], ids=[k for k in ODD if k != "CRLF inside"]
)
async def test_odd_events_pass_unchanged_and_are_recorded(tmp_path, odd):
    stream = event(odd) + b"data: " + odd + b"\n\n"

    async with tapped(once(SSE_HEAD, chunk(stream), LAST_CHUNK), tmp_path) as rig:
        assert (await rig.ask(post())).body == stream
        await rig.stop()
        server = [r.payload() for r in rig.records(Message, Body) if r.sender == "server"]
        assert server == [odd, odd]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
async def test_data_over_several_lines_is_one_message(tmp_path, end):
    lines = [b"{", b'"jsonrpc":"2.0",', b"", b'"id":7,"result":{}}']
    stream = end.join(b"data: " + line for line in lines) + end + end

    async with tapped(once(SSE_HEAD, chunk(stream), LAST_CHUNK), tmp_path) as rig:
        assert (await rig.ask(post())).body == stream
        await rig.stop()
        assert rig.messages()[-1].payload() == b"\n".join(lines)


async def test_characters_cut_between_chunks_pass_and_are_recorded_whole(tmp_path):
    text = '{"jsonrpc":"2.0","id":7,"result":{"t":"Продовжити? 続けますか 🙂"}}'.encode()
    stream = event(text)

    async def handler(wire):
        await wire.message()
        await wire.send(SSE_HEAD)
        for byte in stream:
            await wire.send(chunk(bytes([byte])))
        await wire.send(LAST_CHUNK)

    async with tapped(handler, tmp_path) as rig:
        assert (await rig.ask(post())).body == stream
        await rig.stop()
        assert rig.messages()[-1].payload() == text


@pytest.mark.parametrize("last", [b"\n", b""])
async def test_an_event_without_its_last_line_break_is_recorded_as_cut(tmp_path, last):
    stream = b"data: " + PONG + last

    async with tapped(once(SSE_HEAD, chunk(stream), LAST_CHUNK), tmp_path) as rig:
        assert (await rig.ask(post())).body == stream
        await rig.stop()
        (cut,) = rig.records(Body)
        assert (cut.payload(), cut.truncated) == (PONG, True)
        assert rig.closed()[0].how == "complete"


@pytest.mark.parametrize("kind", ["json", "event", "comment", "field", "no line"])
async def test_a_line_of_100_megabytes_passes_and_is_recorded_in_part(tmp_path, kind):
    piece = b"x" * (1 << 20)
    starts = {"json": b'{"a":"', "event": b"data: ", "comment": b": ", "field": b"id: "}
    start = starts.get(kind, b"x")
    end = b'"}' if kind == "json" else b"\r\n\r\n"
    head = (
        SSE_HEAD if kind != "json" else SSE_HEAD.replace(b"text/event-stream", b"application/json")
    )
    total = sha256(start)

    async def handler(wire):
        await wire.message()
        await wire.send(head, chunk(start))
        for _ in range(100):
            await wire.send(chunk(piece))
        await wire.send(chunk(end), LAST_CHUNK)

    async with tapped(handler, tmp_path) as rig:
        client = await rig.client(keep=False)
        await client.send(post())
        assert (await client.head()).status == 200
        size, data = 0, b""
        while not data.endswith(LAST_CHUNK):
            data = await client.read()
            size += len(data)
        assert size > 100 << 20
        for _ in range(100):
            total.update(piece)
        total.update(end)
        await rig.stop()
        assert rig.closed()[0].response.sha256 == total.hexdigest()
        assert rig.closed()[0].how == "complete"
        assert len(rig.capture_bytes()) < 1 << 20


async def test_a_request_of_100_megabytes_passes(tmp_path):
    piece = b"x" * (1 << 20)
    received = sha256()

    async def handler(wire):
        await wire.head()
        left = 100 << 20
        while left:
            data = await wire.read()
            received.update(data)
            left -= len(data)
        await wire.send(ok())

    async with tapped(handler, tmp_path, keep=False) as rig:
        client = await rig.client()
        await client.send(
            b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % (100 << 20)
        )
        for _ in range(100):
            await client.send(piece)
        assert (await client.message()).status == 200
        await rig.stop()
        assert rig.closed()[0].request.sha256 == received.hexdigest()
        (body,) = [r for r in rig.records(Body, Message) if r.sender == "client"]
        assert (body.size, body.sha256) == (100 << 20, received.hexdigest())


async def test_a_storm_of_garbage_leaves_a_working_tap_and_a_readable_capture(tmp_path):
    storm = [
        b"\x00" * 100,
        b"GET",
        b"GET / HTTP/1.1\r\nHost",
        b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 10\r\n\r\nabc",
        b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n5\r\nab",
        b"\r\n\r\n\r\n\r\n",
        post() * 3 + b"garbage",
        b"\xff" * 5000,
    ]
    async with tapped(pong, tmp_path) as rig:
        for n, data in enumerate(storm * 5):
            client = await rig.client()
            await client.send(data)
            client.reset() if n % 2 else await client.close()
        await until(lambda: not rig.run._tap.clients)
        assert (await rig.ask(post())).body == PONG
        await rig.stop()
        assert {r.exchange for r in rig.requests()} == {c.exchange for c in rig.closed()}


async def test_resets_of_both_sides_at_once_leave_a_working_tap(tmp_path):
    async def handler(wire):
        await wire.message()
        await wire.send(SSE_HEAD, chunk(event(PONG)))
        await asyncio.sleep(0)
        wire.reset()

    async with tapped(handler, tmp_path) as rig:
        for n in range(40):
            client = await rig.client()
            await client.send(post())
            if n % 2:
                await client.head()
            client.reset()
        await until(lambda: not rig.run._tap.clients)
        await rig.stop()
        assert {c.how for c in rig.closed()} <= {"client_gone", "upstream_cut"}


async def test_answers_nobody_can_place_are_passed_and_kept(tmp_path):
    stray = b'{"jsonrpc":"2.0","id":"never asked","result":{}}'
    async with tapped(always(ok(stray)), tmp_path) as rig:
        assert (await rig.ask(post())).body == stray
        await rig.stop()
        assert rig.messages()[-1].payload() == stray
