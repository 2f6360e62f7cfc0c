"""Asks of tasks, answered by the tap: `tasks/update` goes up, the client sees the newest state."""

from __future__ import annotations

import json

import pytest

from mcp_tap.core import spec
from tests.asking import answering
from tests.rig import tapped
from tests.tasking import DONE, SCRIPT, TASK, Server, call, poll, reply, the_call, waiting


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
        assert [f.message for f in rig.view.findings if f.blame != "server"] == []


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
