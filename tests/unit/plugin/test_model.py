"""Calls as a test sees them: of every golden capture, and by what finds them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcp_tap.capture.reader import open_path
from mcp_tap.core.model import Call
from mcp_tap.errors import UsageError
from mcp_tap.pipeline.spine import Pipeline
from mcp_tap.plugin.model import Calls

GOLDEN = sorted((Path(__file__).parents[3] / "captures").glob("*.jsonl"))


def calls_of(path):
    pipeline, found = Pipeline(judging=False), {}
    for record in open_path(path):
        found |= {c.number: c for c in pipeline.feed(record) if isinstance(c, Call)}
    return Calls(found[number] for number in sorted(found))


@pytest.fixture(scope="module")
def calls():
    return calls_of(next(path for path in GOLDEN if path.name == "py-py-2026.jsonl"))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_all_calls_of_a_capture_can_be_seen(path):
    calls = calls_of(path)
    assert calls
    for call in calls:
        assert len(call.outcomes) == len(call.rounds) >= 1
        assert (call.tool is None) is (call.method != "tools/call")
        assert call.asks == [ask for each in call.rounds for ask in each.asks.values()]
        for each in call.rounds[:-1]:
            assert each.outcome != "complete" or each.link == "ambiguous"
    tools = [call for call in calls if call.tool and call.outcome == "ok"]
    assert any(call.asks for call in calls) or path.stem.endswith("auth")
    for call in tools:
        if call.asks:
            assert call.outcomes[0] == "input_required"
        assert call.outcomes[-1] == "complete"


def test_the_only_one_that_matches_is_given(calls):
    first = calls[0]
    assert calls.one(f"method:{first.method}", method=first.method).number >= 1
    tool = next(call for call in calls if call.tool)
    assert tool in calls.where(tool=tool.tool)
    assert calls.where() == list(calls)
    assert calls[:1] == [first]


def test_none_and_several_say_what_there_is(calls):
    with pytest.raises(AssertionError, match=r"no call matches \(tool nope\); there are: #1 "):
        calls.one(tool="nope")
    with pytest.raises(AssertionError, match=r"^\d+ calls match \(any\)"):
        calls.one()
    with pytest.raises(AssertionError, match="there are: none"):
        Calls([]).one()


def test_what_is_no_filter_is_refused(calls):
    with pytest.raises(UsageError, match="tol"):
        calls.one("tol:deploy")


def test_calls_say_what_they_are(calls):
    assert repr(calls).startswith(f"<{len(calls)} calls: #1 ")
    assert repr(Calls([])) == "<no calls>"


def test_what_is_seen_is_no_part_of_what_goes_on(calls):
    asked = next(call for call in calls if call.asks)
    asked.asks[0].params.clear()
    again = calls_of(next(path for path in GOLDEN if path.name == "py-py-2026.jsonl"))
    assert again[asked.number - 1].asks[0].params
