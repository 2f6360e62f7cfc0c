"""Exchanges so plain that nothing has to be linked, and all that is not."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from mcp_tap.core.records import HttpRequest
from mcp_tap.replay.keys import key_of, target_of
from mcp_tap.replay.plain import Plain
from mcp_tap.testing import records_of
from tests.replays import META, asking, complete, exchange, masking, request, streamed

NOTE = {
    "jsonrpc": "2.0",
    "method": "notifications/progress",
    "params": {"progressToken": "p", "progress": 1},
}
PUSHED = {"jsonrpc": "2.0", "id": 9, "method": "roots/list", "params": {}}
SERVER = {"io.modelcontextprotocol/serverInfo": {"name": "billing", "version": "1"}}


def taken(made, edit=lambda record: record):
    """Hand an exchange over; give what it came to, and whether it was plain to its end."""
    records = [edit(record) for record, _ in records_of({"exchanges": [made]})]
    (first, *rest) = records[1:]
    assert isinstance(first, HttpRequest)
    plain = Plain.begin(first)
    if plain is None:
        return None, False
    return plain, all(plain.take(record) for record in rest)


def result(**members):
    return {"jsonrpc": "2.0", "id": 1, "result": members}


def other(method, **params):
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": META, **params}}


def test_a_call_with_a_result_is_plain():
    plain, is_plain = taken(exchange(request(1), complete(1, "done")))
    assert is_plain
    assert plain.request.params.meta.version == "2026-07-28"
    assert (plain.result.result_type, plain.result.server) == ("complete", None)
    assert (plain.asked.seq, plain.answered.seq, plain.answered.t) == (2, 4, 1.0)
    assert plain.masked == 0


def test_so_is_one_whose_stream_tells_of_progress_first():
    plain, is_plain = taken(streamed(request(1), NOTE, complete(1, "done")))
    assert is_plain
    assert plain.answered.seq == 5


def test_a_server_that_names_itself_is_known_by_that():
    plain, is_plain = taken(exchange(request(1), result(_meta=SERVER)))
    assert (is_plain, plain.result.server) == (True, "billing")


def test_a_masked_message_is_noted():
    plain, is_plain = taken(exchange(request(1), complete(1, "done")), masking)
    assert (is_plain, plain.masked) == (True, 1)


@pytest.mark.parametrize(
    "asked",
    [
        request(1, arguments={"b": 1, "a": [1.0, 1.5, 1e2, "2.0", {"z": None, "y": -0.0}]}),
        request(1, arguments={}),
        request(1, arguments=None, requestState=None, inputResponses={}),
        request(1, arguments={"n": 10**30}),
        request(1, arguments={"n": 1e300}),
        other("resources/read", uri="file:///a"),
        other("prompts/get", name=5),
        other("tools/list", cursor=None),
        other("completion/complete", ref={"type": "ref/prompt"}, argument={}, context={}),
        other("server/discover"),
        other("their/own"),
    ],
    ids=lambda asked: asked["method"],
)
def test_its_request_is_summed_up_and_named_as_any_other(asked):
    plain, is_plain = taken(exchange(asked, complete(1, "done")))
    assert is_plain
    assert plain.request.target == target_of(asked)
    assert plain.request.key() == key_of(asked)


@pytest.mark.parametrize(
    "made",
    [
        exchange(request(1), asking(1, "s")),
        exchange(request(1), result(resultType="input_required")),
        exchange(request(1), result(isError=True, content=[])),
        exchange(request(1), result(taskId="t")),
        exchange(request(1), {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "m"}}),
        exchange(request(1), complete(2, "another's")),
        exchange(request(1), complete(True, "another's")),
        exchange(request(1), complete(1, "x"), status=500),
        exchange(request(1, requestState="s"), complete(1, "x")),
        exchange(request(1, inputResponses={"a": {}}), complete(1, "x")),
        exchange(other("initialize"), complete(1, "x")),
        exchange(other("subscriptions/listen"), complete(1, "x")),
        exchange(other("tasks/get", taskId="t"), complete(1, "x")),
        exchange({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, complete(1, "x")),
        exchange({"jsonrpc": "2.0", "method": "notifications/x"}, None),
        exchange([request(1)], [complete(1, "x")]),
        exchange(request(1, theirs=1), complete(1, "x")),
        streamed(request(1), PUSHED, complete(1, "x")),
        streamed(request(1), complete(1, "x"), NOTE),
        streamed(request(1), complete(1, "x"), complete(1, "x")),
        streamed(request(1), NOTE, closed_by="network"),
        streamed(request(1), {**NOTE, "method": "notifications/tools/list_changed"}),
    ],
    ids=[
        "asks",
        "input required",
        "tool error",
        "task",
        "error",
        "another id",
        "an id of another type",
        "status",
        "state",
        "answers",
        "initialize",
        "listen",
        "of a task",
        "session era",
        "notification",
        "batch",
        "parameters of their own",
        "pushed ask",
        "something after it",
        "twice",
        "broken off",
        "another notification",
    ],
)
def test_what_may_need_linking_is_not(made):
    assert not taken(made)[1]


def test_neither_is_anything_but_a_post():
    assert taken({"request": {"method": "GET"}, "response": {"status": 405}}) == (None, False)


def test_nor_a_request_one_side_of_the_tap_has_not_seen():
    head = records_of({"exchanges": [exchange(request(1), None)]})[1][0]
    assert Plain.begin(replace(head, leg="upstream")) is None
    assert Plain.begin(head) is not None
