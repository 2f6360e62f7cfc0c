"""Asks of the session era, answered by the tap: what passes on both wires, and what is recorded."""

from __future__ import annotations

import asyncio
import json

from mcp_tap.answers.book import Unmatched
from mcp_tap.core.model import Call
from tests.asking import answering
from tests.rig import LAST_CHUNK, SSE_HEAD, chunk, event, get, ok, post, tapped

SCRIPT = """
version = 1

[[answer]]
name = "the day"
match = { field = "day" }
content = { day = "tue" }
"""
SESSION = b"Mcp-Session-Id: s-1"
LINES = (
    b"Accept: application/json, text/event-stream",
    b"MCP-Protocol-Version: 2025-11-25",
    b"Authorization: Bearer abc",
    b"X-Team: blue",
)
LINE_END = b"\r\n\r\n"
ACCEPTED = b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"


def rpc(method, number=1, **params):
    body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return json.dumps(body).encode()


def note(method, **params):
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode()


def hello(capabilities=None, number=0):
    return rpc(
        "initialize",
        number,
        protocolVersion="2025-11-25",
        capabilities=capabilities or {},
        clientInfo={"name": "tester", "version": "1"},
    )


def welcome(number=0):
    info = {"name": "billing", "version": "1"}
    result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
    return ok(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode(), SESSION)


def book(number=7, **arguments):
    return rpc("tools/call", number, name="book", arguments=arguments)


def day(number="ask-1", message="Which day?"):
    schema = {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]}
    return rpc("elicitation/create", number, mode="form", message=message, requestedSchema=schema)


def result(number=7, text="done"):
    content = [{"type": "text", "text": text}]
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": {"content": content}}).encode()


class Server:
    """Welcomes, and plays a `story` for what else comes; answers to its asks wake it up."""

    def __init__(self, story, *, accept=ACCEPTED):
        self.story = story
        self.accept = accept
        self.got = []
        self.answers = asyncio.Queue()

    @property
    def hello(self):
        return self.got[0]

    async def __call__(self, wire):
        while True:
            message = await wire.message()
            self.got.append(message)
            if message.start.startswith(b"GET"):
                await self.story(wire, message, self)
                continue
            value = message.json
            if value.get("method") == "initialize":
                await wire.send(welcome(value["id"]))
            elif "method" in value and "id" in value:
                await self.story(wire, message, self)
            else:
                await wire.send(self.accept)
                if "method" not in value:
                    self.answers.put_nowait(message)

    async def answer(self):
        async with asyncio.timeout(5):
            return await self.answers.get()


async def one_ask(wire, message, server):
    await wire.send(SSE_HEAD, chunk(event(note("notifications/message", level="info", data="a"))))
    await wire.send(chunk(event(day())))
    answer = await server.answer()
    text = json.dumps(answer.json.get("result") or answer.json["error"])
    await wire.send(chunk(event(result(message.json["id"], text))), LAST_CHUNK)


async def opened(rig, capabilities=None):
    """Begin a session."""
    response = await rig.ask(post(hello(capabilities), *LINES))
    assert response.get(b"mcp-session-id") == b"s-1"
    await rig.ask(post(note("notifications/initialized"), *LINES, SESSION))


def said(response):
    """The messages of a stream."""
    return [
        json.loads(line[6:]) for line in response.body.splitlines() if line.startswith(b"data: ")
    ]


def text(response):
    return json.loads(said(response)[-1]["result"]["content"][0]["text"])


def calls(rig):
    return [c for c in rig.view.calls.values() if c.method == "tools/call"]


async def test_a_pushed_ask_is_answered_and_not_shown_to_its_client(tmp_path):
    server = Server(one_ask)
    async with tapped(server, tmp_path, answering=answering(SCRIPT)) as rig:
        await opened(rig)
        response = await rig.ask(post(book(), *LINES, SESSION))
        await rig.stop()
        assert server.hello.json["params"]["capabilities"] == {"elicitation": {"form": {}}}
        assert [m.get("method") for m in said(response)] == ["notifications/message", None]
        assert text(response) == {"action": "accept", "content": {"day": "tue"}}
        answer = server.got[-1]
        assert answer.json["id"] == "ask-1"
        assert answer.get(b"mcp-session-id") == b"s-1"
        assert answer.get(b"mcp-protocol-version") == b"2025-11-25"
        assert answer.get(b"authorization") == b"Bearer abc"
        assert answer.get(b"x-team") == b"blue"
        assert answer.get(b"content-type") == b"application/json"
        (call,) = calls(rig)
        assert isinstance(call, Call)
        (ask,) = [a for r in call.rounds for a in r.asks]
        assert (ask.answered_by, ask.entry, ask.action, ask.pushed) == (
            "tap",
            "the day",
            "accept",
            True,
        )
        assert call.outcome == "ok"
        assert [r.by_tap for r in call.rounds] == [False, True]
        (mine,) = [m for m in rig.messages() if m.sender == "tap" and b"ask-1" in m.payload()]
        assert mine.leg == "upstream"
        assert mine.exchange != call.rounds[0].exchange
        (asked,) = [m for m in rig.messages() if b"elicitation/create" in m.payload()]
        assert (asked.leg, asked.sender) == ("upstream", "server")
        assert rig.view.findings == []


