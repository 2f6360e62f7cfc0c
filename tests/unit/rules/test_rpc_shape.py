from __future__ import annotations

import time

import pytest

from tests.cases import (
    CAPABILITIES,
    RESULT,
    SESSION,
    answer,
    ask,
    call,
    exchange,
    fired,
    form,
    handshake,
    ids,
    note,
    post,
    result,
    stream,
    traffic,
)

OLD = "2025-11-25"


def one(request, reply):
    return fired(traffic(exchange(request, reply)), "RPC")


def of(method, kind="complete", **members):
    """Judge what a server says to a method."""
    given = {"resources/read": {"uri": "file:///x"}, "prompts/get": {"name": "p"}}
    return one(ask(method, **given.get(method, {})), answer(result(1, kind, **members)))


@pytest.mark.parametrize(
    ("method", "params", "path"),
    [
        ("tools/call", {"arguments": {}}, "/params"),
        ("tools/call", {"name": 3}, "/params/name"),
        ("tools/call", {"name": "t", "arguments": []}, "/params/arguments"),
        ("tools/call", {"name": "t", "arguments": None}, "/params/arguments"),
        ("resources/read", {}, "/params"),
        ("prompts/get", {"name": "p", "arguments": {"n": 3}}, "/params/arguments/n"),
        ("completion/complete", {"ref": {"type": "ref/prompt", "name": "p"}}, "/params"),
        (
            "completion/complete",
            {"ref": {"type": "ref/x"}, "argument": {"name": "a", "value": ""}},
            "/params/ref/type",
        ),
    ],
)
def test_a_request_of_another_shape_is_found_at_the_member(method, params, path):
    (found,) = one(ask(method, **params), None)
    assert (found.rule, found.path, found.blame) == ("RPC-012", path, "client")


BLOCK = {"type": "text", "text": "x"}


@pytest.mark.parametrize(
    ("block", "path", "said"),
    [
        ({"text": "x"}, "", "lacks type"),
        ({"type": "text"}, "", "lacks text"),
        ({"type": "video"}, "/type", "must be audio, image,"),
        ({"type": "text", "text": 3}, "/text", "must be a string"),
        ({"type": "image", "data": "x"}, "", "lacks mimeType"),
        ({"type": "resource", "resource": {"uri": "file:///x"}}, "/resource", "lacks text or blob"),
        ({**BLOCK, "annotations": {"priority": 2}}, "/annotations/priority", "beyond its maximum"),
        ("x", "", "must be an object"),
    ],
)
def test_a_wrong_content_block_is_told_what_is_wrong_with_it(block, path, said):
    (found,) = one(call(), answer(result(content=[BLOCK, block])))
    assert (found.rule, found.path) == ("RPC-012", "/result/content/1" + path)
    assert found.blame == "server"
    assert said in found.message


@pytest.mark.parametrize(
    ("method", "members", "path"),
    [
        ("resources/read", {"contents": [{"uri": "file:///x"}]}, "/result/contents/0"),
        ("prompts/get", {"messages": [{"role": "system", "content": BLOCK}]}, ""),
        ("completion/complete", {"completion": {"values": ["x"] * 101}}, ""),
    ],
)
def test_a_result_of_another_shape_is_found(method, members, path):
    hints = {"ttlMs": 1, "cacheScope": "public"}
    if method == "completion/complete":
        request = ask(
            method, ref={"type": "ref/prompt", "name": "p"}, argument={"name": "a", "value": ""}
        )
        found = one(request, answer(result(1, **members)))
    else:
        found = of(method, **members, **hints)
    assert [f.rule for f in found] == ["RPC-012"]
    assert found[0].path.startswith(path)


def test_notifications_are_looked_at_by_their_method():
    empty = note("notifications/message", level="info")
    reply = stream(empty, result(1, None, content=[]))
    case = traffic(*handshake(), exchange(call(1, headers=SESSION, version=OLD), reply))
    (found,) = fired(case, "RPC")
    assert (found.rule, found.path) == ("RPC-012", "/params")
    assert not one(call(), stream(note("notifications/vendor", level=3), RESULT))


