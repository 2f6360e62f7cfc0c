"""One recorded client, live: its session, what it is asked in it, and the tools it knows."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.bounds import BOUND
from tests.resending import LIMITS, Served, message, resent

CAPTURES = Path(__file__).parents[4] / "captures"
SESSION = str(CAPTURES / "py-py-2025.jsonl")
FORM = 10
"""A call in which a form is pushed."""


class Session(Served):
    """Pushes an ask in each call, and says what it was answered."""

    def __init__(self, params):
        super().__init__(self.serve)
        self.asked = {"method": "elicitation/create", "params": params}
        self.answers = asyncio.Queue()

    async def tell(self, said):
        await super().tell(said)
        if said.kind == "response":
            await self.answers.put(said.value)

    def serve(self, method, params):
        if method != "tools/call":
            return {"protocolVersion": "2025-11-25", "capabilities": {}, "tools": []}

        async def push(heard):
            heard(message({"jsonrpc": "2.0", "id": "ask-7", **self.asked}))
            answer = await asyncio.wait_for(self.answers.get(), BOUND)
            return {"content": [{"type": "text", "text": str(answer)}]}

        return push


def recorded_form():
    from mcp_tap.replay.index import Index

    with Index.of([SESSION]) as index:
        call = next(c for c in index.calls if c.number == FORM)
        return index.value(0, next(iter(call.rounds[0].asks.values())).seq)["params"]


async def test_a_session_is_begun_and_its_stream_opened_before_anything_else(tmp_path):
    server = Session(recorded_form())
    run, _ = await resent(SESSION, server, wanted={FORM})
    assert server.requests[0]["method"] == "initialize"
    assert server.told[0]["method"] == "notifications/initialized"
    assert server.listening
    assert [played.item.call.number for played in run.played] == [FORM]


async def test_what_a_server_pushes_gets_the_recorded_answer_under_its_own_id():
    server = Session(recorded_form())
    run, _ = await resent(SESSION, server, wanted={FORM})
    answer = server.told[-1]
    assert answer["id"] == "ask-7"
    assert answer["result"]["action"] == "accept"
    assert run.played[0].why == ""


async def test_a_form_that_wants_more_than_was_answered_is_cancelled_and_told():
    params = recorded_form()
    schema = params["requestedSchema"]
    more = {**schema, "properties": {**schema["properties"], "why": {"type": "string"}},
            "required": ["why"]}  # fmt: skip
    server = Session({**params, "requestedSchema": more})
    run, _ = await resent(SESSION, server, wanted={FORM})
    assert server.told[-1]["result"] == {"action": "cancel"}
    assert 'no "why", which is required' in run.played[0].why
    assert run.played[0].kept == 1


async def test_a_ping_is_answered():
    server = Session({})
    server.asked = {"method": "ping"}
    await resent(SESSION, server, wanted={FORM})
    assert server.told[-1] == {"jsonrpc": "2.0", "id": "ask-7", "result": {}}


async def test_a_cancelled_call_is_cancelled_again(tmp_path):
    async def never(heard):
        await asyncio.Event().wait()

    server = Session({})
    serve = server.serve
    server.answer = lambda m, p: never if m == "tools/call" else serve(m, p)
    run, _ = await resent(SESSION, server, wanted={8}, limits=type(LIMITS)(timeout=0.02, stream=0))
    note = server.told[-1]
    assert note["method"] == "notifications/cancelled"
    assert note["params"]["requestId"] == server.requests[-1]["id"]
    assert not run.played[0].failed


async def test_a_server_that_never_takes_a_notification_holds_nothing_up():
    class Deaf(Session):
        async def tell(self, said):
            await asyncio.Event().wait()

    deaf = Deaf({})
    deaf.answer = lambda method, params: {"protocolVersion": "2025-11-25", "capabilities": {}}
    async with asyncio.timeout(BOUND):
        run, _ = await resent(SESSION, deaf, wanted={FORM}, limits=type(LIMITS)(timeout=0.01))
    assert run.played[0].answered
