"""What a replay answers: matching, branches, states, misses; without a socket."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcp_tap.replay.index import Index
from mcp_tap.replay.server.misses import NOT_RECORDED
from mcp_tap.replay.server.play import Clock
from mcp_tap.replay.server.player import Forward, Player, Request
from tests.replays import (
    Heard,
    answered,
    asking,
    complete,
    exchange,
    never,
    request,
    rounds,
    streamed,
)


class Handle:
    """What is due only when a test says so."""

    def cancel(self) -> None:
        pass


class Replayed:
    """A player, and what it reported."""

    def __init__(self, index: Index, clock: Clock, **options: Any) -> None:
        self.missed: list[str] = []
        self.player = Player(
            index, clock, report=lambda miss: self.missed.append(str(miss.error)), **options
        )

    def __call__(self, body: Any, **more: Any) -> Heard:
        heard = Heard()
        self.player.take(Request(body=json.dumps(body).encode(), path="/mcp", **more), heard)
        return heard


@pytest.fixture
def replay(indexed):
    """Give what makes a player of exchanges."""

    def make(*exchanges: Any, clock: Clock | None = None, **options: Any) -> Replayed:
        return Replayed(indexed(*exchanges), clock or Clock(never, None), **options)

    return make


def test_a_call_gets_the_recorded_answer_with_an_id_of_its_own(replay):
    heard = replay(exchange(request(1), complete(1, "shipped")))(request("mine"))
    assert heard.only == complete("mine", "shipped")
    assert (heard.status, heard.over) == (200, "end")


def test_headers_are_the_recorded_ones_but_for_framing_and_date(replay):
    heard = replay(exchange(request(1), complete(1, "x")))(request(2))
    assert heard.headers == {"Content-Type": "application/json", "X-Kept": "yes"}


def test_the_nth_equal_call_gets_the_nth_recorded_answer_and_then_the_last_again(replay):
    ask = replay(*(exchange(request(n), complete(n, f"#{n}")) for n in (1, 2)))
    assert [ask(request(9)).text for _ in range(4)] == ["#1", "#2", "#2", "#2"]


def test_after_the_last_equal_call_fail_is_an_error(replay):
    ask = replay(exchange(request(1), complete(1, "once")), after_last="fail")
    assert ask(request(9)).text == "once"
    assert ask(request(9)).only["error"]["code"] == NOT_RECORDED
    assert "no further call like tools/call ship" in ask.missed[0]


def test_ids_meta_and_the_order_of_keys_take_no_part_in_matching(replay):
    ask = replay(exchange(request(1, arguments={"a": 1, "b": 2.0}), complete(1, "x")))
    assert ask(request("z", arguments={"b": 2, "a": 1}, meta={"x/y": 1})).text == "x"


def test_the_answer_chooses_how_a_call_goes_on(replay):
    ask = replay(
        *rounds(1, "s1", "accept", "yes", content={"yes": True}),
        *rounds(3, "s2", "decline", "no"),
        *rounds(5, "s3", "cancel", "gone"),
    )
    for action, text in (("cancel", "gone"), ("decline", "no"), ("accept", "yes")):
        more = {"content": {"yes": True}} if action == "accept" else {}
        state = ask(request(7)).state
        assert ask(request(8, requestState=state, **answered(action, **more))).text == text
    assert not ask.missed


def test_every_branch_is_served_once_before_fail_says_that_all_were(replay):
    branches = (*rounds(1, "s1", "decline", "no"), *rounds(3, "s2", "cancel", "gone"))
    ask = replay(*branches, after_last="fail")
    for action in ("cancel", "decline"):
        state = ask(request(7)).state
        ask(request(8, requestState=state, **answered(action)))
    assert not ask.missed
    assert ask(request(9)).only["error"]["code"] == NOT_RECORDED


def test_parallel_equal_calls_have_states_of_their_own(replay):
    ask = replay(*rounds(1, "s", "decline", "first"), *rounds(3, "t", "decline", "second"))
    states = [ask(request(n)).state for n in (7, 8)]
    assert len({*states, "s", "t"}) == 4
    retries = [ask(request(9, requestState=s, **answered("decline"))) for s in reversed(states)]
    assert [heard.text for heard in retries] == ["second", "first"]


def test_a_state_that_was_several_calls_own_stays_byte_by_byte(replay):
    one, two = rounds(1, '{"s":1}', "decline", "first"), rounds(3, '{"s":1}', "decline", "second")
    ask = replay(*one, *two)
    assert [ask(request(n)).state for n in (7, 8)] == ['{"s":1}'] * 2
    retries = [ask(request(9, requestState='{"s":1}', **answered("decline"))) for _ in "ab"]
    assert [heard.text for heard in retries] == ["first", "second"]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda state: {"requestState": state + "x"}, "was changed"),
        (lambda state: {}, "is missing"),
        (lambda state: {"requestState": state, "arguments": {"n": 2}}, "other arguments"),
        (lambda state: {"requestState": state, "name": "sink"}, "another call"),
    ],
    ids=["changed", "dropped", "other arguments", "another call"],
)
def test_a_retry_that_tampers_is_refused_as_a_server_would(replay, change, word):
    ask = replay(*rounds(1, "s", "decline", "no"))
    heard = ask(request(8, **{**answered("decline"), **change(ask(request(7)).state)}))
    assert heard.status == 400
    assert heard.only["error"]["code"] == -32602
    assert word in heard.only["error"]["message"]
    assert not ask.missed


def test_a_state_of_a_completed_call_is_refused_but_the_same_retry_again_is_served(replay):
    ask = replay(*rounds(1, "s1", "decline", "no"), *rounds(3, "s2", "cancel", "gone"))
    state = ask(request(7)).state
    for number in (8, 9):
        assert ask(request(number, requestState=state, **answered("decline"))).text == "no"
    heard = ask(request(10, requestState=state, **answered("cancel")))
    assert (heard.status, heard.only["error"]["code"]) == (400, -32602)
    assert "completed" in heard.only["error"]["message"]


def test_a_lost_round_that_is_sent_again_gets_the_same_state_again(replay):
    one = exchange(request(1), asking(1, "s1"))
    two = exchange(request(2, requestState="s1", **answered("accept")), asking(2, "s2"))
    ask = replay(one, two)
    state = ask(request(7)).state
    again = [ask(request(n, requestState=state, **answered("accept"))).state for n in (8, 9)]
    assert again[0] == again[1]


def test_a_round_whose_client_left_before_the_response_is_served_when_it_is_sent_again(replay):
    late = []
    clock = Clock(lambda delay, call: late.append(call) or Handle(), 1.0)
    one, two = rounds(1, "s1", "decline", "no")
    ask = replay(one, {**two, "t": [1.0, 3.0]}, *rounds(3, "s2", "decline", "2nd"), clock=clock)
    first = ask(request(7))
    late.pop()()
    body = json.dumps(request(8, requestState=first.state, **answered("decline"))).encode()
    ask.player.take(Request(body=body, path="/mcp"), Heard()).drop()
    again = Heard()
    ask.player.take(Request(body=body, path="/mcp"), again)
    late.pop()()
    assert again.text == "no"


def test_rounds_without_a_state_are_linked_by_their_keys(replay):
    retry = request(2, **answered("decline"))
    ask = replay(exchange(request(1), asking(1, None)), exchange(retry, complete(2, "no")))
    assert "requestState" not in ask(request(7)).only["result"]
    assert ask(request(8, **answered("decline"))).text == "no"


def test_what_the_recorded_client_did_wrong_and_got_through_with_is_served(replay):
    other = request(2, arguments={"n": 2}, requestState="s", **answered("decline"))
    ask = replay(exchange(request(1), asking(1, "s")), exchange(other, complete(2, "oh")))
    state = ask(request(7)).state
    retry = request(8, arguments={"n": 2}, requestState=state, **answered("decline"))
    assert ask(retry).text == "oh"


def test_a_miss_names_the_nearest_call_and_the_first_argument_that_differs(replay):
    ask = replay(
        exchange(request(1, arguments={"n": 1, "at": "sea"}), complete(1, "x")),
        exchange(request(2, arguments={"n": 5, "at": "land"}), complete(2, "y")),
    )
    error = ask(request(7, arguments={"n": 4, "at": "sea"})).only["error"]
    assert error["code"] == NOT_RECORDED
    (text,) = ask.missed
    assert 'has no call like tools/call ship {"n":4,"at":"sea"}' in text
    assert "nearest is #1 (line 3): same method and name; arguments differ: n 4, recorded 1" in text


def test_a_miss_names_the_nearest_name_where_no_call_has_that_one(replay):
    ask = replay(exchange(request(1), complete(1, "x")))
    ask(request(7, name="shop"))
    assert 'name "shop", recorded "ship"' in ask.missed[0]


def test_a_miss_of_answers_names_the_nearest_answer(replay):
    ask = replay(*rounds(1, "s", "accept", "yes", content={"yes": True}))
    state = ask(request(7)).state
    answers = answered("accept", content={"yes": False})
    assert ask(request(8, requestState=state, **answers)).only["error"]["code"] == NOT_RECORDED
    assert "answers differ: sure.content.yes false, recorded true" in ask.missed[0]


def test_a_miss_shows_no_secret(replay):
    ask = replay(exchange(request(1, arguments={"token": "abc", "n": 1}), complete(1, "x")))
    ask(request(7, arguments={"token": "hunter2", "n": 1}))
    assert "hunter2" not in ask.missed[0]
    assert "token ***, recorded ***" in ask.missed[0]


def test_on_miss_nearest_serves_the_nearest_and_says_so(replay):
    ask = replay(exchange(request(1), complete(1, "near")), on_miss="nearest")
    assert ask(request(7, arguments={"n": 3})).text == "near"
    assert len(ask.missed) == 1


def test_on_miss_nearest_is_an_error_where_the_nearest_got_no_answer_either(replay):
    ask = replay(streamed(request(1), closed_by="client"), on_miss="nearest")
    heard = ask(request(7, arguments={"n": 3}))
    assert (heard.only["error"]["code"], heard.over) == (NOT_RECORDED, "end")
    assert "recorded 1; no answer to it was recorded" in ask.missed[0]
    assert "nearest serves" not in ask.missed[0]


def test_a_file_that_was_changed_meanwhile_is_an_error_and_keeps_nobody_waiting(replay, tmp_path):
    ask = replay(exchange(request(1), complete(1, "x")))
    (path,) = tmp_path.rglob("run.jsonl")
    path.write_bytes(path.read_bytes()[:100])
    heard = ask(request(7))
    assert heard.headers["Mcp-Tap-Error"] == "capture-damaged"
    assert heard.only["error"]["data"]["error"] == "capture-damaged"
    assert "was changed while it was being replayed" in ask.missed[0]


def test_on_miss_404_is_the_status(replay):
    ask = replay(exchange(request(1), complete(1, "x")), on_miss="404")
    assert ask(request(7, arguments={"n": 3})).status == 404


def test_on_miss_forward_hands_the_request_on(replay):
    ask = replay(exchange(request(1), complete(1, "x")), on_miss="forward")
    with pytest.raises(Forward):
        ask(request(7, arguments={"n": 3}))
    with pytest.raises(Forward):
        ask(request(7, requestState="of the real server", **answered("accept")))
    assert not ask.missed


def test_masked_values_match_anything(replay):
    body = request(1)
    body["params"]["arguments"] = {"n": "mcp-tap:0123456789abcdef", "at": "sea"}
    ask = replay(exchange(body, complete(1, "x")))
    assert ask(request(7, arguments={"n": "anything", "at": "sea"})).text == "x"
    assert ask(request(8, arguments={"n": "anything", "at": "land"})).only["error"]


def test_progress_carries_this_clients_token_and_only_where_it_gave_one(replay):
    note = {
        "jsonrpc": "2.0",
        "method": "notifications/progress",
        "params": {"progressToken": "old", "progress": 1},
    }
    body = request(1, meta={"progressToken": "old"})
    streamed = exchange(body, None)
    streamed["response"] = {
        "status": 200,
        "headers": {"Content-Type": "text/event-stream"},
        "sse": [note, complete(1, "done")],
    }
    ask = replay(streamed)
    first = ask(request(7, meta={"progressToken": "new"})).messages
    assert first[0]["params"]["progressToken"] == "new"
    assert [m.get("method") for m in ask(request(8)).messages] == [None]


def test_at_the_recorded_pace_steps_wait_their_time(replay):
    note = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info"}}
    streamed = exchange(request(1), None)
    streamed["response"] = {
        "status": 200,
        "headers": {"Content-Type": "text/event-stream"},
        "sse": [note, complete(1, "done")],
    }
    streamed["t"] = [0.0, 4.0]
    due: list[Any] = []

    def later(delay, call):
        due.append((delay, call))
        return Handle()

    heard = replay(streamed, clock=Clock(later, 2.0))(request(7))
    delays = []
    while due:
        delay, call = due.pop()
        delays.append(delay)
        call()
    assert delays == [1.0, 1.0]
    assert heard.over == "end"


def test_at_the_recorded_pace_a_response_takes_as_long_as_the_server_took(replay):
    due: list[Any] = []
    clock = Clock(lambda delay, call: due.append((delay, call)) or Handle(), 2.0)
    ask = replay({**exchange(request(1), complete(1, "done")), "t": [1.0, 4.0]}, clock=clock)
    heard = ask(request(7))
    ((delay, call),) = due
    assert (delay, heard.messages) == (1.5, [])
    call()
    assert heard.text == "done"


def test_what_is_no_json_gets_a_parse_error_and_an_unknown_session_404(replay):
    ask = replay(exchange(request(1), complete(1, "x")))
    heard = Heard()
    ask.player.take(Request(body=b"{", path="/mcp"), heard)
    assert (heard.status, heard.only["error"]["code"]) == (400, -32700)
    assert ask(request(7), session="nobody's").status == 404


def test_an_ask_on_the_stream_of_a_stateless_call_is_sent_as_it_came(replay):
    ask = {"jsonrpc": "2.0", "id": "s1", "method": "roots/list"}
    heard = replay(streamed(request(1), ask, complete(1, "x")))(request("mine"))
    assert heard.messages == [ask, complete("mine", "x")]


def test_an_ask_that_opens_a_stream_belongs_to_no_request_and_is_sent_as_it_came(replay):
    ask = {"jsonrpc": "2.0", "id": "s1", "method": "roots/list"}
    opened = streamed(None, ask)
    opened["request"] = {"method": "GET", "headers": {"Accept": "text/event-stream"}}
    heard = Heard()
    played = replay(opened)
    played.player.take(Request(verb="GET", path="/mcp"), heard)
    assert heard.messages == [ask]
    assert played({"jsonrpc": "2.0", "id": "s1", "result": {"roots": []}}).status == 202


def test_what_goes_on_with_a_state_of_the_replay_is_forwarded_to_nobody(replay):
    ask = replay(*rounds(1, "s1", "accept", "shipped"), on_miss="forward")
    state = ask(request(1)).only["result"]["requestState"]
    missed = ask(request(2, requestState=state, **answered("cancel")))
    assert missed.only["error"]["code"] == NOT_RECORDED
    with pytest.raises(Forward):
        ask(request(3, requestState="a real server's", **answered("cancel")))


def test_a_session_that_is_not_the_replays_is_the_real_servers(replay):
    ask = replay(exchange(request(1), complete(1, "x")), on_miss="forward")
    with pytest.raises(Forward):
        ask(request(2), session="unknown")
    assert (
        replay(exchange(request(1), complete(1, "x")))(request(2), session="unknown").status == 404
    )
