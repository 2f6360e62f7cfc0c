"""Rounds nobody answers, limits, and what the client is told."""

from __future__ import annotations

import asyncio
import json

import pytest

from mcp_tap.answers.book import Answered, Given
from mcp_tap.core.records import HttpResponse, Message
from tests.asking import (
    Server,
    answering,
    asks,
    asks_day,
    call,
    day,
    done,
    form,
    progress,
    request,
    result,
    seat,
    streamed,
)
from tests.bounds import until
from tests.rig import ok, tapped

SEAT_ONLY = """
version = 1
[[answer]]
name = "the seat"
match = { key = "seat" }
content = { seat = "4A" }
"""
ALL = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}
NO_ANSWER = -31999


async def test_fail_names_the_ask_and_what_was_tried(tmp_path):
    helper = answering(SEAT_ONLY, unmatched="fail")
    async with tapped(Server(day), tmp_path, answering=helper) as rig:
        response = await rig.ask(call(capabilities=ALL))
        assert response.status == 200
        assert response.get(b"mcp-tap-error") == b"no-answer"
        error = response.json["error"]
        assert (response.json["id"], error["code"]) == (7, NO_ANSWER)
        assert 'nothing in a.toml answers ask "day" of tools/call book, round 1' in error["message"]
        assert '"the seat" wants key "seat"' in error["message"]
        assert error["data"]["sender"] == "mcp-tap"
        await rig.stop()
        (decision,) = rig.decisions()
        assert (decision.verdict, decision.key) == ("unmatched", "day")
        assert [f.rule for f in rig.view.findings if f.blame == "tap"] == ["TAP-004"]
        (found,) = rig.view.calls.values()
        assert (found.outcome, found.fault.sender, found.fault.code) == ("error", "tap", NO_ANSWER)
        assert len(rig.upstream.connections) == 1
        assert helper.failed == 1
        kept, told = rig.of(1, Message)[1:]
        assert (kept.leg, told.leg, told.sender) == ("upstream", "client", "tap")
        assert [h.leg for h in rig.of(1, HttpResponse)] == ["upstream", "client"]


async def test_pass_gives_the_client_the_round_as_it_is(tmp_path):
    helper = answering(SEAT_ONLY, unmatched="pass")
    async with tapped(Server(day, seat, done), tmp_path, answering=helper) as rig:
        response = await rig.ask(call(capabilities=ALL))
        assert response.body == day(7).partition(b"\r\n\r\n")[2]
        mine = {"day": {"action": "accept", "content": {"day": "mon"}}}
        state = response.json["result"]["requestState"]
        retry = request(8, capabilities=ALL, inputResponses=mine, requestState=state)
        last = await rig.ask(call(retry))
        assert last.json == json.loads(result(8))
        await rig.stop()
        assert [d.verdict for d in rig.decisions()] == ["passed", "answered"]
        (found,) = rig.view.calls.values()
        assert [r.by_tap for r in found.rounds] == [False, False, True]
        assert found.outcome == "ok"
        assert helper.failed == 0


async def test_pass_becomes_fail_where_the_client_never_said_it_could(tmp_path):
    async with tapped(Server(day), tmp_path, answering=answering(SEAT_ONLY)) as rig:
        response = await rig.ask(call())
        assert response.json["error"]["code"] == NO_ANSWER


async def test_a_later_round_is_passed_with_the_clients_id(tmp_path):
    script = SEAT_ONLY.replace("seat", "day").replace("4A", "tue")
    helper = answering(script, unmatched="pass")
    async with tapped(Server(day, seat), tmp_path, answering=helper) as rig:
        response = await rig.ask(call(capabilities=ALL))
        assert response.body == seat(7).partition(b"\r\n\r\n")[2]


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_the_whole_round_is_declined_or_cancelled(tmp_path, action):
    def both(number):
        text = {"type": "string"}
        return ok(asks(number, day=form("day", day=text), seat=form("seat", seat=text)))

    server = Server(both, done)
    helper = answering(SEAT_ONLY, unmatched=action)
    async with tapped(server, tmp_path, answering=helper) as rig:
        assert (await rig.ask(call())).json == json.loads(result(7))
        await rig.stop()
        said = server.got[1].json["params"]["inputResponses"]
        assert said == {"day": {"action": action}, "seat": {"action": action}}
        (found,) = rig.view.calls.values()
        asked = found.rounds[0].asks
        assert [(a.action, a.answered_by, a.entry) for a in asked] == [(action, "tap", None)] * 2


