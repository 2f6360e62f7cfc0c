"""A run in which the tap answered, as its server saw it."""

from __future__ import annotations

from msgspec import Raw

from mcp_tap.core.records import (
    Closed,
    Decision,
    Digest,
    HttpRequest,
    HttpResponse,
    Message,
)
from mcp_tap.replay.behind import behind, differs
from tests import captures

NONE = Digest(bytes=0, sha256="0" * 64)


def head(seq, exchange=1, **fields):
    given = {"conn": 1, "peer": "127.0.0.1", "method": "POST", "path": "/mcp", "headers": []}
    return HttpRequest(seq=seq, t=seq / 10, exchange=exchange, **{**given, **fields})


def said(seq, sender, exchange=1, **fields):
    return Message(seq=seq, t=seq / 10, sender=sender, exchange=exchange, body=Raw(b"{}"), **fields)


def reply(seq, exchange=1, **fields):
    return HttpResponse(seq=seq, t=seq / 10, exchange=exchange, status=200, headers=[], **fields)


def closed(seq, exchange=1):
    return Closed(
        seq=seq, t=seq / 10, exchange=exchange, how="complete", request=NONE, response=NONE
    )


def test_only_what_one_side_saw_differs():
    assert differs(head(1, leg="upstream"))
    assert differs(said(1, "server", leg="client"))
    assert not differs(said(1, "server"))
    assert not differs(closed(1))
    assert not differs(captures.header())


def test_what_both_sides_saw_is_left_as_it_is():
    records = [
        captures.header(),
        head(1),
        said(2, "client"),
        reply(3),
        said(4, "server"),
        closed(5),
    ]
    assert list(behind(records)) == records


def test_what_the_client_alone_saw_is_left_out_and_keeps_its_number():
    given = [said(4, "server", leg="client"), reply(5, leg="client")]
    found = list(behind(given))
    assert [(type(r), r.seq, r.t) for r in found] == [(Decision, 4, 0.4), (Decision, 5, 0.5)]


def test_what_the_server_alone_saw_is_what_any_client_sent():
    (asked,) = behind([said(4, "tap", leg="upstream")])
    assert (asked.sender, asked.leg, asked.payload()) == ("client", None, b"{}")


def test_what_the_server_said_to_the_tap_is_still_the_servers():
    (got,) = behind([said(4, "server", leg="upstream")])
    assert (got.sender, got.leg) == ("server", None)


def test_what_was_changed_on_its_way_is_there_once_as_it_arrived():
    found = list(behind([said(2, "client"), said(3, "client", leg="upstream", replaces=2)]))
    assert [(type(r), r.seq) for r in found] == [(Message, 2), (Decision, 3)]
    assert (found[0].leg, found[0].replaces) == (None, None)


def test_records_may_be_given_as_they_are_read():
    assert [r.seq for r in behind(iter([head(1), said(2, "client")]))] == [1, 2]
