from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mcp_tap.core.values import (
    SHORT,
    digest,
    id_key,
    same_arguments,
    same_id,
    same_json,
    text_of,
    whole_number,
)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": 1, "b": [1, 2]}, {"b": [1, 2], "a": 1.0}, True),
        (1, True, False),
        (0, False, False),
        (None, 0, False),
        ("1", 1, False),
        ([1, 2], [2, 1], False),
        ([1], [1, 1], False),
        ({"a": None}, {}, False),
        ({"a": {}}, {"a": []}, False),
        ({"a": 1}, {"b": 1}, False),
    ],
)
def test_values_compare_as_json(one, other, same):
    assert same_json(one, other) is same
    assert same_json(other, one) is same


def test_deep_values_compare_without_recursion():
    one: list = []
    other: list = []
    for _ in range(50_000):
        one, other = [one], [other]
    assert same_json(one, other)


def test_no_arguments_equal_empty_ones():
    assert same_arguments(None, {})
    assert not same_arguments(None, {"a": 1})


def test_ids_of_other_types_are_other_ids():
    assert same_id(1, 1)
    assert not same_id(1, "1")
    assert not same_id(1, True)
    assert id_key(1) != id_key("1")
    assert id_key({"a": [1]}) == id_key({"a": [1]})


def test_two_spellings_of_a_number_are_one_id():
    assert same_id(1, 1.0)
    assert id_key(1) == id_key(1.0)
    assert not same_id(1, 1.5)


def test_a_key_of_an_id_is_short():
    long = "x" * 5000
    assert len(id_key(long)[1]) <= SHORT
    assert id_key(long) == id_key("x" * 5000) != id_key(long + "y")
    assert id_key(10**500) != id_key(10**501)


ALIKE = [1, 1.0, True, "1", 1e30, 10**30, -0.0, 0, None, 2**64, {"a": 1, "b": [1.0]}, "1.5", 1.5]


@pytest.mark.parametrize("one", [*ALIKE, {"b": [1], "a": 1.0}], ids=repr)
def test_equal_values_have_equal_sums_and_others_have_not(one):
    assert [digest(one) == digest(other) for other in ALIKE] == [
        same_json(one, other) for other in ALIKE
    ]


def test_what_cannot_be_written_has_no_sum():
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert digest(deep) is None
    assert digest("\ud83d") is None


def test_whole_numbers_are_read_as_integers_and_too_large_ones_not_at_all():
    read = msgspec.json.Decoder(float_hook=whole_number).decode
    found = read(b"[1.0, -0.0, 1e2, 1.5, 1]")
    assert [(type(n), n) for n in found] == [(int, 1), (int, 0), (int, 100), (float, 1.5), (int, 1)]
    for text in (b"1e400", b"-1e400"):
        with pytest.raises(ValueError, match="out of range"):
            read(text)


def test_every_value_has_a_text():
    assert text_of("x") == "x"
    assert text_of(7) == "7"
    assert text_of(None) == "null"
    assert text_of({"a": 1}) == '{"a":1}'
