"""What becomes of single asks on a stream, whatever else happens meanwhile."""

from __future__ import annotations

import asyncio
import json

import pytest

from mcp_tap.answers.book import Answered, Given, Unmatched
from tests.asking import answering
from tests.bounds import BOUND, until
from tests.pushing import (
    LINES,
    SCRIPT,
    SESSION,
    Person,
    Server,
    book,
    calls,
    day,
    note,
    opened,
    play,
    result,
    said,
    who,
)
from tests.rig import LAST_CHUNK, SSE_HEAD, chunk, event, get, post, tapped


async def test_a_person_may_leave_an_ask_to_the_client_while_the_stream_goes_on(tmp_path):
    person = Person(lambda asks, unmatched: Unmatched(how="pass", misses=unmatched.misses))

    async def story(wire, message, server):
        more = note("notifications/message", level="info", data="meanwhile")
        await wire.send(SSE_HEAD, chunk(event(who())), chunk(event(more)))
        answer = await server.answer()
        body = result(message.json["id"], json.dumps(answer.json["result"]))
        await wire.send(chunk(event(body)), LAST_CHUNK)

    server = Server(story)
    chosen = answering(SCRIPT, unmatched="ask", person=person)
    async with tapped(server, tmp_path, answering=chosen) as rig:
        await opened(rig, {"elicitation": {"form": {}}})
        wire = await rig.client()
        await wire.send(post(book(), *LINES, SESSION))
        before = await wire.until(b"meanwhile")
        assert b"Who?" not in before
        person.go.set()
        await wire.until(b"Who?")
        given = {"jsonrpc": "2.0", "id": 5, "result": {"action": "decline"}}
        await rig.ask(post(json.dumps(given).encode(), *LINES, SESSION))
        await wire.until(LAST_CHUNK)
        await rig.stop()
        asked = [m for m in rig.messages() if b"Who?" in m.payload()]
        assert [(m.leg, m.replaces) for m in asked] == [
            ("upstream", None),
            ("client", asked[0].seq),
        ]
        (found,) = calls(rig)
        assert [a.answered_by for r in found.rounds for a in r.asks] == ["client"]


async def test_a_person_is_not_asked_any_more_for_what_a_server_takes_back(tmp_path):
    person = Person()

    async def story(wire, message, server):
        await wire.send(SSE_HEAD, chunk(event(who())))
        await asyncio.wait_for(person.asked.wait(), BOUND)
        back = note("notifications/cancelled", requestId=5)
        body = result(message.json["id"])
        await wire.send(chunk(event(back)), chunk(event(body)), LAST_CHUNK)

    chosen = answering(SCRIPT, unmatched="ask", person=person)
    async with tapped(Server(story), tmp_path, answering=chosen) as rig:
        await opened(rig)
        response = await rig.ask(post(book(), *LINES, SESSION))
        assert [m.get("id") for m in said(response)] == [7]
        assert person.cancelled


async def test_an_ask_that_is_sent_again_is_withheld_again_and_answered_once(tmp_path):
    def numbered(number, body):
        return b"id: %d\r\n" % number + event(body)

    async def story(wire, message, server):
        await wire.send(SSE_HEAD)
        if message.start.startswith(b"GET"):
            assert message.get(b"last-event-id") == b"1"
            await wire.send(chunk(numbered(2, day())))
            await wire.send(chunk(numbered(3, result(7, "late"))), LAST_CHUNK)
            return
        await wire.send(chunk(numbered(1, note("notifications/message", level="info", data="a"))))
        await wire.send(chunk(numbered(2, day())))
        await server.answer()
        await wire.send(LAST_CHUNK)

    server = Server(story)
    async with tapped(server, tmp_path, answering=answering(SCRIPT)) as rig:
        await opened(rig)
        response = await rig.ask(post(book(), *LINES, SESSION))
        assert b"elicitation" not in response.body
        accept = b"Accept: text/event-stream"
        again = await rig.ask(get(b"/mcp", accept, SESSION, b"Last-Event-ID: 1"))
        await rig.stop()
        assert [m.get("id") for m in said(again)] == [7]
        assert server.answers.empty()
        assert len([m for m in server.got if b'"ask-1"' in m.body]) == 1
        (found,) = calls(rig)
        assert found.outcome == "ok"
        assert [a.entry for r in found.rounds for a in r.asks] == ["the day"]
        assert [d.verdict for d in rig.decisions()] == ["answered", "repeated"]
        assert rig.view.findings == []


