from __future__ import annotations

import time
from random import Random

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
        ("((a?){20}){20}b", "too many ways"),
        ("(a?){300}b", "too many ways"),
        ("".join(f"[{chr(n)}b]" for n in range(200, 290)), "kinds of characters"),
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
        ("((a?){4}){4}b", "a" * 50_000),
        ("((){9999}){9999}x", "y"),
    ],
)
def test_patterns_that_hang_backtracking_engines_end_at_once(pattern, text):
    begun = time.perf_counter()
    assert not compile_pattern(pattern).search(text)
    assert time.perf_counter() - begun < 5


@pytest.mark.parametrize(
    "pattern",
    ["a.{60}c", "a.{300}c", "(?i)a[ab]{450}C", r"\ba.{60}(\bc|$c)", "(.{1,3}a){1,9}b{9}c|a.{50}c"],
)
def test_no_text_makes_a_pattern_slow_by_having_it_remember_too_much(pattern):
    random = Random(1)
    text = "".join(random.choices("ab", k=200_000))
    begun = time.perf_counter()
    compiled = compile_pattern(pattern)
    assert not compiled.search(text)
    assert not compiled.search(text)
    assert compiled.search(text + "a" * 500 + "c") is (pattern[0] != "\\")
    assert time.perf_counter() - begun < 3


def test_states_are_forgotten_before_they_fill_the_memory():
    pattern = compile_pattern("a.{20}c|(a|b)*a(a|b){9}c")
    text = "".join(Random(1).choices("ab", k=100_000))
    assert not pattern.search(text)
    assert not pattern._states
    assert pattern.search(text + "a" * 30 + "c")


@pytest.mark.parametrize(
    ("pattern", "text", "spans"),
    [
        ("sk-[0-9]+", "sk-1 sssk-23", [(0, 4), (7, 12)]),
        ("a|ab", "ab a", [(0, 2), (3, 4)]),
        ("x*", "axxb", [(1, 3)]),
        (r"\d{4}", "12345 123", [(0, 5)]),
        (r"\bcat\b", "cat concat cat", [(0, 3), (11, 14)]),
        ("^a|b$", "ab", [(0, 1), (1, 2)]),
        ("(?m)^.", "ab\ncd", [(0, 1), (3, 4)]),
        (r"[\w.]+@[\w.]+\.com", "to a.b@c.com, d@e.com.", [(3, 12), (14, 21)]),
        ("a.*b|c", "c accb c\nc", [(0, 1), (2, 8), (9, 10)]),
        ("abc", "xabcabc", [(1, 4), (4, 7)]),
        ("needle", "", []),
    ],
)
def test_spans_are_the_longest_matches(pattern, text, spans):
    assert compile_pattern(pattern).spans(text) == spans


def test_only_the_start_of_a_huge_text_is_looked_at_unless_all_is_wanted():
    pattern = compile_pattern("needle$|[n]eedle")
    assert not pattern.search("x" * MAX_TEXT + "needle")
    assert pattern.search("x" * MAX_TEXT + "needle", None)
