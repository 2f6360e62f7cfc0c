"""What is written as TOML is read back as it was."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_tap.answers import toml

WHOLE = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WHOLE,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WHOLE, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_any_value_is_read_back(value):
    assert tomllib.loads(f"a = {toml.value(value)}") == {"a": value}


@given(st.dictionaries(WHOLE, VALUES, max_size=5), st.dictionaries(WHOLE, VALUES, max_size=5))
def test_any_entry_is_read_back(one, other):
    lines = [*toml.entry("answer", one), *toml.entry("answer", other)]
    assert tomllib.loads("\n".join(lines)) == {"answer": [one, other]}
    assert tomllib.loads("\r\n".join(lines)) == {"answer": [one, other]}


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("plain", '"plain"'),
        ("", '""'),
        (r"^Really\?$", r"'^Really\?$'"),
        ('say "hi"', "'say \"hi\"'"),
        ("it's \\", '"it\'s \\\\"'),
        ("a\nb", '"a\\nb"'),
        ("\x1b[2J\u202e", '"\\u001b[2J\\u202e"'),
        ("\x7f \\", '"\\u007f \\\\"'),
        ("naïve 日本", '"naïve 日本"'),
        ("\U000e0001", '"\\U000e0001"'),
        (1.0, "1.0"),
        (1e30, "1e+30"),
        ([], "[]"),
        ({}, "{}"),
        ({"a b": 1, "c": [True]}, '{ "a b" = 1, c = [true] }'),
    ],
)
def test_it_is_written_as_a_person_would(value, written):
    assert toml.value(value) == written


@pytest.mark.parametrize("value", [None, "\ud800", [None], {"a": {"b": None}}, {"\udfff": 1}])
def test_what_toml_has_not_is_refused(value):
    with pytest.raises(toml.Unwritable):
        toml.value(value)


def test_what_is_too_long_for_a_line_gets_lines_of_its_own():
    members = {"match": {"m": "x" * 90, "n": 1}, "rounds": [{"c": "y" * 60}] * 2, "name": "z"}
    lines = list(toml.entry("answer", members))
    assert lines[:2] == ["[[answer]]", "rounds = ["]
    assert lines[-3:] == ["[answer.match]", f'm = "{"x" * 90}"', "n = 1"]
    assert tomllib.loads("\n".join(lines)) == {"answer": [members]}
