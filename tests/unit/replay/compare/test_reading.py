from __future__ import annotations

import hashlib
import json

import msgspec
import pytest
from msgspec import Raw

from mcp_tap.core.model import Call
from mcp_tap.core.records import Message
from mcp_tap.pipeline.spine import Pipeline
from mcp_tap.replay.compare.calls import compare_calls
from mcp_tap.replay.compare.reading import note_of, params_of_record, said_fresh, value_said
from mcp_tap.replay.compare.values import Rules
from tests.traffic import META, STATE, Traffic, asks, done, story


def fresh(traffic):
    """Link what was recorded, and read each call as a replay client would one just made."""
    pipeline, calls = Pipeline(judging=False), {}
    for record in traffic.records:
        for change in pipeline.feed(record):
            if isinstance(change, Call):
                calls[change.number] = change
    return [said_fresh(calls[number], traffic.records) for number in sorted(calls)]


def message(body, sender="server", **given):
    return Message(
        seq=1, t=0.0, exchange=1, sender=sender, body=Raw(json.dumps(body).encode()), **given
    )


def test_a_call_of_two_rounds_is_read_with_its_ask_and_answer():
    made = next(call for call in fresh(story()) if call.target == "deploy")
    assert made.params == {"name": "deploy", "arguments": {"to": "prod"}}
    first, last = made.rounds
    (ask,) = first.asks
    assert (ask.key, ask.kind, sorted(ask.params)) == (
        "confirm", "form", ["message", "requestedSchema"],
    )  # fmt: skip
    assert ask.at == ("result", "inputRequests", "confirm", "params")
    assert ask.answer.value == {"action": "accept", "content": {"ok": True}}
    assert (first.end, first.has_state, first.status) == ("asks", True, 200)
    assert (last.end, last.said["content"][0]["text"], last.at) == (
        "result",
        "shipped",
        ("result",),
    )
    assert last.took == pytest.approx(0.04)


def test_states_ids_and_tokens_are_not_in_what_was_said():
    assert STATE not in repr(fresh(story()))
    note = note_of(
        message(
            {
                "method": "notifications/progress",
                "params": {
                    "progressToken": "t",
                    "progress": 1,
                    "_meta": {"io.modelcontextprotocol/subscriptionId": "s"},
                },
            }
        )
    )
    assert note.params == {"progress": 1}


def test_an_error_is_read_as_one():
    made = next(call for call in fresh(story()) if call.target == "exprt")
    (only,) = made.rounds
    assert (only.end, only.said["code"], only.at) == ("error", -32602, ("error",))


def test_two_runs_that_differ_in_ids_and_states_only_are_equal():
    def run(first, state):
        traffic = Traffic()
        traffic.exchange = first
        traffic.call("deploy", asks("confirm", "Sure?", state))
        traffic.call("deploy", done("ok"), requestState=state,
                     inputResponses={"confirm": {"action": "decline"}})  # fmt: skip
        return fresh(traffic)

    ((a,), (b,)) = run(0, "one"), run(40, "other")
    assert compare_calls(a, b, Rules()) == []


def test_an_answer_longer_than_the_cap_is_known_by_its_hash():
    traffic = Traffic()
    traffic.call("bulk", done("x" * 50))
    whole = traffic.records[4].payload()
    traffic.records[4] = msgspec.structs.replace(
        traffic.records[4], body=msgspec.UNSET, text=whole[:20].decode(), truncated=True,
        size=len(whole), sha256=hashlib.sha256(whole).hexdigest(),
    )  # fmt: skip
    (made,) = fresh(traffic)
    assert made.rounds[0].cut == hashlib.sha256(whole).hexdigest()


@pytest.mark.parametrize(
    "body",
    [
        {"id": 1, "method": "ping"},
        {"id": 1, "result": {}},
        [1],
        {"method": 1},
    ],
)
def test_what_is_no_notification_is_none(body):
    assert note_of(message(body)) is None


def test_who_notified_is_told_apart():
    body = {"method": "notifications/cancelled", "params": {"requestId": 3, "reason": "r", **META}}
    assert note_of(message(body, "client")) is None
    assert note_of(message(body, "client"), "client").params == {"reason": "r", **META}


def test_the_id_of_a_task_does_not_tell_requests_apart():
    request = {"method": "tasks/get", "params": {"taskId": "t1", **META}}
    assert params_of_record(message(request, "client")) == {}


def test_a_request_longer_than_the_cap_is_known_by_its_hash():
    cut = message({}, "client", truncated=True, sha256="aa")
    assert params_of_record(cut) == {"sha256": "aa"}


def test_a_large_payload_is_read_whole():
    text = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"content": ["x" * (2 << 20)]}})
    record = Message(seq=1, t=0.0, exchange=1, sender="server", text=text)
    assert len(value_said(record)["result"]["content"][0]) == 2 << 20
