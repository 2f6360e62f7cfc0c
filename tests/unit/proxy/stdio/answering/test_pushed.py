"""Sessions on lines: what a server pushes is answered, and the client does not see it."""

from __future__ import annotations

import json

import pytest

from tests.lining import Both, said
from tests.pushing import SCRIPT, book, day, hello, note, result, rpc

FORMS = {"elicitation": {"form": {}}}


def welcome(number=0):
    info = {"name": "billing", "version": "1"}
    found = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": found}).encode() + b"\n"


def opened(script=SCRIPT, capabilities=None, **options):
    both = Both(script, **options)
    (both.hello,), _ = both.client(hello(capabilities))
    assert both.server(welcome()) == ([], [welcome()])
    both.client(note("notifications/initialized"))
    return both


def test_initialize_declares_what_the_script_can_answer():
    both = opened()
    assert said(both.hello)["params"]["capabilities"] == FORMS
    assert both.legs[:2] == [("client", None, False), ("tap", "upstream", True)]
    assert both.answering.server == "billing"
    line = hello(FORMS) + b"\n"
    assert Both(SCRIPT).client(line) == ([line], [])


def test_an_ask_is_answered_to_the_server_and_the_client_sees_nothing():
    both = opened()
    line = book() + b"\n"
    assert both.client(line) == ([line], [])
    up, down = both.server(day())
    assert down == []
    answer = {"action": "accept", "content": {"day": "tue"}}
    assert [said(each) for each in up] == [{"jsonrpc": "2.0", "id": "ask-1", "result": answer}]
    assert both.server(result()) == ([], [result() + b"\n"])
    assert both.told == [("answered", "the day", "ask-1")]
    assert both.legs[-3:] == [
        ("server", "upstream", False),
        ("tap", "upstream", False),
        ("server", None, False),
    ]
    call = both.the_call()
    (ask,) = call.rounds[0].asks
    assert (ask.answered_by, ask.entry, ask.action) == ("tap", "the day", "accept")
    assert (len(call.rounds), call.outcome) == (2, "ok")
    assert both.rules() == []


@pytest.mark.parametrize("number", [b"0", b"12345678901234567890123", b'"\\u0061"', b"1.50"])
def test_the_answer_has_the_id_in_the_servers_own_bytes(number):
    both = opened()
    (up,), _ = both.server(day().replace(b'"ask-1"', number))
    assert b'"id":' + number + b"," in up


def test_the_script_comes_first_also_for_a_client_that_could_answer():
    both = opened(capabilities=FORMS)
    both.client(book())
    assert len(both.server(day())[0]) == 1


def test_what_no_entry_answers_goes_to_a_client_that_declared_it():
    both = opened('version = 1\n[[answer]]\nmatch = { key = "x" }\ncontent = {}\n', FORMS)
    both.client(book())
    line = day() + b"\n"
    assert both.server(line) == ([], [line])
    assert both.told == [("passed", None, "ask-1")]
    answer = json.dumps({"jsonrpc": "2.0", "id": "ask-1", "result": {"action": "cancel"}}).encode()
    assert both.client(answer + b"\n") == ([answer + b"\n"], [])
    (ask,) = both.the_call().rounds[0].asks
    assert ask.answered_by == "client"


@pytest.mark.parametrize(
    ("ask", "code"),
    [
        (day(), -32603),
        (rpc("elicitation/create", 5, mode="url", url="https://a.test", elicitationId="e"), -32602),
        (rpc("roots/list", 5), -32601),
        (rpc("sampling/createMessage", 5, messages=[], maxTokens=1), -32601),
    ],
)
def test_where_there_is_no_answer_the_server_gets_an_error(ask, code):
    both = opened('version = 1\n[[answer]]\nmatch = { field = "x" }\ncontent = {}\n')
    both.client(book())
    (up,), down = both.server(ask)
    assert down == []
    assert said(up)["error"]["code"] == code
    assert said(up)["error"]["data"] == {"sender": "mcp-tap", "error": "no-answer"}
    assert both.answering.failed == 1
    assert both.server(result()) == ([], [result() + b"\n"])


def test_asks_count_within_the_only_call_that_is_under_way():
    script = """
version = 1
[[answer]]
name = "the day"
match = { tool = "book", field = "day" }
each_round = [{ content = { day = "mon" } }, { content = { day = "tue" } }]
"""
    both = opened(script)
    for number in (7, 8):
        both.client(book(number))
        (one,), _ = both.server(day(1))
        (two,), _ = both.server(day(2))
        days = [said(each)["result"]["content"]["day"] for each in (one, two)]
        assert days == ["mon", "tue"]
        both.server(result(number))


def test_an_ask_while_several_calls_are_under_way_is_for_none_of_them():
    both = opened(SCRIPT.replace('field = "day"', 'field = "day", tool = "book"'))
    both.client(book(7))
    both.client(book(8))
    (up,), _ = both.server(day())
    assert said(up)["error"]["data"]["error"] == "no-answer"
    both.client(note("notifications/cancelled", requestId=8))
    (up,), _ = both.server(day())
    assert "result" in said(up)


def test_an_ask_of_no_call_is_told_with_the_entry_that_answered_it():
    both = opened()
    (up,), _ = both.server(day())
    assert "result" in said(up)
    assert both.told == [("answered", "the day", "ask-1")]
    assert both.rules() == []


def test_the_servers_word_that_it_wants_no_answer_is_not_for_a_client_that_was_not_asked():
    both = opened()
    both.client(book())
    both.server(day())
    assert both.server(note("notifications/cancelled", requestId="ask-1")) == ([], [])
    assert both.told[-1] == ("withdrawn", None, "ask-1")


@pytest.mark.parametrize("params", [{"requestId": "ask-2"}, {}, {"requestId": None}])
def test_any_other_such_word_passes(params):
    both = opened()
    both.server(day())
    line = note("notifications/cancelled", **params) + b"\n"
    assert both.server(line) == ([], [line])


@pytest.mark.parametrize(
    "line",
    [
        day().replace(b"{", b'{"id":3,', 1),
        rpc("elicitation/create", None),
        rpc("elicitation/create", True),
        rpc("ping", 5),
        note("elicitation/create"),
        rpc("tasks/get", 1),
    ],
)
def test_what_is_no_ask_or_cannot_be_answered_passes(line):
    both = opened()
    assert both.server(line) == ([], [line + b"\n"])


def test_a_server_that_is_asked_under_revisions_without_sessions_is_left_alone():
    from tests.asking import request

    both = Both(SCRIPT)
    both.client(request(1))
    line = day() + b"\n"
    assert both.server(line) == ([], [line])


def test_nobody_is_answered_who_can_hear_nothing_any_more():
    both = opened()
    both.client(book())
    both.client_eof()
    assert both.server(day()) == ([], [])
    assert both.answering.failed == 0


def test_what_comes_from_the_environment_is_marked_as_secret():
    script = """
version = 1
[[answer]]
match = { field = "day" }
content = { day = { env = "PIN" } }
"""
    both = opened(script, env={"PIN": "s3cret"})
    (up,), _ = both.server(day())
    assert b"s3cret" in up
    assert not [r for r in both.records if b"s3cret" in getattr(r, "payload", bytes)()]


def test_an_initialize_that_cannot_be_edited_passes_as_it_is():
    twice = b'{"id":1,"method":"initialize","params":{"capabilities":{},"capabilities":{}}}\n'
    assert Both(SCRIPT).client(twice) == ([twice], [])
