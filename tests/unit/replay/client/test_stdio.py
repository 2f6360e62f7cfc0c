"""A server's process, spoken to and recorded."""

from __future__ import annotations

import asyncio
import json
import sys

import pytest

from mcp_tap.capture.reader import open_path
from mcp_tap.core.records import Footer, Message
from mcp_tap.replay.client import stdio
from mcp_tap.replay.client.peers import TooBig, Unreachable
from mcp_tap.replay.client.stdio import StdioPeer, recording
from tests.bounds import BOUND
from tests.peers.programs import HERE
from tests.resending import message

PLAIN = [sys.executable, str(HERE / "plain_stdio.py")]


def call(number, name, **arguments):
    params = {"name": name, "arguments": arguments, "_meta": {"progressToken": number}}
    return message({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})


async def test_requests_get_their_responses_and_what_came_before_them_and_all_is_recorded(tmp_path):
    capture = tmp_path / "r.jsonl"
    peer = StdioPeer(recording(PLAIN, capture), lambda _: None)
    await peer.start()
    heard = []
    try:
        async with asyncio.timeout(BOUND):
            first, second = await asyncio.gather(
                peer.ask(call(1, "progress", steps=2), heard.append),
                peer.ask(call(2, "where", region="eu"), pytest.fail),
            )
    finally:
        await peer.close()
    assert first.said.result["steps"] == 2
    assert second.said.result["region"] == "eu"
    assert [said.params["progress"] for said in heard] == [0, 1]
    records = list(open_path(capture))
    assert sum(type(record) is Message for record in records) == 6
    assert type(records[-1]) is Footer


async def test_a_server_that_dies_says_how_and_takes_no_more(tmp_path):
    words = []
    peer = StdioPeer(recording(PLAIN, tmp_path / "r.jsonl"), words.append)
    await peer.start()
    try:
        async with asyncio.timeout(BOUND):
            reply = await peer.ask(call(1, "die"), pytest.fail)
            assert reply.said is None
            assert reply.why == peer.gone == "the server exited with code 3"
            with pytest.raises(Unreachable, match="exited with code 3"):
                await peer.ask(call(2, "where"), pytest.fail)
    finally:
        await peer.close()


async def test_what_belongs_to_no_request_is_heard_by_who_listens(tmp_path):
    peer = StdioPeer(recording(PLAIN, tmp_path / "r.jsonl"), lambda _: None)
    await peer.start()
    heard = asyncio.Queue()
    try:
        async with asyncio.timeout(BOUND):
            await peer.listen(heard.put_nowait)
            note = {"jsonrpc": "2.0", "method": "notifications/shout"}
            await peer.tell(message(note))
            said = await heard.get()
    finally:
        await peer.close()
    assert said.method == "notifications/tools/list_changed"
    assert json.loads(said.data)


ENDLESS = """
import json, sys
for line in sys.stdin:
    said = json.loads(line)
    if said["params"]["name"] == "endless":
        try:
            while True:
                sys.stdout.write("x" * 65536)
        except OSError:
            break
    if said["params"]["name"] == "long":
        print("x" * (3 << 20))
    print(json.dumps({"jsonrpc": "2.0", "id": said["id"], "result": {}}), flush=True)
"""


async def test_a_line_without_end_is_given_up_as_too_big(monkeypatch):
    monkeypatch.setattr(stdio, "MOST_ANSWER", 1 << 20)
    monkeypatch.setattr(stdio, "GRACE", 0.1)
    peer = StdioPeer([sys.executable, "-c", ENDLESS], lambda _: None)
    await peer.start()
    try:
        async with asyncio.timeout(BOUND):
            for number in (1, 2):
                with pytest.raises(TooBig):
                    await peer.ask(call(number, "endless"), pytest.fail)
    finally:
        await peer.close()


async def test_after_a_line_that_was_too_long_the_next_is_heard(monkeypatch):
    monkeypatch.setattr(stdio, "MOST_ANSWER", 1 << 20)
    peer = StdioPeer([sys.executable, "-c", ENDLESS], lambda _: None)
    await peer.start()
    try:
        async with asyncio.timeout(BOUND):
            with pytest.raises(TooBig):
                await peer.ask(call(1, "long"), pytest.fail)
            reply = None
            while reply is None:  # the end of that line may still be on its way
                try:
                    reply = await peer.ask(call(2, "where"), pytest.fail)
                except TooBig:
                    continue
    finally:
        await peer.close()
    assert reply.said.result == {}
