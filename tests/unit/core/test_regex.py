from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from mcp_tap.core import regex
from mcp_tap.core.regex import PatternError, compile_pattern


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("tok[ae]n", "a token here", True),
        ("tok[ae]n", "a tokin here", False),
        ("^a.c$", "abc", True),
        ("^a.c$", "xabc", False),
        ("abc$", "abc\n", False),
        ("DEPLOY", "deploy", False),
        ("(?i)DEPLOY", "redeployed", True),
        ("(?i)ПРОЕКТ", "мой проект", True),
        (r"\bcat\b", "a cat!", True),
        (r"\bcat\b", "concat", False),
        (r"\d{3}-\d{2,}", "x 123-4567", True),
        ("(foo|bar)+baz", "foobarbaz", True),
        ("x*?y", "y", True),
        ("(?P<n>a)(?:b)?", "a", True),
        ("(?m)^two$", "one\ntwo\nthree", True),
        ("(?s)a.b", "a\nb", True),
        ("a.b", "a\nb", False),
        (r"\x{43f}\x41", "пA", True),
        (r"^\pL+$", "проект", True),
        ("{}", "{}", True),
        ("", "anything", True),
    ],
)
def test_a_pattern_is_found_as_its_notation_says(pattern, text, found):
    assert compile_pattern(pattern).search(text) is found


@pytest.mark.parametrize(
    ("pattern", "why", "help"),
    [
        ("(?=a)", "lookaround", "around"),
        ("(?!a)", "lookaround", "around"),
        ("(?<=a)b", "lookaround", "around"),
        ("(?<!a)b", "lookaround", "around"),
        (r"(a)\1", "backreferences", "repeated part"),
        ("(?P<n>a)(?P=n)", "backreferences", "repeated part"),
        ("(?>a)b", "atomic groups", "(?:"),
        ("a++b", "possessive repeats", "leave the last +"),
        ("(a)?(?(1)b|c)", "conditions", "|"),
        (r"a\Z", r"\Z cannot be used", r"\z"),
        (r"\u043f", r"\u", r"\x{43f}"),
        ("a{5,2}", "{5,2}", "1000 at most"),
        (".{900}", "steps", "smaller"),
        (r"\pL{999}", "too large", "smaller"),
        ("(a", "missing ): (a", "RE2"),
        ("*a", "no argument", "RE2"),
        ("[z-a]", "z-a", "RE2"),
    ],
)
def test_what_cannot_be_searched_is_refused_with_a_reason_and_a_way_on(pattern, why, help, capfd):
    with pytest.raises(PatternError) as caught:
        compile_pattern(pattern)
    assert why in str(caught.value)
    assert help in caught.value.help
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(a+)+$", "a" * 1_000_000 + "b"),
        ("(a|aa)+c", "a" * 1_000_000),
        (r"(.*)*(.*)*=", "x" * 1_000_000),
        ("((a?){20}){20}b", "a" * 1_000_000),
    ],
)
def test_patterns_that_hang_backtracking_engines_find_nothing_and_end(pattern, text):
    assert not compile_pattern(pattern).search(text)
    assert compile_pattern(pattern).spans(text) == []


@pytest.mark.parametrize(
    ("pattern", "text", "spans"),
    [
        ("sk-[0-9]+", "sk-1 sssk-23", [(0, 4), (7, 12)]),
        ("a|ab", "ab a", [(0, 2), (3, 4)]),
        ("sk-.+?", "sk-123", [(0, 6)]),
        ("x*", "axxb", [(1, 3)]),
        (r"\bcat\b", "cat concat cat", [(0, 3), (11, 14)]),
        ("^a|b$", "ab", [(0, 1), (1, 2)]),
        ("(?m)^.", "ab\ncd", [(0, 1), (3, 4)]),
        (r"[\w.]+@[\w.]+\.com", "to a.b@c.com, d@e.com.", [(3, 12), (14, 21)]),
        ("needle", "", []),
    ],
)
def test_spans_are_the_longest_matches(pattern, text, spans):
    assert compile_pattern(pattern).spans(text) == spans


@pytest.mark.parametrize(
    ("pattern", "text", "spans"),
    [
        (".", "aé\u20ac\U0001f600", [(0, 1), (1, 2), (2, 3), (3, 4)]),
        ("b+", "é\ud800bb\U0001f600\udcffb", [(2, 4), (6, 7)]),
        ("[^a]", "a\ud800a\udfff", [(1, 2), (3, 4)]),
        ("\udcff+", "é\udcff\udcffx", [(1, 3)]),
        (r"\C", "é\ud800b", [(0, 1), (1, 2), (2, 3)]),
        (r"\C{3}", "éé", [(0, 2)]),
    ],
)
def test_spans_count_characters_whatever_they_are_made_of(pattern, text, spans):
    assert compile_pattern(pattern).spans(text) == spans
    assert compile_pattern(pattern).search(text)


def test_a_text_that_would_be_read_again_and_again_is_one_match_from_some_point_on(monkeypatch):
    text = "é" + "a" * 100
    pattern = compile_pattern("a(.*b)?")
    assert len(pattern.spans(text)) == 100
    monkeypatch.setattr(regex, "MAX_READ", 300)
    spans = pattern.spans(text)
    assert spans == [(1, 2), (2, 3), (3, 4), (4, 101)]


def test_threads_share_a_pattern():
    pattern = compile_pattern("(a|b)*a(a|b){9}c")
    texts = [("ab" * n) + "a" * 10 + "c" for n in range(200)]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(pattern.spans, texts)) == [[(0, len(text))] for text in texts]


def test_a_glob_escaped_for_python_reads_the_same():
    every = "".join(map(chr, range(256)))
    assert compile_pattern(rf"\A{re.escape(every)}\z").search(every)
