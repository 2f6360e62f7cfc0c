from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_tap.core.facts.lines import Seam
from mcp_tap.core.facts.message import Message

LINE: Message = None  # type: ignore[assignment]

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


def seam(*lines: str) -> Seam:
    made = Seam()
    for text in lines:
        made.add(LINE, text)
    return made


@given(st.dictionaries(st.text(), values, max_size=3), st.booleans())
def test_a_message_goes_on_until_its_last_line(content, ascii_only):
    message = {"jsonrpc": "2.0", "x": content}
    lines = json.dumps(message, indent=1, ensure_ascii=ascii_only).split("\n")
    made = Seam()
    for text in lines[:-1]:
        made.add(LINE, text)
        assert made.goes_on
    made.add(LINE, lines[-1])
    assert not made.goes_on
    assert made.is_message()


@pytest.mark.parametrize(
    ("lines", "goes_on"),
    [
        (("{",), True),
        (("{}",), False),
        (('{"a',), True),
        (('{"a', 'b"}'), False),
        (('{"}', '"}'), False),
        (('{"\\"}',), True),
        (('{"\\\\"}',), False),
        (('{"a\\',), True),
        (("}",), False),
    ],
)
def test_brackets_count_outside_of_strings_only(lines, goes_on):
    assert seam(*lines).goes_on is goes_on


@pytest.mark.parametrize(
    "text", ['{"' + '\\"' * 100_000, '{"a":"' + 'x"' * 100_001, '{"\\"' + '"' * 99_999]
)
def test_endless_strings_take_no_time(text):
    begun = time.thread_time()
    made = seam(text, text)
    assert time.thread_time() - begun < 5
    assert made.goes_on


@pytest.mark.parametrize(
    ("member", "speaks"), [('"jsonrpc":"2.0"', True), ('"b":1', False), ('"jsonrpc":"2.0",', False)]
)
def test_much_is_a_message_as_little_is(member, speaks):
    many = '"' + "a" * 200_000
    assert seam("{", f'"x":{many}', f'b",{member}', "}").is_message() is speaks
    assert seam("{", f'"x":{many[:9]}', f'b",{member}', "}").is_message() is speaks


def test_a_break_inside_a_string_is_bridged():
    assert seam('{"jsonrpc":"2.0","text":"a', 'b"}').is_message()


def test_what_is_no_message_is_none():
    assert not seam("{", "}").is_message()
    assert not seam("{", "a}").is_message()
    assert not seam("[" * 100_000, "]" * 100_000).is_message()
