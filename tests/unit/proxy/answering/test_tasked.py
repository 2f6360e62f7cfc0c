"""Polls of tasks that wait, in all that may become of them."""

from __future__ import annotations

import asyncio

import pytest

from mcp_tap.answers.book import Given, Unmatched
from mcp_tap.proxy.answering import tasked, tasks
from mcp_tap.proxy.answering.errand import Outcome
from tests.asking import answering
from tests.bounds import BOUND, until
from tests.rig import tapped
from tests.tasking import DONE, SCRIPT, Server, call, poll, reply, send, waiting


async def test_a_key_is_answered_once_however_long_the_server_takes(tmp_path):
    server = Server(waiting("day", pollIntervalMs=10), DONE, slow=4)
    async with tapped(server, tmp_path, answering=answering(SCRIPT)) as rig:
        await rig.ask(call())
        response = await rig.ask(poll(2))
        assert response.json["result"]["status"] == "completed"
        assert len(server.updates) == 1
        assert len(server.polls) == 6


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
    monkeypatch.setattr(tasks, "LONGEST_WAIT", 0.1)
    server = Server(waiting("day", pollIntervalMs=5), slow=1000)
    async with tapped(server, tmp_path, answering=answering(SCRIPT)) as rig:
        await rig.ask(call())
        response = await rig.ask(poll(2))
        assert response.json["error"]["data"]["error"] == "answer-not-taken"
        assert len(server.updates) == 1


async def test_a_server_that_falls_silent_is_not_waited_for_for_ever(tmp_path, monkeypatch):
    server = Server(waiting("day", pollIntervalMs=5), slow=1000)
    async with tapped(server, tmp_path, answering=answering(SCRIPT, longest=0.2)) as rig:
        await rig.ask(call())
        monkeypatch.setattr(tasks, "LONGEST_WAIT", 0)
        await rig.ask(poll(2))
        monkeypatch.undo()
        server.silent_after = len(server.polls) + 1
        response = await rig.ask(poll(3))
        assert response.json["error"]["data"]["error"] == "answers-timeout"
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


@pytest.mark.parametrize(
    ("outcome", "says"),
    [
        (Outcome(status=200, message=b'{"id":1,"result":{}}'), None),
        (Outcome(status=200, message=b'{"id":1,"error":{"message":"no"}}'), "no"),
        (Outcome(status=200, message=b'{"id":1,"error":5}'), "5"),
        (Outcome(status=200), "it said nothing"),
        (Outcome(status=500, why="the server answered with status 500"), "500"),
        (Outcome(status=None, why="gone", sent=False), "gone"),
    ],
)
def test_a_refusal_is_told_in_the_servers_words(outcome, says):
    found = tasked.refusal(outcome)
    assert found is None if says is None else found.endswith(says)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("786512e2", b"786512e2"),
        ("", b"=?base64??="),
        (" a", b"=?base64?IGE=?="),
        ("é", b"=?base64?w6k=?="),
        ("=?base64?YQ==?=", b"=?base64?PT9iYXNlNjQ/WVE9PT89?="),
    ],
)
async def test_an_id_that_can_be_no_header_field_is_encoded(tmp_path, name, written):
    server = Server({**waiting("day"), "taskId": name}, {**DONE, "taskId": name})
    script = SCRIPT.replace('tool = "book", ', "")
    async with tapped(server, tmp_path, answering=answering(script)) as rig:
        response = await rig.ask(send("tasks/get", 2, None, taskId=name))
        assert response.json["result"]["status"] == "completed"
        (update,) = server.updates
        assert update.json["params"]["taskId"] == name
        assert update.get(b"mcp-name") == written


def person(how, go=None):
    """Decides as it is told, when it is told."""
    asked = []

    async def decide(asks, unmatched):
        asked.append([ask.key for ask in asks])
        if go is not None:
            await asyncio.wait_for(go.wait(), BOUND)
        given = {ask.key: Given(entry=None, answer={"action": how}, kind=ask.ask) for ask in asks}
        return Unmatched(how=how, misses=unmatched.misses, answers=given)

    return decide, asked


async def test_a_person_is_asked_once_however_often_a_client_polls(tmp_path):
    go = asyncio.Event()
    decide, asked = person("decline", go)
    server = Server(waiting("seat", pollIntervalMs=10), DONE)
    chosen = answering(SCRIPT, unmatched="ask", person=decide)
    async with tapped(server, tmp_path, answering=chosen) as rig:
        await rig.ask(call())
        one = asyncio.create_task(rig.ask(poll(2)))
        await until(lambda: asked)
        other = asyncio.create_task(rig.ask(poll(3)))
        await until(lambda: len(server.polls) > 2)
        go.set()
        responses = await asyncio.gather(one, other)
        assert [r.json["result"]["status"] for r in responses] == ["completed"] * 2
        assert asked == [["seat"]]
        (update,) = server.updates
        assert update.json["params"]["inputResponses"] == {"seat": {"action": "decline"}}


async def test_a_person_may_leave_it_to_the_client_once_and_for_all(tmp_path):
    decide, asked = person("pass")
    server = Server(waiting("seat"))
    chosen = answering(SCRIPT, unmatched="ask", person=decide)
    async with tapped(server, tmp_path, answering=chosen) as rig:
        await rig.ask(call())
        for number in (2, 3):
            response = await rig.ask(poll(number, capabilities={"elicitation": {"form": {}}}))
            assert response.body == reply(number, waiting("seat"))
        assert asked == [["seat"]]


async def test_a_person_whose_client_left_is_asked_again_by_the_next_poll(tmp_path):
    go = asyncio.Event()
    decide, asked = person("decline", go)
    server = Server(waiting("seat"), DONE)
    chosen = answering(SCRIPT, unmatched="ask", person=decide)
    async with tapped(server, tmp_path, answering=chosen) as rig:
        await rig.ask(call())
        wire = await rig.client()
        await wire.send(poll(2))
        await until(lambda: asked)
        await wire.close()
        await until(lambda: not rig.run._tap.clients)
        go.set()
        assert (await rig.ask(poll(3))).json["result"]["status"] == "completed"
        assert asked == [["seat"], ["seat"]]
