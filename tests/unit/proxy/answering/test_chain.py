"""Round after round, until a result, an error or a limit."""

from __future__ import annotations

import asyncio
import json

import pytest

from mcp_tap.answers.book import Answered, Given
from mcp_tap.errors import UsageError
from mcp_tap.proxy.answering import chain
from tests.asking import (
    SCRIPT,
    Server,
    answering,
    asks,
    asks_day,
    asks_seat,
    call,
    day,
    done,
    form,
    request,
    result,
    seat,
    streamed,
)
from tests.rig import LAST_CHUNK, SSE_HEAD, chunk, event, ok, tapped

ROUNDS = """
version = 1
[[answer]]
match = { key = "day" }
each_round = [{ content = { day = "mon" } }, { content = { day = "tue" } }]
"""
ALL = {"elicitation": {"form": {}}}


async def test_each_round_counts_within_a_call(tmp_path):
    server = Server(day, day, done, day, done)
    async with tapped(server, tmp_path, answering=answering(ROUNDS)) as rig:
        await rig.ask(call())
        await rig.ask(call(number=8))
    said = [m.json["params"].get("inputResponses") for m in server.got]
    days = [each["day"]["content"]["day"] for each in said if each]
    assert days == ["mon", "tue", "mon"]


async def test_a_call_that_the_client_goes_on_with_is_still_the_same_call(tmp_path):
    def odd(number):
        return ok(asks(number, state='"odd"', odd=form("odd")))

    server = Server(day, odd, day, done)
    helper = answering(ROUNDS, unmatched="pass")
    async with tapped(server, tmp_path, answering=helper) as rig:
        passed = await rig.ask(call(capabilities=ALL))
        assert passed.json["result"]["requestState"] == "odd"
        mine = {"odd": {"action": "decline"}}
        retry = request(8, capabilities=ALL, inputResponses=mine, requestState="odd")
        assert (await rig.ask(call(retry))).json == json.loads(result(8))
    last = server.got[3].json["params"]["inputResponses"]
    assert last["day"]["content"] == {"day": "tue"}


async def test_a_person_who_cannot_be_asked_is_an_error(tmp_path):
    async def person(asks, unmatched):
        raise UsageError("no-terminal", "there is no terminal")

    helper = answering("version = 1\n", unmatched="ask", person=person)
    async with tapped(Server(day), tmp_path, answering=helper) as rig:
        response = await rig.ask(call())
        assert response.get(b"mcp-tap-error") == b"no-terminal"


async def test_a_fault_of_the_scripts_reader_lets_nobody_wait(tmp_path):
    helper = answering(SCRIPT)

    def broken(asks):
        raise ZeroDivisionError("oops")

    helper.book.decide = broken
    async with tapped(Server(day), tmp_path, answering=helper) as rig:
        response = await rig.ask(call())
        assert response.get(b"mcp-tap-error") == b"tap-failed"
        assert "ZeroDivisionError" in response.json["error"]["message"]


async def test_a_person_who_fails_lets_nobody_wait(tmp_path):
    async def person(asks, unmatched):
        raise ZeroDivisionError("oops")

    helper = answering("version = 1\n", unmatched="ask", person=person)
    async with tapped(Server(day), tmp_path, answering=helper) as rig:
        response = await rig.ask(call())
        assert response.get(b"mcp-tap-error") == b"tap-failed"


async def test_what_a_person_wrote_that_is_no_text_lets_nobody_wait(tmp_path):
    async def person(asks, unmatched):
        answer = {"action": "accept", "content": {"day": "\udcff"}}
        return Answered(answers={"day": Given(entry=None, answer=answer, kind="form")})

    helper = answering("version = 1\n", unmatched="ask", person=person)
    async with tapped(Server(day), tmp_path, answering=helper) as rig:
        response = await rig.ask(call())
        assert response.get(b"mcp-tap-error") == b"cannot-repeat"


@pytest.mark.parametrize("turns", [[day, seat], [streamed(asks_day), streamed(asks_seat)]])
@pytest.mark.parametrize("rounds", [0, 1])
async def test_a_fault_of_ours_within_a_call_is_told(tmp_path, monkeypatch, turns, rounds):
    sound = [chain.told] * rounds

    def told(round_):
        return sound.pop()(round_)

    monkeypatch.setattr(chain, "told", told)
    async with tapped(Server(*turns), tmp_path, answering=answering()) as rig:
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)  # it is one, indeed
        response = await rig.ask(call())
        assert b"tap-failed" in response.body
        assert response.whole


async def test_a_stream_that_asks_twice_makes_one_repeat(tmp_path):
    def twice(number):
        return SSE_HEAD + chunk(event(asks(number)) + asks_seat(number)) + LAST_CHUNK

    server = Server(day, twice, done)
    async with tapped(server, tmp_path, answering=answering()) as rig:
        response = await rig.ask(call())
        assert b'"resultType": "complete"' in response.body
        await rig.stop()
        assert len(server.got) == 3
        assert "inputResponses" not in server.got[2].json["params"]
