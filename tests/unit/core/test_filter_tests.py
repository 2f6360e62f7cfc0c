from __future__ import annotations

import pytest

from mcp_tap.core.filter_tests import Value, clock, contains, folded, glob, numeric, text
from mcp_tap.errors import UsageError


@pytest.mark.parametrize(
    ("pattern", "name", "fits"),
    [
        ("book_*", "book_flight", True),
        ("book_*", "unbook_x", False),
        ("*.json", "a/b.json", True),
        ("file?", "file1", True),
        ("file?", "file12", False),
        ("a+b*", "a+bc", True),
        ("**", "any\nthing", True),
        ("*a*a*a*a*a*a*a*a*a*b", "a" * 5000, False),
    ],
)
def test_globs_fit_whole_names(pattern, name, fits):
    assert glob(pattern)(name) is fits


def test_a_glob_of_too_many_steps_is_refused():
    with pytest.raises(UsageError, match="cannot be used"):
        text("tool", Value("?" * 900 + "*", "glob"))


def test_text_is_compared_exactly_and_folded_text_is_not():
    assert text("tool", Value("Deploy"))("Deploy")
    assert not text("tool", Value("Deploy"))("deploy")
    assert folded("client", Value("Claude"))("claude")
    assert folded("client", Value("CLA*", "glob"))("claude")


def test_a_word_of_few_names_the_nearest():
    with pytest.raises(UsageError) as caught:
        text("state", Value("wating"), ("open", "waiting"))
    assert caught.value.help == 'did you mean "state:waiting"?'


@pytest.mark.parametrize(
    ("key", "written", "yes", "no"),
    [
        ("round", "3", 3, 2),
        ("round", ">=3", 3, 2),
        ("round", "<3", 2, 3),
        ("round", "<=3", 3, 4),
        ("round", "2..3", 3, 4),
        ("round", "..3", 1, 4),
        ("round", "=3", 3, 4),
        ("took", ">2s", 2.1, 2.0),
        ("took", ">250ms", 0.3, 0.2),
        ("took", "1m..1h", 61, 59),
        ("size", ">10k", 10_001, 10_000),
        ("size", "<1MiB", 1 << 19, 1 << 20),
        ("status", "4xx", 404, 500),
        ("status", "-32602", -32602, 400),
    ],
)
def test_numbers_compare(key, written, yes, no):
    test = numeric(key, Value(written))
    assert test(yes)
    assert not test(no)


@pytest.mark.parametrize(
    ("key", "written"),
    [("round", "many"), ("took", ">2x"), ("took", "2s"), ("size", "10k"), ("status", "9xx")],
)
def test_what_is_no_number_is_refused(key, written):
    with pytest.raises(UsageError) as caught:
        numeric(key, Value(written))
    assert f"{key}:{written}" in caught.value.what


@pytest.mark.parametrize(
    ("written", "inside", "outside"),
    [
        ("12:04", "12:04:59", "12:05:00"),
        ("12:04:07", "12:04:07", "12:04:08"),
        ("12:04..12:05", "12:05:00", "12:05:01"),
        ("23:50..", "23:59:00", "23:49:59"),
        ("..06:00", "05:00:00", "06:00:01"),
        ("23:50..00:10", "00:05:00", "12:00:00"),
    ],
)
def test_times_of_day_compare(written, inside, outside):
    def seconds(shown):
        h, m, s = map(int, shown.split(":"))
        return h * 3600 + m * 60 + s

    test = clock("at", Value(written))
    assert test(seconds(inside))
    assert not test(seconds(outside))


def test_what_is_no_time_of_day_is_refused():
    with pytest.raises(UsageError) as caught:
        clock("at", Value("25:00"))
    assert caught.value.help == "as in at:12:04..12:05"


def test_words_are_searched_whatever_their_case_and_patterns_as_written():
    assert contains(Value("ПРОЕКТ"))("мой проект")
    assert contains(Value("tok[ae]n", "regex"))("token")
    assert not contains(Value("TOKEN", "regex"))("token")
    with pytest.raises(UsageError, match="cannot be used") as caught:
        contains(Value("a(?=b)", "regex"))
    assert "lookaround" in caught.value.why
    assert caught.value.help


@pytest.mark.parametrize("value", ["fast", ">fast", "1s..fast", "5x"])
def test_what_is_no_number_is_told_the_units(value):
    with pytest.raises(UsageError) as caught:
        numeric("took", Value(value))
    assert caught.value.why == "took wants a number with us, ms, s, m, h"
    assert caught.value.help == ""
