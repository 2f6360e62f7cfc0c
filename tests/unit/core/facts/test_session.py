"""A session knows what was settled, who was asked what, and which elicitations there are."""

from __future__ import annotations

import pytest

from mcp_tap.core.facts.ask import Ask
from mcp_tap.core.facts.flow import Flow
from mcp_tap.core.facts.message import Message
from mcp_tap.core.facts.seen import Run
from mcp_tap.core.facts.session import MOST_PUSHED, elicitations_in
from mcp_tap.core.model import Exchange
from mcp_tap.core.records import Message as Record
from tests.cases import error, message, note, result


class Told:
    """A session, and what was told it."""

    def __init__(self):
        self.seen = Run().client("case", 0.0)
        self.flow = None
        self.session = self.seen.session

    def begin(self):
        self.flow = Flow(Exchange(number=1, t=0.0), self.seen, http=True, upstream="")
        return self

    def tell(self, sender, value):
        if self.flow is None or value.get("method") == "initialize":
            self.begin()
        record = Record(seq=1, t=0.0, sender=sender, text="{}")
        said = Message(record, value, self.flow)
        if said.event == "request":
            self.flow.request = said
        self.seen.note(said.event, said)
        return self


def initialize(**params):
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}


def elicit(name):
    params = {"mode": "url", "elicitationId": name}
    return {"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": params}


def complete(name):
    return note("notifications/elicitation/complete", elicitationId=name)


def test_a_handshake_settles_capabilities_and_revision():
    told = Told().tell("client", initialize(capabilities={"roots": {}}))
    assert (told.session.capabilities, told.session.begun) == ({"roots": {}}, True)
    assert (told.session.version, told.session.whole) == (None, False)
    told.tell("server", result(0, None, protocolVersion="2025-11-25"))
    assert (told.session.version, told.session.whole) == ("2025-11-25", True)
    assert not told.session.initialized
    told.tell("client", note("notifications/initialized"))
    assert told.session.initialized
    told.tell("client", initialize())
    assert (told.session.capabilities, told.session.version) == ({}, None)
    assert not told.session.initialized


def test_a_refused_handshake_opens_nothing():
    told = Told().tell("client", initialize(capabilities={}))
    told.tell("server", error(0, -32601))
    assert (told.session.capabilities, told.session.begun) == (None, False)


def test_elicitations_are_known_by_their_ids_until_they_are_complete():
    told = Told().begin().tell("server", elicit("e-1"))
    told.tell("server", error(1, -32042, elicitations=[{"elicitationId": "e-2"}, 7, {}]))
    told.tell("server", complete("e-1")).tell("server", complete("e-9"))
    found = [told.session.completed(name) for name in ("e-1", "e-2", "e-9")]
    assert found == [True, False, None]


def test_what_was_forgotten_makes_a_session_no_longer_whole():
    told = Told().tell("client", initialize())
    told.tell("server", result(0, None, protocolVersion="2025-11-25"))
    for number in range(MOST_PUSHED + 1):
        told.tell("server", elicit(f"e-{number}"))
    assert told.session.completed("e-0") is None
    assert not told.session.whole


def test_what_requests_declare_is_kept():
    told = Told().begin().tell("client", message("tools/list", caps={"sampling": {}}))
    assert told.session.declared == {"sampling"}
    level = {"io.modelcontextprotocol/logLevel": "info"}
    told.tell("client", message("tools/list", caps=..., meta=level))
    assert told.session.declared == {"sampling", "logging"}


def test_a_pushed_ask_is_taken_out_once():
    told = Told().begin()
    value = elicit("e-1")
    record = Record(seq=1, t=0.0, sender="server", text="{}")
    ask = Ask(Message(record, value, told.flow), "1", value, "pushed", "")
    told.session.push(ask)
    assert told.session.pushed("1") is None
    assert told.session.pushed(1) is ask
    assert told.session.pushed(1) is None


@pytest.mark.parametrize(
    "fault",
    [None, [], {"code": -32042}, {"code": -32042, "data": []}, {"code": -1, "data": {}}],
)
def test_only_one_error_names_elicitations(fault):
    assert elicitations_in(fault) == []
