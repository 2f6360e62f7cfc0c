from __future__ import annotations

import pytest

from mcp_tap.core.linking.shelf import (
    ASKED,
    KNOWN,
    MOST_KEYS,
    MOST_PLAIN,
    PAST,
    STATE,
    SUM,
    WHO,
    Shelf,
    Some,
    traits_of,
)
from mcp_tap.core.linking.state import NOBODY, Pending, Track
from mcp_tap.core.model import Call, Round

MANY = 3 * MOST_PLAIN
NOTHING: frozenset[str] = frozenset()


def pending(serial: int, keys: str = "q", known: str | None = None, **facts: str) -> Pending:
    call = Call(number=serial, method="tools/call", name="t", t=0.0)
    return Pending(
        serial=serial,
        target=(NOBODY, "tools/call", "t"),
        track=Track(call=call, client=NOBODY, ball="client", since=0.0),
        round=Round(number=1, exchange=serial, request_id=serial, t=0.0, request_seq=serial),
        state=facts.get("state", "s"),
        keys=frozenset(keys),
        known=frozenset(keys if known is None else known),
        arguments=None,
        sum=facts.get("sum", "one").encode(),
        principal=facts.get("principal"),
    )


def shelved(*rounds: Pending) -> tuple[Shelf, Some]:
    shelf = Shelf()
    for one in rounds:
        shelf.add(one, traits_of(one))
    return shelf, Some([shelf])


def numbers(some: Some, most: int = 10 * MANY) -> list[int]:
    return [p.serial for p in some.newest(most)]


def test_rounds_stand_in_order_wherever_they_are_put():
    alike = [pending(n) for n in range(MANY)]
    _, some = shelved(*alike[1:], alike[0])
    assert numbers(some) == list(range(MANY))
    assert numbers(some.having(STATE, "s").having(SUM, b"one"), 2) == [MANY - 2, MANY - 1]


@pytest.mark.parametrize("others", [1, MANY])
def test_a_round_is_found_by_each_of_its_traits_among_few_and_among_many(others):
    one = pending(1, "ab", "abc", state="x", sum="two", principal="p")
    _, some = shelved(one, *(pending(n + 2) for n in range(others)))
    found = [
        some.having(STATE, "x"),
        some.having(SUM, b"two"),
        some.having(WHO, "p"),
        some.asking(frozenset("bz")),
        some.exactly(frozenset("ab"), ASKED),
        some.exactly(frozenset("abc"), KNOWN),
        some.having(STATE, "x").having(SUM, b"two").asking(frozenset("a")).having(WHO, "p"),
    ]
    assert [numbers(each) for each in found] == [[1]] * len(found)
    missed = [some.asking(NOTHING), some.exactly(frozenset("abc"), ASKED, PAST)]
    assert [numbers(each) for each in missed] == [[], []]


@pytest.mark.parametrize("others", [1, MANY])
def test_a_round_that_asks_nothing_is_told_from_those_that_ask(others):
    _, some = shelved(pending(1, "", "q"), *(pending(n + 2) for n in range(others)))
    assert numbers(some.asking(NOTHING)) == [1]
    assert numbers(some.exactly(frozenset("q"), PAST)) == [1]
    assert numbers(some.exactly(frozenset("q"), ASKED, PAST)) == list(range(1, others + 2))


def test_a_round_of_very_many_keys_is_found_by_each():
    keys = "abcdefghi"
    assert len(keys) > MOST_KEYS
    _, some = shelved(pending(1, keys), *(pending(n + 2) for n in range(MANY)))
    assert [numbers(some.asking(frozenset(key))) for key in keys] == [[1]] * len(keys)


def test_a_round_that_fits_twice_is_given_once():
    _, some = shelved(*(pending(n, "ab") for n in range(MANY)))
    assert numbers(some.asking(frozenset("ab"))) == list(range(MANY))


def test_what_was_taken_out_is_found_no_more_and_leaves_nothing():
    alike = [pending(n, state=f"s{n % 3}") for n in range(MANY)]
    shelf, some = shelved(*alike)
    for one in alike[:-1]:
        shelf.remove(one, traits_of(one))
    assert numbers(some.having(STATE, alike[-1].state)) == [MANY - 1]
    assert not some.having(STATE, alike[0].state)
    shelf.remove(alike[-1], traits_of(alike[-1]))
    assert not Some([shelf])
