"""Tokens of a recorded message, replaced by a client's own; the rest as it was."""

from __future__ import annotations

import json

import pytest

from mcp_tap.replay.splicing import (
    CANCELLED,
    ID,
    META_TOKEN,
    NEWS_OF,
    PARAMS_STATE,
    STATE,
    SUBSCRIPTION,
    TASK,
    TASK_IDS,
    TOKEN,
    answering,
    news,
    respliced,
)

SUB = "io.modelcontextprotocol/subscriptionId"


@pytest.mark.parametrize(
    ("data", "path", "wanted"),
    [
        (b'{ "id" : 1, "n": 1.50 }', ID, b'{ "id" : "new", "n": 1.50 }'),
        (b'{"result":{"requestState":"a"}}', STATE, b'{"result":{"requestState":"new"}}'),
        (b'{"params":{"progressToken":7}}', TOKEN, b'{"params":{"progressToken":"new"}}'),
        (b'{"params":{"requestId":7}}', CANCELLED, b'{"params":{"requestId":"new"}}'),
        (b'{"params":{"requestState":""}}', PARAMS_STATE, b'{"params":{"requestState":"new"}}'),
        (
            b'{"params":{"_meta":{"progressToken":1}}}',
            META_TOKEN,
            b'{"params":{"_meta":{"progressToken":"new"}}}',
        ),
        (
            f'{{"params":{{"_meta":{{"{SUB}":1}}}}}}'.encode(),
            SUBSCRIPTION,
            f'{{"params":{{"_meta":{{"{SUB}":"new"}}}}}}'.encode(),
        ),
    ],
)
def test_a_token_is_replaced_and_every_other_byte_stays(data, path, wanted):
    assert respliced(data, {path: b'"new"'}) == wanted


def test_a_token_that_is_not_there_stays_away():
    data = b'{"result": {"requestState2": 1}, "params": null}'
    assert respliced(data, {ID: b"1", STATE: b'"s"', TOKEN: b"2"}) == data


def test_several_tokens_are_replaced_at_once():
    data = b'{"id":1,"result":{"requestState":"old"}}'
    got = respliced(data, {STATE: b'"s"', ID: b'"a much longer id"'})
    assert got == b'{"id":"a much longer id","result":{"requestState":"s"}}'


def test_what_is_no_json_stays_as_it_is():
    assert respliced(b'{"id": 1', {ID: b"2"}) == b'{"id": 1'


@pytest.mark.parametrize(
    "data",
    [
        b'{"jsonrpc":"2.0","id":1,"result":{}}',
        b'{"jsonrpc":"2.0","id":"a-b","result":{}}',
        b'{"result":{},"jsonrpc":"2.0","id":-12}',
        b'{"id": 1, "result": {}}',
        b'{"jsonrpc":"2.0","id":1,"result":{"id":1}}',
        b'{"jsonrpc":"2.0","id":"a\\"b","result":{}}',
        b'{"result":{"id":1},"jsonrpc":"2.0","id":1}',
        b'{"result":{"text":"\\"jsonrpc\\":\\"2.0\\",\\"id\\":1"},"jsonrpc":"2.0","id":1}',
    ],
)
def test_a_response_gets_another_id_wherever_that_stands(data):
    wanted = {**json.loads(data), "id": "mine"}
    assert json.loads(answering(data, {ID: b'"mine"'})) == wanted


def test_the_id_of_a_result_is_no_id_of_the_response():
    data = b'{"result":{"a":1,"jsonrpc":"2.0","id":5}}'
    assert answering(data, {ID: b"9"}) == data


def test_a_response_gets_a_state_and_an_id():
    data = b'{"jsonrpc":"2.0","id":1,"result":{"requestState":"old"}}'
    wanted = b'{"jsonrpc":"2.0","id":2,"result":{"requestState":"new"}}'
    assert answering(data, {ID: b"2", STATE: b'"new"'}) == wanted


def test_of_a_member_that_stands_twice_the_last_one_counts():
    data = b'{"id":1,"result":{"requestState":"a","requestState":"b"},"id":2}'
    got = json.loads(respliced(data, {ID: b"3", STATE: b'"s"'}))
    assert got == {"id": 3, "result": {"requestState": "s"}}


@pytest.mark.parametrize(
    ("params", "wanted"),
    [
        ({"taskId": "t"}, {NEWS_OF: b'"mine"'}),
        ({"taskId": "other"}, {}),
        ({"taskId": 5}, {}),
        ({"notifications": {"taskIds": ["t", "other", 5]}}, {TASK_IDS: b'["mine","other",5]'}),
        ({"notifications": {"toolsListChanged": True}}, {}),
        ({"notifications": "t"}, {}),
        ({}, {}),
    ],
)
def test_news_name_tasks_as_their_listener_knows_them(params, wanted):
    assert news(params, {"t": "mine"}) == wanted


def test_a_task_is_renamed_where_a_result_names_it():
    data = b'{"id":1,"result":{"status":"working","taskId": "t"}}'
    wanted = b'{"id":1,"result":{"status":"working","taskId": "mine"}}'
    assert respliced(data, {TASK: b'"mine"'}) == wanted
