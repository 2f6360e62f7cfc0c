"""Rounds answered by the tap on event streams: what passes at once, and what is held."""

from __future__ import annotations

import asyncio
import gzip
import json

from mcp_tap.core.records import Body, HttpResponse, Message
from mcp_tap.proxy.answering import exchange, repeat
from tests.asking import (
    Server,
    answering,
    asks,
    asks_day,
    asks_seat,
    call,
    day,
    done,
    ends,
    form,
    progress,
    result,
    streamed,
)
from tests.bounds import until
from tests.rig import LAST_CHUNK, SSE_HEAD, always, chunk, event, ok, tapped

MIB5 = 5 << 20


def events(body):
    """Give the data of the events of a stream, parsed."""
    blocks = body.replace(b"\r\n", b"\n").split(b"\n\n")
    lines = [line for block in blocks for line in block.split(b"\n")]
    return [json.loads(line[6:]) for line in lines if line.startswith(b"data: ")]


async def test_progress_of_every_round_reaches_the_client_and_no_ask_does(tmp_path):
    server = Server(
        streamed(progress(1), asks_day),
        streamed(progress(2), b": still there\r\n\r\n", asks_seat),
        streamed(progress(3), ends),
    )
    async with tapped(server, tmp_path, answering=answering()) as rig:
        response = await rig.ask(call())
        assert response.whole
        told = events(response.body)
        assert [e["params"]["progress"] for e in told[:-1]] == [1, 2, 3]
        assert told[-1] == json.loads(result(7))
        assert b": still there\r\n\r\n" in response.body
        assert b"input_required" not in response.body
        await rig.stop()
        (found,) = rig.view.calls.values()
        assert (found.outcome, len(found.rounds)) == ("ok", 3)
        assert [r.progress for r in found.rounds] == [1, 1, 1]
        assert [r.leg for r in rig.of(1, HttpResponse)] == [None]
        legs = [(m.sender, m.leg, m.replaces is not None) for m in rig.of(1, Message)[2:]]
        assert legs == [
            ("server", None, False),
            ("server", "upstream", False),
            ("server", "client", True),
            ("server", "client", True),
            ("server", "client", True),
        ]


async def test_events_before_the_ask_pass_while_the_server_is_still_working(tmp_path):
    go = asyncio.Event()
    rounds = []

    async def server(wire):
        while True:
            message = await wire.message()
            rounds.append(message.json)
            number = message.json["id"]
            if len(rounds) == 1:
                await wire.send(SSE_HEAD, chunk(progress(1)))
                await go.wait()
                await wire.send(chunk(asks_day(number)), LAST_CHUNK)
            else:
                await wire.send(SSE_HEAD, chunk(progress(2)))
                await go.wait()
                await wire.send(chunk(ends(number)), LAST_CHUNK)

    async with tapped(server, tmp_path, answering=answering()) as rig:
        wire = await rig.client()
        await wire.send(call())
        await wire.until(b'"progress": 1')
        go.set()
        await wire.until(b'"progress": 2')
        await wire.until(LAST_CHUNK)


async def test_a_stream_that_is_open_gets_a_json_result_as_an_event(tmp_path):
    server = Server(streamed(progress(1), asks_day), done)
    async with tapped(server, tmp_path, answering=answering()) as rig:
        response = await rig.ask(call())
        assert events(response.body)[1:] == [json.loads(result(7))]
        assert response.whole


async def test_a_json_ask_may_be_followed_by_a_stream(tmp_path):
    server = Server(day, streamed(progress(1), asks_seat), streamed(ends))
    async with tapped(server, tmp_path, answering=answering()) as rig:
        response = await rig.ask(call())
        assert response.get(b"content-type") == b"text/event-stream"
        assert events(response.body)[-1] == json.loads(result(7))
        await rig.stop()
        heads = rig.of(1, HttpResponse)
        assert [h.leg for h in heads] == ["upstream", "client"]
        assert heads[1].replaces == rig.of(2, HttpResponse)[0].seq


async def test_an_event_cut_anywhere_is_whole_again(tmp_path):
    turns = iter((asks_day, ends))

    async def server(wire):
        while True:
            message = await wire.message()
            data = progress(1) + next(turns)(message.json["id"])
            await wire.send(SSE_HEAD)
            for i in range(0, len(data), 7):
                await wire.send(chunk(data[i : i + 7]))
                await asyncio.sleep(0)
            await wire.send(LAST_CHUNK)

    async with tapped(server, tmp_path, answering=answering()) as rig:
        response = await rig.ask(call())
        assert len(events(response.body)) == 3


