"""What both notations allow is found where Python's own engine finds it."""

from __future__ import annotations

import re
import warnings

from hypothesis import assume, given
from hypothesis import strategies as st

from mcp_tap.core.regex import compile_pattern

ATOMS = st.sampled_from(
    [
        "a",
        "b",
        "é",
        "\U0001f600",
        "c",
        ".",
        "[ab]",
        "[^a]",
        r"\w",
        r"\b",
        "^",
        r"\d",
        " ",
        r"\n",
        r"\B",
        r"\A",
        r"\.",
    ]
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
TEXTS = st.text("abcAB \n_1é\U0001f600\ud800\udcff", min_size=1, max_size=9)
# `\B` in empty text is a quirk of `re` that Python 3.14 removed; so: never empty.


@given(FLAGS, PATTERNS, TEXTS)
def test_the_answer_is_that_of_re(flags, pattern, text):
    # RE2 goes from byte to byte: `\B` also stands within a character that has several.
    assume(r"\B" not in pattern or text.isascii())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        expected = re.search(flags + pattern, text, re.ASCII) is not None
    assert compile_pattern(flags + pattern).search(text) is expected


@given(FLAGS, PATTERNS, TEXTS)
def test_spans_are_the_leftmost_longest_matches_of_re(flags, pattern, text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        # A match of just text[a:b], in its place: what is around it counts for \b and the like.
        whole = [
            (a, b)
            for a in range(len(text))
            for b in range(len(text), a, -1)
            if re.match(
                rf"{flags}(?s:.{{{a}}})(?:{pattern})(?=(?s:.{{{len(text) - b}}})(?!(?s:.)))",
                text,
                re.ASCII,
            )
        ]
    expected: list[tuple[int, int]] = []
    for a, b in whole:
        if not expected or a >= expected[-1][1]:
            expected.append((a, b))
    assert compile_pattern(flags + pattern).spans(text) == expected
