"""What is asked and answered is put beside the request that waits for it."""

from __future__ import annotations

import pytest

from mcp_tap.core.facts.ask import MOST_READ, Answer, Ask
from mcp_tap.pipeline import judge
from mcp_tap.pipeline.spine import Pipeline
from mcp_tap.pipeline.steps import MOST_ASKS
from mcp_tap.testing import records_of
from tests.cases import (
    SESSION,
    answer,
    asking,
    call,
    exchange,
    form,
    handshake,
    ids,
    post,
    result,
    stream,
    traffic,
)


@pytest.fixture
def steps(monkeypatch):
    """Play a case; give all steps there were."""

    def play(case):
        found = []

        def noted(*given):
            new = steps_of(*given)
            found.extend(new)
            return new

        steps_of = judge.steps_of
        monkeypatch.setattr(judge, "steps_of", noted)
        pipeline = Pipeline()
        for record, value in records_of(case):
            pipeline.feed(record, value)
        return [(event, word, subject) for event, word, subject in found]

    return play


def subjects(steps, kind):
    return [subject for _, _, subject in steps if type(subject) is kind]


def test_asks_of_a_round_know_the_answers_that_led_to_them(steps):
    retry = call(2, inputResponses={"q": {"action": "decline"}}, requestState="state-1")
    found = steps(
        traffic(
            exchange(call(), answer(asking({"q": form()}))),
            exchange(retry, answer(asking({"r": form()}, "state-2", 2))),
        )
    )
    first, second = subjects(found, Ask)
    assert first.before == ()
    assert [a.action for a in second.before] == ["decline"]
    assert second.before[0].ask is first


def test_pushed_asks_know_them_too_and_whose_they_are(steps):
    asks = [{"jsonrpc": "2.0", "id": 7 + i, **form()} for i in (0, 1)]
    old = {"version": "2025-11-25"}
    reply = {"jsonrpc": "2.0", "id": 7, "result": {"action": "cancel"}}
    found = steps(
        traffic(
            *handshake(),
            exchange(call(1, headers=SESSION, **old), stream(*asks, result(1, None)), (10.0, 13.0)),
            exchange(post(reply, SESSION, **old), answer(status=202), (11.2, 11.3)),
        )
    )
    first, second = subjects(found, Ask)
    (given,) = subjects(found, Answer)
    assert first.home is first.flow
    assert list(second.before) == [given]
    assert given.flow.call is first.flow.call


def test_no_more_asks_of_a_message_are_judged_than_anybody_answers(steps):
    many = {f"q{i}": form() for i in range(MOST_ASKS + 50)}
    found = steps(traffic(exchange(call(), answer(asking(many)))))
    assert len(subjects(found, Ask)) == MOST_ASKS


@pytest.mark.parametrize("asked", [MOST_READ, MOST_READ + 1])
@pytest.mark.parametrize("order", [1, -1])
def test_a_retry_of_more_asks_than_are_read_is_not_compared_with_them(asked, order):
    many = {f"q{i}": form() for i in range(asked)}
    keys = list(many)[::order][: 2 if order < 0 else None]
    given = {key: {"action": "accept", "content": {"name": "x"}} for key in keys}
    retry = exchange(
        call(2, inputResponses=given, requestState="state-1"), answer(result(2)), t=[9.0, 9.5]
    )
    found = ids(traffic(exchange(call(), answer(asking(many))), retry), "MRTR")
    assert found == (["MRTR-024"] if order < 0 and asked == MOST_READ else [])
