"""Asks of the session era, answered by the tap: what passes on both wires, and what is recorded."""

from __future__ import annotations

import asyncio
import json

from mcp_tap.core.model import Call
from tests.asking import answering
from tests.bounds import BOUND
from tests.pushing import (
    ACCEPTED,
    LINES,
    SCRIPT,
    SESSION,
    Server,
    book,
    calls,
    day,
    hello,
    note,
    one_ask,
    opened,
    play,
    result,
    rpc,
    said,
    text,
    welcome,
)
from tests.rig import LAST_CHUNK, SSE_HEAD, chunk, event, get, ok, post, tapped


async def test_a_pushed_ask_is_answered_and_not_shown_to_its_client(tmp_path):
    server = Server(one_ask)
    async with tapped(server, tmp_path, answering=answering(SCRIPT)) as rig:
        await opened(rig)
        response = await rig.ask(post(book(), *LINES, SESSION))
        await rig.stop()
        assert server.hello.json["params"]["capabilities"] == {"elicitation": {"form": {}}}
        assert [m.get("method") for m in said(response)] == ["notifications/message", None]
        assert text(response) == {"action": "accept", "content": {"day": "tue"}}
        answer = server.got[-1]
        assert answer.json["id"] == "ask-1"
        assert answer.get(b"mcp-session-id") == b"s-1"
        assert answer.get(b"mcp-protocol-version") == b"2025-11-25"
        assert answer.get(b"authorization") == b"Bearer abc"
        assert answer.get(b"x-team") == b"blue"
        assert answer.get(b"content-type") == b"application/json"
        (call,) = calls(rig)
        assert isinstance(call, Call)
        (ask,) = [a for r in call.rounds for a in r.asks]
        assert (ask.answered_by, ask.entry, ask.action, ask.pushed) == (
            "tap",
            "the day",
            "accept",
            True,
        )
        assert call.outcome == "ok"
        assert [r.by_tap for r in call.rounds] == [False, True]
        (mine,) = [m for m in rig.messages() if m.sender == "tap" and b"ask-1" in m.payload()]
        assert mine.leg == "upstream"
        assert mine.exchange != call.rounds[0].exchange
        (asked,) = [m for m in rig.messages() if b"elicitation/create" in m.payload()]
        assert (asked.leg, asked.sender) == ("upstream", "server")
        assert rig.view.findings == []


async def test_the_script_answers_before_a_client_that_could(tmp_path):
    rig, _, _, heard = await play(tmp_path, day(), capabilities={"elicitation": {"form": {}}})
    assert json.loads(heard[-1]["result"]["content"][0]["text"])[0]["content"] == {"day": "tue"}
    assert len(heard) == 1
    assert rig.view.findings == []


async def test_what_no_entry_answers_goes_to_a_client_that_declared_it(tmp_path):
    ask = rpc("elicitation/create", 5, message="Who?", requestedSchema={"type": "object"})
    given = json.dumps({"jsonrpc": "2.0", "id": 5, "result": {"action": "cancel"}}).encode()

    async def client(rig):
        wire = await rig.client()
        await wire.send(post(book(), *LINES, SESSION))
        await wire.until(b"Who?")
        await rig.ask(post(given, *LINES, SESSION))
        rest = await wire.until(LAST_CHUNK)
        assert b"cancel" in rest
        return await rig.ask(post(note("notifications/roots/list_changed"), *LINES, SESSION))

    rig, server, chosen, _ = await play(
        tmp_path, ask, capabilities={"elicitation": {}}, client=client
    )
    assert server.hello.body == hello({"elicitation": {}})
    assert chosen.failed == 0
    (found,) = calls(rig)
    assert [a.answered_by for r in found.rounds for a in r.asks] == ["client"]
    assert [d.verdict for d in rig.decisions()] == ["passed"]


async def test_what_nobody_answers_is_refused_with_the_code_of_its_kind(tmp_path):
    asks = [
        day(1, "Which day?"),
        rpc(
            "elicitation/create",
            2,
            mode="url",
            message="Go",
            url="https://a.example",
            elicitationId="e",
        ),
        rpc("roots/list", 3),
        rpc("sampling/createMessage", 4, messages=[], maxTokens=5),
        rpc("elicitation/create", 5, message="Who?", requestedSchema={"type": "object"}),
    ]
    rig, _, chosen, heard = await play(tmp_path, *asks, unmatched="fail")
    answers = json.loads(heard[-1]["result"]["content"][0]["text"])
    assert answers[0]["action"] == "accept"
    assert [a["code"] for a in answers[1:]] == [-32602, -32601, -32601, -32603]
    assert all(a["data"] == {"sender": "mcp-tap", "error": "no-answer"} for a in answers[1:])
    assert chosen.failed == 4
    assert chosen.answered == 1
    assert any("no-answer" in notice for notice in rig.view.notices)


async def test_elicitations_can_be_declined_for_want_of_an_answer(tmp_path):
    ask = rpc("elicitation/create", 5, message="Who?", requestedSchema={"type": "object"})
    rig, _, chosen, heard = await play(tmp_path, ask, unmatched="decline")
    assert json.loads(heard[-1]["result"]["content"][0]["text"]) == [{"action": "decline"}]
    assert chosen.failed == 0
    (found,) = calls(rig)
    assert [a.action for r in found.rounds for a in r.asks] == ["decline"]


