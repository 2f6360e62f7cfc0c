from __future__ import annotations

import pytest

from mcp_tap.core.mirrored import agrees, argument, decoded, encoded, is_plain


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ("us-west1", "us-west1"),
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ("", ""),
        (42, "42"),
        (-7, "-7"),
        (True, "true"),
        (False, "false"),
    ],
)
def test_values_are_written_as_the_specification_has_them(value, field):
    assert encoded(value) == field
    assert not isinstance(value, str) or is_plain(value) == (field == value)


@pytest.mark.parametrize("text", ["Hello, 世界", " padded ", "=?base64?x?=", "a\tb", "\x00"])
def test_what_does_not_travel_plainly_comes_back_as_it_was(text):
    assert decoded(encoded(text)) == text


def test_numbers_agree_by_value_and_booleans_by_their_words():
    assert agrees("42.0", 42)
    assert agrees("=?base64?NDI=?=", 42)
    assert agrees("true", True)
    assert not agrees("True", True)
    assert not agrees("43", 42)


def test_an_argument_is_found_at_the_end_of_its_path_only():
    assert argument({"a": {"b": 1}}, ("a", "b")) == 1
    assert argument({"a": 1}, ("a", "b")) is None
    assert argument(None, ("a",)) is None
