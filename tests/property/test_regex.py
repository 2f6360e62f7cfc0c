"""The linear engine finds what Python's own engine finds."""

from __future__ import annotations

import re
import warnings
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from mcp_tap.core.regex import compile_pattern

ATOMS = st.sampled_from(
    ["a", "b", "c", ".", "[ab]", "[^a]", r"\w", r"\b", "^", r"\d", " ", r"\n", r"\B", r"\Z", r"\."]
)
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: (
        st.tuples(inner, inner).map("".join)
        | st.tuples(inner, inner).map(lambda p: f"(?:{p[0]}|{p[1]})")
        | st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "*?", "{2,}"])).map(
            lambda p: f"({p[0]}){p[1]}"
        )
    ),
    max_leaves=8,
)
FLAGS = st.sampled_from(["", "(?i)", "(?m)", "(?s)", "(?im)"])


# `\B` in empty text is a quirk of `re` that Python 3.14 removed; so: never empty.
@given(FLAGS, PATTERNS, st.text("abcAB \n_1", min_size=1, max_size=9))
def test_the_answer_is_that_of_re(flags, pattern, text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        expected = re.search(flags + pattern, text) is not None
    assert compile_pattern(flags + pattern).search(text) is expected


@given(FLAGS, PATTERNS, st.text("abcAB \n_1", min_size=1, max_size=9))
def test_spans_cover_every_match_and_begin_and_end_with_one(flags, pattern, text):
    spans = compile_pattern(flags + pattern).spans(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        # A match of just text[a:b], in its place: what is around it counts for \b and the like.
        whole = [
            (a, b)
            for a in range(len(text))
            for b in range(a + 1, len(text) + 1)
            if re.match(rf"{flags}(?s:.{{{a}}})(?:{pattern})(?=(?s:.{{{len(text) - b}}})\Z)", text)
        ]
    assert all(any(s <= a and b <= e for s, e in spans) for a, b in whole)
    assert {s for s, _ in spans} <= {a for a, _ in whole}
    assert {e for _, e in spans} <= {b for _, b in whole}
    assert all(one[1] <= two[0] for one, two in pairwise(spans))
