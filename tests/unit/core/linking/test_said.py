from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_tap.core.linking.said import MOST_MEMBERS, MOST_TEXT, NOTHING, said
from mcp_tap.core.model import Said


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


@pytest.mark.parametrize(
    ("result", "gist"),
    [
        ({"content": [text("a")]}, Said(text="a")),
        ({"content": [text("a"), text("b"), {}]}, Said(text="a", more=2)),
        ({"content": [{"type": "image", "data": "x"}]}, Said(block="image")),
        ({"content": [7]}, Said(block="block")),
        ({"content": [{"type": 7}]}, Said(block="block")),
        (
            {"messages": [{"role": "user", "content": text("hi")}, {}]},
            Said(text="hi", more=1, unit="message"),
        ),
        ({"contents": [{"uri": "a:b", "text": "t"}]}, Said(text="t", unit="content")),
        (
            {"contents": [{"uri": "a:b", "blob": "", "mimeType": "image/png"}]},
            Said(block="image/png", unit="content"),
        ),
        (
            {"resultType": "complete", "ttlMs": 0, "tools": [{}, {}], "nextCursor": "c"},
            Said(words=("2 tools", 'nextCursor "c"')),
        ),
        (
            {"content": [], "structuredContent": {"n": 1}, "isError": False},
            Said(words=("0 content", "structuredContent {..}", "isError false")),
        ),
        ({"a": None, "b": 1.5, "c": {}}, Said(words=("a null", "b 1.5", "c {}"))),
        ({"resultType": "odd", "requestState": "nobody may see it"}, NOTHING),
        ({}, NOTHING),
        ("nonsense", NOTHING),
        (None, NOTHING),
    ],
)
def test_the_gist_of_a_result_is_its_first_text_or_its_members(result, gist):
    assert said(result) == gist


def test_of_a_result_that_is_not_whole_nothing_is_told():
    assert said({"content": []}, whole=False) == NOTHING


def test_a_gist_is_small():
    assert len(said({"content": [text("x" * 100_000)]}).text or "") == MOST_TEXT
    words = said({f"member-{n}-{'x' * 1000}": "y" * 1000 for n in range(100)}).words
    assert len(words) == MOST_MEMBERS + 1
    assert sum(map(len, words)) < 1000


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["content", "contents", "messages", "text", "type", "x"]), inner
        )
    ),
)


@given(json)
def test_any_json_has_a_gist(value):
    assert isinstance(said(value), Said)
