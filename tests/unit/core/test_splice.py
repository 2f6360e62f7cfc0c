"""Single members change; see tests/property/test_splice.py for all the rest."""

from __future__ import annotations

import pytest

from mcp_tap.core.splice import Edit, Place, Span, SpliceError, find, members, put, spliced

TEXT = b' { "a" : 1.50 , "b":{"x\\u0041":[ {} ],"y":null}, "c":"}," }\n'


def test_members_are_listed_with_their_places():
    assert members(b'{"a":1, "b" : [2]}') == {"a": Place(1, 5, 6), "b": Place(8, 14, 17)}
    assert members(b" {} ") == {}


def test_names_may_be_escaped():
    span = find(TEXT, "b", "xA")
    assert TEXT[span.start : span.end] == b"[ {} ]"


def test_what_is_not_there_is_not_found():
    assert find(TEXT, "z") is None
    assert find(TEXT, "b", "z") is None
    assert find(TEXT, "a", "z") is None
    assert find(TEXT) is None


def test_a_value_is_replaced_and_nothing_else():
    assert spliced(TEXT, put(TEXT, {"a": b"2"})) == TEXT.replace(b"1.50", b"2")


def test_members_are_added_at_the_end():
    assert spliced(b"{}", put(b"{}", {"a": b"1", "b": b"2"})) == b'{"a":1,"b":2}'
    text = b'{"p":{"q":1 }}'
    assert spliced(text, put(text, {"r": b"2"}, find(text, "p"))) == b'{"p":{"q":1 ,"r":2}}'


@pytest.mark.parametrize(
    ("gone", "left"),
    [
        ("a", b'{ "b":2, "c":3}'),
        ("b", b'{ "a":1, "c":3}'),
        ("c", b'{ "a":1, "b":2}'),
        ("ab", b'{ "c":3}'),
        ("bc", b'{ "a":1}'),
        ("abc", b"{ }"),
        ("z", b'{ "a":1, "b":2, "c":3}'),
    ],
)
def test_members_are_taken_out_with_their_commas(gone, left):
    text = b'{ "a":1, "b":2, "c":3}'
    assert spliced(text, put(text, dict.fromkeys(gone))) == left


def test_edits_are_carried_out_from_the_front():
    assert spliced(b"abcdef", [Edit(4, 5, b"X"), Edit(0, 1, b""), Edit(6, 6, b"!")]) == b"bcdXf!"


@pytest.mark.parametrize(
    "text",
    [
        b'{"a":1,"a":2}',
        b'{"a":1,"a":1}',
        b'{"a":1,"b":1,"\\u0061":2}',
        b"[1]",
        b"",
        b"{",
        b'{"a":1}x',
        b"null",
    ],
)
def test_what_has_no_one_reading_is_refused(text):
    with pytest.raises(SpliceError):
        members(text)


def test_spans_are_pairs():
    assert Span(1, 2) == (1, 2)
