"""Subscriptions of a stdio run: open until answered or ended."""

from __future__ import annotations

from mcp_tap.core.facts.subscriptions import MOST, Subscriptions, is_acknowledged
from tests.facts import message, reply

ACK = "notifications/subscriptions/acknowledged"


def listen(number, *, http=False):
    return message("subscriptions/listen", number, http=http)


def test_a_subscription_is_open_until_it_is_answered():
    subscriptions, sent = Subscriptions(), listen(1)
    subscriptions.note(sent)
    assert subscriptions.any_open()
    reply(sent)
    assert not subscriptions.any_open()


def test_a_server_may_end_one_of_several():
    subscriptions = Subscriptions()
    subscriptions.note(listen(1))
    subscriptions.note(listen("1"))
    subscriptions.note(message("notifications/cancelled", requestId=1))
    assert subscriptions.any_open()
    subscriptions.note(message("notifications/cancelled", requestId="1"))
    assert not subscriptions.any_open()


def test_an_acknowledgement_belongs_to_its_exchange():
    subscriptions, sent = Subscriptions(), listen(1)
    subscriptions.note(sent)
    known = message(ACK, seen=sent.flow.seen)
    known.flow = sent.flow
    assert not is_acknowledged(known)
    subscriptions.note(known)
    assert is_acknowledged(known)


def test_one_that_names_none_is_of_the_only_one_that_waits():
    subscriptions, first, second = Subscriptions(), listen(1), listen(2)
    for sent in (first, second):
        subscriptions.note(sent)
    subscriptions.note(message(ACK))
    assert not is_acknowledged(first)
    reply(second)
    subscriptions.note(message(ACK))
    assert is_acknowledged(first)


def test_memory_of_subscriptions_is_bounded():
    subscriptions = Subscriptions()
    for number in range(MOST + 10):
        subscriptions.note(listen(number))
    assert len(subscriptions._open()) == MOST
