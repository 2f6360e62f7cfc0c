from __future__ import annotations

from mcp_tap.core.facts.flow import Flow
from mcp_tap.core.facts.links import LONGEST_URL, MOST, MOST_OF_ONE, MOST_SERVERS, Links
from mcp_tap.core.facts.message import Message
from mcp_tap.core.facts.seen import Run
from mcp_tap.core.model import Exchange
from mcp_tap.core.records import Message as Record

PATH = "/.well-known/oauth-protected-resource"
URL = "https://mcp.example.com/c"


def ask_for(url=URL):
    return {"method": "elicitation/create", "params": {"mode": "url", "message": "m", "url": url}}


class Wire:
    """Says what passes, to one client's memory."""

    def __init__(self, run=None):
        self.run = run or Run()
        self.seen = self.run.client(object(), 0.0)
        self.links = self.run.links
        self.seq = 0

    def flow(self):
        return Flow(Exchange(number=1, t=0.0), self.seen, http=True, upstream="")

    def message(self, sender, value, flow):
        self.seq += 1
        record = Record(seq=self.seq, t=float(self.seq), sender=sender)
        return Message(record, value, flow)

    def asked(self, asks, state=None, name="pay"):
        flow = self.flow()
        request = {"id": 1, "method": "tools/call", "params": {"name": name}}
        flow.request = self.message("client", request, flow)
        result = {"resultType": "input_required", "inputRequests": asks, "requestState": state}
        self.links.note(self.message("server", {"id": 1, "result": result}, flow))

    def sent(self, name="pay", **params):
        value = {"id": 2, "method": "tools/call", "params": {"name": name, **params}}
        self.links.note(self.message("client", value, self.flow()))


def test_a_link_is_open_until_its_key_is_answered():
    wire = Wire()
    wire.asked({"u": ask_for(), "f": {"method": "roots/list"}})
    assert [link.url for link in wire.links.open] == [URL]
    wire.sent()
    wire.sent("other", inputResponses={"u": {}})
    wire.sent(inputResponses={"f": {}})
    wire.sent(inputResponses="u")
    assert len(wire.links.open) == 1
    wire.sent(inputResponses={"u": {}})
    assert wire.links.open == []


def test_or_until_its_state_comes_back_from_whomever():
    wire = Wire()
    wire.asked({"u": ask_for()}, "s1")
    other = Wire(wire.run)
    other.sent(inputResponses={"u": {}})
    assert len(wire.links.open) == 1
    other.sent(requestState="s1")
    assert wire.links.open == []


def test_a_pushed_link_is_open_until_its_request_is_answered():
    wire = Wire()
    for number in (7, "7"):
        value = {"id": number, **ask_for()}
        wire.links.note(wire.message("server", value, wire.flow()))
    wire.sent(inputResponses={"u": {}})
    assert len(wire.links.open) == 2
    wire.links.note(wire.message("client", {"id": 7, "result": {}}, wire.flow()))
    assert [link.asked_as for link in wire.links.open] == [(True, "7")]


def test_what_is_no_link_is_not_kept():
    wire = Wire()
    for url in (None, 7, "x" * (LONGEST_URL + 1), "mcp-tap:0123456789abcdef"):
        wire.asked({"u": ask_for(url)})
    wire.asked("nonsense")
    assert wire.links.open == []


def test_what_is_remembered_is_bounded():
    wire = Wire()
    for _ in range(MOST):
        wire.asked({str(n): ask_for() for n in range(MOST_OF_ONE + 5)})
        if len(wire.links.open) == MOST:
            break
    wire.asked({str(n): ask_for() for n in range(MOST_OF_ONE + 5)})
    assert len(wire.links.open) == MOST


def test_authorization_servers_are_learned_from_the_servers_metadata():
    links = Links()
    links.learn("/elsewhere", {"authorization_servers": ["https://a.b"]})
    links.learn(PATH, "text")
    links.learn(PATH, {"authorization_servers": "https://a.b"})
    links.learn(PATH, {"authorization_servers": [7, None]})
    assert links.servers == {}
    links.learn(PATH + "/mcp", {"authorization_servers": ["https://a.b"]})
    assert list(links.servers) == ["https://a.b"]
    links.learn(PATH, {"authorization_servers": [f"https://{n}.b" for n in range(1000)]})
    assert len(links.servers) == MOST_SERVERS


def test_a_link_of_a_task_is_open_until_the_task_is_told():
    wire = Wire()

    def state(**more):
        flow = wire.flow()
        request = {"id": 1, "method": "tasks/get", "params": {"taskId": "t"}}
        flow.request = wire.message("client", request, flow)
        result = {"taskId": "t", "status": "input_required", **more}
        wire.links.note(wire.message("server", {"id": 1, "result": result}, flow))

    def update(task, **answers):
        params = {"taskId": task, "inputResponses": answers}
        value = {"id": 2, "method": "tasks/update", "params": params}
        wire.links.note(wire.message("client", value, wire.flow()))

    state()
    state(inputRequests={"u": ask_for()})
    state(inputRequests={"u": ask_for(), "f": {"method": "roots/list"}})
    assert [link.url for link in wire.links.open] == [URL]
    update("other", u={})
    update("t", f={})
    assert len(wire.links.open) == 1
    update("t", u={})
    state(inputRequests={"u": ask_for()})
    assert wire.links.open == []
    params = {"taskId": "n", "status": "input_required", "inputRequests": {"u": ask_for()}}
    value = {"method": "notifications/tasks", "params": params}
    wire.links.note(wire.message("server", value, wire.flow()))
    assert [link.target for link in wire.links.open] == ["n"]
