from __future__ import annotations

from itertools import islice

from mcp_tap.rules.walk import MOST_STEPS, MOST_TEXT, MOST_VALUES, texts_in


def test_all_texts_are_given_in_order_with_their_way_and_name():
    value = {"a": "1", "b": [{"c": "2"}, "3"], "d": 4, "e": None}
    assert list(texts_in(value, "root")) == [
        (("root", "a"), "a", "1"),
        (("root", "b", 0, "c"), "c", "2"),
        (("root", "b", 1), "b", "3"),
    ]
    assert list(texts_in("x")) == [((), None, "x")]


def test_a_walk_has_an_end():
    assert len(list(texts_in(["x"] * 100_000))) < MOST_VALUES
    deep: object = "x"
    for _ in range(100_000):
        deep = [deep]
    assert list(texts_in(deep)) == []
    assert MOST_STEPS < 1000
    size = sum(len(text) for _, _, text in texts_in(["x" * MOST_TEXT] * 3))
    assert size == MOST_TEXT
    assert len(list(islice(texts_in([[["x"]] * 1000] * 1000), 10_000))) <= MOST_VALUES
