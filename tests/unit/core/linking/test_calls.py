from __future__ import annotations

import pytest
from msgspec import Raw

from mcp_tap.core.linking.calls import (
    answer_ask,
    ask_of,
    asks_of,
    error_fault,
    host_of,
    payload_size,
    tool_fault,
)
from mcp_tap.core.linking.state import MOST_ROUNDS
from mcp_tap.core.records import Message
from tests.captures import header
from tests.talk import Talk, call

RECORD = Message(seq=3, t=1.5, exchange=1, sender="client", body=Raw(b"{}"))


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        ({"code": -1, "message": "no"}, -1, "no"),
        ({"code": "E1", "message": 7}, "E1", ""),
        ({"code": None}, None, ""),
        ("invalid_token", None, "invalid_token"),
        (None, None, "null"),
        ([], None, "[]"),
    ],
)
def test_errors_of_any_shape_become_faults(error, code, message):
    fault = error_fault(error, "server")
    assert (fault.code, fault.message) == (code, message)


@pytest.mark.parametrize(
    ("content", "message"),
    [([{"type": "text", "text": "bad"}], "bad"), ([1, {"text": 2}], ""), ("x", ""), (None, "")],
)
def test_a_tool_error_is_told_in_its_first_text(content, message):
    assert tool_fault({"content": content}, "server").message == message


def test_entries_that_are_no_requests_are_asks_all_the_same():
    asks = asks_of(
        {"a": 1, "b": {"method": 7, "params": []}, "c": {"method": "roots/list"}}, RECORD
    )
    assert [(a.key, a.method, a.kind, a.params) for a in asks] == [
        ("a", "", "other", {}),
        ("b", "", "other", {}),
        ("c", "roots/list", "roots", {}),
    ]
    assert asks_of([1], RECORD) == []


@pytest.mark.parametrize(
    ("method", "answer", "action"),
    [
        ("elicitation/create", {"action": "decline"}, "decline"),
        ("elicitation/create", {"roots": []}, "answered"),
        ("elicitation/create", 5, "answered"),
        ("sampling/createMessage", {"action": "accept"}, "answered"),
        ("roots/list", {"roots": []}, "answered"),
    ],
)
def test_answers_are_put_in_one_word(method, answer, action):
    ask = ask_of("k", method, {}, RECORD)
    answer_ask(ask, answer, RECORD)
    assert (ask.action, ask.answer, ask.answered_by) == (action, answer, "client")
    assert (ask.answer_seq, ask.answer_t) == (3, 1.5)


@pytest.mark.parametrize(
    ("facts", "size"),
    [
        ({"body": Raw(b"12345")}, 5),
        ({"text": "abc"}, 3),
        ({"text": "é"}, 2),
        ({"b64": b"\xff\xfe"}, 2),
        ({"text": "abc", "truncated": True, "size": 900}, 900),
        ({}, 0),
    ],
)
def test_size_is_that_of_the_whole_payload(facts, size):
    assert payload_size(Message(seq=1, t=0.0, sender="server", **facts)) == size


def test_a_server_is_named_by_label_else_by_itself_else_by_host():
    named = Talk(label="billing")
    named.header()
    named.post(call(1))
    assert named.calls[1].server == "billing"
    talk = Talk()
    talk.header()
    n = talk.post(call(1))
    assert talk.calls[1].server == "localhost:3000"
    talk.result(n, _meta={"io.modelcontextprotocol/serverInfo": {"name": "srv", "version": "1"}})
    talk.post(call(2))
    assert [c.server for c in talk.calls.values()] == ["srv", "srv"]
    talk.post(call(3), path="/other")
    assert talk.calls[3].server == "localhost:3000"


@pytest.mark.parametrize(
    ("upstream", "transport", "host"),
    [
        ("http://u@h:1/mcp", "http", "u@h:1"),
        ("http://[mcp-tap:00000000000000aa/mcp", "http", "http://[mcp-tap:00000000000000aa/mcp"),
        ("//[x server.py", "stdio", "//[x server.py"),
    ],
)
def test_the_host_of_any_header_has_a_name(upstream, transport, host):
    assert host_of(header(upstream=upstream, transport=transport)) == host


def test_the_label_of_the_capture_counts_where_none_is_given():
    talk = Talk()
    talk.header(label="crm")
    talk.post(call(1))
    assert talk.calls[1].server == "crm"


def test_what_the_tap_held_back_is_not_the_servers_time():
    talk = Talk()
    n = talk.post(call(1))
    talk.t += 2
    talk.result(n)
    one = talk.the_call()
    assert one.server_s > 2
    m = talk.post(call(2))
    talk.t += 2
    talk.reply(m, {"result": {}}, held=1.5)
    two = talk.calls[2]
    assert two.tap_s == 1.5
    assert abs(two.server_s + two.tap_s - two.duration()) < 1e-6


def test_a_call_of_very_many_rounds_keeps_the_first_and_the_newest():
    talk = Talk()
    talk.ask(talk.post(call(0)), state="s0")
    for n in range(MOST_ROUNDS + 5):
        talk.ask(talk.post(call(n + 1, requestState=f"s{n}")), state=f"s{n + 1}")
    one = talk.the_call()
    assert len(one.rounds) == MOST_ROUNDS
    assert one.dropped == 6
    assert (one.rounds[0].number, one.rounds[-1].number) == (1, MOST_ROUNDS + 6)


def test_calls_and_rounds_begin_with_their_message_so_numbers_are_in_order_of_time():
    talk = Talk()
    slow, quick = talk.open(), talk.open()
    talk.bodies[slow], talk.bodies[quick] = call(1), call(2)
    talk.say(quick, "client", call(2))
    talk.say(slow, "client", call(1))
    for n in (slow, quick):
        talk.result(n)
    first, second = talk.calls[1], talk.calls[2]
    assert [c.rounds[0].exchange for c in (first, second)] == [quick, slow]
    assert first.t < second.t
    for one in (first, second):
        (only,) = one.rounds
        assert (one.t, one.end) == (only.t, only.end)
        assert one.server_s == pytest.approx(one.duration())


def test_exchanges_beside_its_rounds_are_noted_within_bounds():
    talk = Talk()
    talk.ask(talk.post(call(1)), "q", state="s")
    book, track = talk.pipeline._correlator._book, talk.pipeline._correlator._linker.tracks()[0]
    live = talk.pipeline._correlator._live
    for _ in range(MOST_ROUNDS + 5):
        book.join(track, live[talk.open("GET")])
    assert len(talk.the_call().other_exchanges) == MOST_ROUNDS


@pytest.mark.parametrize(
    ("sent", "tap_s"), [(0.005, 0.0), (0.02, 0.0), (0.025, 0.005), (0.1, 0.01)]
)
def test_what_was_held_while_the_client_still_sent_counts_for_nobody(sent, tap_s):
    talk = Talk()
    n = talk.post(call(1))
    assert talk.the_call().t == 0.02
    talk.reply(n, {"result": {}}, held=0.01, sent=sent)
    one = talk.the_call()
    assert one.tap_s == pytest.approx(tap_s)
    assert one.server_s + one.client_s + one.tap_s == pytest.approx(one.duration())
