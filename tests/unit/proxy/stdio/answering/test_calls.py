"""Calls that ask on lines: round after round, and every way in which that ends."""

from __future__ import annotations

import json

import pytest

from mcp_tap.core.splice import SpliceError
from tests.asking import STATE, asks, form, request, result
from tests.lining import Both, error_of, said
from tests.pushing import note

ALL = {"elicitation": {"form": {}, "url": {}}}
DAY = form("day", day={"type": "string"})
SEAT = form("seat", seat={"type": "string"})
FOREVER = 'version = 1\n[[answer]]\nmatch = { key = "day*" }\ncontent = { day = "tue" }\n'


def asked(both, number, **more):
    """Let the server ask for the day; give the tap's request that follows."""
    to_server, to_client = both.server(asks(number, day=DAY, **more))
    assert to_client == []
    (line,) = to_server
    return line


def begun(both, number=7, **more):
    both.client(request(number, **more))
    return asked(both, number)


def own_id(line):
    return said(line)["id"]


def test_every_round_is_answered_and_the_client_gets_the_result_with_its_own_id():
    both = Both()
    (up,), down = both.client(request(7))
    assert down == []
    assert said(up)["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] == {
        "elicitation": {"form": {}}
    }
    first = said(asked(both, 7))
    assert first["params"]["inputResponses"]["day"] == {
        "action": "accept",
        "content": {"day": "tue"},
    }
    assert first["params"]["requestState"] == json.loads(STATE)
    (second,), down = both.server(asks(first["id"], state='"two"', seat=SEAT))
    assert down == []
    assert said(second)["params"]["requestState"] == "two"
    assert len({7, first["id"], own_id(second)}) == 3
    up, down = both.server(result(own_id(second)))
    assert up == []
    assert down == [result(7) + b"\n"]
    assert both.told == [("answered", "the day", "day"), ("answered", "the seat", "seat")]
    assert both.answering.answered == 2
    call = both.the_call()
    assert [len(r.asks) for r in call.rounds] == [1, 1, 0]
    assert call.outcome == "ok"
    assert {ask.answered_by for r in call.rounds for ask in r.asks} == {"tap"}
    assert [ask.entry for r in call.rounds for ask in r.asks] == ["the day", "the seat"]
    assert [r.by_tap for r in call.rounds] == [False, True, True]
    assert [r.link for r in call.rounds[1:]] == ["state", "state"]
    assert both.rules() == []


def test_the_legs_are_those_of_http():
    both = Both()
    token = own_id(begun(both))
    both.server(result(token))
    assert both.legs == [
        ("client", None, False),
        ("tap", "upstream", True),  # with what the script can answer declared
        ("server", "upstream", False),
        ("tap", "upstream", False),
        ("server", "upstream", False),
        ("server", "client", True),
    ]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("number", [b"1e0", b"12345678901234567890123", b'"\\u0061"', b"-0.50"])
def test_what_passes_and_what_is_changed_keep_every_other_byte(number, end):
    both = Both(advertise=frozenset())
    line = request(7).replace(b'"id" : 7', b'"id" : ' + number) + end
    assert both.client(line) == ([line], [])
    ask = asks(7, state=r'"a\/b"', day=DAY).replace(b'"id":7', b'"id": %b' % number) + end
    ((again,), down) = both.server(ask)
    assert down == []
    assert rb'"requestState":"a\/b"' in again
    assert again.endswith(end)
    token = json.dumps(own_id(again)).encode()
    final = b' {"x" : 1.50, "id":%b ,"result" : {"big":18446744073709551617}}' % token + end
    assert both.server(final) == ([], [final.replace(token, number)])


def test_the_last_line_of_a_client_needs_no_end():
    both = Both(advertise=frozenset())
    both.lines.from_client(request(7), 0.0)
    (again,), _ = both.server(asks(7, day=DAY))
    assert again.endswith(b"}\n")


