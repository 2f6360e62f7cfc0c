from __future__ import annotations

from mcp_tap.core.finding import Finding
from mcp_tap.core.model import Call, Exchange
from mcp_tap.core.records import Gap, Message
from mcp_tap.core.wire import UNPARSED, value_of
from mcp_tap.pipeline import Change, Pipeline
from tests.captures import header
from tests.talk import Talk, call
from tests.wire_samples import load


def test_changes_are_calls_or_exchanges_of_no_call():
    pipeline = Pipeline(judging=False)
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


def test_feeding_parsed_values_or_none_gives_the_same():
    def run(parse):
        one = Pipeline(judging=False)
        seen = {}
        for record in load("two_rounds"):
            value = value_of(record) if parse and isinstance(record, Message) else UNPARSED
            for change in one.feed(record, value):
                seen[type(change).__name__, change.number] = change
        return seen

    assert run(parse=True) == run(parse=False)


def test_time_passing_alone_lets_go_of_what_is_too_old():
    talk = Talk()
    talk.ask(talk.post(call(1)), "q")
    assert talk.pipeline.advance(1.0) == ()
    assert talk.pipeline.retired == 0
    talk.pipeline.advance(1e6)
    assert talk.pipeline.retired == 1


def test_a_finding_comes_after_what_it_is_about_which_holds_it_by_then():
    pipeline = Pipeline()
    seen = []
    for record in load("py_legacy"):
        for change in pipeline.feed(record):
            if isinstance(change, Finding):
                holders = [held for held in seen if change in held.findings]
                assert holders or change.call is None
            else:
                seen.append(change)


def test_what_is_sifted_out_is_neither_given_nor_kept():
    found = []
    pipeline = Pipeline(sift=lambda finding, _: found.append(finding))
    for record in begun_with_a_gap():
        assert not any(isinstance(change, Finding) for change in pipeline.feed(record))
    assert [finding.rule for finding in found] == ["TAP-003"]


def begun_with_a_gap():
    yield header()
    yield Gap(seq=3, t=0.1, lost=3, why="disk full")


def test_change_is_what_feed_gives():
    assert Change == Call | Exchange | Finding
