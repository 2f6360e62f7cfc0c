"""Requests that carry no message: streams opened and taken up again, sessions that end."""

from __future__ import annotations

import pytest

from mcp_tap.core.records import Sse
from mcp_tap.replay.server.play import Clock
from mcp_tap.replay.server.scripts import Scripts
from mcp_tap.replay.server.sessions import Session, Stream
from mcp_tap.replay.server.visits import Turns, Visits
from tests.replays import OPEN, OPENED, Heard, exchange, never

NOTE = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info"}}
LATER = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}


@pytest.fixture
def visits(indexed):
    """Give what makes visits, and the turns, of exchanges."""

    def make(*exchanges):
        index = indexed(*exchanges)
        turns = Turns(index)
        return Visits(index, Scripts(index), turns, Clock(never, None)), turns

    return make


def opened(session):
    made = exchange(OPEN, {"jsonrpc": "2.0", "id": 1, "result": OPENED})
    made["request"]["headers"] = {"Content-Type": "application/json"}
    made["response"]["headers"] = {"Mcp-Session-Id": session, "Content-Type": "application/json"}
    return made


def visit(verb, session, status=200, path="/mcp", closed_by="server", **more):
    asked = {"method": verb, "path": path, "headers": {"Mcp-Session-Id": session}}
    return {"request": asked, "response": {"status": status, "closed_by": closed_by, **more}}


def listening(session, *messages, last=None, **more):
    fields = {"Content-Type": "text/event-stream"}
    made = visit("GET", session, headers=fields, sse=messages, **more)
    if last is not None:
        made["request"]["headers"]["Last-Event-ID"] = last
    return made


def live(recorded, name="live"):
    return Session(id=name, recorded=recorded)


def got(visits, session, path="/mcp", last=None):
    heard = Heard()
    visits.get(path, last, session, heard)
    return heard


def test_each_visit_gets_what_the_next_one_like_it_got_and_then_the_last(visits):
    all_, _ = visits(opened("a"), visit("GET", "a", 409), visit("GET", "a", 405))
    session = live("a")
    assert [got(all_, session).status for _ in range(3)] == [409, 405, 405]


def test_a_session_has_its_own_turns(visits):
    all_, _ = visits(opened("a"), visit("GET", "a", 409), opened("b"), visit("GET", "b", 405))
    assert got(all_, live("b")).status == 405
    assert got(all_, live("a")).status == 409


def test_a_session_that_made_no_such_visit_gets_anothers(visits):
    all_, _ = visits(opened("a"), visit("GET", "a", 409), opened("b"))
    assert got(all_, live("b")).status == 409


def test_a_stream_nobody_recorded_is_not_offered(visits):
    all_, _ = visits(opened("a"))
    assert got(all_, live("a")).status == 405
    assert got(all_, Session(id=None)).status == 404
    assert got(all_, live("a"), path="/elsewhere").status == 405


def test_on_a_stream_that_was_opened_comes_what_came_before_and_what_comes_later(visits):
    all_, _ = visits(opened("a"), listening("a", NOTE, closed_by="client"))
    session = live("a")
    heard = got(all_, session)
    session.stream.message(b'{"late":1}', None)
    assert heard.messages == [NOTE, {"late": 1}]
    assert heard.over == ""


def test_a_stream_lost_in_this_run_is_taken_up_from_what_was_sent_in_it(visits):
    all_, _ = visits(opened("a"))
    session = live("a")
    stream = Stream(Heard())
    session.streams.append(stream)
    for n in (1, 2):
        stream.message(b'{"n":%d}' % n, Sse(id=f"e{n}"))
    heard = got(all_, session, last="e1")
    assert (heard.messages, heard.over) == ([{"n": 2}], "")
    assert heard.headers == {"Content-Type": "text/event-stream"}
    stream.ended = True
    assert got(all_, session, last="e1").over == "end"
    assert stream.outlet is None


def test_a_stream_that_was_taken_up_in_the_recording_is_played_from_there(visits):
    all_, _ = visits(
        opened("a"), listening("a", NOTE), listening("a", LATER, last="e7", closed_by="network")
    )
    heard = got(all_, live("a"), last="e7")
    assert heard.messages == [LATER]
    assert heard.over == "cut"


def test_a_stream_is_taken_up_behind_an_event_that_was_sent_again_under_another_id(visits):
    all_, _ = visits(opened("a"), listening("a", NOTE), listening("a", LATER, last="7"))
    session = live("a")
    for _ in range(2):
        session.events.of(0, 40, Sse(id="7"))
    assert got(all_, session, last="7-2").messages == got(all_, session, last="7").messages
    assert got(all_, session, last="7-2").messages == [LATER]


def test_an_event_nobody_knows_opens_a_stream_like_any(visits):
    all_, _ = visits(opened("a"), listening("a", NOTE))
    assert got(all_, live("a"), last="unknown").messages == [NOTE]


@pytest.mark.parametrize(
    ("verb", "session", "status"),
    [("DELETE", live("a"), 200), ("DELETE", Session(id=None), 405), ("PUT", live("a"), 405)],
    ids=["ends", "nothing to end", "unknown"],
)
def test_what_was_not_recorded_is_answered_as_most_servers_do(visits, verb, session, status):
    all_, _ = visits(opened("a"))
    heard = Heard()
    assert all_.other(verb, "/mcp", heard, session) is None
    assert (heard.status, heard.over) == (status, "end")


def test_the_end_of_a_session_is_answered_as_recorded(visits):
    all_, _ = visits(opened("a"), visit("DELETE", "a", 204))
    heard = Heard()
    all_.other("DELETE", "/mcp", heard, live("a"))
    assert (heard.status, heard.over) == (204, "end")


def test_notifications_and_responses_have_turns_by_their_names(visits):
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    gone = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}}
    reply = {"jsonrpc": "2.0", "id": 1, "result": {}}
    _, turns = visits(*(exchange(body, None, 202) for body in (ready, gone, reply)))
    session = Session(id=None)
    names = [("notification", ready["method"]), ("response", ""), ("notification", gone["method"])]
    assert [turns.next(name, session).number for name in names] == [1, 3, 2]
    assert turns.next(("notification", "notifications/other"), session) is None
    assert turns.next(("POST", "/mcp"), session) is None
