from __future__ import annotations

import gc

from mcp_tap.core.facts.states import MOST_CALLS, MOST_KEYS, States
from mcp_tap.pipeline.spine import Pipeline
from mcp_tap.testing import records_of
from tests.cases import answer, ask, exchange, result, stream, traffic
from tests.unit.rules.rounds import asks, done, failed, leg


def states_after(*exchanges) -> States:
    pipeline = Pipeline()
    for record, value in records_of(traffic(*exchanges)):
        pipeline.feed(record, value)
    return pipeline._judge._run.states


def test_a_state_is_known_with_where_it_was_given():
    states = states_after(leg(1, asks("q"), name="a"), leg(2, asks("q"), name="b"))
    known = states.issued("s1")
    assert sorted(place[1:] for place in known.places) == [("tools/call", "a"), ("tools/call", "b")]
    assert known.fits((9, "tools/call", "a"))
    assert not known.fits((9, "prompts/get", "a"))
    assert states.issued("s2") is None


def test_long_states_are_known_by_a_digest():
    states = states_after(leg(1, asks("q", state="x" * 100_000)))
    assert states.issued("x" * 100_000) is not None
    assert states.issued("x" * 99_999) is None


def test_of_what_is_no_string_is_empty_or_masked_nothing_is_known():
    masked = "mcp-tap:0011223344556677"
    states = states_after(
        leg(1, asks("q", state="")), leg(2, asks("q", state=masked)), leg(3, asks(requestState=5))
    )
    assert [states.issued(value) for value in ("", masked, 5, None, {})] == [None] * 5


def test_a_state_of_very_many_calls_is_common():
    states = states_after(*[leg(n, asks("q")) for n in range(MOST_CALLS + 1)])
    known = states.issued("s1")
    assert known.common
    assert known.fits((9, "x", None))
    assert not known.chains


def test_a_chain_is_over_with_its_result_and_delivered_with_its_exchange():
    legs = [leg(1, asks("q")), leg(2, done(), keys=("q",), state="s1")]
    (chain,) = states_after(*legs).issued("s1").chains
    assert (chain.over, chain.delivered, chain.asked) == (True, True, 1)
    legs[1]["response"] = stream({**done(), "id": 2}, closed_by="client")
    (chain,) = states_after(*legs).issued("s1").chains
    assert (chain.over, chain.delivered) == (True, False)


def test_a_chain_that_ended_in_an_error_is_not_over():
    states = states_after(leg(1, asks("q")), leg(2, failed(), keys=("q",), state="s1"))
    (chain,) = states.issued("s1").chains
    assert not chain.over
    assert states.chain(chain.call().number) is chain


def test_only_what_waits_is_waiting():
    first = leg(1, asks("q"), name="a")
    assert [c.place[2] for c in states_after(first).waiting(1)] == ["a"]
    assert not list(states_after(first).waiting(2))
    states = states_after(first, leg(2, done(), keys=("q",), state="s1", name="a"))
    assert not list(states.waiting(1))
    assert states.was_asked((1, "tools/call", "a"), ["q"])
    assert not states.was_asked((1, "tools/call", "a"), ["x"])


def test_keys_of_too_many_asks_are_not_kept():
    states = states_after(leg(1, asks(*(f"k{n}" for n in range(MOST_KEYS + 1)))))
    (chain,) = states.waiting(1)
    assert not chain.keys


def test_arguments_named_like_members_of_retries_are_learned_from_listings():
    schema = {"type": "object", "properties": {"requestState": {}}}
    tools = result(1, tools=[{"name": "fsm", "inputSchema": schema}, {"name": 5}, "x"])
    states = states_after(exchange(ask("tools/list"), answer(tools)))
    assert states.is_argument("fsm", "requestState")
    assert not states.is_argument("fsm", "inputResponses")
    assert not states.is_argument(None, "requestState")


def test_a_finished_call_is_not_kept_alive():
    states = states_after(leg(1, asks("q")), leg(2, done(), keys=("q",), state="s1"))
    (chain,) = states.issued("s1").chains
    gc.collect()
    assert chain.call() is None
    assert not chain.waits