async def test_a_stream_with_a_length_is_passed_on_without_one(tmp_path):
    def sized(*parts):
        def turn(number):
            body = b"".join(part(number) if callable(part) else part for part in parts)
            head = (
                b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n"
            )
            return head % len(body) + body

        return turn

    server = Server(sized(progress(1), asks_day), sized(progress(2), ends))
    async with tapped(server, tmp_path, answering=answering()) as rig:
        response = await rig.ask(call())
        assert response.get(b"content-length") is None
        assert [e.get("id") for e in events(response.body)] == [None, None, 7]
        await rig.stop()
        heads = rig.of(1, HttpResponse)
        assert [h.leg for h in heads] == ["upstream", "client"]


async def test_coded_responses_are_read_and_passed_on_as_they_came(tmp_path):
    def zipped(body):
        return ok(gzip.compress(body), b"Content-Encoding: gzip")

    plain = zipped(result(7))

    async with tapped(always(plain), tmp_path, answering=answering()) as rig:
        response = await rig.ask(call())
        assert response.body == plain.partition(b"\r\n\r\n")[2]

    def asks(number):
        return zipped(day(number).partition(b"\r\n\r\n")[2])

    def last(number):
        return zipped(result(number))

    (tmp_path / "two").mkdir()
    async with tapped(Server(asks, last), tmp_path / "two", answering=answering()) as rig:
        response = await rig.ask(call())
        assert response.get(b"content-encoding") is None
        assert response.json == json.loads(result(7))


async def test_a_coded_stream_is_passed_on_decoded(tmp_path):
    def coded(*parts):
        def turn(number):
            body = b"".join(part(number) if callable(part) else part for part in parts)
            head = SSE_HEAD.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n")
            return head + chunk(gzip.compress(body)) + LAST_CHUNK

        return turn

    server = Server(coded(progress(1), asks_day), coded(progress(2), ends))
    async with tapped(server, tmp_path, answering=answering()) as rig:
        response = await rig.ask(call())
        assert response.get(b"content-encoding") is None
        assert [e.get("id") for e in events(response.body)] == [None, None, 7]
        await rig.stop()
        (found,) = rig.view.calls.values()
        assert (found.outcome, len(found.rounds)) == ("ok", 2)


async def test_what_follows_the_result_belongs_to_the_stream(tmp_path):
    server = Server(day, streamed(ends, b": bye\n\n"))
    async with tapped(server, tmp_path, answering=answering()) as rig:
        response = await rig.ask(call())
        assert response.body.endswith(b": bye\n\n")


async def test_a_client_that_reads_slowly_lets_the_server_wait(tmp_path):
    big = event(json.dumps({"jsonrpc": "2.0", "method": "x", "params": "y" * 200_000}).encode())
    sent = []

    async def server(wire):
        message = await wire.message()
        await wire.send(day(message.json["id"]))
        message = await wire.message()
        await wire.send(SSE_HEAD)
        for _ in range(100):
            await wire.send(chunk(big))
            sent.append(len(big))
        await wire.send(chunk(ends(message.json["id"])), LAST_CHUNK)

    async with tapped(server, tmp_path, answering=answering(), keep=False) as rig:
        wire = await rig.client(keep=False)
        await wire.send(call())
        await until(lambda: sent)
        seen = -1
        while seen != len(sent):
            seen = len(sent)
            await asyncio.sleep(0.2)
        assert len(sent) < 75
        response = await wire.message()
        assert response.whole
        assert len(sent) == 100


async def test_an_event_of_several_lines_keeps_its_other_fields(tmp_path):
    def lines(number):
        data = json.dumps(json.loads(result(number)), indent=1).encode().split(b"\n")
        return b"id: 5\r\n" + b"".join(b"data: " + x + b"\r\n" for x in data) + b"retry: 9\r\n\r\n"

    async with tapped(Server(day, streamed(lines)), tmp_path, answering=answering()) as rig:
        body = (await rig.ask(call())).body
        assert b"id: 5\r\n" in body
        assert b"retry: 9\r\n" in body
        data = b"\n".join(x[6:] for x in body.split(b"\r\n") if x.startswith(b"data: "))
        assert json.loads(data) == json.loads(result(7))


