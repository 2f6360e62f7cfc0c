"""What the index finds in captures."""

from __future__ import annotations

import contextlib
import gzip
import shutil
from pathlib import Path

import pytest

from mcp_tap.core.records import Message
from mcp_tap.core.wire import value_of
from mcp_tap.errors import CaptureError
from mcp_tap.replay.index import Index
from mcp_tap.replay.keys import key_of

CAPTURES = Path(__file__).parent.parent.parent.parent / "captures"
ROUNDS = str(CAPTURES / "py-py-2026.jsonl")
PUSHED = str(CAPTURES / "py-py-2025.jsonl")


@pytest.fixture
def opened():
    with contextlib.ExitStack() as stack:
        yield lambda *specs: stack.enter_context(Index.of([str(spec) for spec in specs]))


def test_a_call_of_rounds_keeps_its_rounds_asks_and_answers(opened):
    index = opened(ROUNDS)
    (call,) = [c for c in index.calls if c.number == 5]
    assert (call.method, call.target, call.outcome) == ("tools/call", "book_table", "ok")
    assert [list(r.asks) for r in call.rounds] == [["day"], ["seat"], []]
    assert [r.has_state for r in call.rounds] == [True, True, False]
    assert index.answers(call, call.rounds[0])["day"]["action"] == "accept"
    assert call.rounds[0].answered_by == "client"


def test_an_answer_to_a_pushed_ask_is_read_from_the_clients_response(opened):
    index = opened(PUSHED)
    (call,) = [c for c in index.calls if c.target == "push_sample"]
    assert index.answers(call, call.rounds[0]) == {
        "3": {
            "role": "assistant",
            "content": {"type": "text", "text": "ship it"},
            "model": "lab-model",
            "stopReason": "endTurn",
        }
    }


def test_the_messages_of_an_exchange_are_read_back_in_order(opened):
    index = opened(ROUNDS)
    exchange = index.captures[0].exchanges[3]
    bodies = [value_of(m) for m in index.messages(exchange) if isinstance(m, Message)]
    assert bodies[0]["method"] == "tools/call"
    assert bodies[0]["id"] == bodies[-1]["id"]
    assert "result" in bodies[-1]


def test_what_differs_in_id_meta_and_state_has_one_key_what_differs_in_arguments_another():
    one = {"id": 1, "method": "tools/call", "params": {"name": "x", "arguments": {"a": 1, "b": 2}}}
    other = {
        "id": "z",
        "method": "tools/call",
        "params": {
            "_meta": {"progressToken": 7},
            "arguments": {"b": 2, "a": 1},
            "name": "x",
            "requestState": "s",
            "inputResponses": {"k": {"action": "accept"}},
        },
    }
    assert key_of(one) == key_of(other)
    assert key_of(one) != key_of({"method": "tools/call", "params": {"name": "x"}})
    left_out, empty = {"name": "x"}, {"name": "x", "arguments": {}}
    assert key_of({"method": "m", "params": left_out}) == key_of({"method": "m", "params": empty})


def test_a_packed_capture_is_read_like_a_plain_one(opened, tmp_path):
    packed = tmp_path / "run.jsonl.gz"
    with gzip.open(packed, "wb") as file:
        file.write(Path(ROUNDS).read_bytes())
    plain, index = opened(ROUNDS), opened(packed)
    for one, other in zip(plain.calls, index.calls, strict=True):
        assert plain.messages(one.rounds[0].exchange) == index.messages(other.rounds[0].exchange)


def test_a_file_that_changed_under_it_is_an_error_not_another_record(opened, tmp_path):
    path = tmp_path / "run.jsonl"
    shutil.copyfile(ROUNDS, path)
    index = opened(path)
    with path.open("r+b") as file:
        file.truncate(2000)
    with pytest.raises(CaptureError) as raised:
        index.messages(index.calls[-1].rounds[0].exchange)
    assert raised.value.code == "capture-damaged"


def test_calls_of_several_captures_know_which_one_they_are_from(opened):
    index = opened(ROUNDS, PUSHED)
    assert {call.capture for call in index.calls} == {0, 1}
    assert index.captures[0].eras == {"stateless"}
    assert index.captures[1].eras == {"session"}
