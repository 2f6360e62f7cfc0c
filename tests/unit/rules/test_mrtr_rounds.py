from __future__ import annotations

import json

import pytest

from tests.cases import (
    answer,
    ask,
    call,
    error,
    exchange,
    fired,
    form,
    line,
    message,
    result,
    stdio,
    stream,
    traffic,
)
from tests.unit.rules.rounds import LINK, ROOTS, asks, done, leg, mrtr
from tests.work import seconds_of


def first(response, **more):
    return mrtr(leg(1, response, **more))


def required(**members):
    return result(1, "input_required", **members)


@pytest.mark.parametrize("method", ["tools/list", "server/discover", "subscriptions/listen", "x/y"])
def test_only_three_methods_can_be_answered_with_input_required(method):
    assert first(asks("q"), method=method) == ["MRTR-001"]


def test_a_response_nobody_asked_for_is_no_unsupported_method():
    unmatched = {**asks("q"), "id": 99}
    case = traffic(exchange(ask("tools/list", 1), answer(unmatched)))
    assert not fired(case, "MRTR-001")


def test_a_task_that_needs_input_is_no_unsupported_method():
    task = result(1, taskId="t", status="input_required", inputRequests={"q": form()})
    assert not first(task, method="tasks/get", taskId="t")


@pytest.mark.parametrize(
    ("members", "found"),
    [
        ({}, ["MRTR-002"]),
        ({"inputRequests": {}}, ["MRTR-002"]),
        ({"inputRequests": {}, "requestState": "s"}, []),
        ({"requestState": ""}, []),
        ({"requestState": None}, ["MRTR-002", "MRTR-004"]),
        ({"inputRequests": None}, ["MRTR-003"]),
        ({"inputRequests": [{**form(), "id": "q"}]}, ["MRTR-003"]),
        ({"inputRequests": "q", "requestState": "s"}, ["MRTR-003"]),
        ({"inputRequests": {"q": form()}, "requestState": 5}, ["MRTR-004"]),
        ({"inputRequests": {"q": form()}, "requestState": None}, ["MRTR-004"]),
        ({"inputRequests": {"q": form()}, "requestState": ["s"]}, ["MRTR-004"]),
    ],
)
def test_a_round_has_something_to_do_in_the_right_types(members, found):
    assert first(required(**members)) == found


def test_a_clients_state_is_a_string():
    legs = [leg(1, asks("q"))]
    assert "MRTR-004" in mrtr(*legs, leg(2, done(), keys=("q",), state={"step": 1}))
    assert "MRTR-004" in mrtr(leg(1, done(), state=None))
    assert "MRTR-004" not in mrtr(leg(1, done(), state=5, method="vendor/do"))


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        ({"method": "ping"}, ["MRTR-005"]),
        ({"method": "elicitation/createUrl", "params": {}}, ["MRTR-005"]),
        ({"method": "vendor/ask"}, ["MRTR-005"]),
        ({"method": "ping", "params": 5}, ["MRTR-005", "MRTR-006"]),
        ({"method": 5, "params": {}}, ["MRTR-006"]),
        ({"params": {}}, ["MRTR-006"]),
        ("elicitation/create", ["MRTR-006"]),
        (None, ["MRTR-006"]),
        ({"method": "elicitation/create"}, ["MRTR-006"]),
        ({"method": "elicitation/create", "params": None}, ["MRTR-006"]),
        ({"method": "sampling/createMessage"}, ["MRTR-006"]),
        ({"method": "roots/list", "params": []}, ["MRTR-006"]),
        ({"method": "roots/list"}, []),
        ({"method": "roots/list", "params": {}}, []),
        ({**form(), "jsonrpc": "2.0", "id": 1}, ["MRTR-006:note"]),
    ],
)
def test_an_entry_is_a_request_clients_know(entry, found):
    everything = {"elicitation": {}, "sampling": {}, "roots": {}}
    assert first(required(inputRequests={"q": entry}), caps=everything) == found


@pytest.mark.parametrize(
    ("caps", "found"),
    [
        ({"elicitation": {}, "roots": {}}, 0),
        ({"elicitation": {"form": {}}}, 1),
        ({"roots": None}, 1),
        ({}, 2),
        (..., 0),
        ([], 0),
    ],
)
def test_only_what_this_request_declared_may_be_asked(caps, found):
    asked = required(inputRequests={"q": form(), "r": ROOTS})
    more = {"meta": {"io.modelcontextprotocol/clientCapabilities": ...}} if caps is ... else {}
    assert first(asked, caps=caps, **more).count("MRTR-007") == found


def test_an_undeclared_url_is_the_capability_not_its_mode():
    found = mrtr(leg(1, required(inputRequests={"q": LINK}), caps={}))
    assert found == ["MRTR-007"]


@pytest.mark.parametrize("members", [{"requestState": "s"}, {"inputRequests": {"q": form()}}])
def test_a_round_says_that_it_is_one(members):
    untyped = result(1, None, **members)
    assert first(untyped) == ["MRTR-008"]
    assert "MRTR-008" not in first(untyped, method="tools/list")


