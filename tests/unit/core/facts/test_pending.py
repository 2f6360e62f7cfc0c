from __future__ import annotations

from typing import Any

from mcp_tap.core.facts.flow import Flow
from mcp_tap.core.facts.message import Message
from mcp_tap.core.facts.pending import MOST_OPEN, Pending
from mcp_tap.core.facts.seen import Run
from mcp_tap.core.model import Exchange
from mcp_tap.core.records import Message as Record


def flow(*, http: bool = True, credential: str | None = None) -> Flow:
    made = Flow(Exchange(number=1, t=0.0), Run().client("c", 0.0), http=http, upstream="")
    made.band = "2026-07-28"
    made.credential = credential
    return made


def request(number: Any, where: Flow) -> Message:
    value = {"jsonrpc": "2.0", "id": number, "method": "vendor/x"}
    where.request = Message(Record(seq=1, t=0.0, sender="client"), value, where)
    where.exchange.request_id = number
    return where.request


def response(number: Any, where: Flow) -> Message:
    value = {"jsonrpc": "2.0", "id": number, "result": {}}
    return Message(Record(seq=2, t=1.0, sender="server"), value, where)


def test_a_request_is_open_until_it_is_answered():
    pending, here = Pending(), flow()
    pending.note(request(1, here))
    assert pending.is_open(here, 1)
    assert pending.is_open(here, 1.0)
    assert not pending.is_open(here, "1")
    assert not pending.is_open(flow(credential="x"), 1)
    pending.note(response(1, here))
    assert not pending.is_open(here, 1)
    assert here.answered


def test_a_request_is_open_until_its_exchange_is_over():
    pending, here = Pending(), flow()
    pending.note(request(1, here))
    pending.note(response("1", here))
    assert pending.is_open(here, 1)
    pending.closed(here)
    assert not pending.is_open(here, 1)


def test_one_channel_remembers_what_is_over():
    pending, here = Pending(), flow(http=False)
    assert pending.state(here, 1) is None
    pending.note(request(1, here))
    assert pending.state(here, 1) == "open"
    pending.note(response(1, here))
    assert pending.state(here, 1) == "answered"


def test_an_id_that_was_used_twice_waits_for_two_answers():
    pending, here = Pending(), flow(http=False)
    pending.note(request(1, here))
    pending.note(request(1, here))
    pending.note(response(1, here))
    assert pending.state(here, 1) == "open"


def test_ids_from_before_the_first_request_may_be_known_to_others():
    pending, here = Pending(), flow(http=False)
    assert not pending.knows("a")
    pending.note(request(7, here))
    assert not pending.knows(6)
    assert pending.knows(8)
    assert pending.knows("a")


def test_it_is_bounded_and_says_what_it_no_longer_knows():
    pending, here = Pending(), flow(http=False)
    for number in range(MOST_OPEN + 1):
        pending.note(request(number, here))
    assert not pending.is_open(here, 0)
    assert not pending.knows(10**9)


def test_odd_ids_are_not_kept():
    pending, here = Pending(), flow()
    for number in (None, True, [], {}):
        pending.note(request(number, here))
        assert not pending.is_open(here, number)
