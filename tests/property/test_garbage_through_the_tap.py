"""Whatever the two ends do to their bytes, the tap goes on and its capture adds up."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from mcp_tap.core.records import Closed, HttpRequest
from tests.bounds import until
from tests.rig import HOST, LAST_CHUNK, PING, PONG, SSE_HEAD, chunk, event, get, ok, post, tapped

REQUESTS = st.sampled_from(
    [
        post(),
        get(),
        get(method=b"HEAD"),
        post(PING, b"Connection: close"),
        post(PING, b"Expect: 100-continue"),
        post(PING, b"Connection: Upgrade", b"Upgrade: h2c"),
        b"POST /mcp HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n" + chunk(PING)
        + LAST_CHUNK,
        b"POST /mcp HTTP/1.0\r\n" + HOST + b"Content-Length: 40\r\n\r\n" + PING,
    ]
)  # fmt: skip
ANSWERS = st.sampled_from(
    [
        ok(),
        ok(PONG, b"Connection: close"),
        ok(b"", status=b"202 Accepted"),
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\nup to the end",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nA: b\r\n\r\n" + ok(),
        SSE_HEAD + chunk(event(PONG)) + LAST_CHUNK,
        ok() + ok(),
    ]
)
EDITS = st.lists(
    st.tuples(
        st.sampled_from(["flip", "drop", "double", "insert", "cut"]),
        st.floats(0, 1, exclude_max=True),
        st.sampled_from(
            [b"\r\n", b"\x00", b"Content-Length: 3\r\n", b":", b" ", b"0\r\n\r\n", b"\xff"]
        ),
    ),
    max_size=2,
)


def edited(data: bytes, edits) -> bytes:
    for kind, place, piece in edits:
        at = int(place * len(data))
        if kind == "flip" and data:
            data = data[:at] + bytes([data[at] ^ 0x21]) + data[at + 1 :]
        elif kind == "drop":
            data = data[:at] + data[at + 3 :]
        elif kind == "double":
            data = data[:at] + data[at : at + 20] * 2 + data[at + 20 :]
        elif kind == "insert":
            data = data[:at] + piece + data[at:]
        else:
            data = data[:at]
    return data


SIDES = st.lists(st.tuples(REQUESTS, EDITS, ANSWERS, EDITS), min_size=1, max_size=4)


@given(SIDES, st.sampled_from(["reset", "finish"]), st.booleans())
def test_every_exchange_ends_and_the_tap_goes_on(turns, end, pipelined):
    answers = iter([edited(answer, edits) for _, _, answer, edits in turns] * 3)

    async def scenario(folder: Path) -> None:
        async def handler(wire):
            while await wire.read():
                await wire.send(next(answers, ok()))

        async with tapped(handler, folder) as rig:
            client = await rig.client()
            with contextlib.suppress(OSError):
                for request, edits, _, _ in turns:
                    await client.send(edited(request, edits))
                    if not pipelined:
                        await asyncio.sleep(0.001)
                client.reset() if end == "reset" else client.finish()
            await client.close()
            await until(lambda: not rig.run._tap.clients)
            await rig.stop()
            begun = {r.exchange for r in rig.records(HttpRequest)}
            ended = [r.exchange for r in rig.records(Closed)]
            assert sorted(begun) == sorted(ended)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(scenario(Path(folder)))
