from __future__ import annotations

from random import Random
from typing import Any

import pytest

from mcp_tap.core.linking.active import Active
from mcp_tap.core.linking.state import NOBODY, Live, Track
from mcp_tap.core.model import Call, Exchange
from mcp_tap.core.values import same_id

IDS: list[Any] = [1, 1.0, "1", True, None, 2, {"a": 1, "b": 2}, {"b": 2.0, "a": 1}, ["\ud83d"], "é"]


def track(number: int, request_id: Any) -> Track:
    exchange = Exchange(number=number, t=0.0, request_id=request_id)
    call = Call(number=number, method="tools/call", name="t", t=0.0)
    origin = Live(exchange=exchange)
    return Track(call=call, client=NOBODY, ball="server", since=0.0, origin=origin)


def has(one: Track, request_id: Any) -> bool:
    return one.origin is not None and same_id(one.origin.exchange.request_id, request_id)


@pytest.mark.parametrize("seed", range(20))
def test_calls_are_found_as_if_each_had_been_looked_at(seed):
    random = Random(seed)
    active = Active()
    known = [track(n, random.choice(IDS)) for n in range(25)]
    for n in range(200):
        one = random.choice(known)
        chance = random.random()
        if chance < 0.6:
            active.add(one)
        elif chance < 0.8:
            active.discard(one)
        elif chance < 0.9:
            one.origin.exchange.answered = True
        else:
            known[known.index(one)] = track(100 + n, random.choice(IDS))
        for request_id in IDS:
            alike = [t for t in active if has(t, request_id)]
            waiting = [t.origin for t in alike if not t.origin.exchange.answered]
            assert active.only(request_id) is (alike[0] if len(alike) == 1 else None)
            assert active.waiting(request_id) is (waiting[0] if waiting else None)


def test_calls_without_a_request_of_their_own_are_held_in_order():
    active = Active()
    one, other = track(2, 1), track(1, 1)
    other.origin = None
    for each in (one, other, one):
        active.add(each)
    assert list(active) == [one, other]
    assert active.oldest() is one
    for each in (other, one, one):
        active.discard(each)
    assert len(active) == 0


def test_nothing_is_kept_of_calls_that_ended():
    active = Active()
    tracks = [track(n, n % 7) for n in range(50)]
    for each in tracks:
        active.add(each)
    for each in tracks:
        active.discard(each)
    assert (active._ids, active._waiting, list(active)) == ({}, {}, [])
