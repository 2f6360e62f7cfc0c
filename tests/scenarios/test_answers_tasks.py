"""Asks of tasks, answered by the tap: `tasks/update` goes up, the client sees the newest state."""

from __future__ import annotations

import asyncio
import json

import pytest

from mcp_tap.core import spec
from mcp_tap.proxy.answering import tasked
from tests.asking import answering, form
from tests.rig import LAST_CHUNK, SSE_HEAD, chunk, event, ok, post, tapped, until

SCRIPT = """
version = 1

[[answer]]
name = "the day"
match = { tool = "book", key = "day*" }
content = { day = "tue" }
"""
TASK = "task-1"


def request(method, number, capabilities=None, **params):
    extended = {"extensions": {spec.TASKS_EXTENSION: {}}, **(capabilities or {})}
    meta = {
        spec.META_VERSION: "2026-07-28",
        spec.META_CLIENT: {"name": "tester", "version": "1"},
        spec.CLIENT_CAPABILITIES: extended,
        "progressToken": number,
    }
    body = {"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": meta}}
    return json.dumps(body).encode()


def send(method, number, target=TASK, **params):
    if method == "tools/call":
        params["name"] = target
    lines = [
        b"Accept: application/json, text/event-stream",
        b"MCP-Protocol-Version: 2026-07-28",
        b"Authorization: Bearer abc",
        b"Mcp-Method: " + method.encode(),
    ]
    if target is not None:
        lines.append(b"Mcp-Name: " + target.encode())
    return post(request(method, number, **params), *lines)


def call(number=1):
    return send("tools/call", number, "book", arguments={"guests": 2})


def poll(number, **params):
    return send("tasks/get", number, taskId=TASK, **params)


def reply(number, result):
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode()


def state(status, **more):
    return {
        "resultType": "complete",
        "taskId": TASK,
        "status": status,
        "createdAt": "2026-07-28T12:00:00Z",
        "lastUpdatedAt": "2026-07-28T12:00:00Z",
        "ttlMs": None,
        **more,
    }


def waiting(*keys, **more):
    requests = {key: form(key, day={"type": "string"}) for key in keys}
    return state("input_required", inputRequests=requests, **more)


DONE = state("completed", result={"content": [{"type": "text", "text": "booked"}]})


class Server:
    """Makes a task of a call; `states` are what polls are told until an update comes, and then."""

    def __init__(self, *states, streams=False, slow=0, refuse=False):
        self.states = list(states)
        self.streams = streams
        self.slow = slow
        """Polls that are told the old state after an update."""
        self.refuse = refuse
        self.got = []

    @property
    def updates(self):
        return [m for m in self.got if m.json["method"] == "tasks/update"]

    @property
    def polls(self):
        return [m for m in self.got if m.json["method"] == "tasks/get"]

    async def __call__(self, wire):
        while True:
            message = await wire.message()
            self.got.append(message)
            value = message.json
            number = value["id"]
            if value["method"] == "tools/call":
                made = {**state("working"), "resultType": "task"}
                await wire.send(ok(reply(number, made)))
            elif value["method"] == "tasks/update":
                if self.refuse:
                    error = {"code": -32602, "message": "no such task"}
                    body = {"jsonrpc": "2.0", "id": number, "error": error}
                    await wire.send(ok(json.dumps(body).encode()))
                    continue
                if not self.slow:
                    self.states.pop(0)
                await wire.send(ok(reply(number, {"resultType": "complete"})))
            else:
                found = self.states[0]
                if self.updates and self.slow:
                    self.slow -= 1
                    if not self.slow:
                        self.states.pop(0)
                body = reply(number, found)
                if self.streams:
                    await wire.send(SSE_HEAD, chunk(event(body)), LAST_CHUNK)
                else:
                    await wire.send(ok(body))


def the_call(rig):
    (found,) = [c for c in rig.view.calls.values() if c.method == "tools/call"]
    return found


