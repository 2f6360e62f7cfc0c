"""Whatever a peer asks or answers: rules give findings, and none of them fails."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.cases import (
    SESSION,
    answer,
    asking,
    call,
    exchange,
    fired,
    handshake,
    post,
    result,
    stream,
    traffic,
)

WORDS = st.sampled_from(
    [
        *("action", "accept", "decline", "content", "a", "b", "properties", "required", "type"),
        *("string", "integer", "array", "object", "enum", "oneOf", "anyOf", "items", "const"),
        *("title", "default", "minLength", "maxItems", "minimum", "format", "date", "email"),
        *("messages", "role", "user", "assistant", "tool_use", "tool_result", "id", "toolUseId"),
        *("tools", "toolChoice", "mode", "none", "url", "form", "roots", "uri", "file:///..", ""),
        *("elicitationId", "model", "maxTokens", "message", "mcp-tap:0123456789abcdef"),
    ]
)
SCALARS = st.none() | st.booleans() | st.integers(-9, 10**20) | st.floats(-9, 9) | WORDS
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=6),
    max_leaves=25,
)
METHODS = st.sampled_from(["elicitation/create", "sampling/createMessage", "roots/list", "x"])
PARAMS = st.fixed_dictionaries(
    {},
    optional={
        "mode": st.sampled_from(["form", "url"]) | JSON,
        "message": JSON,
        "url": JSON,
        "requestedSchema": JSON
        | st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.dictionaries(WORDS, JSON, max_size=4)},
            optional={"required": JSON, "additionalProperties": JSON},
        ),
        "messages": JSON,
        "tools": JSON,
        "toolChoice": JSON,
        "modelPreferences": JSON,
        "elicitationId": JSON,
    },
)
ASKS = st.fixed_dictionaries({"method": METHODS, "params": PARAMS | JSON})
ANSWERS = JSON | st.fixed_dictionaries(
    {"action": st.just("accept"), "content": st.dictionaries(WORDS, JSON, max_size=4)}
)


@given(ASKS, ANSWERS)
def test_no_rule_fails_on_asks_and_answers_of_a_round(question, reply):
    retry = call(2, inputResponses={"q": reply}, requestState="state-1")
    case = traffic(
        exchange(call(), answer(asking({"q": question}))),
        exchange(retry, answer(asking({"q": question}, "state-2", 2))),
    )
    assert fired(case, "TAP-001") == []


@given(ASKS, ANSWERS, st.sampled_from(["2025-11-25", "2025-06-18"]), JSON)
def test_no_rule_fails_on_asks_and_answers_of_a_session(question, reply, version, data):
    pushed = {"jsonrpc": "2.0", "id": 7, **question}
    complete = {"jsonrpc": "2.0", "method": "notifications/elicitation/complete", "params": data}
    fault = {"code": -32042, "message": "no", "data": data}
    replied = {"jsonrpc": "2.0", "id": 7, "result": reply}
    case = traffic(
        *handshake(version, data),
        exchange(
            call(1, version=version, headers=SESSION),
            stream(pushed, complete, pushed, result(1, None)),
            (10.0, 14.0),
        ),
        exchange(post(replied, SESSION, version=version), answer(status=202), (11.2, 11.3)),
        exchange(
            call(2, version=version, headers=SESSION),
            answer({"jsonrpc": "2.0", "id": 2, "error": fault}),
            (20.0, 21.0),
        ),
    )
    assert fired(case, "TAP-001") == []