def test_progress_passes_under_the_clients_own_token():
    both = Both()
    both.client(request(7).replace(b'"_meta" : {', b'"_meta" : {"progressToken" : "p1", '))
    assert said(asked(both, 7))["params"]["_meta"]["progressToken"] == "p1"
    news = note("notifications/progress", progressToken="p1", progress=1) + b"\n"
    assert both.server(news) == ([], [news])
    assert [r.progress for r in both.the_call().rounds] == [0, 1]
    assert both.rules() == []


def test_what_nothing_answers_and_the_client_cannot_do_is_an_error():
    both = Both('version = 1\n[[answer]]\nmatch = { key = "x" }\ncontent = {}\n')
    both.client(request(7))
    up, (down,) = both.server(asks(7, day=DAY))
    assert up == []
    assert said(down)["id"] == 7
    assert said(down)["error"]["code"] == -31999
    assert error_of(down) == "no-answer"
    assert both.told == [("unmatched", None, "day")]
    assert both.answering.failed == 1
    call = both.the_call()
    assert call.outcome == "error"
    assert call.rounds[-1].fault.sender == "tap"
    assert both.legs[-2:] == [("server", "upstream", False), ("tap", "client", False)]


def test_a_round_that_passes_goes_as_it_came_and_stays_the_same_call():
    script = """
version = 1
[[answer]]
match = { key = "day" }
each_round = [{ content = { day = "mon" } }, { content = { day = "tue" } }]
"""
    both = Both(script, unmatched="pass")
    both.client(request(7, capabilities=ALL))
    token = own_id(asked(both, 7))
    line = asks(token, state='"odd"', odd=form("odd"))
    up, (down,) = both.server(line)
    assert up == []
    assert down == asks(7, state='"odd"', odd=form("odd")) + b"\n"
    assert both.told[-1] == ("passed", None, "odd")
    mine = {"odd": {"action": "decline"}}
    both.client(request(8, capabilities=ALL, inputResponses=mine, requestState="odd"))
    again = asked(both, 8)
    assert said(again)["params"]["inputResponses"]["day"]["content"] == {"day": "tue"}
    both.server(result(own_id(again)))
    assert both.the_call().outcome == "ok"
    assert len(both.the_call().rounds) == 4


def test_a_first_round_that_passes_is_the_very_line():
    both = Both(unmatched="pass")
    both.client(request(7, capabilities=ALL))
    line = asks(7, odd=form("odd")) + b"\n"
    assert both.server(line) == ([], [line])
    assert both.told == [("passed", None, "odd")]


def test_calls_at_once_never_cross():
    script = 'version = 1\n[[answer]]\nname = "n"\nmatch = { key = "*" }\nfill = ["default"]\n'
    both = Both(script)
    tokens = {}
    for n in range(200):
        both.client(request(n))
    for n in reversed(range(200)):
        day = form("day", day={"type": "string", "default": f"day {n}"})
        (again,), _ = both.server(asks(n, state=f'"s{n}"', day=day))
        params = said(again)["params"]
        assert params["inputResponses"]["day"]["content"] == {"day": f"day {n}"}
        assert params["requestState"] == f"s{n}"
        tokens[n] = own_id(again)
    assert len(set(tokens.values())) == 200
    for n in sorted(tokens, key=lambda n: n % 7):
        assert both.server(result(tokens[n], f"done {n}")) == ([], [result(n, f"done {n}") + b"\n"])
    assert {c.outcome for c in both.calls.values()} == {"ok"}
    assert both.rules() == []


def test_what_a_server_says_twice_is_not_for_a_client_that_waits_for_the_first():
    both = Both()
    token = own_id(begun(both))
    assert both.server(asks(7, day=DAY)) == ([], [])
    assert both.server(result(7)) == ([], [])
    assert both.server(result(token)) == ([], [result(7) + b"\n"])
    assert both.server(result(token)) == ([], [])
    assert both.server(result(7)) == ([], [result(7) + b"\n"])


# cancelling


def cancel(number, **more):
    return note("notifications/cancelled", requestId=number, reason="enough", **more) + b"\n"