def streams(*told):
    """A story that pushes asks one after the other and tells at last what was answered."""

    async def story(wire, message, server):
        await wire.send(SSE_HEAD)
        answers = []
        for ask in told:
            await wire.send(chunk(event(ask)))
            answer = (await server.answer()).json
            answers.append(answer.get("result") or answer["error"])
        text = json.dumps(answers)
        await wire.send(chunk(event(result(message.json["id"], text))), LAST_CHUNK)

    return story


async def play(tmp_path, *asks, capabilities=None, script=SCRIPT, client=None, **options):
    """Play a call with these asks; give what was said on both sides."""
    server, chosen = Server(streams(*asks)), answering(script, **options)
    async with tapped(server, tmp_path, answering=chosen) as rig:
        await opened(rig, capabilities)
        if client is None:
            response = await rig.ask(post(book(), *LINES, SESSION))
        else:
            response = await client(rig)
        await rig.stop()
        return rig, server, chosen, said(response)


async def test_the_script_answers_before_a_client_that_could(tmp_path):
    rig, _, _, heard = await play(tmp_path, day(), capabilities={"elicitation": {"form": {}}})
    assert json.loads(heard[-1]["result"]["content"][0]["text"])[0]["content"] == {"day": "tue"}
    assert len(heard) == 1
    assert rig.view.findings == []


async def test_what_no_entry_answers_goes_to_a_client_that_declared_it(tmp_path):
    ask = rpc("elicitation/create", 5, message="Who?", requestedSchema={"type": "object"})
    given = json.dumps({"jsonrpc": "2.0", "id": 5, "result": {"action": "cancel"}}).encode()

    async def client(rig):
        wire = await rig.client()
        await wire.send(post(book(), *LINES, SESSION))
        await wire.until(b"Who?")
        await rig.ask(post(given, *LINES, SESSION))
        rest = await wire.until(LAST_CHUNK)
        assert b"cancel" in rest
        return await rig.ask(post(note("notifications/roots/list_changed"), *LINES, SESSION))

    rig, server, chosen, _ = await play(
        tmp_path, ask, capabilities={"elicitation": {}}, client=client
    )
    assert server.hello.body == hello({"elicitation": {}})
    assert chosen.failed == 0
    (found,) = calls(rig)
    assert [a.answered_by for r in found.rounds for a in r.asks] == ["client"]
    assert [d.verdict for d in rig.decisions()] == ["passed"]


async def test_what_nobody_answers_is_refused_with_the_code_of_its_kind(tmp_path):
    asks = [
        day(1, "Which day?"),
        rpc(
            "elicitation/create",
            2,
            mode="url",
            message="Go",
            url="https://a.example",
            elicitationId="e",
        ),
        rpc("roots/list", 3),
        rpc("sampling/createMessage", 4, messages=[], maxTokens=5),
        rpc("elicitation/create", 5, message="Who?", requestedSchema={"type": "object"}),
    ]
    rig, _, chosen, heard = await play(tmp_path, *asks, unmatched="fail")
    answers = json.loads(heard[-1]["result"]["content"][0]["text"])
    assert answers[0]["action"] == "accept"
    assert [a["code"] for a in answers[1:]] == [-32602, -32601, -32601, -32603]
    assert all(a["data"] == {"sender": "mcp-tap", "error": "no-answer"} for a in answers[1:])
    assert chosen.failed == 4
    assert chosen.answered == 1
    assert any("no-answer" in notice for notice in rig.view.notices)


async def test_elicitations_can_be_declined_for_want_of_an_answer(tmp_path):
    ask = rpc("elicitation/create", 5, message="Who?", requestedSchema={"type": "object"})
    rig, _, chosen, heard = await play(tmp_path, ask, unmatched="decline")
    assert json.loads(heard[-1]["result"]["content"][0]["text"]) == [{"action": "decline"}]
    assert chosen.failed == 0
    (found,) = calls(rig)
    assert [a.action for r in found.rounds for a in r.asks] == ["decline"]