def test_a_client_that_retries_an_untyped_round_gets_a_note():
    legs = [leg(1, result(1, None, inputRequests={"q": form()}, requestState="s"))]
    for retry in ({"state": "s"}, {"keys": ("q",)}):
        found = fired(traffic(*legs, leg(2, done(), **retry)), "MRTR")
        assert [(f.rule, f.severity, f.blame) for f in found] == [
            ("MRTR-008", "error", "server"),
            ("MRTR-008", "note", "client"),
        ]


@pytest.mark.parametrize("kind", ["complete", "task"])
def test_a_final_result_does_not_ask(kind):
    assert "MRTR-009:warning" in first(result(1, kind, inputRequests={}))
    assert "MRTR-009:warning" in first(result(1, kind, requestState="s"))
    assert "MRTR-009:warning" not in first(result(1, kind, content=[]))
    assert "MRTR-009:warning" not in first(result(1, ["complete"], requestState="s"))
    assert not first(result(1, kind, inputRequests={"q": form()}), method="tasks/get", taskId="t")


@pytest.mark.parametrize(
    "name", ["content", "structuredContent", "isError", "messages", "contents"]
)
def test_a_round_has_no_final_payload(name):
    assert first(required(requestState="s", **{name: []})) == ["MRTR-010:warning"]
    assert not first(required(requestState="s", vendor=[]))


@pytest.mark.parametrize("name", ["ttlMs", "cacheScope"])
def test_a_round_is_not_cached(name):
    assert first(required(requestState="s", **{name: 5})) == ["MRTR-011:warning"]


def raw(text):
    reply = {"status": 200, "headers": {"Content-Type": "application/json"}, "body_raw": text}
    return fired(traffic(exchange(call(1), reply)), "MRTR-012")


def round_of(requests):
    return (
        '{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"s",'
        f'"inputRequests":{requests}}}}}'
    )


@pytest.mark.parametrize(
    ("requests", "keys"),
    [
        ('{"a":{"method":"roots/list"},"a":{"method":"roots/list"}}', ["a"]),
        ('{ "a" : {} , "b" : {} , "\\u0061" : {} , "b":{} , "a":5 }', ["a", "b"]),
        ('{"a":{"x":1,"x":2},"b":{"x":1}}', []),
        ('{"a":"a","b":["a","a"],"c":{"a":{"a":1}}}', []),
        ("{}", []),
    ],
)
def test_keys_that_stand_twice_are_seen_in_the_raw_text(requests, keys):
    assert [f.spot for f in raw(round_of(requests))] == keys


def test_answers_that_stand_twice_are_the_clients_fault():
    body = json.dumps(call(2)["body"])
    twice = '"inputResponses":{"q":{"action":"cancel"},"q":{"action":"cancel"}},"name"'
    request = {"headers": call(2)["headers"], "body_raw": body.replace('"name"', twice, 1)}
    (found,) = fired(traffic(exchange(request, answer(done()))), "MRTR-012")
    assert (found.blame, found.path) == ("client", "/params/inputResponses/q")


def test_questions_of_a_task_that_stand_twice_are_seen_like_others():
    state = '"taskId":"t","status":"input_required","inputRequests":{"a":{},"a":{}}'
    polled = ask("tasks/get", 1, taskId="t")
    for kind in ("complete", "input_required"):
        text = f'{{"jsonrpc":"2.0","id":1,"result":{{"resultType":"{kind}",{state}}}}}'
        reply = {"status": 200, "headers": {"Content-Type": "application/json"}, "body_raw": text}
        found = fired(traffic(exchange(polled, reply)), "MRTR-012")
        assert [f.path for f in found] == ["/result/inputRequests/a"]
    text = f'{{"jsonrpc":"2.0","method":"notifications/tasks","params":{{{state}}}}}'
    case = stdio(
        line("client", message("subscriptions/listen", notifications={})), line("server", text)
    )
    (found,) = fired(case, "MRTR-012")
    assert (found.blame, found.path) == ("server", "/params/inputRequests/a")


def test_a_round_on_a_stream_is_judged_like_any_other():
    case = traffic(exchange(call(1), stream(required())))
    assert [f.rule for f in fired(case, "MRTR")] == ["MRTR-002"]


def test_nothing_is_said_of_errors_and_other_eras():
    assert not first(error(requestState="s"))
    old = result(1, None, requestState="s", inputRequests={"q": 5})
    case = traffic(exchange(call(1, version="2025-11-25"), answer(old)))
    assert not fired(case, "MRTR")


def test_hostile_rounds_cost_little():
    entries = ",".join(f'"k{n}":{{"method":"ping"}}' for n in range(35_000))
    deep = "[" * 400 + "]" * 400
    empty = ",".join("{}" for _ in range(300_000))
    for text in (f"{{{entries}}}", f'{{"a":{deep},"a":{deep}}}', f'{{"a":[{empty}],"a":1}}'):
        body = round_of(text)
        assert len(body) < 1 << 20
        assert seconds_of(lambda body=body: raw(body)) < 2