async def test_an_answer_that_does_not_fit_is_not_sent(tmp_path):
    def number(n):
        return ok(asks(n, seat=form("seat", seat={"type": "integer"})))

    async with tapped(Server(number), tmp_path, answering=answering()) as rig:
        response = await rig.ask(call())
        assert response.get(b"mcp-tap-error") == b"answer-misfit"
        assert response.json["error"]["code"] == NO_ANSWER


async def test_a_missing_variable_is_a_clear_error(tmp_path):
    script = SEAT_ONLY.replace('"4A"', '{ env = "SEAT" }')
    async with tapped(Server(seat), tmp_path, answering=answering(script)) as rig:
        assert "SEAT" in (await rig.ask(call())).json["error"]["message"]


async def test_a_stream_that_is_open_gets_the_error_as_an_event(tmp_path):
    server = Server(streamed(progress(1), asks_day))
    helper = answering(SEAT_ONLY, unmatched="fail")
    async with tapped(server, tmp_path, answering=helper) as rig:
        wire = await rig.client()
        await wire.send(call(), call(number=8))
        server.turns = (*server.turns, done)
        response = await wire.message()
        last = json.loads(response.body.strip().rpartition(b"data: ")[2])
        assert (last["id"], last["error"]["code"]) == (7, NO_ANSWER)
        assert (await wire.message()).json == json.loads(result(8))


async def test_a_server_that_asks_the_same_for_ever_is_stopped(tmp_path):
    server = Server(*[day] * 20)
    async with tapped(server, tmp_path, answering=answering()) as rig:
        response = await rig.ask(call())
        assert "3 times in a row" in response.json["error"]["message"]
        assert len(server.got) == 3
        await rig.stop()
        assert [d.verdict for d in rig.decisions()] == ["answered", "answered", "failed"]


async def test_rounds_have_a_limit(tmp_path):
    def other(number):
        other.count += 1
        return ok(asks(number, day=form(f"day {other.count}", day={"type": "string"})))

    other.count = 0
    script = SEAT_ONLY.replace("seat", "day")
    server = Server(*[other] * 20)
    async with tapped(server, tmp_path, answering=answering(script, max_rounds=4)) as rig:
        response = await rig.ask(call())
        assert "after 4 rounds" in response.json["error"]["message"]
        assert len(server.got) == 5


async def test_a_call_has_a_time_limit_from_its_first_ask_on(tmp_path):
    gone = asyncio.Event()

    async def server(wire):
        message = await wire.message()
        if "inputResponses" in message.json["params"]:
            assert await wire.end()
            gone.set()
            return
        await wire.send(day(message.json["id"]))
        await server(wire)

    helper = answering(longest=0.2)
    async with tapped(server, tmp_path, answering=helper) as rig:
        response = await rig.ask(call())
        assert response.status == 504
        assert response.get(b"mcp-tap-error") == b"answers-timeout"
        assert helper.failed == 1
        await until(gone.is_set)
        await rig.stop()
        assert {(c.exchange, c.how) for c in rig.closed()} == {(1, "timeout"), (2, "timeout")}


async def test_a_person_may_answer_what_the_script_does_not(tmp_path):
    asked = []

    async def person(asks, unmatched):
        asked.append([ask.key for ask in asks])
        await asyncio.sleep(0)
        answer = {"action": "accept", "content": {"day": "mon"}}
        return Answered(answers={"day": Given(entry=None, answer=answer, kind="form")})

    helper = answering(SEAT_ONLY, unmatched="ask", person=person)
    server = Server(day, done)
    async with tapped(server, tmp_path, answering=helper) as rig:
        assert (await rig.ask(call())).json == json.loads(result(7))
        assert asked == [["day"]]
        assert server.got[1].json["params"]["inputResponses"]["day"]["content"] == {"day": "mon"}