async def test_what_a_stream_ends_in_the_middle_of_is_no_part_of_what_follows(tmp_path):
    turns = [streamed(asks_day, b"data: {"), streamed(asks_seat, b"data: {"), streamed(ends)]
    async with tapped(Server(*turns), tmp_path, answering=answering()) as rig:
        response = await rig.ask(call())
        assert response.body == ends(7).replace(b"mcp-tap-2", b"7")
        await rig.stop()
        cut = [(b.text, b.truncated, b.leg) for b in rig.records(Body)]
        assert cut == [("{", True, "upstream")] * 2


async def test_behind_an_event_too_large_to_be_held_an_ask_is_answered(tmp_path):
    large = event(
        b'{"jsonrpc":"2.0","method":"notifications/message","params":"%b"}' % (b"x" * MIB5)
    )
    parts = [large[:MIB5], large[MIB5:]]
    server = Server(streamed(*parts, asks_day), streamed(ends))
    async with tapped(server, tmp_path, answering=answering()) as rig:
        response = await rig.ask(call())
        assert response.body.startswith(large)
        assert events(response.body)[1]["result"]["resultType"] == "complete"
        await rig.stop()
        assert [d.verdict for d in rig.decisions()] == ["not-examined", "answered"]


async def test_a_result_is_the_end_although_its_stream_stays_open(tmp_path):
    async def server(wire):
        message = await wire.message()
        number = message.json["id"]
        if "inputResponses" not in message.json["params"]:
            await wire.send(day(number))
            message = await wire.message()
            number = message.json["id"]
        await wire.send(SSE_HEAD, chunk(ends(number)))
        await wire.end()

    async with tapped(server, tmp_path, answering=answering()) as rig:
        wire = await rig.client()
        await wire.send(call())
        await wire.until(b'"complete"')
        (client,) = rig.run._tap.clients
        assert client._exchanges[0]._chain._timer is None  # nothing is waited for any more


async def test_a_round_that_was_passed_on_ends_with_its_own_stream(tmp_path):
    passed, left = asyncio.Event(), asyncio.Event()

    async def server(wire):
        message = await wire.message()
        number = message.json["id"]
        if "inputResponses" in message.json["params"]:
            other = asks(number, other=form("other", other={"type": "string"}))
            await wire.send(SSE_HEAD, chunk(event(other)))
            await left.wait()
            await wire.send(chunk(progress(2)), LAST_CHUNK)
            return
        await wire.send(SSE_HEAD, chunk(asks_day(number)))
        await passed.wait()
        await wire.send(chunk(progress(1)), LAST_CHUNK)

    async with tapped(server, tmp_path, answering=answering()) as rig:
        wire = await rig.client()
        await wire.send(call(capabilities={"elicitation": {}}))
        await wire.until(b'"other"')
        passed.set()
        await wire.until(b'"progress": 1')
        left.set()
        await wire.until(b'"progress": 2')
        await wire.until(LAST_CHUNK)


def coded(*parts):
    head = SSE_HEAD.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n")
    return lambda _: head + chunk(gzip.compress(b"".join(parts))) + LAST_CHUNK


async def test_a_large_event_of_a_coded_stream_passes_whole(tmp_path):
    large = event(
        b'{"jsonrpc":"2.0","method":"notifications/message","params":"%b"}' % (b"x" * MIB5)
    )
    async with tapped(Server(coded(large, ends(7))), tmp_path, answering=answering()) as rig:
        response = await rig.ask(call())
        assert response.body == large + ends(7)


async def test_a_coded_stream_that_grows_beyond_measure_is_cut_and_not_shortened(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(exchange, "MOST_DECODED", 1000)
    server = Server(coded(event(b"x" * 5000)))
    async with tapped(server, tmp_path, answering=answering()) as rig:
        response = await rig.ask(call())
        assert not response.whole
        await rig.stop()
        assert "when decoded" in rig.closed()[0].why


async def test_a_coded_stream_of_a_repeat_that_grows_beyond_measure_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(repeat, "MOST", 1000)
    server = Server(day, coded(event(b"x" * 5000)))
    async with tapped(server, tmp_path, answering=answering()) as rig:
        response = await rig.ask(call())
        assert b"answer-too-large" in response.body
