"""Messages made of recorded ones."""

from __future__ import annotations

import json

from mcp_tap.replay.client import bodies

REQUEST = b'{"jsonrpc":"2.0","id":7,"method":"m","params":{"_meta":{"progressToken":7},"n":1.10}}'


def test_a_request_has_a_new_id_and_token_and_else_its_own_bytes():
    assert bodies.again(REQUEST, 42) == REQUEST.replace(b":7", b":42")


def test_a_retry_has_the_answers_and_the_state_it_is_given():
    recorded = json.loads(REQUEST)
    recorded["params"] |= {"requestState": "old", "inputResponses": {"a": 1}}
    params = json.loads(bodies.retry(recorded, 9, answers={"b": 2}, state="new"))["params"]
    assert (params["requestState"], params["inputResponses"]) == ("new", {"b": 2})
    assert params["_meta"] == {"progressToken": 9}
    bare = json.loads(bodies.retry(recorded, 9, answers=None, state=None))["params"]
    assert bare.keys() == {"_meta", "n"}
    kept = json.loads(bodies.retry(recorded, 9))["params"]
    assert (kept["requestState"], kept["inputResponses"]) == ("old", {"a": 1})


def test_a_response_answers_another_request():
    recorded = {"jsonrpc": "2.0", "id": 1, "result": {"action": "accept"}}
    assert json.loads(bodies.response("x", recorded)) == {**recorded, "id": "x"}
    assert json.loads(bodies.answered(3, {})) == {"jsonrpc": "2.0", "id": 3, "result": {}}
    assert json.loads(bodies.refused(3, "no"))["error"]["message"] == "mcp-tap: no"


def test_messages_of_our_own_are_whole():
    assert json.loads(bodies.request(1, "tools/list", {})) == {
        "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {},
    }  # fmt: skip
    assert json.loads(bodies.notification("n")) == {"jsonrpc": "2.0", "method": "n"}
