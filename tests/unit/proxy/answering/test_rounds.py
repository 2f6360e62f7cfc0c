"""Rounds of a call, whatever carries them."""

from __future__ import annotations

import json

import pytest

from mcp_tap.answers.book import Given
from mcp_tap.proxy.answering.asked import read
from mcp_tap.proxy.answering.request import Meta, Watched
from mcp_tap.proxy.answering.rounds import Rounds, secrets_of, steps
from mcp_tap.proxy.answering.verdicts import Fail, Pass, Send
from tests.asking import answering, asks, form, request


def rounds(script="version = 1\n[[answer]]\ncontent = {}\n", **options):
    body = request(7)
    return Rounds(answering(script, **options), Watched("tools/call", body, Meta()), 1)


def asking(state='"s"', **requests):
    found = read(asks(1, state=state, **requests))
    assert found is not None
    return found


def test_a_round_is_decided_and_the_request_written_again():
    call, asked = rounds(), asking(day=form("day"))
    round_ = call.round(asked)
    assert isinstance(round_.verdict, Send)
    again = json.loads(call.again(b'"own"', asked, round_.verdict.answers))
    assert again["id"] == "own"
    assert again["params"]["requestState"] == "s"
    assert [*again["params"]["inputResponses"]] == ["day"]


def test_more_rounds_than_allowed_are_a_failure():
    call = rounds(max_rounds=1)
    call.round(asking(state='"s"'))
    verdict = call.round(asking(state='"s"')).verdict
    assert isinstance(verdict, Fail)
    assert verdict.code == "too-many-rounds"


def test_a_round_without_asks_waits_longer_each_time_until_one_asks():
    call = rounds()
    assert isinstance(call.round(asking()).verdict, Send)
    assert [call.pause_for() for _ in range(4)] == [0.05, 0.1, 0.2, 0.25]
    call.again(b"1", asking(), {"a": Given(entry=None, answer={}, kind="form")})
    assert call.pause_for() == 0.05
    assert isinstance(call.round(asking(state="null")).verdict, Pass)


def test_a_call_that_its_client_goes_on_with_is_the_same():
    first = rounds()
    first.hand_on(asking(state='"state"'), 1.0)
    assert retried(first, requestState="state").call == first.call


def test_another_call_with_the_same_state_is_another():
    first = rounds()
    first.hand_on(asking(state='"state"'), 1.0)
    assert retried(first, requestState="state", arguments={"day": 2}).call == 9


def test_calls_whose_state_is_alike_are_as_many_as_they_are():
    """Each of them is asked the same, and given the same, no more than once."""
    first = rounds()
    calls = [Rounds(first.answering, first.watched, number) for number in range(4)]
    for call in calls:
        call.hand_on(asking(state='"same"'), 1.0)
    again = [retried(first, requestState="same") for _ in calls]
    assert {call.call for call in again} == {0, 1, 2, 3}
    verdicts = [call.round(asking(state='"same"', day=form("day"))).verdict for call in again]
    assert [type(verdict) for verdict in verdicts] == [Send] * 4


def retried(first, **params):
    return Rounds(first.answering, Watched("tools/call", request(8, **params), Meta()), 9)


@pytest.mark.parametrize(
    ("at", "found"), [("/content/a~1b~0c", ["content", "a/b~c"]), ("/action", ["action"])]
)
def test_pointers_are_taken_apart(at, found):
    assert steps(at) == found
    given = Given(entry="e", answer={}, kind="form", secrets=(at,))
    assert secrets_of({"k": given}) == (("params", "inputResponses", "k", *found),)
