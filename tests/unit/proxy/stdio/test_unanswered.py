"""What a client still waits for."""

from __future__ import annotations

import pytest

from mcp_tap.proxy.stdio import unanswered as module
from mcp_tap.proxy.stdio.unanswered import Unanswered

ASK = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.mark.parametrize(
    "over",
    [
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": 1, "error": {}},
        [{"id": 7, "result": {}}, {"id": 1.0, "result": {}}],
    ],
)
def test_a_request_waits_until_it_is_answered(over):
    waits = Unanswered()
    waits.sent(ASK)
    assert waits
    waits.came(over)
    assert not waits


@pytest.mark.parametrize(
    "other",
    [
        {"id": "1", "result": {}},
        {"id": 1, "method": "sampling/createMessage"},
        {"method": "notifications/progress"},
        [],
        "text",
        None,
    ],
)
def test_what_is_no_answer_ends_no_waiting(other):
    waits = Unanswered()
    waits.sent([ASK, other])
    waits.came(other)
    assert waits


def test_what_was_cancelled_is_not_waited_for():
    waits = Unanswered()
    waits.sent(ASK)
    waits.sent({"method": "notifications/cancelled", "params": {"requestId": 1}})
    waits.sent({"method": "notifications/cancelled", "params": 1})
    assert not waits


def test_notifications_and_answers_of_the_client_wait_for_nothing():
    waits = Unanswered()
    waits.sent({"method": "notifications/initialized"})
    waits.sent({"id": 3, "result": {}})
    assert not waits


def test_of_too_many_the_oldest_is_forgotten(monkeypatch):
    monkeypatch.setattr(module, "MOST", 2)
    waits = Unanswered()
    for number in (1, 2, 3):
        waits.sent(ASK | {"id": number})
    for number in (2, 3):
        waits.came({"id": number, "result": {}})
    assert not waits
