from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from mcp_tap.core.records import Message
from mcp_tap.rules.duplicates import MOST_FOUND, repeated

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
ASKED = "inputRequests"
PLACES = [
    ("result", "inputRequests"),
    ("params", "inputRequests"),
    ("params", "inputResponses"),
]
NAMES = st.sampled_from(["a", "b", '"', "\\", "/", "\u00e9", "\U0001f600", "\n", "ab"])


def record(requests: str, member: str = "result", name: str = "inputRequests") -> Message:
    text = f'{{"x": {{"{name}": 5}}, "{member}": {{"y": [1], "{name}": {requests} }} }}'
    return Message(seq=1, t=0.0, sender="server", body=Raw(text.encode()))


@given(st.lists(st.tuples(NAMES, JSON), max_size=6), st.booleans(), st.sampled_from([None, 1]))
def test_exactly_the_names_that_stand_twice_are_found(members, ascii_only, indent):
    parts = [
        f"{json.dumps(name, ensure_ascii=ascii_only)}: "
        f"{json.dumps(value, ensure_ascii=ascii_only, indent=indent)}"
        for name, value in members
    ]
    names = [name for name, _ in members]
    twice = {name for name in names if names.count(name) > 1}
    text = "{" + " , ".join(parts) + "}"
    for member, name in PLACES:
        assert set(repeated(record(text, member, name), name)) == twice


def test_answers_are_not_taken_for_questions():
    twice = '{"a":1,"a":2}'
    assert repeated(record(twice, "params", "inputRequests"), "inputResponses") == []
    assert repeated(record(twice, "params", "inputResponses"), "inputRequests") == []


@pytest.mark.parametrize("requests", ["5", "[]", "null", '"a"', "{}", '[{"a":1,"a":2}]'])
def test_what_is_no_map_has_no_names(requests):
    assert repeated(record(requests), ASKED) == []


def test_what_is_no_json_has_no_names():
    assert repeated(Message(seq=1, t=0.0, sender="server", text="{"), ASKED) == []


def test_names_found_are_bounded():
    members = ",".join(f'"{n}":1' for n in range(500))
    assert len(repeated(record(f"{{{members},{members}}}"), ASKED)) == MOST_FOUND


def test_deep_values_do_no_harm():
    deep = "[" * 100_000 + "]" * 100_000
    assert repeated(record(f'{{"a":{deep},"a":1}}'), ASKED) == []
