"""Servers that die and clients that leave in the middle of an answered call."""

from __future__ import annotations

import asyncio
import json

import pytest

from mcp_tap.proxy.answering import rounds
from tests.asking import (
    Server,
    answering,
    asks,
    asks_day,
    call,
    day,
    done,
    ends,
    form,
    request,
    streamed,
)
from tests.bounds import BOUND, until
from tests.rig import SSE_HEAD, chunk, ok, tapped


class Dies:
    """Asks once, and does something to the repeat."""

    def __init__(self, end, first=day):
        self.end = end
        self.first = first
        self.got = []

    async def __call__(self, wire):
        while True:
            message = await wire.message()
            self.got.append(message)
            if "inputResponses" in message.json["params"]:
                await self.end(wire, message.json["id"])
                return
            await wire.send(self.first(message.json["id"]))


async def closes(wire, number):
    await wire.close()


async def resets(wire, number):
    wire.reset()


async def stops_in_its_body(wire, number):
    await wire.send(done(number)[:-5])


async def speaks_nonsense(wire, number):
    await wire.send(b"what?\r\n\r\n")


async def stops_in_its_stream(wire, number):
    await wire.send(SSE_HEAD, chunk(ends(number)[:-9]))


ENDS = [closes, resets, stops_in_its_body, speaks_nonsense]


@pytest.mark.parametrize("end", ENDS)
async def test_a_server_that_dies_after_the_repeat_gets_it_once(tmp_path, end):
    server = Dies(end)
    async with tapped(server, tmp_path, answering=answering()) as rig:
        response = await rig.ask(call())
        assert response.status == 502
        assert response.get(b"mcp-tap-error") == b"upstream-lost"
        assert (response.json["id"], response.json["error"]["code"]) == (7, -32603)
        await rig.stop()
        assert len(server.got) == 2
        assert [c.how for c in rig.closed()] == ["upstream_cut", "upstream_cut"]
        (found,) = rig.view.calls.values()
        assert found.outcome == "error"


async def test_a_stream_that_was_begun_is_told_of_it_as_an_event(tmp_path):
    server = Dies(stops_in_its_stream)
    async with tapped(server, tmp_path, answering=answering()) as rig:
        response = await rig.ask(call())
        last = json.loads(response.body.strip().rpartition(b"data: ")[2])
        assert (last["id"], last["error"]["data"]["error"]) == (7, "upstream-lost")
        assert response.whole


async def test_a_cut_behind_the_result_is_passed_on_as_a_cut(tmp_path):
    async def cuts(wire, number):
        await wire.send(SSE_HEAD, chunk(ends(number)), b"ff\r\n")

    async with tapped(Dies(cuts), tmp_path, answering=answering()) as rig:
        response = await rig.ask(call())
        assert b'"resultType": "complete"' in response.body
        assert b"mcp-tap" not in response.body
        assert not response.whole


async def test_a_server_that_is_gone_for_the_repeat_is_told(tmp_path):
    rig_ = None

    async def server(wire):
        message = await wire.message()
        rig_.upstream._server.close()
        await wire.send(day(message.json["id"]).replace(b"\r\n", b"\r\nConnection: close\r\n", 1))

    async with tapped(server, tmp_path, answering=answering()) as rig:
        rig_ = rig
        response = await rig.ask(call())
        assert response.status == 502
        assert response.get(b"mcp-tap-error") == b"upstream-down"


@pytest.mark.parametrize("first", [day, streamed(b": hi\r\n\r\n", asks_day)])
async def test_a_client_that_leaves_ends_the_repeat(tmp_path, first):
    waiting = asyncio.Event()
    left = asyncio.Event()

    async def waits(wire, number):
        waiting.set()
        assert await wire.end()
        left.set()

    async with tapped(Dies(waits, first), tmp_path, answering=answering()) as rig:
        wire = await rig.client()
        await wire.send(call())
        await until(waiting.is_set)
        await wire.close()
        await until(left.is_set)
        await rig.stop()
        assert {(c.exchange, c.how) for c in rig.closed()} == {
            (1, "client_gone"),
            (2, "client_gone"),
        }
        (found,) = rig.view.calls.values()
        assert found.outcome == "cancelled"


