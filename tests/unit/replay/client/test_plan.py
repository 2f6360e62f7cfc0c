"""What of a capture is sent again, in which order, by whom, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcp_tap.core.facts.message import MARK
from mcp_tap.replay.client.plan import Plan, requests_of
from mcp_tap.replay.index import Index
from tests.resending import deployed
from tests.traffic import Traffic, done

MASKED = f"{MARK}string:4>"
CAPTURES = Path(__file__).parents[4] / "captures"


def planned(path, wanted=None, *, answered=False):
    with Index.of([str(path)]) as index:
        return Plan(index, wanted, answered=answered)


def test_retries_that_could_not_be_told_apart_go_on_with_one_call_each():
    plan = planned(CAPTURES / "py-py-2026-ambiguous.jsonl")
    unlinked = [item.call for item in plan.calls if item.call.number in (15, 16)]
    assert [len(requests_of(call)) for call in unlinked] == [3, 3]
    assert [item.call.number for item in plan.calls][-2:] == [15, 16]
    assert all(item.cannot is None for item in plan.calls)


def test_a_session_is_a_lane_of_its_own_with_its_stream_and_what_was_pushed():
    plan = planned(CAPTURES / "py-py-2025.jsonl")
    (lane,) = {item.lane.name: item.lane for item in plan.items}.values()
    assert (lane.era, lane.opens, lane.listens) == ("session", True, True)
    methods = [push.method for push in lane.pushes]
    assert methods.count("elicitation/create") == 3
    assert all(push.answer is not None for push in lane.pushes)


def test_a_session_is_opened_for_the_calls_that_were_chosen_but_not_compared():
    plan = planned(CAPTURES / "py-py-2025.jsonl", {3})
    assert [(item.call.method, item.wanted) for item in plan.items] == [
        ("initialize", False),
        ("tools/call", True),
    ]


def test_credentials_are_known_to_have_been_sent():
    plan = planned(CAPTURES / "py-py-2026-auth.jsonl")
    assert plan.items[0].lane.authorised


@pytest.mark.parametrize(("answered", "cannot"), [(False, "masked"), (True, None)])
def test_masked_answers_are_not_sent_unless_a_script_answers(tmp_path, answered, cannot):
    path = tmp_path / "r.jsonl"
    text = Path(deployed(path)).read_text(encoding="utf-8")
    path.write_text(text.replace('{"ok": true}', f'{{"ok": "{MASKED}"}}'), encoding="utf-8")
    (item,) = planned(path, answered=answered).calls
    assert item.cannot == cannot


def test_what_is_about_a_task_of_the_recorded_server_is_not_sent(tmp_path):
    traffic = Traffic()
    traffic.post(
        {"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"taskId": "t"}},
        {"jsonrpc": "2.0", "id": 1, "result": {"status": "working"}},
    )
    traffic.call("x", done("x"))
    plan = planned(traffic.write(tmp_path / "r.jsonl"))
    assert [item.cannot for item in plan.calls] == ["task", None]