EVERYTHING = """
version = 1

[[answer]]
name = "page"
match = { mode = "url", url = "https://a.example/*" }
action = "accept"

[[answer]]
name = "model"
match = { ask = "sampling" }
text = "Paris."
model = "scripted"

[[answer]]
name = "workspace"
match = { ask = "roots" }
roots = [{ uri = "file:///home/ada/shop", name = "shop" }]
"""


async def test_pages_models_and_folders_are_answered_too(tmp_path):
    asks = [
        rpc(
            "elicitation/create",
            1,
            mode="url",
            message="Go",
            url="https://a.example/x",
            elicitationId="e",
        ),
        rpc(
            "sampling/createMessage",
            2,
            messages=[{"role": "user", "content": {"type": "text", "text": "capital?"}}],
            maxTokens=5,
        ),
        rpc("roots/list", 3),
    ]
    rig, server, _, heard = await play(tmp_path, *asks, script=EVERYTHING)
    answers = json.loads(heard[-1]["result"]["content"][0]["text"])
    assert answers[0] == {"action": "accept"}
    assert answers[1]["content"] == {"type": "text", "text": "Paris."}
    assert answers[2]["roots"] == [{"uri": "file:///home/ada/shop", "name": "shop"}]
    declared = server.hello.json["params"]["capabilities"]
    assert declared == {"elicitation": {"url": {}}, "sampling": {}, "roots": {}}
    (found,) = calls(rig)
    assert [a.entry for r in found.rounds for a in r.asks] == ["page", "model", "workspace"]
    assert [f.rule for f in rig.view.findings] == []


async def test_a_server_that_asks_for_ever_is_told_so(tmp_path):
    asks = [day(number, f"Which day {number}?") for number in range(4)]
    _, _, chosen, heard = await play(tmp_path, *asks, max_rounds=3)
    answers = json.loads(heard[-1]["result"]["content"][0]["text"])
    assert [a.get("action") for a in answers] == ["accept"] * 3 + [None]
    assert answers[-1]["data"]["error"] == "too-many-rounds"
    assert chosen.failed == 1


async def test_an_ask_on_the_stream_of_the_session_is_for_the_call_under_way(tmp_path):
    listening, asked = asyncio.Event(), asyncio.Event()
    script = SCRIPT.replace('field = "day"', 'tool = "book"')

    async def story(wire, message, server):
        if message.start.startswith(b"GET"):
            await wire.send(SSE_HEAD)
            listening.set()
            await asyncio.wait_for(asked.wait(), 5)
            await wire.send(chunk(event(note("notifications/tools/list_changed"))))
            await wire.send(chunk(event(day())))
            await wire.rest()
            return
        asked.set()
        answer = await server.answer()
        await wire.send(ok(result(message.json["id"], json.dumps(answer.json["result"]))))

    server = Server(story)
    async with tapped(server, tmp_path, answering=answering(script)) as rig:
        await opened(rig)
        stream = await rig.client()
        accept = b"Accept: text/event-stream"
        await stream.send(
            get(b"/mcp", accept, SESSION, b"Authorization: Bearer abc", b"Last-Event-ID: 4")
        )
        await asyncio.wait_for(listening.wait(), 5)
        response = await rig.ask(post(book(), *LINES, SESSION))
        assert b"tue" in response.body
        await stream.until(b"list_changed")
        await rig.stop()
        await stream.rest()
        assert b"elicitation" not in stream.received
        answer = server.got[-1]
        assert answer.start == b"POST /mcp HTTP/1.1"
        assert answer.get(b"content-type") == b"application/json"
        assert answer.get(b"accept") == b"application/json, text/event-stream"
        assert answer.get(b"authorization") == b"Bearer abc"
        assert answer.get(b"last-event-id") is None
        (found,) = calls(rig)
        (ask,) = [a for r in found.rounds for a in r.asks]
        assert (ask.answered_by, ask.entry) == ("tap", "the day")


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
        await asyncio.wait_for(gone.wait(), 5)


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


async def test_that_a_page_was_visited_streams_through(tmp_path):
    async def story(wire, message, server):
        done = note("notifications/elicitation/complete", elicitationId="e")
        body = result(message.json["id"])
        await wire.send(SSE_HEAD, chunk(event(done)), chunk(event(body)), LAST_CHUNK)

    server = Server(story)
    async with tapped(server, tmp_path, answering=answering(SCRIPT)) as rig:
        await opened(rig)
        response = await rig.ask(post(book(), *LINES, SESSION))
        assert [m.get("method") for m in said(response)] == [
            "notifications/elicitation/complete",
            None,
        ]