@pytest.mark.parametrize("streams", [False, True])
async def test_a_task_that_waits_is_answered_and_its_poll_gets_the_newest_state(tmp_path, streams):
    server = Server(waiting("day"), DONE, streams=streams)
    async with tapped(server, tmp_path, answering=answering(SCRIPT)) as rig:
        assert (await rig.ask(call())).json["result"]["resultType"] == "task"
        response = await rig.ask(poll(2))
        await rig.stop()
        body = response.body
        if streams:
            body = body.partition(b"data: ")[2].partition(b"\r\n")[0]
        assert json.loads(body) == json.loads(reply(2, DONE))
        first, again = server.polls
        assert first.json["id"] == 2
        assert first.json["params"]["_meta"][spec.CLIENT_CAPABILITIES]["elicitation"] == {
            "form": {}
        }
        assert again.json["id"] != 2
        assert again.json["params"] == first.json["params"]
        (update,) = server.updates
        params = update.json["params"]
        assert params["taskId"] == TASK
        assert params["inputResponses"] == {"day": {"action": "accept", "content": {"day": "tue"}}}
        meta = dict(first.json["params"]["_meta"])
        del meta["progressToken"]
        assert params["_meta"] == meta
        assert update.get(b"mcp-method") == b"tasks/update"
        assert update.get(b"mcp-name") == TASK.encode()
        assert update.get(b"authorization") == b"Bearer abc"
        found = the_call(rig)
        assert found.outcome == "ok"
        (ask,) = [a for r in found.rounds for a in r.asks]
        assert (ask.answered_by, ask.entry) == ("tap", "the day")
        assert [r.by_tap for r in found.rounds] == [False, True]


async def test_a_key_is_answered_once_however_long_the_server_takes(tmp_path):
    server = Server(waiting("day", pollIntervalMs=10), DONE, slow=4)
    async with tapped(server, tmp_path, answering=answering(SCRIPT)) as rig:
        await rig.ask(call())
        response = await rig.ask(poll(2))
        assert response.json["result"]["status"] == "completed"
        assert len(server.updates) == 1
        assert len(server.polls) == 6


async def test_what_a_task_asks_next_is_its_next_round(tmp_path):
    server = Server(waiting("day"), waiting("day-2"), DONE)
    async with tapped(server, tmp_path, answering=answering(SCRIPT)) as rig:
        await rig.ask(call())
        response = await rig.ask(poll(2))
        assert response.json == json.loads(reply(2, DONE))
        keys = [[*m.json["params"]["inputResponses"]] for m in server.updates]
        assert keys == [["day"], ["day-2"]]


async def test_a_state_that_is_not_answered_ends_the_poll_with_an_error(tmp_path):
    server = Server(waiting("seat"))
    chosen = answering(SCRIPT)
    async with tapped(server, tmp_path, answering=chosen) as rig:
        await rig.ask(call())
        response = await rig.ask(poll(2))
        assert response.status == 200
        assert response.json["id"] == 2
        assert response.json["error"]["code"] == -31999
        assert "seat" in response.json["error"]["message"]
        assert chosen.failed == 1
        assert server.updates == []


async def test_a_client_that_can_answer_itself_gets_what_the_script_does_not_answer(tmp_path):
    server = Server(waiting("seat"))
    async with tapped(server, tmp_path, answering=answering(SCRIPT)) as rig:
        await rig.ask(call())
        asked = waiting("seat")
        for number in (2, 3):
            response = await rig.ask(poll(number, capabilities={"elicitation": {"form": {}}}))
            assert response.body == reply(number, asked)
        assert server.updates == []
        assert len(server.polls) == 2


async def test_an_update_that_is_refused_is_told_to_the_client(tmp_path):
    server = Server(waiting("day"), refuse=True)
    chosen = answering(SCRIPT)
    async with tapped(server, tmp_path, answering=chosen) as rig:
        await rig.ask(call())
        response = await rig.ask(poll(2))
        assert response.status == 502
        assert "no such task" in response.json["error"]["message"]
        assert chosen.failed == 1


async def test_a_server_that_never_takes_note_is_not_waited_for_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(tasked, "LONGEST_WAIT", 0.1)
    server = Server(waiting("day", pollIntervalMs=5), slow=1000)
    async with tapped(server, tmp_path, answering=answering(SCRIPT)) as rig:
        await rig.ask(call())
        response = await rig.ask(poll(2))
        assert response.json["error"]["data"]["error"] == "answer-not-taken"
        assert len(server.updates) == 1


async def test_a_client_that_leaves_ends_the_polling(tmp_path):
    server = Server(waiting("day", pollIntervalMs=20), slow=1000)
    async with tapped(server, tmp_path, answering=answering(SCRIPT)) as rig:
        await rig.ask(call())
        wire = await rig.client()
        await wire.send(poll(2))
        await until(lambda: len(server.polls) > 2)
        await wire.close()
        await until(lambda: rig.run.records and not rig.run._tap.clients)
        await rig.stop()
        ends = {c.exchange: c.how for c in rig.closed()}
        assert ends[2] == "client_gone"
        assert set(ends.values()) == {"complete", "client_gone"}


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
                async with asyncio.timeout(5):
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


def news(told):
    told = {key: value for key, value in told.items() if key != "resultType"}
    params = {**told, "_meta": {spec.META_SUBSCRIPTION: 2}}
    return json.dumps({"jsonrpc": "2.0", "method": spec.NOTE_TASK, "params": params}).encode()
