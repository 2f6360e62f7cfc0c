"""Tasks: who polls one sees it go on, and answers what it asks."""

from __future__ import annotations

import json

import pytest

from mcp_tap.core import spec
from mcp_tap.replay.index import Index
from mcp_tap.replay.server import tasks as module
from mcp_tap.replay.server.misses import NOT_RECORDED
from mcp_tap.replay.server.play import Clock
from mcp_tap.replay.server.player import Player, Request
from tests.replays import ASK, META, Heard, answered, exchange, never, request, streamed

EXTENDED = {**META, spec.CLIENT_CAPABILITIES: {"extensions": {spec.TASKS_EXTENSION: {}}}}


def about(number, method, task, **params):
    given = {"taskId": task, **params, "_meta": EXTENDED}
    return {"jsonrpc": "2.0", "id": number, "method": f"tasks/{method}", "params": given}


def state(number, task, status, kind="complete", **more):
    result = {"resultType": kind, "taskId": task, "status": status, **more}
    return {"jsonrpc": "2.0", "id": number, "result": result}


def made(number, task, **params):
    call = request(number, meta=EXTENDED, **params)
    return exchange(call, state(number, task, "working", "task"))


def polled(number, task, status, **more):
    return exchange(about(number, "get", task), state(number, task, status, **more))


def updated(number, task, action):
    body = about(number, "update", task, **answered(action))
    return exchange(body, {"jsonrpc": "2.0", "id": number, "result": {"resultType": "complete"}})


def done(number, task, text):
    result = {"content": [{"type": "text", "text": text}]}
    return polled(number, task, "completed", result=result)


def asking(number, task):
    return polled(number, task, "input_required", inputRequests=ASK)


def one(start, task, action, text):
    """Give what passed about one task, from its call to its end."""
    return (
        made(start, task),
        polled(start + 1, task, "working"),
        asking(start + 2, task),
        updated(start + 3, task, action),
        polled(start + 4, task, "working"),
        done(start + 5, task, text),
    )


class Client:
    """Sends a player what a client would."""

    def __init__(self, index: Index) -> None:
        self.missed: list[str] = []
        report = lambda miss: self.missed.append(str(miss.error))  # noqa: E731
        self.player = Player(index, Clock(never, None), report=report)

    def __call__(self, body):
        heard = Heard()
        self.player.take(Request(body=json.dumps(body).encode(), path="/mcp"), heard)
        return heard

    def make(self):
        return self(request(70, meta=EXTENDED)).only["result"]["taskId"]

    def poll(self, task, times=1):
        """Give the states that polls see; of the last one its text."""
        seen = []
        for _ in range(times):
            result = self(about(71, "get", task)).only["result"]
            assert result["taskId"] == task
            content = result.get("result", {}).get("content", [{}])
            seen.append(content[0].get("text", result["status"]))
        return seen

    def update(self, task, action="accept"):
        return self(about(72, "update", task, **answered(action))).only


@pytest.fixture
def client(indexed):
    def make(*exchanges):
        return Client(indexed(*exchanges))

    return make


def test_a_task_waits_for_the_answer_of_who_polls_it(client):
    ask = client(*one(1, "t", "accept", "shipped"))
    assert ask.make() == "t"
    assert ask.poll("t", 4) == ["working", "input_required", "input_required", "input_required"]
    assert ask.update("t")["result"] == {"resultType": "complete"}
    assert ask.poll("t", 3) == ["working", "shipped", "shipped"]
    assert not ask.missed


def test_an_answer_that_comes_early_or_twice_loses_nothing(client):
    ask = client(*one(1, "t", "accept", "shipped"))
    ask.make()
    for _ in range(2):
        assert ask.update("t")["result"] == {"resultType": "complete"}
    assert ask.poll("t", 2) == ["working", "shipped"]
    assert ask.update("t")["result"] == {"resultType": "complete"}
    assert ask.poll("t") == ["shipped"]


def test_tasks_of_one_recorded_call_each_have_an_id_and_a_progress_of_their_own(client):
    ask = client(*one(1, "t", "accept", "shipped"))
    tasks = [ask.make() for _ in range(3)]
    assert tasks == ["t", "t-2", "t-3"]
    for task in tasks:
        assert ask.poll(task, 2) == ["working", "input_required"]
    for task in reversed(tasks):
        ask.update(task)
        assert ask.poll(task, 2) == ["working", "shipped"]


