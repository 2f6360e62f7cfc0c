"""How a call goes on after a pushed ask, given what its client answered."""

from __future__ import annotations

import pytest

from mcp_tap.replay.server.caller import Caller
from mcp_tap.replay.server.matching import Book
from mcp_tap.replay.server.misses import Misses
from mcp_tap.replay.server.play import Clock, Play
from mcp_tap.replay.server.pushed import Branches
from mcp_tap.replay.server.scripts import Scripts
from mcp_tap.replay.server.sessions import Session
from tests.replays import ASK, Heard, complete, exchange, given, never, streamed

SURE = ASK["sure"]
REALLY = {**SURE, "params": {**SURE["params"], "message": "Really?"}}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ship"}}


def asked(at, answer, text, ask=SURE, number=1):
    """A call in whose stream something is asked, and the answer to it."""
    call = {**CALL, "id": number}
    stream = streamed(call, {"jsonrpc": "2.0", "id": number, **ask}, complete(number, text))
    said = exchange({"jsonrpc": "2.0", "id": number, **answer}, None, 202)
    for made in (stream, said):
        made["request"]["headers"] = {"MCP-Protocol-Version": "2025-11-25"}
    return {**stream, "t": [at, at + 2.0]}, {**said, "t": [at + 1.2, at + 1.4]}


def acted(action, **more):
    return {"result": {"action": action, **more}}


@pytest.fixture
def served(indexed):
    """Give a play of the first call recorded, its session, what it sends, and the misses."""

    def make(*exchanges):
        index, missed = indexed(*exchanges), []
        book, scripts = Book(index, "repeat"), Scripts(index)
        branches = Branches(index, book, scripts, Misses(index, book), missed.append)
        first = given(CALL)
        session = Session(id="s")

        def call():
            node, heard = book.first(first), Heard()
            play = Play(
                scripts.of(node.exchange),
                heard,
                Caller.of({**CALL, "id": "mine"}),
                Clock(never, None),
                session=session,
                branch=lambda play, response: branches.of(play, node, response),
            )
            play.advance()
            return heard

        return call, session, missed

    return make


def answer(session, heard, said):
    assert session.answered({"jsonrpc": "2.0", "id": heard.messages[-1]["id"], **said})
    return heard.messages[-1]


def test_an_answer_as_recorded_goes_on_as_recorded(served):
    call, session, missed = served(*asked(1.0, acted("accept", content={}), "shipped"))
    heard = call()
    assert answer(session, heard, acted("accept", content={})) == complete("mine", "shipped")
    assert not missed


def test_an_answer_that_another_client_gave_goes_on_as_that_ones_call(served):
    call, session, missed = served(
        *asked(1.0, acted("accept"), "shipped"),
        *asked(5.0, acted("decline"), "left", number=2),
        *asked(9.0, {"error": {"code": -1, "message": "no"}}, "failed", number=3),
    )
    first, second = call(), call()
    refused = {"error": {"code": -1, "message": "no"}}
    assert answer(session, first, refused) == complete("mine", "failed")
    assert answer(session, second, acted("accept")) == complete("mine", "shipped")
    assert not missed


def test_what_began_as_one_call_and_went_on_as_another_leaves_the_one_to_serve(served):
    call, session, _ = served(
        *asked(1.0, acted("accept"), "shipped"), *asked(5.0, acted("decline"), "left", number=2)
    )
    assert answer(session, call(), acted("decline")) == complete("mine", "left")
    assert answer(session, call(), acted("accept")) == complete("mine", "shipped")


def test_an_answer_nobody_gave_is_an_error_that_names_the_nearest(served):
    call, session, missed = served(*asked(1.0, acted("accept", content={"yes": True}), "shipped"))
    heard = call()
    got = answer(session, heard, acted("accept", content={"yes": False}))
    assert got["id"] == "mine"
    assert got["error"]["data"]["error"] == "not-recorded"
    assert heard.over == "end"
    (miss,) = missed
    assert "result.content.yes false, recorded true" in miss.error.why


def test_a_call_in_which_something_else_was_asked_is_no_branch(served):
    call, session, missed = served(
        *asked(1.0, acted("accept"), "shipped"),
        *asked(5.0, acted("decline"), "left", ask=REALLY, number=2),
    )
    assert "error" in answer(session, call(), acted("decline"))
    assert len(missed) == 1


def test_a_client_that_never_answered_is_no_branch(served):
    stream, _ = asked(5.0, acted("decline"), "went on all the same", number=2)
    call, session, missed = served(*asked(1.0, acted("accept"), "shipped"), stream)
    assert "error" in answer(session, call(), acted("decline"))
    assert len(missed) == 1
