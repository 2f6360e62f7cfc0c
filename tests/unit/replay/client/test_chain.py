"""One call, made again: states, answers, and where it stops."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from mcp_tap.replay.client.peers import Reply, TooBig
from tests.bounds import BOUND
from tests.resending import LIMITS, YES, deployed, message, resent
from tests.traffic import META, STATE, Traffic, asks, done


def server(fresh="a-new-state", last="shipped", key="confirm"):
    """Ask once, then be done."""

    def answer(method, params):
        if method != "tools/call":
            return {"tools": []}
        return done(last) if "inputResponses" in params else asks(key, "Sure?", fresh)

    return answer


async def test_a_retry_carries_the_recorded_answer_and_the_new_servers_state(tmp_path):
    run, served = await resent(deployed(tmp_path / "r.jsonl"), server())
    first, second = served.params
    assert "requestState" not in first
    assert second["requestState"] == "a-new-state"
    assert second["inputResponses"] == {"confirm": YES}
    assert (first["arguments"], second["arguments"]) == ({"to": "prod"}, {"to": "prod"})
    assert [played.why for played in run.played] == [""]


async def test_every_request_has_an_id_and_a_progress_token_of_its_own(tmp_path):
    traffic = Traffic()
    for _ in range(2):
        meta = {"progressToken": 7}
        traffic.post(
            {"jsonrpc": "2.0", "id": 1, "method": "prompts/get",
             "params": {"name": "p", "_meta": meta}},
            {"jsonrpc": "2.0", "id": 1, "result": {}},
        )  # fmt: skip
    _, served = await resent(str(traffic.write(tmp_path / "r.jsonl")), lambda *_: {})
    ids = [request["id"] for request in served.requests]
    assert len(set(ids)) == 2
    assert [r["params"]["_meta"]["progressToken"] for r in served.requests] == ids


async def test_an_ask_under_another_key_gets_the_answer_of_the_one_in_its_place(tmp_path):
    run, served = await resent(deployed(tmp_path / "r.jsonl"), server(key="approve"))
    assert served.params[1]["inputResponses"] == {"approve": YES}
    assert run.played[0].why == ""


async def test_a_state_the_recorded_client_changed_is_changed_again(tmp_path):
    traffic = Traffic()
    traffic.call("deploy", asks("confirm", "Sure?"))
    traffic.call("deploy", {"code": -32602, "message": "no"},
                 inputResponses={"confirm": YES}, requestState=f"{STATE}-changed")  # fmt: skip
    capture = str(traffic.write(tmp_path / "r.jsonl"))
    _, served = await resent(capture, server())
    sent = served.params[1]["requestState"]
    assert sent != "a-new-state"
    assert sent.startswith("a-new-stat")


async def test_a_state_the_recorded_client_dropped_is_dropped_again(tmp_path):
    traffic = Traffic()
    traffic.call("deploy", asks("confirm", "Sure?"))
    traffic.call("deploy", {"code": -32602, "message": "no"}, inputResponses={"confirm": YES})
    _, served = await resent(str(traffic.write(tmp_path / "r.jsonl")), server())
    assert "requestState" not in served.params[1]


async def test_a_call_stops_at_an_ask_that_nothing_answers(tmp_path):
    traffic = Traffic()
    traffic.call("deploy", done("shipped"))
    run, served = await resent(str(traffic.write(tmp_path / "r.jsonl")), server())
    assert len(served.params) == 1
    assert run.played[0].why == 'nothing answers ask "confirm"'
    assert (run.played[0].kept, run.played[0].failed) == (1, False)


async def test_a_call_its_client_left_unanswered_is_left_so(tmp_path):
    traffic = Traffic()
    traffic.call("deploy", asks("confirm", "Sure?"))
    run, served = await resent(str(traffic.write(tmp_path / "r.jsonl")), server())
    assert len(served.params) == 1
    assert run.played[0].why == ""


async def test_a_server_that_asks_without_end_is_left_at_the_limit(tmp_path):
    count = iter(range(100))

    def endless(method, params):
        return asks("confirm", "Sure?", f"state-{next(count)}")

    run, served = await resent(deployed(tmp_path / "r.jsonl"), endless)
    assert len(served.params) == LIMITS.rounds
    assert "--max-rounds" in run.played[0].why


async def test_a_server_that_does_not_respond_is_waited_for_no_longer_than_told(tmp_path):
    async def never(heard):
        await asyncio.Event().wait()

    limits = type(LIMITS)(timeout=0.01)
    capture = deployed(tmp_path / "r.jsonl")
    run, _ = await resent(
        capture, lambda m, p: never if m == "tools/call" else {"tools": []}, limits=limits
    )
    assert run.played[0].failed
    assert "no response within 0.01 s" in run.played[0].why


@pytest.mark.parametrize("method", ["notifications/message", "roots/list"])
async def test_a_server_that_says_things_without_end_is_left(tmp_path, monkeypatch, method):
    monkeypatch.setattr("mcp_tap.replay.client.chain.MOST_HEARD", 50)

    async def floods(heard):
        for number in itertools.count():
            value = {"jsonrpc": "2.0", "method": method, "params": {}}
            heard(message(value | ({"id": number} if method == "roots/list" else {})))
            await asyncio.sleep(0)

    def answer(name, _):
        return floods if name == "tools/call" else {"tools": []}

    limits = type(LIMITS)(timeout=60)
    async with asyncio.timeout(BOUND):
        run, _ = await resent(deployed(tmp_path / "r.jsonl"), answer, limits=limits)
    assert run.played[0].failed
    assert ("messages came, and no response" in run.played[0].why) == (method != "roots/list")


async def test_what_ended_without_a_response_says_why(tmp_path):
    reply = Reply(None, "the server answered HTTP 500")
    run, _ = await resent(deployed(tmp_path / "r.jsonl"), lambda *_: reply)
    assert (run.played[0].why, run.played[0].failed) == ("the server answered HTTP 500", True)


async def test_a_task_is_polled_to_its_end_and_answered_on_the_way(tmp_path):
    meta = {"resultType": "task", "taskId": "t-1", "status": "working"}
    question = asks("confirm", "Sure?")["inputRequests"]
    traffic = Traffic()
    traffic.call("deploy", meta)

    def post(method, result, **params):
        traffic.post(
            {
                "jsonrpc": "2.0",
                "id": 9,
                "method": method,
                "params": {"taskId": "t-1", **params, **META},
            },
            {"jsonrpc": "2.0", "id": 9, "result": result},
        )

    asking = {"taskId": "t-1", "status": "input_required", "inputRequests": question}
    post("tasks/get", asking)
    post("tasks/update", {}, inputResponses={"confirm": YES})
    post("tasks/get", {"taskId": "t-1", "status": "completed", "result": done("shipped")})
    states = {"status": "input_required", "inputRequests": question}

    def live(method, params):
        if method == "tools/call":
            return {**meta, "taskId": "t-2", "pollIntervalMs": 1}
        if method == "tasks/update":
            states.clear()
            states.update(status="completed", result=done("shipped"))
        return {"taskId": "t-2", **states}

    run, served = await resent(str(traffic.write(tmp_path / "r.jsonl")), live)
    assert run.played[0].why == ""
    methods = [request["method"] for request in served.requests if request["method"][0] != "s"]
    assert methods[-3:] == ["tasks/get", "tasks/update", "tasks/get"]
    update = next(r for r in served.requests if r["method"] == "tasks/update")
    assert update["params"]["inputResponses"] == {"confirm": YES}
    assert update["params"]["taskId"] == "t-2"
    assert run.played[0].why == ""


async def test_a_call_whose_answer_is_too_big_says_in_which_round_and_what_to_do(tmp_path):
    ask_first = server()

    def answer(method, params):
        if "inputResponses" in params:
            raise TooBig
        return ask_first(method, params)

    run, _ = await resent(deployed(tmp_path / "r.jsonl"), answer)
    played = run.played[0]
    assert (played.kept, played.failed) == (1, False)
    assert played.why == (
        "round 2: the answer is larger than 64 MiB, too big to compare;"
        " have it give less, or leave it out: !call:1"
    )