async def test_a_client_that_leaves_before_a_state_is_repeated_ends_it(tmp_path, monkeypatch):
    monkeypatch.setattr(rounds, "_WAIT_FIRST", 2 * BOUND)
    monkeypatch.setattr(rounds, "_WAIT_MOST", 2 * BOUND)
    loop, pauses = asyncio.get_running_loop(), []
    call_later = loop.call_later

    def kept(delay, *rest):
        handle = call_later(delay, *rest)
        if delay == 2 * BOUND:
            pauses.append(handle)
        return handle

    monkeypatch.setattr(loop, "call_later", kept)

    def later(number):
        body = {"resultType": "input_required", "requestState": "wait"}
        return ok(json.dumps({"jsonrpc": "2.0", "id": number, "result": body}).encode())

    server = Server(later, done)
    async with tapped(server, tmp_path, answering=answering()) as rig:
        wire = await rig.client()
        await wire.send(call())
        await until(lambda: pauses)
        await wire.close()
        await until(lambda: all(pause.cancelled() for pause in pauses))
        assert (len(pauses), len(server.got)) == (1, 1)


async def test_the_tap_stops_in_the_middle_of_a_call(tmp_path):
    waiting = asyncio.Event()

    async def waits(wire, number):
        waiting.set()
        await wire.end()

    async with tapped(Dies(waits), tmp_path, answering=answering()) as rig:
        wire = await rig.client()
        await wire.send(call())
        await until(waiting.is_set)
        await rig.stop()
        assert {c.how for c in rig.closed()} == {"shutdown"}


async def test_200_parallel_calls_never_cross(tmp_path):
    script = "version = 1\n" + "".join(
        f'[[answer]]\nmatch = {{ key = "day-{n}" }}\ncontent = {{ day = "d{n}" }}\n'
        for n in range(200)
    )

    async def server(wire):
        while True:
            message = await wire.message()
            params = message.json["params"]
            who = params["arguments"]["who"]
            number = message.json["id"]
            key = f"day-{who}"
            if "inputResponses" not in params:
                asked = {key: form("d", day={"type": "string"})}
                await wire.send(ok(asks(number, state=f'"s{who}"', **asked)))
                continue
            given = params["inputResponses"][key]["content"]["day"]
            text = f"{who} {given} {params['requestState']}"
            body = {"resultType": "complete", "text": text}
            await wire.send(
                ok(json.dumps({"jsonrpc": "2.0", "id": number, "result": body}).encode())
            )

    async with tapped(server, tmp_path, answering=answering(script)) as rig:

        async def one(who):
            response = await rig.ask(call(request(1, arguments={"who": who})))
            assert response.json["id"] == 1
            return response.json["result"]["text"]

        got = await asyncio.gather(*[one(n) for n in range(200)])
        assert got == [f"{n} d{n} s{n}" for n in range(200)]
        await rig.stop()
        calls = rig.view.calls.values()
        assert len(calls) == 200
        assert {(c.outcome, len(c.rounds)) for c in calls} == {("ok", 2)}
        assert {r.link for c in calls for r in c.rounds[1:]} == {"state"}


async def test_sync_writes_before_it_sends(tmp_path):
    seen = []

    async def server(wire):
        while True:
            message = await wire.message()
            seen.append(b'"mcp-tap-1"' in (tmp_path / "run.jsonl").read_bytes())
            again = "inputResponses" in message.json["params"]
            await wire.send((done if again else day)(message.json["id"]))

    async with tapped(server, tmp_path, answering=answering(), sync=True) as rig:
        response = await rig.ask(call())
        assert response.json["id"] == 7
        assert seen == [False, True]


async def test_a_server_that_never_ends_its_stream_behind_an_ask_is_left(tmp_path):
    left = asyncio.Event()

    async def server(wire):
        message = await wire.message()
        if "inputResponses" in message.json["params"]:
            await wire.send(done(message.json["id"]))
            return
        asking = asks(message.json["id"], day=form("day", day={"type": "string"}))
        await wire.send(SSE_HEAD, chunk(b"data: " + asking + b"\n\n"))
        assert await wire.end()
        left.set()

    async with tapped(server, tmp_path, answering=answering()) as rig:
        response = await rig.ask(call())
        assert b'"done"' in response.body
        await until(left.is_set)
