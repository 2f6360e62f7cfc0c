"""One script, played to one client."""

from __future__ import annotations

import pytest

from mcp_tap.replay.server.caller import Caller
from mcp_tap.replay.server.play import Clock, Play, served
from mcp_tap.replay.server.scripts import Scripts
from mcp_tap.replay.server.sessions import Session, Stream
from mcp_tap.replay.splicing import STATE
from tests.replays import Heard, asking, complete, exchange, never, request
from tests.replays import streamed as streaming

NOTE = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info"}}
PROGRESS = {
    "jsonrpc": "2.0",
    "method": "notifications/progress",
    "params": {"progressToken": "old", "progress": 1},
}
ROOTS = {"jsonrpc": "2.0", "id": 5, "method": "roots/list"}


class Timers:
    """Keeps what is to be called later; time passes when it is told to."""

    def __init__(self):
        self.due = []

    def later(self, delay, call):
        timer = Timer(delay, call)
        self.due.append(timer)
        return timer

    def fire(self):
        timer = self.due.pop(0)
        assert not timer.cancelled
        timer.call()
        return timer.delay


class Timer:
    def __init__(self, delay, call):
        self.delay, self.call, self.cancelled = delay, call, False

    def cancel(self):
        self.cancelled = True


@pytest.fixture
def script(indexed):
    """Give the script of the first of some exchanges."""

    def make(*exchanges, **case):
        index = indexed(*exchanges, **case)
        return Scripts(index).of(index.captures[0].exchanges[1])

    return make


def play(script, *, body=None, clock=None, **options):
    heard = Heard()
    caller = None if body is None else Caller.of(body)
    return Play(script, heard, caller, clock or Clock(never, None), **options), heard


def pushed():
    """A call of a session era client, in whose stream it is asked something."""
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ship"}}
    reply = {"jsonrpc": "2.0", "id": 5, "result": {"roots": []}}
    return (
        {**streaming(call, ROOTS, complete(1, "x")), "t": [1.0, 3.0]},
        {**exchange(reply, None, 202), "t": [2.5, 2.6]},
    )


def test_messages_carry_the_tokens_of_this_client(script):
    playing, heard = play(
        script(streaming(request(1), PROGRESS, complete(1, "x"))),
        body=request("mine", meta={"progressToken": "new"}),
    )
    playing.advance()
    note, response = heard.messages
    assert note["params"]["progressToken"] == "new"
    assert response == complete("mine", "x")
    assert (heard.status, heard.over) == (200, "end")


def test_progress_is_left_out_for_who_asked_for_none(script):
    playing, heard = play(
        script(streaming(request(1), PROGRESS, NOTE, complete(1, "x"))), body=request(2)
    )
    playing.advance()
    assert [m.get("method") for m in heard.messages] == ["notifications/message", None]


def test_a_response_carries_the_state_it_is_given(script):
    told = []

    def delivered(step):
        told.append(step.value["result"]["resultType"])
        return {STATE: b'"a \\"new\\" one"'}

    playing, heard = play(
        script(exchange(request(1), asking(1, "old"))), body=request(2), delivered=delivered
    )
    playing.advance()
    assert heard.state == 'a "new" one'
    assert told == ["input_required"]


def test_what_was_broken_off_is_broken_off_again(script):
    playing, heard = play(script(streaming(request(1), NOTE, closed_by="network")), body=request(2))
    playing.advance()
    assert (len(heard.messages), heard.over) == (1, "cut")


def test_what_its_client_left_stays_open(script):
    playing, heard = play(script(streaming(request(1), NOTE, closed_by="client")), body=request(2))
    playing.advance()
    assert (len(heard.messages), heard.over) == (1, "")


def test_at_a_pace_every_step_comes_in_its_time_and_then_the_end(script):
    timers = Timers()
    made = {**streaming(request(1), NOTE, NOTE), "t": [0.0, 4.0]}
    playing, heard = play(script(made), body=request(2), clock=Clock(timers.later, 2.0))
    playing.advance()
    assert (heard.status, heard.messages) == (200, [])
    assert (timers.fire(), len(heard.messages)) == (1.0, 1)
    playing.advance()  # an answer that comes meanwhile hurries nothing
    assert len(heard.messages) == 1
    assert (timers.fire(), len(heard.messages)) == (1.0, 2)
    assert heard.over == "end"


def test_who_is_gone_is_sent_nothing_more(script):
    timers = Timers()
    made = {**streaming(request(1), NOTE, complete(1, "x")), "t": [0.0, 4.0]}
    playing, heard = play(script(made), body=request(2), clock=Clock(timers.later, 1.0))
    playing.advance()
    playing.drop()
    assert [timer.cancelled for timer in timers.due] == [True]
    playing.advance()
    playing.fail(b"{}")
    assert (heard.messages, heard.over) == ([], "")


