"""What came of a replay, against what was recorded."""

from __future__ import annotations

import pytest

from mcp_tap.replay.client.chain import Played
from mcp_tap.replay.client.outcome import verdicts
from mcp_tap.replay.client.plan import Plan
from mcp_tap.replay.compare.values import Rules
from mcp_tap.replay.index import Index
from tests.resending import YES, deployed
from tests.traffic import Traffic, asks, done


def compared(old, new, *, ids=(1, 2), whole=False, **given):
    """Compare the one call of a capture with what was sent under these ids."""
    with Index.of([str(old)]) as before, Index.of([str(new)]) as after:
        plan = Plan(before, None, answered=False)
        played = [Played(item=item, ids=list(ids), **given) for item in plan.calls]
        return list(verdicts(plan, before, after, played, Rules(), whole=whole))


def told(verdict):
    found = verdict.compared.differences if verdict.compared else []
    return [(d.what, d.change, d.round, d.name) for d in found]


def again(path, *, key="confirm", last=None):
    traffic = Traffic()
    traffic.call("deploy", asks(key, "Sure?", "other"), arguments={"to": "prod"})
    traffic.call("deploy", last or done("shipped"), arguments={"to": "prod"},
                 inputResponses={key: YES}, requestState="other")  # fmt: skip
    return traffic.write(path)


@pytest.fixture
def old(tmp_path):
    return deployed(tmp_path / "old.jsonl")


def test_the_same_under_other_ids_and_states_is_the_same(old, tmp_path):
    outside, verdict = compared(old, again(tmp_path / "new.jsonl"))
    assert (outside.state, verdict.state) == ("same", "same")


def test_an_ask_under_another_key_is_told_once(old, tmp_path):
    _, verdict = compared(old, again(tmp_path / "new.jsonl", key="approve"))
    assert (verdict.state, told(verdict)) == ("differs", [("ask", "renamed", 1, "confirm")])


def test_another_result_is_told_once(old, tmp_path):
    _, verdict = compared(old, again(tmp_path / "new.jsonl", last=done("burnt")))
    assert told(verdict) == [("result", "changed", 2, "")]


def test_of_a_call_that_could_not_go_on_only_what_came_till_then_is_compared(old, tmp_path):
    traffic = Traffic()
    traffic.call("deploy", asks("confirm", "Sure?", "other"), arguments={"to": "prod"})
    new = traffic.write(tmp_path / "new.jsonl")
    _, verdict = compared(old, new, ids=(1,), kept=1, why="no answer")
    assert (verdict.state, told(verdict)) == ("cut-short", [])


def test_of_a_call_whose_first_answer_was_too_big_nothing_differs_and_nothing_is_said(
    old, tmp_path
):
    traffic = Traffic()
    traffic.call("deploy", done("other"), arguments={"to": "prod"})
    new = traffic.write(tmp_path / "new.jsonl")
    _, verdict = compared(old, new, ids=(1,), kept=0, why="too big")
    assert (verdict.state, told(verdict)) == ("cut-short", [])


def test_a_further_ask_is_a_round_more_and_nothing_else(old, tmp_path):
    new = again(tmp_path / "new.jsonl", last=asks("sure", "Really?", "third"))
    _, verdict = compared(old, new, kept=2, why="no answer")
    assert told(verdict) == [("round", "added", 2, "")]


def test_a_call_without_a_response_differs_in_its_outcome_alone(old, tmp_path):
    traffic = Traffic()
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
               "params": {"name": "deploy", "arguments": {"to": "prod"}}}  # fmt: skip
    traffic.post(request, None, 502)
    new = traffic.write(tmp_path / "new.jsonl")
    _, verdict = compared(old, new, ids=(1,), kept=1, why="broke off", failed=True)
    assert [what for what, *_ in told(verdict)] == ["outcome"]


def test_what_was_not_sent_is_no_difference(old, tmp_path):
    _, verdict = compared(old, again(tmp_path / "new.jsonl"), ids=(), why="masked")
    assert (verdict.state, verdict.compared) == ("not-sent", None)


def test_tools_are_compared_where_they_were_listed(tmp_path):
    def listed(path, description):
        traffic = Traffic()
        tool = {"name": "t", "description": description, "inputSchema": {"type": "object"}}
        traffic.post(
            {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}},
            {"jsonrpc": "2.0", "id": 1, "result": {"tools": [tool]}},
        )
        return traffic.write(path)

    outside, verdict = compared(
        listed(tmp_path / "a.jsonl", "one"), listed(tmp_path / "b.jsonl", "two"), ids=(1,)
    )
    assert told(outside) == [("tool", "changed", None, "t")]
    assert verdict.state == "same"


def test_over_another_transport_logs_are_compared_wherever_they_came(tmp_path):
    def logged(path, transport):
        traffic = Traffic(transport=transport)
        traffic.call("t", done("x"))
        return traffic.write(path)

    old, new = logged(tmp_path / "a.jsonl", "http"), logged(tmp_path / "b.jsonl", "stdio")
    outside, verdict = compared(old, new, ids=(1,), whole=True)
    assert (outside.state, verdict.state) == ("same", "same")