EVERYTHING = """
version = 1

[[answer]]
name = "page"
match = { mode = "url", url = "https://a.example/*" }
action = "accept"

[[answer]]
name = "model"
match = { ask = "sampling" }
text = "Paris."
model = "scripted"

[[answer]]
name = "workspace"
match = { ask = "roots" }
roots = [{ uri = "file:///home/ada/shop", name = "shop" }]
"""


async def test_pages_models_and_folders_are_answered_too(tmp_path):
    asks = [
        rpc(
            "elicitation/create",
            1,
            mode="url",
            message="Go",
            url="https://a.example/x",
            elicitationId="e",
        ),
        rpc(
            "sampling/createMessage",
            2,
            messages=[{"role": "user", "content": {"type": "text", "text": "capital?"}}],
            maxTokens=5,
        ),
        rpc("roots/list", 3),
    ]
    rig, server, _, heard = await play(tmp_path, *asks, script=EVERYTHING)
    answers = json.loads(heard[-1]["result"]["content"][0]["text"])
    assert answers[0] == {"action": "accept"}
    assert answers[1]["content"] == {"type": "text", "text": "Paris."}
    assert answers[2]["roots"] == [{"uri": "file:///home/ada/shop", "name": "shop"}]
    declared = server.hello.json["params"]["capabilities"]
    assert declared == {"elicitation": {"url": {}}, "sampling": {}, "roots": {}}
    (found,) = calls(rig)
    assert [a.entry for r in found.rounds for a in r.asks] == ["page", "model", "workspace"]
    assert [f.rule for f in rig.view.findings] == []


async def test_an_ask_on_the_stream_of_the_session_is_for_the_call_under_way(tmp_path):
    listening, asked = asyncio.Event(), asyncio.Event()
    script = SCRIPT.replace('field = "day"', 'tool = "book"')

    async def story(wire, message, server):
        if message.start.startswith(b"GET"):
            await wire.send(SSE_HEAD)
            listening.set()
            await asyncio.wait_for(asked.wait(), BOUND)
            await wire.send(chunk(event(note("notifications/tools/list_changed"))))
            await wire.send(chunk(event(day())))
            await wire.rest()
            return
        asked.set()
        answer = await server.answer()
        await wire.send(ok(result(message.json["id"], json.dumps(answer.json["result"]))))

    server = Server(story)
    async with tapped(server, tmp_path, answering=answering(script)) as rig:
        await opened(rig)
        stream = await rig.client()
        accept = b"Accept: text/event-stream"
        await stream.send(
            get(b"/mcp", accept, SESSION, b"Authorization: Bearer abc", b"Last-Event-ID: 4")
        )
        await asyncio.wait_for(listening.wait(), BOUND)
        response = await rig.ask(post(book(), *LINES, SESSION))
        assert b"tue" in response.body
        await stream.until(b"list_changed")
        await rig.stop()
        await stream.rest()
        assert b"elicitation" not in stream.received
        answer = server.got[-1]
        assert answer.start == b"POST /mcp HTTP/1.1"
        assert answer.get(b"content-type") == b"application/json"
        assert answer.get(b"accept") == b"application/json, text/event-stream"
        assert answer.get(b"authorization") == b"Bearer abc"
        assert answer.get(b"last-event-id") is None
        (found,) = calls(rig)
        (ask,) = [a for r in found.rounds for a in r.asks]
        assert (ask.answered_by, ask.entry) == ("tap", "the day")


async def test_that_a_page_was_visited_streams_through(tmp_path):
    async def story(wire, message, server):
        done = note("notifications/elicitation/complete", elicitationId="e")
        body = result(message.json["id"])
        await wire.send(SSE_HEAD, chunk(event(done)), chunk(event(body)), LAST_CHUNK)

    server = Server(story)
    async with tapped(server, tmp_path, answering=answering(SCRIPT)) as rig:
        await opened(rig)
        response = await rig.ask(post(book(), *LINES, SESSION))
        assert [m.get("method") for m in said(response)] == [
            "notifications/elicitation/complete",
            None,
        ]


async def test_parallel_calls_of_a_session_get_their_own_answers(tmp_path):
    script = """
    version = 1
    [[answer]]
    name = "odd"
    match = { message = "[13579]\\\\?$" }
    content = { day = "odd" }
    [[answer]]
    name = "even"
    match = { field = "day" }
    content = { day = "even" }
    """
    waiting = {}

    async def server(wire):
        while True:
            message = await wire.message()
            value = message.json
            if value.get("method") == "initialize":
                await wire.send(welcome(value["id"]))
            elif value.get("method") == "tools/call":
                number = value["id"]
                waiting[number] = asyncio.get_running_loop().create_future()
                await wire.send(SSE_HEAD, chunk(event(day(number, f"Day {number}?"))))
                answer = await asyncio.wait_for(waiting[number], BOUND)
                await wire.send(chunk(event(result(number, json.dumps(answer)))), LAST_CHUNK)
            else:
                await wire.send(ACCEPTED)
                if "result" in value:
                    waiting[value["id"]].set_result(value["result"])

    async with tapped(server, tmp_path, answering=answering(script)) as rig:
        await opened(rig)
        responses = await asyncio.gather(
            *(rig.ask(post(book(number), *LINES, SESSION)) for number in range(100))
        )
        for number, response in enumerate(responses):
            assert text(response)["content"] == {"day": "odd" if number % 2 else "even"}
        await rig.stop()
        assert len(calls(rig)) == 100
        assert all(c.outcome == "ok" for c in calls(rig))