async def test_parallel_calls_of_a_session_get_their_own_answers(tmp_path):
    script = """
    version = 1
    [[answer]]
    name = "odd"
    match = { message = "[13579]\\\\?$" }
    content = { day = "odd" }
    [[answer]]
    name = "even"
    match = { field = "day" }
    content = { day = "even" }
    """
    waiting = {}

    async def server(wire):
        while True:
            message = await wire.message()
            value = message.json
            if value.get("method") == "initialize":
                await wire.send(welcome(value["id"]))
            elif value.get("method") == "tools/call":
                number = value["id"]
                waiting[number] = asyncio.get_running_loop().create_future()
                await wire.send(SSE_HEAD, chunk(event(day(number, f"Day {number}?"))))
                answer = await asyncio.wait_for(waiting[number], 5)
                await wire.send(chunk(event(result(number, json.dumps(answer)))), LAST_CHUNK)
            else:
                await wire.send(ACCEPTED)
                if "result" in value:
                    waiting[value["id"]].set_result(value["result"])

    async with tapped(server, tmp_path, answering=answering(script)) as rig:
        await opened(rig)
        responses = await asyncio.gather(
            *(rig.ask(post(book(number), *LINES, SESSION)) for number in range(100))
        )
        for number, response in enumerate(responses):
            assert text(response)["content"] == {"day": "odd" if number % 2 else "even"}
        await rig.stop()
        assert len(calls(rig)) == 100
        assert all(c.outcome == "ok" for c in calls(rig))


class Person:
    """Decides as a test says, when it says so."""

    def __init__(self, decided=None):
        self.decided = decided
        self.asked = asyncio.Event()
        self.go = asyncio.Event()
        self.cancelled = False

    async def __call__(self, asks, unmatched):
        self.asked.set()
        try:
            await asyncio.wait_for(self.go.wait(), 5)
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return self.decided(asks, unmatched)


def who(number=5):
    return rpc("elicitation/create", number, message="Who?", requestedSchema={"type": "object"})


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
        await asyncio.wait_for(person.asked.wait(), 5)
        back = note("notifications/cancelled", requestId=5)
        body = result(message.json["id"])
        await wire.send(chunk(event(back)), chunk(event(body)), LAST_CHUNK)

    chosen = answering(SCRIPT, unmatched="ask", person=person)
    async with tapped(Server(story), tmp_path, answering=chosen) as rig:
        await opened(rig)
        response = await rig.ask(post(book(), *LINES, SESSION))
        assert [m.get("id") for m in said(response)] == [7]
        assert person.cancelled


async def test_a_session_with_an_endpoint_of_its_own_is_answered_there(tmp_path):
    """The transport of 2024-11-05: one stream for all that a server says."""
    place, told, answers = b"/messages?session=1", asyncio.Queue(), asyncio.Queue()

    async def server(wire):
        message = await wire.message()
        if message.start.startswith(b"GET"):
            await wire.send(SSE_HEAD, chunk(b"event: endpoint\ndata: " + place + b"\n\n"))
            while True:
                await wire.send(chunk(event(await told.get())))
        assert message.start == b"POST " + place + b" HTTP/1.1"
        await wire.send(b"HTTP/1.1 202 Accepted\r\nContent-Length: 8\r\n\r\nAccepted")
        value = message.json
        if value.get("method") == "initialize":
            assert value["params"]["capabilities"] == {"elicitation": {"form": {}}}
            told.put_nowait(welcome(value["id"]).partition(b"\r\n\r\n")[2])
        elif value.get("method") == "tools/call":
            told.put_nowait(day())
        elif "result" in value:
            answers.put_nowait(value)
            told.put_nowait(result(7, json.dumps(value["result"])))

    script = SCRIPT.replace('field = "day"', 'server = "billing", tool = "book"')
    async with tapped(server, tmp_path, path="/sse", answering=answering(script)) as rig:
        stream = await rig.client()
        await stream.send(get(b"/sse", b"Accept: text/event-stream"))
        await stream.until(place)
        await rig.ask(post(hello(), target=place))
        await stream.until(b"serverInfo")
        await rig.ask(post(book(), target=place))
        heard = await stream.until(b"content")
        assert b"elicitation/create" not in heard
        heard += await stream.until(LINE_END)
        assert b"tue" in heard
        assert answers.get_nowait()["id"] == "ask-1"