def test_who_takes_a_lost_stream_up_gets_the_rest_as_it_comes_and_its_end(script):
    timers, session, later = Timers(), Session(id="s"), Heard()
    made = {**streaming(request(1), NOTE, complete(1, "x")), "t": [0.0, 4.0]}
    clock = Clock(timers.later, 1.0)
    playing, heard = play(script(made), body=request(2), clock=clock, session=session)
    playing.advance()
    playing.stream.attach(later)
    playing.drop()
    while timers.due:
        timers.fire()
    assert (heard.messages, heard.over) == ([], "")
    assert (later.messages, later.over) == ([NOTE, complete(2, "x")], "end")


def test_an_error_in_the_place_of_the_rest_ends_it(script):
    timers = Timers()
    made = {**streaming(request(1), NOTE, complete(1, "x")), "t": [0.0, 4.0]}
    playing, heard = play(script(made), body=request(2), clock=Clock(timers.later, 1.0))
    playing.advance()
    playing.fail(b'{"id":2,"error":{}}')
    assert (heard.messages, heard.over) == ([{"id": 2, "error": {}}], "end")


def test_what_follows_an_ask_waits_for_its_answer(script):
    session = Session(id="s")
    playing, heard = play(script(*pushed()), body=request("mine"), session=session)
    playing.advance()
    assert [m["method"] for m in heard.messages] == ["roots/list"]
    assert session.answered({"jsonrpc": "2.0", "id": heard.only["id"], "result": {"roots": []}})
    assert heard.messages[1:] == [complete("mine", "x")]
    assert heard.over == "end"


def test_an_ask_of_a_number_that_is_taken_has_another_and_its_own_answer(script):
    session, made = Session(id="s"), script(*pushed())
    plays = [play(made, body=request(n), session=session) for n in (1, 2)]
    for playing, _ in plays:
        playing.advance()
    ids = [heard.only["id"] for _, heard in plays]
    assert ids[0] == 5
    assert ids[1] != 5
    session.answered({"jsonrpc": "2.0", "id": ids[1], "result": {}})
    assert [heard.over for _, heard in plays] == ["", "end"]


def test_an_answer_that_is_another_clients_goes_on_with_that_ones_script(script):
    mine, other = script(*pushed()), script(*pushed())
    call, reply = pushed()
    call["response"]["sse"] = [ROOTS, NOTE, complete(1, "another end")]
    call["t"] = [0.0, 9.0]
    other = script(call, {**reply, "t": [4.0, 4.1]})
    session, said = Session(id="s"), []

    def branch(playing, response):
        said.append((playing.asked[0][1], response))
        return other

    playing, heard = play(mine, body=request("mine"), session=session, branch=branch)
    playing.advance()
    response = {"jsonrpc": "2.0", "id": 5, "result": {"roots": [1]}}
    session.answered(response)
    assert said == [(response, response)]
    assert heard.messages[1:] == [NOTE, complete("mine", "another end")]


def test_a_stream_goes_on_without_its_client_for_who_takes_it_up(script):
    session = Session(id="s")
    playing, heard = play(script(*pushed()), body=request("mine"), session=session)
    playing.advance()
    playing.drop()
    session.answered({"jsonrpc": "2.0", "id": 5, "result": {"roots": []}})
    assert len(heard.messages) == 1
    again = Heard()
    playing.stream.attach(again)
    assert again.messages == [complete("mine", "x")]
    assert playing.stream.ended


def test_a_cancelled_call_goes_on_when_it_is_cancelled(script):
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ship"}}
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    made = script(
        {**streaming(call, NOTE, NOTE), "t": [1.0, 3.0]},
        {**exchange(note, None, 202), "t": [2.5, 2.6]},
    )
    playing, heard = play(made, body=request(1), session=Session(id="s"))
    playing.advance()
    assert (len(heard.messages), heard.over) == (1, "")
    playing.cancelled()
    assert (len(heard.messages), heard.over) == (2, "end")


def test_a_stream_that_is_held_reads_on_what_comes_later(script):
    stream = Stream()
    playing, heard = play(script(streaming(request(1), NOTE)))
    playing.hold(stream)
    playing.advance()
    stream.message(b'{"late":1}', None)
    assert heard.messages[-1] == {"late": 1}
    playing.drop()
    assert stream.outlet is None


@pytest.mark.parametrize(
    ("session", "sent"), [("new", [("MCP-Session-Id", "new")]), (None, [])], ids=["own", "none"]
)
def test_of_the_recorded_fields_those_of_framing_and_the_session_are_left_out(session, sent):
    headers = (
        ("Content-Length", "5"),
        ("transfer-encoding", "chunked"),
        ("Content-Encoding", "gzip"),
        ("Date", "then"),
        ("Connection", "close"),
        ("MCP-Session-Id", "old"),
        ("X-Twice", "1"),
        ("X-Twice", "2"),
    )
    assert served(headers, session) == [*sent, ("X-Twice", "1"), ("X-Twice", "2")]
