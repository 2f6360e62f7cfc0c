"""A run made again: order, parallelism, what is held back, and a server that goes away."""

from __future__ import annotations

import asyncio
import json

import pytest
from msgspec import Raw

from mcp_tap.core.records import HttpRequest, Message
from tests.resending import Served, deployed, resent
from tests.traffic import META, Traffic, done


def calls(*names):
    traffic = Traffic()
    for name in names:
        traffic.call(name, done(name))
    return traffic


async def test_calls_go_out_in_the_recorded_order(tmp_path):
    capture = str(calls("c", "a", "b").write(tmp_path / "r.jsonl"))
    _, served = await resent(capture, lambda *_: done("x"))
    assert [params["name"] for params in served.params] == ["c", "a", "b"]


@pytest.mark.parametrize(("parallel", "most"), [("recorded", 2), ("one", 1)])
async def test_calls_that_overlapped_overlap_again_unless_one_at_a_time_is_wanted(
    tmp_path, parallel, most
):
    traffic = Traffic()
    for number in (1, 2):
        body = {"name": f"t{number}", "arguments": {}, **META}
        request = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": body}
        traffic.put(HttpRequest, exchange=number, conn=number, peer="127.0.0.1", method="POST",
                    path="/mcp", headers=[("mcp-protocol-version", "2026-07-28")])  # fmt: skip
        data = json.dumps(request).encode()
        traffic.put(Message, exchange=number, sender="client", body=Raw(data))
    for number in (1, 2):
        data = b'{"jsonrpc":"2.0","id":%d,"result":{"resultType":"complete"}}' % number
        traffic.put(Message, exchange=number, sender="server", body=Raw(data))
    busy, seen = set(), []

    def answer(method, params):
        async def slow(heard):
            busy.add(params["name"])
            seen.append(len(busy))
            for _ in range(5):
                await asyncio.sleep(0)
            busy.discard(params["name"])
            return done("x")

        return slow if method == "tools/call" else {"tools": []}

    await resent(str(traffic.write(tmp_path / "r.jsonl")), answer, parallel=parallel)
    assert max(seen) == most


async def test_tools_that_may_write_are_not_called_without_a_word(tmp_path):
    capture = str(calls("reads", "writes").write(tmp_path / "r.jsonl"))
    tools = [{"name": "reads", "annotations": {"readOnlyHint": True}}, {"name": "writes"}]
    run, served = await resent(
        capture, lambda m, _: {"tools": tools} if m == "tools/list" else done("x"), yes=False
    )
    assert [params["name"] for params in served.params] == ["reads"]
    assert [(p.item.cannot, bool(p.ids)) for p in run.played] == [(None, True), ("writes", False)]
    assert "--yes" in run.played[1].why


async def test_without_a_server_nothing_more_is_sent(tmp_path):
    capture = str(calls("a", "b", "c").write(tmp_path / "r.jsonl"))
    server = Served(lambda *_: done("x"))

    def answer(method, params):
        if method == "tools/call" and params["name"] == "b":
            server.gone = "the server exited with code 3"
        return done("x")

    server.answer = answer
    run, _ = await resent(capture, server)
    assert [params["name"] for params in server.params] == ["a", "b"]
    assert run.gone == "the server exited with code 3"
    assert [p.item.cannot for p in run.played] == [None, None, "gone"]


async def test_a_filter_chooses_what_is_sent(tmp_path):
    capture = str(calls("a", "b", "c").write(tmp_path / "r.jsonl"))
    run, served = await resent(capture, lambda *_: done("x"), wanted={2})
    assert [params["name"] for params in served.params] == ["b"]
    assert len(run.played) == 1


async def test_the_way_to_the_server_is_closed_at_the_end(tmp_path):
    _, served = await resent(deployed(tmp_path / "r.jsonl"), lambda *_: done("x"))
    assert served.closed
