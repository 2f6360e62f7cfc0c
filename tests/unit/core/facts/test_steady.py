"""What two messages must have in common so that rules need not look at the second."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_tap.core.facts.flow import MODERN, Flow
from mcp_tap.core.facts.message import Message
from mcp_tap.core.facts.seen import Run
from mcp_tap.core.facts.steady import (
    LARGEST,
    MOST,
    MOST_BYTES,
    MOST_NAMES,
    MOST_REPLIES,
    Steady,
    head_of,
    is_plain_progress,
    learn_result,
    result_of,
)
from mcp_tap.core.model import Exchange
from mcp_tap.core.records import HttpRequest, HttpResponse, Sse
from mcp_tap.core.records import Message as Record

HEADERS = [("Content-Type", "application/json"), ("Content-Length", "9"), ("Accept", "*/*")]
TEXT = [{"type": "text", "text": "ok"}]


class Client:
    """Sends requests and gets results, in one run."""

    def __init__(self) -> None:
        self.run = Run()
        self.seen = self.run.client("a", 0.0)
        self.steady = Steady()

    def sends(self, number: Any = 1, *, headers=HEADERS, path="/mcp", verb="POST", **params: Any):
        given = {"name": "t", "arguments": {}, "_meta": {"k": 1}, **params}
        given = {key: value for key, value in given.items() if value is not ...}
        value = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": given}
        exchange = Exchange(number=1, t=0.0, version=MODERN)
        flow = Flow(exchange, self.seen, http=True, upstream="", band=MODERN)
        flow.head = HttpRequest(
            seq=1, t=0.0, exchange=1, conn=1, peer="", method=verb, path=path, headers=headers
        )
        flow.sent = flow.request = Message(Record(seq=2, t=0.0, sender="client"), value, flow)
        return flow.request

    def knows(self, message: Message) -> bool:
        message.flow.known = self.steady.request(message)
        return message.flow.known is not None

    def learns(self, message: Message) -> bool:
        message.flow.known = self.steady.learn(message)
        return message.flow.known is not None


def replied(request: Message, *, status=200, headers=HEADERS, kind="application/json") -> Flow:
    flow = request.flow
    flow.exchange.content_type = kind
    flow.reply = HttpResponse(seq=3, t=0.0, exchange=1, status=status, headers=headers)
    flow.reply_known = head_of(flow)
    return flow


def answered(request: Message, number: Any = 1, sse: Sse | None = None, **members: Any) -> Message:
    result = {"resultType": "complete", "content": TEXT, "_meta": {"s": 1}, **members}
    value = {"jsonrpc": "2.0", "id": number, "result": result}
    return Message(Record(seq=4, t=0.0, sender="server", sse=sse), value, request.flow)


def test_a_request_is_known_once_an_equal_one_was_learned():
    client = Client()
    assert not client.knows(client.sends())
    assert client.learns(client.sends())
    assert client.knows(client.sends(2, arguments={"other": [1]}))
    assert client.knows(client.sends("three"))


def test_what_is_another_value_each_time_makes_no_difference():
    client = Client()
    client.learns(client.sends())
    headers = [HEADERS[0], ("Content-Length", "10"), HEADERS[2]]
    assert client.knows(client.sends(2, headers=headers, _meta={"k": 1, "progressToken": 7}))


@pytest.mark.parametrize(
    "change",
    [
        {"headers": [*HEADERS, ("X", "1")]},
        {"headers": [HEADERS[0], HEADERS[1], ("Accept", "text/html")]},
        {"headers": [HEADERS[0], ("content-length", "9"), HEADERS[2]]},
        {"path": "/mcp?token=x"},
        {"verb": "PUT"},
        {"name": "u"},
        {"name": 5},
        {"name": ...},
        {"arguments": ...},
        {"arguments": []},
        {"extra": 1},
        {"_meta": {"k": 2}},
        {"_meta": {}},
        {"number": 1.5},
        {"number": None},
    ],
    ids=str,
)
def test_any_other_difference_makes_a_request_unknown(change):
    client = Client()
    client.learns(client.sends())
    assert not client.knows(client.sends(**change))


@pytest.mark.parametrize(
    "change",
    [
        {"requestState": "s"},
        {"inputResponses": {}},
        {"headers": [*HEADERS, ("Mcp-Param-X", "1")]},
        {"headers": [*HEADERS, ("X", "x" * LARGEST)]},
        {"verb": "GET"},
        {f"p{n}": n for n in range(MOST_NAMES)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_some_requests_are_always_looked_at(change):
    client = Client()
    assert not client.learns(client.sends(**change))
    assert not client.knows(client.sends(**change))


def test_requests_of_another_revision_or_client_and_large_ones_are_not_known():
    client = Client()
    large = client.sends()
    large.flow.exchange.size = LARGEST + 1
    assert not client.learns(large)
    client.learns(client.sends())
    older = client.sends()
    older.flow.band = "2025-11-25"
    assert not client.knows(older)
    other = client.sends()
    other.flow.seen = client.run.client("b", 0.0)
    assert not client.knows(other)


def test_the_oldest_request_is_forgotten_first():
    client = Client()
    for number in range(MOST + 1):
        client.learns(client.sends(name=f"t{number}"))
    assert not client.knows(client.sends(name="t0"))
    assert client.knows(client.sends(name="t1"))


def test_requests_that_are_too_much_together_are_all_forgotten():
    client, headers = Client(), [("X", "x" * (LARGEST - 1))]
    enough = MOST_BYTES // LARGEST
    for number in range(enough + 1):
        client.learns(client.sends(name=f"t{number}", headers=headers))
        assert client.knows(client.sends(name="t0", headers=headers)) == (number < enough)


def known_reply(client: Client, **members: Any) -> None:
    request = client.sends()
    client.learns(request)
    replied(request)
    learn_result(answered(request, **members))


def test_head_and_result_are_known_under_an_equal_request_alone():
    client = Client()
    known_reply(client)
    request = client.sends(2)
    assert client.knows(request)
    assert replied(request).reply_known is not None
    assert result_of(answered(request, 2)) is not None
    other = client.sends(path="/other")
    client.learns(other)
    assert replied(other).reply_known is None
    assert result_of(answered(other)) is None


@pytest.mark.parametrize(
    "head",
    [{"status": 202}, {"kind": "text/html"}, {"headers": HEADERS[:2]}],
    ids=str,
)
def test_a_response_with_another_head_is_not_known(head):
    client = Client()
    known_reply(client)
    request = client.sends()
    client.knows(request)
    assert replied(request, **head).reply_known is None


@pytest.mark.parametrize(
    "change",
    [
        {"number": 2},
        {"number": "1"},
        {"resultType": "task"},
        {"_meta": {}},
        {"isError": True},
        {"content": None},
        {"more": 1},
        {"sse": Sse(id="1")},
    ],
    ids=str,
)
def test_a_result_that_differs_is_not_known(change):
    client = Client()
    known_reply(client)
    request = client.sends()
    client.knows(request)
    flow = replied(request)
    flow.event_fields = "sse" in change
    assert result_of(answered(request, **change)) is None


@pytest.mark.parametrize("name", ["inputRequests", "requestState", "task"])
def test_results_that_ask_are_always_looked_at(name):
    client = Client()
    known_reply(client, **{name: {}})
    request = client.sends()
    client.knows(request)
    replied(request)
    assert result_of(answered(request, **{name: {}})) is None


def test_the_second_response_is_not_known():
    client = Client()
    known_reply(client)
    request = client.sends()
    client.knows(request)
    replied(request).responses = 1
    assert result_of(answered(request)) is None


def test_replies_of_one_request_are_bounded():
    client = Client()
    request = client.sends()
    client.learns(request)
    for status in range(200, 200 + MOST_REPLIES + 3):
        learn_result(answered(replied(request, status=status).request))
    assert request.flow.known is not None
    assert len(request.flow.known.replies) <= MOST_REPLIES


@pytest.mark.parametrize(
    ("change", "plain"),
    [
        ({}, True),
        ({"message": "working", "total": 3}, True),
        ({"message": {"_meta": {}}}, False),
        ({"_meta": {}}, False),
        ({"more": 1}, False),
        ({"progress": True}, False),
    ],
    ids=str,
)
def test_plain_progress_has_nothing_but_scalars(change, plain):
    client = Client()
    request = client.sends()
    params = {"progressToken": "p", "progress": 1, **change}
    value = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
    record = Record(seq=5, t=0.0, sender="server")
    assert not is_plain_progress(Message(record, value, request.flow))
    client.learns(request)
    assert is_plain_progress(Message(record, value, request.flow)) is plain