def test_a_cancelled_round_is_cancelled_under_the_id_that_the_server_knows():
    both = Both()
    token = own_id(begun(both))
    line = cancel(7, x=1.0)
    assert both.client(line) == ([line.replace(b"7", json.dumps(token).encode())], [])
    assert both.server(result(token)) == ([], [])
    assert both.the_call().outcome == "cancelled"
    assert both.the_call().why == "the client cancelled it: enough"
    assert both.rules() == []
    assert both.wait(1e6) == ([], [])
    assert both.answering.failed == 0


def test_a_call_that_was_cancelled_before_it_asked_is_not_answered():
    both = Both()
    both.client(request(7))
    line = cancel(7)
    assert both.client(line) == ([line], [])
    assert both.server(asks(7, day=DAY)) == ([], [])
    assert both.told == []


def test_the_response_to_what_was_cancelled_in_time_passes():
    both = Both()
    both.client(request(7))
    both.client(cancel(7))
    assert both.server(result(7)) == ([], [result(7) + b"\n"])


def test_between_two_rounds_there_is_nothing_to_cancel_at_the_server():
    both = Both()
    both.client(request(7))
    assert both.server(asks(7)) == ([], [])
    assert both.client(cancel(7)) == ([], [])
    assert both.told[-1] == ("not-sent", None, None)
    assert both.wait(5) == ([], [])


@pytest.mark.parametrize(
    "line",
    [
        cancel(8),
        cancel("7"),
        note("notifications/cancelled") + b"\n",
        b'{"method":"notifications/cancelled","params":{"requestId":1e999}}\n',
        b'{"method":"notifications/cancelled","params":[7]}\n',
    ],
)
def test_what_cancels_something_else_passes(line):
    both = Both()
    token = own_id(begun(both))
    assert both.client(line) == ([line], [])
    assert both.server(result(token)) == ([], [result(7) + b"\n"])


# limits


def test_a_round_without_asks_is_repeated_after_a_while():
    both = Both()
    both.client(request(7))
    assert both.server(asks(7)) == ([], [])
    assert both.wait(0.01) == ([], [])
    (again,), down = both.wait(0.1)
    assert down == []
    assert "inputResponses" not in said(again)["params"]
    assert both.server(asks(own_id(again))) == ([], [])
    assert both.wait(0.06) == ([], [])
    ((again,), _) = both.wait(0.06)
    assert both.server(result(own_id(again))) == ([], [result(7) + b"\n"])
    assert both.told == [("answered", None, None)] * 2


def test_what_asks_for_nothing_passes():
    both = Both()
    both.client(request(7))
    line = asks(7, state="null") + b"\n"
    assert both.server(line) == ([], [line])


def test_more_rounds_than_allowed_end_the_call():
    both = Both(FOREVER, max_rounds=2)
    token = own_id(begun(both))
    (again,), _ = both.server(asks(token, day2=DAY))
    up, (down,) = both.server(asks(own_id(again), day3=DAY))
    assert up == []
    assert error_of(down) == "too-many-rounds"
    assert both.answering.limited == 1


def test_the_same_over_and_over_ends_the_call():
    both = Both(FOREVER)
    token = own_id(begun(both))
    token = own_id(asked(both, token))
    _, (down,) = both.server(asks(token, day=DAY))
    assert error_of(down) == "asks-again"


def test_a_call_that_takes_too_long_is_taken_back_from_the_server_and_told_to_the_client():
    both = Both(longest=5.0)
    token = own_id(begun(both))
    assert both.wait(4) == ([], [])
    (up,), (down,) = both.wait(2)
    assert said(up)["method"] == "notifications/cancelled"
    assert said(up)["params"]["requestId"] == token
    assert (said(down)["id"], error_of(down)) == (7, "answers-timeout")
    assert both.wait(100) == ([], [])
    assert both.server(result(token)) == ([], [])
    assert (both.answering.failed, both.answering.limited) == (1, 1)
    call = both.the_call()
    assert call.outcome == "error"
    assert "5 s" in call.rounds[-1].fault.message
    assert both.rules() == []


def test_time_counts_from_the_first_ask_and_not_before():
    both = Both(longest=5.0)
    both.client(request(7))
    assert both.wait(1000) == ([], [])
    assert len(both.server(asks(7, day=DAY))[0]) == 1


# ends


