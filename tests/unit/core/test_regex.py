from __future__ import annotations

import time

import pytest

from mcp_tap.core.regex import MAX_TEXT, compile_pattern


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("tok[ae]n", "a token here", True),
        ("tok[ae]n", "a tokin here", False),
        ("^a.c$", "abc", True),
        ("^a.c$", "xabc", False),
        ("(?i)DEPLOY", "redeployed", True),
        (r"\bcat\b", "a cat!", True),
        (r"\bcat\b", "concat", False),
        (r"\d{3}-\d{2,}", "x 123-4567", True),
        ("a{2}b", "ab", False),
        ("(foo|bar)+baz", "foobarbaz", True),
        ("x*?y", "y", True),
        ("(?P<n>a)(?:b)?", "a", True),
        ("(?m)^two$", "one\ntwo\nthree", True),
        ("(?s)a.b", "a\nb", True),
        ("a.b", "a\nb", False),
        (r"\u043f\x41", "пA", True),
        ("[^]]", "]", False),
        ("a{,2}b", "b", True),
        ("{}", "{}", True),
        ("", "anything", True),
        ("проект", "мой проект", True),
    ],
)
def test_a_pattern_is_found_as_in_python(pattern, text, found):
    assert compile_pattern(pattern).search(text) is found


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(a", "( without its )"),
        ("a)", ") without its ("),
        ("*a", "nothing to repeat"),
        ("a**", "repeats a repeat"),
        ("a{2}{3}", "repeats a repeat"),
        ("(?=a)", "not known here"),
        ("(?<!a)b", "not known here"),
        (r"(a)\1", "backreferences"),
        ("[a", "[ without its ]"),
        ("a\\", "middle of an escape"),
        ("a{5,2}", "wrong way round"),
        ("[z-a]", "bad character range"),
        ("(((a{100}){100}){100})", "too many steps"),
        ("((){9999}){9999}x" + "y" * 600, "longer than"),
        ("(" * 60 + ")" * 60, "nested too deep"),
    ],
)
def test_what_cannot_be_searched_is_refused_with_a_reason(pattern, why):
    with pytest.raises(ValueError, match=r".") as caught:
        compile_pattern(pattern)
    assert why in str(caught.value)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(a+)+$", "a" * 50_000 + "b"),
        ("(a|aa)+c", "a" * 50_000),
        (r"\s*x", " " * 200_000),
        (r"(.*)*(.*)*=", "x" * 50_000),
        ("((a?){20}){20}b", "a" * 2_000),
        ("((){9999}){9999}x", "y"),
    ],
)
def test_patterns_that_hang_backtracking_engines_end_at_once(pattern, text):
    begun = time.perf_counter()
    assert not compile_pattern(pattern).search(text)
    assert time.perf_counter() - begun < 5


def test_states_are_forgotten_before_they_fill_the_memory():
    pattern = compile_pattern("(a|b)*a(a|b){9}c")
    text = "".join("ab"[(n * n) % 7 % 2] for n in range(30_000))
    assert not pattern.search(text)
    assert pattern._known <= 20_001


def test_only_the_start_of_a_huge_text_is_looked_at():
    assert not compile_pattern("needle$|[n]eedle").search("x" * MAX_TEXT + "needle")
