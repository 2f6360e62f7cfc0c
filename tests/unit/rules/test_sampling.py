"""Sampling requests are whole and in order, and answers use what they were offered."""

from __future__ import annotations

import pytest

from tests.cases import answer, asking, call, exchange, fired, ids, result, traffic

CAN = {"sampling": {}}
TOOLS = [{"name": "get_weather", "inputSchema": {"type": "object"}}]
TEXT = {"type": "text", "text": "Hi"}
HELLO = {"role": "user", "content": TEXT}
GOOD = {"role": "assistant", "content": TEXT, "model": "m"}


def sampling(*messages, **params):
    return {
        "method": "sampling/createMessage",
        "params": {"messages": list(messages) or [HELLO], "maxTokens": 10, **params},
    }


def asked(question, caps=CAN):
    return traffic(exchange(call(caps=caps), answer(asking({"q": question}))))


def answered(question, given):
    caps = {"sampling": {"tools": {}}}
    retry = call(2, caps=caps, inputResponses={"q": given}, requestState="state-1")
    return traffic(
        exchange(call(caps=caps), answer(asking({"q": question}))),
        exchange(retry, answer(result(2, content=[]))),
    )


def use(name, tool="get_weather"):
    return {"type": "tool_use", "id": name, "name": tool, "input": {}}


def got(name):
    return {"type": "tool_result", "toolUseId": name, "content": []}


def assistant(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def user(*blocks):
    return {"role": "user", "content": list(blocks)}


@pytest.mark.parametrize("more", [{}, {"params": None}, {"params": []}])
def test_a_request_without_params_lacks_more_than_messages(more):
    question = {"method": "sampling/createMessage", **more}
    assert ids(asked(question), "SAMP", "MRTR") == ["MRTR-006"]


@pytest.mark.parametrize("more", [{"tools": TOOLS}, {"toolChoice": {"mode": "auto"}}])
def test_tools_need_a_capability_of_their_own(more):
    question = sampling(**more)
    assert ids(asked(question), "SAMP") == ["SAMP-001"]
    assert ids(asked(question, {"sampling": {"tools": {}}}), "SAMP") == []
    assert ids(asked(question, {"roots": {}}), "SAMP") == []
    assert ids(asked(question, ...), "SAMP") == []


@pytest.mark.parametrize(
    ("caps", "severity"),
    [({"sampling": {}}, "warning"), ({"sampling": {"context": {}}}, "note")],
)
def test_context_of_servers_is_deprecated_and_needs_a_capability(caps, severity):
    for value in ("thisServer", "allServers"):
        found = fired(asked(sampling(includeContext=value), caps), "SAMP")
        assert [(f.rule, f.severity) for f in found] == [("SAMP-002", severity)]


def test_no_context_is_what_holds_anyway():
    assert ids(asked(sampling(includeContext="none")), "SAMP") == []


@pytest.mark.parametrize(
    "params",
    [
        {"messages": {}},
        {"messages": None},
        {"messages": [{"role": "system", "content": TEXT}]},
        {"messages": [{"content": TEXT}]},
        {"messages": [{"role": "user"}]},
        {"messages": [{"role": "user", "content": None}]},
        {"messages": [{"role": "user", "content": "Hi"}]},
        {"messages": ["Hi"]},
        {"maxTokens": "10"},
        {"maxTokens": None},
        {"maxTokens": True},
        {"toolChoice": {"mode": "any"}},
        {"toolChoice": "auto"},
        {"modelPreferences": {"costPriority": 1.1}},
        {"modelPreferences": {"speedPriority": -0.1}},
        {"modelPreferences": {"intelligencePriority": "high"}},
    ],
)
def test_a_malformed_request_is_found_once(params):
    found = ids(asked(sampling(**params), {"sampling": {"tools": {}}}), "SAMP")
    assert found == ["SAMP-003"]


@pytest.mark.parametrize(
    "params",
    [
        {"messages": []},
        {"messages": [{"role": "assistant", "content": [TEXT]}, HELLO]},
        {"maxTokens": 10.5},
        {"toolChoice": {}},
        {"toolChoice": {"mode": "required"}},
        {"modelPreferences": {"costPriority": 0, "speedPriority": 1, "hints": [{"name": "m"}]}},
    ],
)
def test_a_sound_request_is_let_pass(params):
    assert ids(asked(sampling(**params), {"sampling": {"tools": {}}}), "SAMP") == []


@pytest.mark.parametrize(
    "history",
    [
        [HELLO, assistant(use("1"), use("2")), user(got("2"), got("1"))],
        [HELLO, assistant(use("1")), {"role": "user", "content": got("1")}, HELLO],
        [HELLO, {"role": "assistant", "content": use("1")}, user(got("1")), assistant(TEXT), HELLO],
        [HELLO, assistant(TEXT, use("1")), user(got("1")), assistant(use("2")), user(got("2"))],
        [assistant(use("mcp-tap:0123456789abcdef")), HELLO],
    ],
)
def test_uses_whose_results_come_next_are_in_order(history):
    assert ids(asked(sampling(*history)), "SAMP") == []


@pytest.mark.parametrize(
    "history",
    [
        [HELLO, assistant(use("1")), user(TEXT, got("1"))],
        [HELLO, assistant(use("1"), use("2")), user(got("1"))],
        [HELLO, assistant(use("1"), use("2")), user(got("1")), user(got("2"))],
        [HELLO, assistant(use("1")), HELLO],
        [HELLO, assistant(use("1")), assistant(TEXT)],
        [HELLO, assistant(use("1"))],
        [HELLO, user(got("nowhere"))],
        [HELLO, user(got("1")), assistant(TEXT), assistant(use("1")), user(got("1"))],
    ],
)
def test_anything_else_is_not(history):
    assert ids(asked(sampling(*history)), "SAMP") == ["SAMP-004"]


@pytest.mark.parametrize(
    "change",
    [
        {"role": None},
        {"role": "system"},
        {"content": None},
        {"content": "Paris"},
        {"model": None},
        {"model": 5},
    ],
)
def test_an_answer_lacks_none_of_its_members(change):
    given = {key: value for key, value in {**GOOD, **change}.items() if value is not None}
    assert ids(answered(sampling(), given), "SAMP", "MRTR") == ["SAMP-005"]


def test_a_sound_answer_may_stop_for_any_reason():
    assert ids(answered(sampling(), {**GOOD, "stopReason": "refusal"}), "SAMP", "MRTR") == []
    assert ids(answered(sampling(), {**GOOD, "content": [TEXT]}), "SAMP", "MRTR") == []


def test_an_answer_of_another_kind_is_reported_as_that():
    for given in ({"action": "accept", "content": {}}, {"roots": []}, {}):
        assert ids(answered(sampling(), given), "SAMP", "MRTR-027") == ["MRTR-027"]


def test_a_tool_is_used_only_as_offered():
    used = {**GOOD, "content": [TEXT, use("1")]}
    none = sampling(tools=TOOLS, toolChoice={"mode": "none"})
    named = sampling(tools=[{"name": "other"}])
    found = [fired(answered(q, used), "SAMP") for q in (sampling(), none, named)]
    assert [[(f.rule, f.severity) for f in each] for each in found] == [
        [("SAMP-005", "error")],
        [("SAMP-005", "error")],
        [("SAMP-005", "warning")],
    ]
    assert ids(answered(sampling(tools=TOOLS), used), "SAMP") == []


def test_a_long_history_is_looked_at_in_part():
    history = [{"role": "system", "content": TEXT}] * 12_000
    assert 0 < ids(asked(sampling(*history)), "SAMP").count("SAMP-003") <= 200