def test_a_server_that_ends_within_a_call_is_an_error_for_the_client():
    both = Both()
    begun(both)
    both.client(request(8))
    up, (down,) = both.server_eof()
    assert up == []
    assert (said(down)["id"], error_of(down)) == (7, "upstream-lost")
    assert said(down)["error"]["code"] == -32603
    assert both.wait(1e6) == ([], [])


def test_a_client_that_closed_its_end_still_gets_what_is_under_way():
    both = Both()
    token = own_id(begun(both))
    assert both.client_eof() == ([], [])
    assert both.server(result(token)) == ([], [result(7) + b"\n"])


def test_a_round_after_the_client_closed_its_end_is_told_as_an_error():
    both = Both()
    token = own_id(begun(both))
    both.client(request(8))
    both.client_eof()
    for number, mine in ((token, 7), (8, 8)):
        up, (down,) = both.server(asks(number, seat=SEAT))
        assert up == []
        assert (said(down)["id"], error_of(down)) == (mine, "input-closed")
    assert both.answering.failed == 0


def test_a_pause_ends_when_the_client_closes_its_end():
    both = Both()
    both.client(request(7))
    both.server(asks(7))
    up, (down,) = both.client_eof()
    assert (up, error_of(down)) == ([], "input-closed")
    assert both.wait(10) == ([], [])


# what cannot be done


def test_a_request_that_cannot_be_written_again_is_an_error():
    both = Both(advertise=frozenset())
    both.client(request(7).replace(b'"id" : 7', b'"id" : 7, "x" : 1, "x" : 2'))
    up, (down,) = both.server(asks(7, day=DAY))
    assert up == []
    assert error_of(down) == "cannot-repeat"
    assert both.answering.failed == 1


def test_a_result_whose_id_nobody_can_put_right_is_an_error():
    both = Both()
    token = own_id(begun(both))
    twice = result(token).replace(b"{", b'{"id":1,', 1)
    assert twice.count(b'"id"') == 2
    up, (down,) = both.server(twice)
    assert up == []
    assert error_of(down) == "cannot-pass-on"


def test_a_result_that_cannot_be_read_is_an_error_and_no_line_of_the_taps_id():
    both = Both()
    token = json.dumps(own_id(begun(both))).encode()
    line = b'{"jsonrpc": "2.0", "id": %b, "result": {"x": \xff}}' % token
    up, (down,) = both.server(line)
    assert up == []
    assert (said(down)["id"], error_of(down)) == (7, "cannot-pass-on")
    assert both.server(line) == ([], [])


def test_a_fault_of_ours_lets_nobody_wait(monkeypatch):
    both = Both()
    token = own_id(begun(both))

    def broken(*_):
        raise SpliceError("a fault")

    monkeypatch.setattr("mcp_tap.proxy.stdio.answering.calls.reading.read", broken)
    up, (down,) = both.server(result(token))
    assert up == []
    assert error_of(down) == "tap-failed"
    assert both.told[-1][0] == "tap-failed"


def test_what_comes_from_the_environment_is_marked_as_secret():
    script = """
version = 1
[[answer]]
match = { key = "day" }
content = { day = { env = "PIN" } }
"""
    both = Both(script, env={"PIN": "s3cret"})
    line = begun(both)
    assert b"s3cret" in line
    assert not [r for r in both.records if b"s3cret" in getattr(r, "payload", bytes)()]


def test_what_a_call_became_is_known_for_its_polls():
    both = Both()
    both.client(request(7))
    made = {"resultType": "task", "taskId": "t-1", "status": "working"}
    line = json.dumps({"jsonrpc": "2.0", "id": 7, "result": made}).encode() + b"\n"
    assert both.server(line) == ([], [line])
    assert both.answering.tasks.find("t-1", 1.0).request.name == "book"


def test_an_id_that_is_used_again_is_that_of_the_newest_call():
    both = Both()
    first = own_id(begun(both))
    both.client(request(7, tool="other"))
    second = own_id(asked(both, 7))
    assert both.server(result(second, "b")) == ([], [result(7, "b") + b"\n"])
    assert both.server(result(first, "a")) == ([], [result(7, "a") + b"\n"])
