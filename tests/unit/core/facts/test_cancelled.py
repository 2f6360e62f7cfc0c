"""Requests of a client by id, and which of them it took back."""

from __future__ import annotations

import pytest

from mcp_tap.core.facts.cancelled import MOST_ON_HTTP, MOST_ON_STDIO, Cancelled
from tests.facts import message, reply


def cancel(number, t=2.0):
    return message("notifications/cancelled", t=t, requestId=number)


def test_a_cancellation_is_remembered_with_its_time():
    cancelled, sent = Cancelled(), message("tools/call", 7)
    cancelled.note(sent)
    assert cancelled.since(sent.flow.exchange) is None
    cancelled.note(cancel(7))
    cancelled.note(cancel(7, 3.0))
    assert cancelled.since(sent.flow.exchange) == 2.0


def test_what_was_answered_before_is_not_cancelled():
    cancelled, sent = Cancelled(), message("tools/call", 7)
    cancelled.note(sent)
    cancelled.note(reply(sent))
    cancelled.note(cancel(7))
    assert cancelled.since(sent.flow.exchange) is None


def test_an_id_used_again_stands_for_the_newer_request():
    cancelled, first, second = Cancelled(), message("tools/call", 7), message("tools/list", 7)
    cancelled.note(first)
    cancelled.note(second)
    assert cancelled.of(first.flow.exchange) is None
    assert cancelled.of(second.flow.exchange).shared
    assert cancelled.foreign(7) is None


def test_what_became_a_task_is_known():
    for members in ({"resultType": "task"}, {"task": {"taskId": "t"}}):
        cancelled, sent = Cancelled(), message("tools/call", 7)
        cancelled.note(sent)
        cancelled.note(reply(sent, **members))
        assert cancelled.get(7).is_task


@pytest.mark.parametrize(("http", "most"), [(True, MOST_ON_HTTP), (False, MOST_ON_STDIO)])
def test_memory_of_requests_is_bounded_and_says_so(http, most):
    cancelled = Cancelled()
    sent = message("tools/call", 0, http=http)
    for number in range(most):
        sent.id = number
        cancelled.note(sent)
    assert cancelled.complete
    sent.id = most
    cancelled.note(sent)
    assert not cancelled.complete
    assert cancelled.get(0) is None
    assert cancelled.get(most) is not None


@pytest.mark.parametrize("number", [None, True, [1], {}])
def test_what_can_be_no_id_is_not_kept(number):
    cancelled = Cancelled()
    cancelled.note(message("tools/call", number))
    assert cancelled.get(number) is None