def test_requests_and_results_of_a_session_are_looked_at_too():
    def session(request, reply):
        return fired(traffic(*handshake(), exchange(request, reply)), "RPC")

    odd = call(1, headers=SESSION, version=OLD, name=3)
    assert [f.rule for f in session(odd, answer(result(1, None, content=[])))] == ["RPC-012"]
    fine = call(1, headers=SESSION, version=OLD)
    assert [f.rule for f in session(fine, answer(result(1, None)))] == ["RPC-012"]
    task = {"taskId": "t", "status": "working"}
    assert not session(fine, answer(result(1, None, task=task)))


def pushed(question, value):
    """Answer a pushed ask."""
    asked = {"jsonrpc": "2.0", "id": 9, **question}
    final = result(1, None, content=[])
    reply = {"jsonrpc": "2.0", "id": 9, "result": value}
    return fired(
        traffic(
            *handshake(caps={**CAPABILITIES, "roots": {}}),
            exchange(call(1, headers=SESSION, version=OLD), stream(asked, final), (9, 19)),
            exchange(post(reply, SESSION, version=OLD), answer(status=202), (15, 16)),
        ),
        "RPC-012",
    )


def test_an_answer_to_a_pushed_ask_is_looked_at():
    roots = {"method": "roots/list"}
    assert not pushed(roots, {"roots": [{"uri": "file:///x"}]})
    (found,) = pushed(roots, {"roots": 3})
    assert (found.path, found.blame) == ("/result/roots", "client")
    assert not pushed(roots, {"roots": [{"name": "x"}]}), "another rule has a word"


@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
def test_null_for_content_is_as_good_as_none(action):
    assert not pushed(form(), {"action": action, "content": None})


@pytest.mark.parametrize(
    "reply",
    [
        result(1, "task", taskId="t-1", status="working"),
        result(1, "input_required", inputRequests={"q": form()}, requestState="s"),
        result(1, content=[{**BLOCK, "more": None}], more={"x": 1}),
        result(1, content=[], structuredContent=[1, 2], isError=False),
        result(1, content=[{"type": "resource_link", "uri": "x:y", "name": "n", "size": 0.5}]),
    ],
)
def test_further_members_fractions_and_results_of_other_types_are_fine(reply):
    assert not [f for f in one(call(), answer(reply)) if f.rule == "RPC-012"]


def test_unknown_methods_are_not_looked_at():
    assert not one(ask("vendor/x", cursor=3), answer(result(1, tools=3)))
    assert not one(ask("ping", cursor=3), answer(result(1)))


def test_where_another_rule_has_a_word_this_one_is_silent():
    body = result(2, content=[{}])
    assert [f.rule for f in one(call(1), answer(body))] == ["RPC-005"]


def test_no_value_is_quoted():
    secret = "hunter2-hunter2"
    (found,) = one(call(), answer(result(content=[{"type": secret}])))
    assert secret not in found.message


def nested(depth):
    value = {}
    for _ in range(depth):
        value = {"a": value, "_meta": {}}
    return value


@pytest.mark.parametrize(
    "reply",
    [
        result(content=[BLOCK] * 20_000),
        result(content=[{}] * 100_000),
        result(content=[BLOCK], structuredContent={str(n): 10**30 for n in range(20_000)}),
        result(content=[BLOCK], structuredContent=nested(900)),
        result(content=[nested(900)]),
    ],
)
def test_hostile_results_are_judged_quickly(reply):
    case = traffic(exchange(call(), answer(reply)))
    start = time.thread_time()
    found = ids(case)
    assert time.thread_time() - start < 5
    assert not [rule for rule in found if rule.startswith("TAP")], "it is looked at"


@pytest.mark.parametrize("depth", [200, 300, 900])
def test_what_is_nested_too_deep_for_the_validator_is_left_alone(depth):
    broken = call(name=nested(depth), arguments={})
    assert "TAP-001" not in ids(traffic(exchange(broken, answer(result()))))
    deep = exchange(ask("completion/complete", ref=nested(depth)), answer(result()))
    assert "TAP-001" not in ids(traffic(deep))
