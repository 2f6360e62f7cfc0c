"""Filters print as they parse, and no text makes the parser do anything but refuse it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mcp_tap.core.filter_keys import KEYS
from mcp_tap.core.filter_tests import Value
from mcp_tap.core.filters import And, Filter, Not, Or, Term, Word, parse
from mcp_tap.errors import UsageError
from tests import builders as b

SAMPLES = {
    "call": ["3", ">=2", "1..4"], "round": ["3", "<2"], "conn": ["1"],
    "status": ["404", "4xx", "-32602"], "took": [">2s", "1ms.."], "size": [">10k"],
    "at": ["12:04", "12:04..12:05", "..06:00"],
}  # fmt: skip
WORDS = st.text(max_size=12)
PLAIN = WORDS.map(Value)
GLOBS = st.from_regex(r"[a-z*?_/]{0,6}[*?][a-z*?_/]{0,6}", fullmatch=True).map(
    lambda t: Value(t, "glob")
)
REGEXES = st.from_regex(r"([a-z]|\\d|\.|[а-я]|/|\[ab\])+", fullmatch=True).map(
    lambda t: Value(t, "regex")
)


def values_of(name):
    key = KEYS[name]
    if name in SAMPLES:
        return st.sampled_from(SAMPLES[name]).map(Value)
    if "," in key.takes:
        return st.sampled_from(key.takes.split(",")).map(Value) | st.just(Value("*", "glob"))
    return PLAIN | (REGEXES if "regex" in key.forms else GLOBS)


TERMS = st.sampled_from(sorted(KEYS)).flatmap(
    lambda name: st.lists(values_of(name), min_size=1, max_size=3).map(
        lambda values: Term(name, tuple(values))
    )
)


def joined(kind):
    """Nested parts of one kind are one level: that is how they parse."""

    def make(parts):
        flat = [p for part in parts for p in (part.parts if isinstance(part, kind) else (part,))]
        return kind(tuple(flat))

    return make


NODES = st.recursive(
    TERMS | WORDS.map(Word),
    lambda inner: (
        inner.map(Not)
        | st.lists(inner, min_size=2, max_size=4).map(joined(And))
        | st.lists(inner, min_size=2, max_size=4).map(joined(Or))
    ),
    max_leaves=12,
)


@given(NODES)
def test_what_a_filter_prints_parses_to_that_filter(node):
    filter_ = Filter(node)
    assert parse(str(filter_)) == filter_
    for call in b.run():
        filter_.matches(call)


@given(st.text(alphabet=st.sampled_from('ab:*?,|!()" \\/.<>=1tool'), max_size=30))
def test_any_text_parses_or_is_refused_and_what_parses_comes_back(text):
    try:
        filter_ = parse(text)
    except UsageError:
        return
    assert parse(str(filter_)) == filter_


@given(st.text(max_size=40))
def test_any_text_can_be_searched_for_when_quoted(text):
    quoted = '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    assert parse(quoted) == Filter(Word(text))
