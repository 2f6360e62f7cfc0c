"""Bytes out are bytes in, for any payload in any cut, both ways; the record proves it."""

from __future__ import annotations

import asyncio
import tempfile
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from mcp_tap.core.records import Body, Message, Noise
from tests.rig import HOST, LAST_CHUNK, chunk, tapped

PAYLOADS = st.one_of(
    st.binary(max_size=3_000),
    st.sampled_from([b"{}", b'{"jsonrpc":"2.0","id":1,"method":"m"}', b"0\r\n\r\n", b"\r\n"]),
    st.builds(lambda n, b: bytes([b]) * n, st.integers(0, 400_000), st.integers(0, 255)),
)
EVENTS = st.lists(
    st.sampled_from([b"data: {}\n\n", b": ping\r\n\r\n", b"id: 1\rdata: \xd0\xb4\r\r", b"data: x"]),
    max_size=6,
).map(b"".join)
CUTS = st.lists(st.floats(0, 1, exclude_max=True), max_size=6)
TYPES = st.sampled_from([b"application/json", b"text/event-stream", b"text/plain"])


def cut(data: bytes, places: list[float]) -> list[bytes]:
    at = sorted({0, len(data), *(int(p * len(data)) for p in places)})
    return [data[a:b] for a, b in pairwise(at)]


def framed(start: bytes, payload: bytes, cuts: list[float], *, chunked: bool) -> bytes:
    if not chunked:
        return start + b"Content-Length: %d\r\n\r\n%b" % (len(payload), payload)
    pieces = b"".join(chunk(piece) for piece in cut(payload, cuts) if piece)
    return start + b"Transfer-Encoding: chunked\r\n\r\n" + pieces + LAST_CHUNK


WAYS = st.tuples(PAYLOADS, CUTS, CUTS, st.booleans())


@given(st.lists(st.tuples(WAYS, WAYS, TYPES), min_size=1, max_size=3), st.booleans())
def test_payloads_pass_whole_however_they_are_cut(turns, sync):  # noqa: C901 (two ends and a check)
    async def scenario(folder: Path) -> None:
        waiting = iter(turns)

        async def handler(wire):
            while True:
                request = await wire.message()
                (payload, _, _, _), (answer, cuts, writes, chunked), kind = next(waiting)
                assert request.body == payload
                start = b"HTTP/1.1 200 OK\r\nContent-Type: " + kind + b"\r\n"
                for piece in cut(framed(start, answer, cuts, chunked=chunked), writes):
                    await wire.send(piece)
                    await asyncio.sleep(0)

        async with tapped(handler, folder, sync=sync) as rig:
            client = await rig.client()
            for (payload, cuts, writes, chunked), (answer, _, _, _), kind in turns:
                start = b"POST /mcp HTTP/1.1\r\nContent-Type: " + kind + b"\r\n" + HOST
                for piece in cut(framed(start, payload, cuts, chunked=chunked), writes):
                    await client.send(piece)
                    await asyncio.sleep(0)
                assert (await client.message()).body == answer
            await rig.stop()
            closed = rig.closed()
            assert [c.how for c in closed] == ["complete"] * len(turns)
            for seen, ((payload, _, _, _), (answer, _, _, _), _) in zip(closed, turns, strict=True):
                for digest, sent in ((seen.request, payload), (seen.response, answer)):
                    assert digest.bytes == len(sent)
                    assert digest.sha256 == sha256(sent).hexdigest()
            for number, ((payload, _, _, _), (answer, _, _, _), kind) in enumerate(turns, 1):
                records = rig.of(number, Message, Body, Noise)
                sent = [r.payload() for r in records if r.sender == "client"]
                assert b"".join(sent) == payload
                if kind != b"text/event-stream":
                    got = [r.payload() for r in records if r.sender == "server"]
                    assert b"".join(got) == answer

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(scenario(Path(folder)))


@given(EVENTS, CUTS, CUTS, st.floats(0, 1))
def test_streams_pass_as_far_as_they_came_however_they_break(stream, cuts, writes, part):
    """The client has every byte that came before the upstream broke off, and sees the break."""
    whole = framed(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n", stream, cuts, chunked=True
    )
    head = whole.index(b"\r\n\r\n") + 4
    sent = whole[: head + int((len(whole) - head - 1) * part)]

    async def scenario(folder: Path) -> None:
        async def handler(wire):
            await wire.message()
            for piece in cut(sent, writes):
                await wire.send(piece)
                await asyncio.sleep(0)

        async with tapped(handler, folder) as rig:
            client = await rig.client()
            await client.send(b"GET /mcp HTTP/1.1\r\n" + HOST + b"\r\n")
            answer = await client.message()
            assert not answer.whole
            await rig.stop()
            (closed,) = rig.closed()
            assert closed.how == "upstream_cut"
            assert stream.startswith(answer.body)
            assert b"".join(_data(bytes(client.received))) == stream[: closed.response.bytes]
            assert closed.response.sha256 == sha256(stream[: closed.response.bytes]).hexdigest()
            assert closed.response.bytes >= len(answer.body)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(scenario(Path(folder)))


def _data(received: bytes) -> list[bytes]:
    """Take chunks apart, the last of which may be cut."""
    rest = received.partition(b"\r\n\r\n")[2]
    found = []
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        found.append(rest[: int(size or b"0", 16)])
        rest = rest[len(found[-1]) + 2 :]
    return found