async def test_the_time_a_person_takes_is_not_the_calls(tmp_path):
    clocks = []

    async def person(asks, unmatched):
        clocks.append(the_clock(rig))
        answer = {"action": "accept", "content": {"day": "mon"}}
        return Answered(answers={"day": Given(entry=None, answer=answer, kind="form")})

    async def server(wire):
        message = await wire.message()
        await wire.send(day(message.json["id"]))
        message = await wire.message()
        clocks.append(the_clock(rig))
        await wire.send(done(message.json["id"]))

    helper = answering(SEAT_ONLY, unmatched="ask", person=person)
    async with tapped(server, tmp_path, answering=helper) as rig:
        assert (await rig.ask(call())).json == json.loads(result(7))
        assert [clock is None for clock in clocks] == [True, False]


def the_clock(rig):
    """What ends the call of the only client when its time is over."""
    (client,) = rig.run._tap.clients
    return client._exchanges[0]._chain._timer


async def test_the_time_of_a_call_does_not_begin_anew_behind_a_person(tmp_path):
    async def person(asks, unmatched):
        answer = {"action": "accept", "content": {"day": f"{asks[0].round}"}}
        return Answered(answers={"day": Given(entry=None, answer=answer, kind="form")})

    async def server(wire):
        for _ in range(20):
            message = await wire.message()
            await asyncio.sleep(0.04)
            await wire.send(day(message.json["id"]))

    helper = answering(SEAT_ONLY, unmatched="ask", person=person, longest=0.1, max_rounds=20)
    async with tapped(server, tmp_path, answering=helper) as rig:
        response = await rig.ask(call())
        assert response.get(b"mcp-tap-error") == b"answers-timeout"
        await rig.stop()
        (found,) = rig.view.calls.values()
        assert found.rounds[-1].fault.sender == "tap"
        assert (helper.failed, helper.limited) == (1, 1)


@pytest.mark.parametrize("first", [day, streamed(progress(1), asks_day)])
async def test_a_person_may_pass_a_round_on(tmp_path, first):
    async def person(asks, unmatched):
        await asyncio.sleep(0)
        return type(unmatched)(how="pass", misses=unmatched.misses)

    helper = answering(SEAT_ONLY, unmatched="ask", person=person)
    async with tapped(Server(first), tmp_path, answering=helper) as rig:
        response = await rig.ask(call(capabilities=ALL))
        assert b'"input_required"' in response.body
        assert response.whole
        await rig.stop()
        assert [d.verdict for d in rig.decisions()] == ["passed"]


async def test_a_round_that_asks_for_nothing_passes(tmp_path):
    def empty(number):
        body = {"resultType": "input_required"}
        return ok(json.dumps({"jsonrpc": "2.0", "id": number, "result": body}).encode())

    async with tapped(Server(empty), tmp_path, answering=answering()) as rig:
        assert (await rig.ask(call())).json["result"] == {"resultType": "input_required"}


async def test_a_large_response_passes_and_the_capture_says_so(tmp_path):
    big = b'{"jsonrpc":"2.0","id":7,"result":{"x":"' + b"y" * (5 << 20) + b'"}}'
    async with tapped(Server(lambda _: ok(big)), tmp_path, answering=answering()) as rig:
        assert (await rig.ask(call())).body == big
        await rig.stop()
        assert [d.verdict for d in rig.decisions()] == ["not-examined"]


async def test_a_large_request_passes_as_it_is(tmp_path):
    body = request(arguments={"x": "y" * (5 << 20)})
    server = Server(done)
    async with tapped(server, tmp_path, answering=answering()) as rig:
        assert (await rig.ask(call(body))).json["id"] == 7
    assert server.got[0].body == body


async def test_a_request_that_names_a_member_twice_is_not_repeated(tmp_path):
    body = request().replace(b'"params"', b'"params":{},"params"', 1)
    server = Server(day, done)
    async with tapped(server, tmp_path, answering=answering()) as rig:
        response = await rig.ask(call(body))
        assert response.get(b"mcp-tap-error") == b"cannot-repeat"
        assert len(server.got) == 1
