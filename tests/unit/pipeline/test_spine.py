from __future__ import annotations

from mcp_tap.core.model import Call, Exchange
from mcp_tap.pipeline import Change, Pipeline
from tests.talk import Talk, call
from tests.wire_samples import load


def test_changes_are_calls_or_exchanges_of_no_call():
    pipeline = Pipeline()
    for record in load("py_legacy"):
        for change in pipeline.feed(record):
            assert isinstance(change, Call) or (
                isinstance(change, Exchange) and change.call is None
            )
    assert pipeline.finish() == []
    assert pipeline.retired == 0


def test_the_same_objects_are_reported_until_they_end():
    talk = Talk()
    n = talk.post(call(1))
    first = talk.last[0]
    talk.result(n)
    assert talk.the_call() is first


def test_time_passing_alone_lets_go_of_what_is_too_old():
    talk = Talk()
    talk.ask(talk.post(call(1)), "q")
    assert talk.pipeline.advance(1.0) == ()
    assert talk.pipeline.retired == 0
    talk.pipeline.advance(1e6)
    assert talk.pipeline.retired == 1


def test_change_is_what_feed_gives():
    assert Change == Call | Exchange