async def test_an_answer_is_delivered_although_its_client_left(tmp_path):
    gone = asyncio.Event()

    async def story(wire, message, server):
        await wire.send(SSE_HEAD, chunk(event(day())))
        await wire.rest()
        gone.set()

    async def server_(wire):
        await server(wire)

    server = Server(story)
    async with tapped(server_, tmp_path, answering=answering(SCRIPT)) as rig:
        await opened(rig)
        wire = await rig.client()
        await wire.send(post(book(), *LINES, SESSION))
        await wire.until(b"\r\n\r\n")
        wire.reset()
        assert (await server.answer()).json["result"]["action"] == "accept"
        await asyncio.wait_for(gone.wait(), BOUND)


async def test_a_call_whose_answer_the_server_does_not_take_ends_with_an_error(tmp_path):
    async def story(wire, message, server):
        await wire.send(SSE_HEAD, chunk(event(day())))
        await wire.rest()

    refusal = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
    server, chosen = Server(story, accept=refusal), answering(SCRIPT)
    async with tapped(server, tmp_path, answering=chosen) as rig:
        await opened(rig)
        response = await rig.ask(post(book(), *LINES, SESSION))
        await rig.stop()
        (error,) = said(response)
        assert error["id"] == 7
        assert error["error"]["data"] == {"sender": "mcp-tap", "error": "answer-not-taken"}
        assert "404" in error["error"]["message"]
        assert chosen.failed == 1
        assert [d.verdict for d in rig.decisions()] == ["answered", "not-taken"]


async def test_a_call_that_has_its_result_gets_no_error_behind_it(tmp_path):
    refused = asyncio.Event()

    async def story(wire, message, server):
        await wire.send(SSE_HEAD, chunk(event(day())), chunk(event(result())))
        await asyncio.wait_for(refused.wait(), BOUND)
        await wire.send(LAST_CHUNK)

    refusal = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
    server, chosen = Server(story, accept=refusal), answering(SCRIPT)
    async with tapped(server, tmp_path, answering=chosen) as rig:
        await opened(rig)
        wire = await rig.client()
        await wire.send(post(book(), *LINES, SESSION))
        await until(lambda: chosen.failed)
        refused.set()
        assert (await wire.message()).body == event(result())


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ((b"Which day?", b"\\ud800"), "what it says cannot be read for certain"),
        ((b'"id"', b'"id": 1, "id"'), "it names a member twice"),
    ],
)
async def test_what_cannot_be_read_for_certain_passes_and_the_capture_says_so(
    tmp_path, change, why
):
    async def story(wire, message, server):
        await wire.send(SSE_HEAD, chunk(event(day().replace(*change))))
        await wire.send(chunk(event(result())), LAST_CHUNK)

    async with tapped(Server(story), tmp_path, answering=answering(SCRIPT)) as rig:
        await opened(rig)
        response = await rig.ask(post(book(), *LINES, SESSION))
        assert response.body == event(day().replace(*change)) + event(result())
        await rig.stop()
        assert [(d.verdict, d.why) for d in rig.decisions()] == [("not-examined", why)]


async def test_a_server_that_asks_for_ever_is_told_so(tmp_path):
    asks = [day(number, f"Which day {number}?") for number in range(4)]
    _, _, chosen, heard = await play(tmp_path, *asks, max_rounds=3)
    answers = json.loads(heard[-1]["result"]["content"][0]["text"])
    assert [a.get("action") for a in answers] == ["accept"] * 3 + [None]
    assert answers[-1]["data"]["error"] == "too-many-rounds"
    assert chosen.failed == 1


async def test_a_person_whose_stream_ended_is_asked_again_when_it_is_taken_up(tmp_path):
    def gives(asks, unmatched):
        given = Given(entry=None, answer={"action": "decline"}, kind="form")
        return Answered(answers={ask.key: given for ask in asks})

    person = Person(gives)

    async def story(wire, message, server):
        await wire.send(SSE_HEAD, chunk(b"id: 1\r\n\r\n"))
        await wire.send(chunk(b"id: 2\r\n" + event(who())))
        await asyncio.wait_for(person.asked.wait(), BOUND)
        if message.start.startswith(b"GET"):
            await server.answer()
            await wire.send(chunk(b"id: 3\r\n" + event(result(7))))
        await wire.send(LAST_CHUNK)

    chosen = answering(SCRIPT, unmatched="ask", person=person)
    async with tapped(Server(story), tmp_path, answering=chosen) as rig:
        await opened(rig)
        response = await rig.ask(post(book(), *LINES, SESSION))
        assert said(response) == []
        await until(lambda: person.cancelled)
        person.go.set()
        accept = b"Accept: text/event-stream"
        again = await rig.ask(get(b"/mcp", accept, SESSION, b"Last-Event-ID: 1"))
        assert [m.get("id") for m in said(again)] == [7]
