"""Asks that come as news of a task."""

from __future__ import annotations

import asyncio
import json

from mcp_tap.core import spec
from tests.asking import answering
from tests.bounds import BOUND
from tests.rig import LAST_CHUNK, SSE_HEAD, chunk, event, ok, tapped
from tests.tasking import DONE, SCRIPT, TASK, call, news, reply, send, state, the_call, waiting


async def test_news_of_a_task_is_answered_and_not_shown(tmp_path):
    got = []
    updated = asyncio.Event()

    async def server(wire):
        while True:
            message = await wire.message()
            value = message.json
            got.append(message)
            if value["method"] == "tools/call":
                made = {**state("working"), "resultType": "task"}
                await wire.send(ok(reply(value["id"], made)))
            elif value["method"] == "tasks/update":
                await wire.send(ok(reply(value["id"], {"resultType": "complete"})))
                updated.set()
            else:
                await wire.send(SSE_HEAD)
                for told in (state("working"), waiting("day")):
                    await wire.send(chunk(event(news(told))))
                async with asyncio.timeout(BOUND):
                    await updated.wait()
                await wire.send(chunk(event(news(waiting("day")))), chunk(event(news(DONE))))
                await wire.send(LAST_CHUNK)

    async with tapped(server, tmp_path, answering=answering(SCRIPT)) as rig:
        await rig.ask(call())
        listen = send(spec.LISTEN, 2, None, notifications={"taskIds": [TASK]})
        response = await rig.ask(listen)
        await rig.stop()
        told = [json.loads(x[6:]) for x in response.body.splitlines() if x.startswith(b"data: ")]
        assert [m["params"]["status"] for m in told] == ["working", "completed"]
        (update,) = [m for m in got if m.json["method"] == "tasks/update"]
        assert update.json["params"]["inputResponses"]["day"]["content"] == {"day": "tue"}
        found = the_call(rig)
        assert found.outcome == "ok"
        (ask,) = [a for r in found.rounds for a in r.asks]
        assert (ask.answered_by, ask.entry) == ("tap", "the day")


async def heard(tmp_path, *told, capabilities=None, **options):
    """Listen to news of a task; give the answerer and what the client heard."""
    updates = []

    async def server(wire):
        while True:
            message = await wire.message()
            value = message.json
            if value["method"] == "tasks/update":
                updates.append(value["params"]["inputResponses"])
                await wire.send(ok(reply(value["id"], {"resultType": "complete"})))
                continue
            await wire.send(SSE_HEAD)
            for found in told:
                await wire.send(chunk(event(news(found))))
            await wire.send(LAST_CHUNK)

    script = SCRIPT.replace('tool = "book", ', "")
    chosen = answering(script, **options)
    async with tapped(server, tmp_path, answering=chosen) as rig:
        listen = send(
            spec.LISTEN, 2, None, capabilities=capabilities, notifications={"taskIds": [TASK]}
        )
        response = await rig.ask(listen)
        lines = [x[6:] for x in response.body.splitlines() if x.startswith(b"data: ")]
        return chosen, updates, [json.loads(line) for line in lines]


async def test_news_nothing_answers_ends_the_stream_with_an_error(tmp_path):
    chosen, updates, told = await heard(tmp_path, waiting("seat"), DONE)
    (error,) = told
    assert (error["id"], error["error"]["code"]) == (2, -31999)
    assert (chosen.failed, updates) == (1, [])


async def test_news_for_a_client_that_can_answer_is_passed_on(tmp_path):
    declared = {"elicitation": {"form": {}}}
    chosen, updates, told = await heard(
        tmp_path, waiting("seat"), waiting("seat"), DONE, capabilities=declared
    )
    assert [m["params"]["status"] for m in told] == ["input_required"] * 2 + ["completed"]
    assert (chosen.failed, updates) == (0, [])


async def test_news_that_names_no_task_is_passed_on(tmp_path):
    odd = {key: value for key, value in waiting("day").items() if key != "taskId"}
    _, updates, told = await heard(tmp_path, odd, DONE)
    assert len(told) == 2
    assert updates == []
