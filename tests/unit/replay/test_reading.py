"""One pass over a capture: what is plain, what is linked, and that both are numbered together."""

from __future__ import annotations

import tracemalloc

from msgspec.structs import asdict

from mcp_tap.replay import reading
from mcp_tap.replay.index import Index
from tests.replays import (
    answered,
    asking,
    complete,
    exchange,
    masking,
    request,
    streamed,
)
from tests.resending import YES
from tests.traffic import Traffic, asks, done

CANCEL = {
    "jsonrpc": "2.0",
    "method": "notifications/cancelled",
    "params": {"requestId": 1, "reason": "enough"},
}
SERVER = {"io.modelcontextprotocol/serverInfo": {"name": "billing", "version": "1"}}


def named(number):
    result = {"resultType": "complete", "_meta": SERVER, "content": []}
    return {"jsonrpc": "2.0", "id": number, "result": result}


def but(struct, name):
    fields = asdict(struct)
    del fields[name]
    return fields


def retry(number, state, action, **more):
    return request(number, requestState=state, **answered(action, **more))


def test_plain_calls_and_linked_ones_are_numbered_in_the_order_of_their_requests(indexed):
    calls = indexed(
        exchange(request(1), complete(1, "plain")),
        exchange(request(2, arguments={"n": 2}), asking(2, "s")),
        exchange(request(3), complete(3, "plain")),
        exchange(retry(4, "s", "accept"), complete(4, "x")),
        exchange(request(5), {"jsonrpc": "2.0", "id": 5, "error": {"code": 1, "message": "no"}}),
    ).calls
    plain = [c.rounds[0].exchange.plain for c in calls]
    assert [c.number for c in calls] == [*range(1, len(calls) + 1)]
    assert [c.rounds[0].exchange.number for c in calls] == sorted(
        c.rounds[0].exchange.number for c in calls
    )
    assert plain[:3] == [True, False, True]
    assert calls[-1].outcome == "error"


def test_a_plain_call_is_what_it_would_be_linked(indexed, monkeypatch):
    made = (
        exchange(request(3), named(3)),
        exchange(request(1), complete(1, "x")),
        streamed(request("b", arguments={"a": [1]}), complete("b", "y")),
    )
    plain = indexed(*made).calls
    monkeypatch.setattr(reading.Plain, "begin", lambda record: None)
    linked = indexed(*made).calls
    assert all(c.rounds[0].exchange.plain for c in plain)
    assert not any(c.rounds[0].exchange.plain for c in linked)
    for one, other in zip(plain, linked, strict=True):
        (a,), (b,) = one.rounds, other.rounds
        assert but(one, "rounds") == but(other, "rounds")
        assert but(a, "exchange") == but(b, "exchange")
        assert but(a.exchange, "plain") == but(b.exchange, "plain")


def test_rounds_of_one_call_are_one_call(indexed):
    (call,) = indexed(
        exchange(request(1), asking(1, "s")), exchange(retry(2, "s", "decline"), complete(2, "no"))
    ).calls
    assert [r.exchange.number for r in call.rounds] == [1, 2]
    assert [list(r.asks) for r in call.rounds] == [["sure"], []]
    assert call.rounds[0].asks["sure"].action == "decline"


def test_a_retry_that_may_be_for_several_calls_names_them_by_their_new_numbers(indexed):
    calls = indexed(
        exchange(request(1, arguments={"plain": 1}), complete(1, "x")),
        exchange(request(2), asking(2, "same")),
        exchange(request(3), asking(3, "same")),
        exchange(retry(4, "same", "decline"), complete(4, "no")),
    ).calls
    (named,) = {r.candidates for c in calls for r in c.rounds if r.candidates}
    assert set(named) <= {c.number for c in calls}
    assert {calls[number - 1].rounds[0].exchange.number for number in named} == {2, 3}


def test_a_call_that_is_cancelled_in_its_stream_is_linked(indexed):
    call = streamed(request(1), complete(1, "late"))
    call["t"] = [0.0, 4.0]
    cancel = {**exchange(CANCEL, None, 202), "t": [1.0, 2.0]}
    (found,) = indexed(call, cancel).calls
    assert not found.rounds[0].exchange.plain
    assert found.outcome == "cancelled"
    assert found.others == (2,)


def test_what_never_ended_is_a_call_without_an_end(indexed):
    left = exchange(request(1), None)
    del left["response"]
    (call,) = indexed(left).calls
    assert (call.end, call.rounds[0].exchange.how) == (None, None)


def test_more_open_calls_than_are_waited_for_are_linked(indexed, monkeypatch):
    monkeypatch.setattr(reading, "MOST_PLAIN", 2)
    made = [
        {**exchange(request(n), complete(n, f"#{n}")), "t": [n / 10, 5 + n / 10]}
        for n in range(1, 5)
    ]
    calls = indexed(*made).calls
    assert [c.number for c in calls] == [1, 2, 3, 4]
    assert [c.rounds[0].exchange.plain for c in calls] == [False, False, True, True]
    assert {c.outcome for c in calls} == {"ok"}


def test_a_masked_request_has_no_key_and_is_counted(indexed):
    for reply in (complete(1, "plain"), asking(1, "s")):
        found = indexed(exchange(request(1), reply), edit=masking)
        assert [call.key for call in found.calls] == [None]
        assert found.captures[0].masked == 1


def test_a_server_is_called_what_it_calls_itself(indexed):
    assert [c.server for c in indexed(exchange(request(1), named(1))).calls] == ["billing"]
    assert [c.server for c in indexed(exchange(request(1), complete(1, "x"))).calls] == [
        "localhost:3000"
    ]


def test_a_line_of_a_server_is_an_exchange_without_a_verb(indexed):
    log = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}'
    found = indexed(
        lines=[
            {"from": "client", "line": '{"jsonrpc":"2.0","id":1,"method":"ping"}'},
            {"from": "server", "line": '{"jsonrpc":"2.0","id":1,"result":{}}'},
            {"from": "server", "line": log},
        ]
    )
    first, second = found.captures[0].exchanges.values()
    assert (first.kind, first.verb, first.how) == ("request", "", "complete")
    assert (second.kind, second.verb) == ("http", "")


def test_a_call_of_rounds_that_has_ended_takes_little_memory(tmp_path):
    """Not much more than 2 KB: neither the correlator's call is kept, nor equal words twice."""

    def held(calls):
        traffic = Traffic()
        for n in range(calls):
            state = f"state-{n}-{'x' * 40}"
            traffic.call("deploy", asks("confirm", "Sure?", state), arguments={"to": n})
            traffic.call("deploy", done("ok"), arguments={"to": n},
                         inputResponses={"confirm": YES}, requestState=state)  # fmt: skip
        path = traffic.write(tmp_path / f"{calls}.jsonl")
        tracemalloc.start()
        try:
            with Index.of([str(path)]) as index:
                assert len(index.calls) == calls
                return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    few, many = held(50), held(150)
    assert (many - few) / 100 < 3500
