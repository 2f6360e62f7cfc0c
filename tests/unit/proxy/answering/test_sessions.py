"""What is remembered of sessions, without a socket."""

from __future__ import annotations

import json

import pytest

from mcp_tap.answers.question import EVERY
from mcp_tap.net.heads import HeadReader, RequestLine
from mcp_tap.proxy.answering.session import Called, Session, read
from mcp_tap.proxy.answering.sessions import Sessions, endpoint_at
from tests.pushing import SESSION, book, hello, rpc

FORMS = {"elicitation": {"form": {}}}


def head(*fields, target=b"/mcp"):
    pairs = [tuple(field.split(b": ", 1)) for field in fields]
    return HeadReader().read(RequestLine(b"POST", target, "1.1"), pairs)


def declared(body, advertise):
    request = Sessions(advertise).edited(body)
    assert request is not None
    return json.loads(request.body)["params"]["capabilities"], request.edited


def test_initialize_declares_what_the_client_did_not():
    assert declared(hello(), FORMS) == (FORMS, True)
    assert declared(hello({"roots": {"listChanged": True}}), {"roots": {}, "sampling": {}}) == (
        {"roots": {"listChanged": True}, "sampling": {}},
        True,
    )
    assert declared(hello({"elicitation": {}}), FORMS) == ({"elicitation": {}}, False)


def test_nothing_else_in_initialize_changes():
    body = b'{"id" : 1e0,"method":"initialize","params":{ "x":1.50, "capabilities":{ } }}'
    request = Sessions(FORMS).edited(body)
    assert request.body == body.replace(b"{ }", b'{ "elicitation":{"form":{}}}')
    without = b'{"id":1,"method":"initialize","params":{}}'
    assert b'"capabilities":{"elicitation"' in Sessions(FORMS).edited(without).body


@pytest.mark.parametrize(
    "body",
    [
        book(),
        b"[]",
        b'{"method":"notifications/initialized"}',
        b'{"id":null,"method":"initialize","params":{}}',
        b"initialize",
    ],
)
def test_other_messages_begin_no_session(body):
    assert Sessions(FORMS).edited(body) is None


@pytest.mark.parametrize(
    "body",
    [
        b'{"id":1,"method":"initialize"}',
        b'{"id":1,"method":"initialize","params":{"capabilities":{},"capabilities":{}}}',
    ],
)
def test_an_initialize_that_cannot_be_edited_passes_as_it_is(body):
    request = Sessions(FORMS).edited(body)
    assert request.body == body
    assert not request.edited


def test_a_session_knows_what_its_client_declared_and_what_its_server_was_told():
    sessions = Sessions(FORMS)
    request = sessions.edited(hello({"roots": {}}))
    session = sessions.opened(("session", "s-1"), sessions.begun(request), 1.0)
    assert session.declared == {"roots"}
    assert session.advertised == {"roots", "form"}
    assert sessions.find(sessions.key(head(SESSION), "peer"), 2.0) is session
    sessions.closed(("session", "s-1"))
    assert sessions.find(("session", "s-1"), 3.0).declared == EVERY


def test_clients_without_a_session_id_are_told_apart_by_what_they_send():
    sessions = Sessions({})
    one, other = head(b"Authorization: a"), head(b"Authorization: b")
    assert sessions.key(one, "p") == sessions.key(head(b"Authorization: a"), "p")
    assert len({sessions.key(one, "p"), sessions.key(other, "p"), sessions.key(one, "q")}) == 3


def test_an_endpoint_is_a_session_that_its_initialize_fills_in():
    sessions = Sessions(FORMS)
    placed = sessions.placed(b"/messages?s=1", 1.0)
    key = sessions.key(head(target=b"/messages?s=1"), "p")
    assert sessions.find(key, 2.0) is placed
    assert sessions.opened(key, sessions.begun(sessions.edited(hello())), 3.0) is placed
    assert placed.declared == frozenset()
    assert placed.advertised == {"form"}


def test_only_one_call_under_way_is_the_one_that_is_asked_for():
    session = Session(key=None)
    assert session.only() is None
    session.begin(Called(1, rpc("tools/list", 1)))
    session.begin(Called(2, b'{"result":{},"id":3}'))
    session.begin(Called(3, book(4)))
    assert session.only().number == 3
    assert session.answered(4).number == 3
    assert session.answered("4") is None
    session.begin(Called(4, book(5)))
    assert session.only() is None


def test_requests_that_are_never_answered_are_let_go():
    session = Session(key=None)
    for number in range(1000):
        session.begin(Called(number, book(number)))
    assert len(session.calls) < 1000
    assert session.answered(999) is not None


def test_eras_are_told_by_the_header():
    sessions = Sessions({})
    assert sessions.facts(head()).era == "unknown"
    assert sessions.facts(head(b"MCP-Protocol-Version: 2025-06-18")).era == "session"
    assert sessions.facts(head(b"mcp-protocol-version: 2026-07-28")).era == "stateless"


def test_requests_are_read_by_their_method():
    assert read(book()).name == "book"
    assert read(rpc("resources/read", 1, uri="a://b", name="x")).name == "a://b"
    assert read(b'{"id":1,"method":"ping"}').name is None
    assert read(b'{"id":1,"method":"x","params":[]}') is None


@pytest.mark.parametrize(
    ("where", "found"),
    [
        (b"/messages?s=1", b"/messages?s=1"),
        (b"messages/2 ", b"/a/messages/2"),
        (b"http://elsewhere:1/m?x", b"/m?x"),
        (b"http://[", None),
        (b"mailto:a", None),
    ],
)
def test_an_endpoint_is_read_as_a_target(where, found):
    assert endpoint_at(b"/a/sse", where) == found
