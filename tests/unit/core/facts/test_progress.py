"""Tokens of a client: who gave them, and what was said last."""

from __future__ import annotations

import pytest

from mcp_tap.core.facts.progress import MOST_TOKENS, MOST_USERS, Progress, is_over, token_key
from mcp_tap.core.model import Exchange
from tests.facts import message, seen_by


@pytest.mark.parametrize("value", ["1", 1, "", 0, -1])
def test_strings_and_integers_are_their_own_keys(value):
    assert token_key(value) == value


def test_a_whole_number_is_an_integer_however_it_is_written():
    assert token_key(1.0) == token_key(1)
    assert token_key("1") != token_key(1)


@pytest.mark.parametrize("value", [None, True, 1.5, [], {}])
def test_nothing_else_is_a_token(value):
    assert token_key(value) is None


def test_a_long_token_is_kept_short():
    assert len(token_key("x" * 100_000)) < 64
    assert token_key("x" * 100) != token_key("x" * 101)


def test_an_exchange_is_over_when_answered_or_ended():
    assert not is_over(Exchange(number=1, t=0.0))
    assert is_over(Exchange(number=1, t=0.0, answered=True))
    assert is_over(Exchange(number=1, t=0.0, how="client_gone"))


def test_memory_of_tokens_is_bounded():
    progress = Progress()
    for number in range(MOST_TOKENS + 10):
        progress.note(message("tools/call", number, _meta={"progressToken": number}))
    assert not progress.active(0)
    assert len(progress.active(MOST_TOKENS + 9)) == 1
    for number in range(MOST_USERS + 10):
        progress.note(message("tools/call", number, _meta={"progressToken": "p"}))
    assert len(progress.active("p")) == MOST_USERS


def test_a_token_is_answered_once_nobody_waits_with_it():
    progress = Progress()
    first, second = (
        message("tools/call", number, _meta={"progressToken": "p"}) for number in (1, 2)
    )
    progress.note(first)
    assert progress.answered("p") is None
    first.flow.exchange.answered = True
    assert progress.answered("p") is first.flow.exchange
    progress.note(second)
    assert progress.answered("p") is None
    assert progress.active("p") == [second.flow.exchange]


def test_values_of_one_exchange_are_bounded():
    progress = seen_by("a").progress
    one = message("notifications/progress", progressToken=0, progress=1)
    for token in range(MOST_TOKENS + 10):
        one.params["progressToken"] = token
        progress._reported(one)
    assert len(one.flow.memo["progress"]) == MOST_TOKENS


def test_a_token_is_forgotten_with_the_only_request_that_gave_it():
    progress = Progress()
    alone, first, second = (
        message("tools/call", number, _meta={"progressToken": token})
        for number, token in ((1, 7), (2, "p"), (3, "p"))
    )
    for one in (alone, first, second):
        progress.note(one)
    for one in (alone, first):
        progress.closed(one.flow)
    assert progress.active(7) == []
    assert progress.active("p") == [first.flow.exchange, second.flow.exchange]


def test_a_token_of_a_session_outlives_its_stream():
    progress = Progress()
    one = message("tools/call", 1, _meta={"progressToken": 7})
    one.flow.band = "2025-11-25"
    progress.note(one)
    progress.closed(one.flow)
    assert progress.active(7) == [one.flow.exchange]
    assert progress.is_new(8)
    assert not progress.is_new(7)
