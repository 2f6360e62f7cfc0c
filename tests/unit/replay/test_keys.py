"""What tells one request from another."""

from __future__ import annotations

import pytest

from mcp_tap.replay.keys import key_of, matched, params_of, target_of


def call(**params):
    return {"method": "tools/call", "params": {"name": "ship", **params}}


def test_ids_meta_states_and_answers_take_no_part():
    plain = call(arguments={"n": 1})
    told = {"id": 7, **call(arguments={"n": 1}, _meta={"x": 1}, requestState="s")}
    told["params"]["inputResponses"] = {"sure": {"action": "accept"}}
    assert key_of(told) == key_of(plain)


@pytest.mark.parametrize(
    "other",
    [
        call(arguments={"n": 2}),
        call(arguments={"n": 1, "m": None}),
        call(arguments={"n": 1}, task={"ttl": 1}),
        {"method": "prompts/get", "params": {"name": "ship", "arguments": {"n": 1}}},
        {"method": "tools/call", "params": {"name": "sink", "arguments": {"n": 1}}},
    ],
    ids=["value", "member", "parameter", "method", "name"],
)
def test_what_was_asked_for_does(other):
    assert key_of(other) != key_of(call(arguments={"n": 1}))


@pytest.mark.parametrize("empty", [{}, None])
def test_empty_arguments_are_as_good_as_none(empty):
    assert key_of(call(arguments=empty)) == key_of(call())


@pytest.mark.parametrize("value", [0, False, "", []])
def test_arguments_that_are_no_object_are_not_the_same_as_none(value):
    assert key_of(call(arguments=value)) != key_of(call())


@pytest.mark.parametrize("method", ["initialize", "server/discover"])
def test_who_the_client_is_takes_no_part(method):
    one, other = ({"method": method, "params": {"clientInfo": {"name": n}}} for n in "ab")
    assert key_of(one) == key_of(other)


def test_a_request_is_left_as_it_was():
    request = call(arguments={}, _meta={"x": 1})
    assert matched(request) == {"method": "tools/call", "params": {"name": "ship"}}
    assert request == call(arguments={}, _meta={"x": 1})


@pytest.mark.parametrize(
    ("request_", "target"),
    [
        (call(), "ship"),
        ({"method": "prompts/get", "params": {"name": "hello"}}, "hello"),
        ({"method": "resources/read", "params": {"uri": "file:///a"}}, "file:///a"),
        ({"method": "tasks/get", "params": {"taskId": "t1"}}, "t1"),
        ({"method": "tools/list", "params": {"name": "ship"}}, None),
        ({"method": "tools/call", "params": {"name": 5}}, None),
        ({"method": ["tools/call"]}, None),
        ([], None),
    ],
)
def test_a_request_is_about_what_it_names(request_, target):
    assert target_of(request_) == target


@pytest.mark.parametrize("params", [None, [], "x", 1])
def test_parameters_that_are_no_object_are_none(params):
    assert params_of({"method": "m", "params": params}) == {}
    assert matched({"method": "m", "params": params}) == {"method": "m", "params": {}}


def test_what_is_no_request_has_nothing_to_match():
    assert matched([1]) == {}
