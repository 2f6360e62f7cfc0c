"""Round after round, until a result, an error or a limit."""

from __future__ import annotations

import json

from mcp_tap.errors import ScriptError, UsageError
from mcp_tap.proxy.answering.chain import steps
from tests.asking import (
    SCRIPT,
    Server,
    answering,
    asks,
    asks_seat,
    call,
    day,
    done,
    form,
    request,
    result,
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


def test_pointers_are_taken_apart():
    assert steps("/content/a~1b~0c") == ["content", "a/b~c"]
    assert issubclass(ScriptError, Exception)


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