def test_the_answer_chooses_how_a_task_goes_on(client):
    ask = client(*one(1, "t", "accept", "shipped"), *one(11, "u", "decline", "kept"))
    first, second = ask.make(), ask.make()
    assert (first, second) == ("t", "u")
    assert ask.poll(first, 2) == ["working", "input_required"]
    ask.update(first, "decline")
    assert ask.poll(first, 2) == ["working", "kept"]
    ask.poll(second, 2)
    ask.update(second, "accept")
    assert ask.poll(second, 2) == ["working", "shipped"]
    assert not ask.missed


def test_a_task_that_asked_something_else_is_no_branch(client):
    other = list(one(11, "u", "decline", "kept"))
    del other[2]
    ask = client(*one(1, "t", "accept", "shipped"), *other)
    ask.make()
    ask.poll("t", 2)
    assert ask.update("t", "decline")["error"]["code"] == NOT_RECORDED


def test_an_answer_nobody_gave_to_a_task_names_the_nearest(client):
    ask = client(*one(1, "t", "accept", "shipped"))
    ask.make()
    ask.poll("t", 2)
    assert ask.update("t", "cancel")["error"]["code"] == NOT_RECORDED
    (words,) = ask.missed
    assert 'answers differ: sure.action "cancel", recorded "accept"' in words
    assert ask.poll("t") == ["input_required"]


def test_a_task_that_is_cancelled_goes_on_as_the_one_that_was(client):
    reply = {"jsonrpc": "2.0", "id": 3, "result": {"resultType": "complete"}}
    ask = client(
        made(1, "t"),
        polled(2, "t", "working"),
        exchange(about(3, "cancel", "t"), reply),
        polled(4, "t", "cancelled"),
    )
    ask.make()
    assert ask.poll("t", 2) == ["working", "working"]
    assert "result" in ask(about(9, "cancel", "t")).only
    assert ask.poll("t", 2) == ["cancelled", "cancelled"]
    assert ask(about(10, "cancel", "t")).only["id"] == 10


@pytest.mark.parametrize("method", ["get", "cancel"])
def test_what_nobody_did_about_a_task_is_missed(client, method):
    ask = client(made(1, "t"))
    ask.make()
    assert ask(about(9, method, "t")).only["error"]["code"] == NOT_RECORDED
    assert f"tasks/{method} t" in ask.missed[0]


def test_a_task_nobody_made_here_is_matched_like_any_request(client):
    ask = client(done(1, "old", "was there before"))
    assert ask.poll("old", 2) == ["was there before"] * 2
    assert ask(about(9, "get", "unknown")).only["error"]["code"] == NOT_RECORDED


def test_news_of_a_task_name_it_as_their_listener_knows_it(client):
    heard = {"params": {"notifications": {"taskIds": ["t", "other"]}, "_meta": EXTENDED}}
    listen = {"jsonrpc": "2.0", "id": 9, "method": spec.LISTEN, **heard}
    meta = {spec.META_SUBSCRIPTION: 9}
    ack = {"jsonrpc": "2.0", "method": spec.NOTE_ACKNOWLEDGED, "params": {"_meta": meta}}
    ack["params"]["notifications"] = {"taskIds": ["t"]}
    note = {"jsonrpc": "2.0", "method": spec.NOTE_TASK}
    note["params"] = {"taskId": "t", "status": "working", "_meta": meta}
    ask = client(*one(1, "t", "accept", "shipped"), streamed(listen, ack, note, open=True))
    assert [ask.make(), ask.make()] == ["t", "t-2"]
    mine = {"notifications": {"taskIds": ["t-2", "other"]}, "_meta": EXTENDED}
    got = ask({**listen, "id": 33, "params": mine}).messages
    assert not ask.missed
    assert got[0]["params"]["notifications"] == {"taskIds": ["t-2"]}
    assert got[1]["params"]["taskId"] == "t-2"
    assert [m["params"]["_meta"][spec.META_SUBSCRIPTION] for m in got] == [33, 33]


def test_tasks_are_forgotten_oldest_first(client, monkeypatch):
    monkeypatch.setattr(module, "MOST_TASKS", 2)
    ask = client(*one(1, "t", "accept", "shipped"))
    first, _, last = [ask.make() for _ in range(3)]
    assert ask(about(9, "get", first)).only["error"]["code"] == NOT_RECORDED
    assert ask.poll(last) == ["working"]
