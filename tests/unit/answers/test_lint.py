"""What can never be as written is a warning; what may be meant is a note."""

from __future__ import annotations

import pytest

from mcp_tap.answers.lint import lint
from tests.asks import script


def remarks(text, env=None):
    return lint(script(text), env or {})


def codes(text, env=None):
    return [(r.severity, r.code) for r in remarks(text, env)]


def pair(first, later, one='action = "decline"', other='action = "accept"'):
    return f"[[answer]]\nmatch = {first}\n{one}\n[[answer]]\nmatch = {later}\n{other}\n"


def test_a_script_that_can_be_as_written_has_no_remarks():
    assert remarks('[[answer]]\nmatch = { key = "a" }\ncontent = { b = "c" }') == []


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("{}", "{}"),
        ("{}", '{ key = "a" }'),
        ('{ key = "a" }', '{ key = "a", tool = "b" }'),
        ('{ key = "a*" }', '{ key = "ab*" }'),
        ('{ key = ["x", "a*"] }', '{ key = ["ab", "ac"] }'),
        ('{ message = "x" }', '{ message = "x", key = "a" }'),
        ('{ field = "a" }', '{ field = ["a:number", "b"] }'),
        ("{ arguments = { n = 1 } }", "{ arguments = { n = 1, m = 2 } }"),
        ('{ mode = "url" }', '{ url = "https://a.example/*" }'),
        ('{ ask = ["form", "url"] }', '{ ask = "form" }'),
        ('{ method = "tools/*" }', '{ tool = "a" }'),
    ],
)
def test_an_entry_behind_one_that_takes_all_of_its_asks_never_wins(first, later):
    (remark,) = remarks(pair(first, later))
    assert (remark.severity, remark.code) == ("warning", "never-wins")
    assert remark.where == "a.toml, answer 2"
    assert "answer 1" in remark.what


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ('{ key = "a" }', "{}"),
        ('{ key = "a", tool = "b" }', '{ key = "a" }'),
        ('{ key = "ab*" }', '{ key = "a*" }'),
        ('{ key = "a?" }', '{ key = "a*" }'),
        ('{ key = "a" }', '{ key = ["a", "b"] }'),
        ('{ message = "x" }', '{ message = "xy" }'),
        ('{ field = "a:number" }', '{ field = "a" }'),
        ('{ field = ["a", "b"] }', '{ field = "a" }'),
        ("{ arguments = { n = 1 } }", "{ arguments = { n = 2 } }"),
        ('{ mode = "url" }', '{ mode = "form" }'),
        ('{ method = "prompts/get" }', '{ tool = "a" }'),
    ],
)
def test_an_entry_with_asks_of_its_own_can_win(first, later):
    assert remarks(pair(first, later)) == []


def test_an_entry_that_answers_other_kinds_hides_nothing():
    assert remarks(pair("{}", "{}", 'text = "x"', "roots = []")) == []
    assert remarks(pair("{}", "{}", "content = {}", 'action = "accept"')) == []
    assert codes(pair("{}", "{}", 'action = "accept"', "content = {}")) == [
        ("warning", "never-wins")
    ]


def test_an_entry_that_is_used_up_hides_nothing():
    assert remarks(pair("{}", "{}", 'action = "decline"\ntimes = 1')) == []


@pytest.mark.parametrize(
    "lines",
    [
        'match = { ask = "sampling" }\ncontent = {}',
        'match = { mode = "url" }\ncontent = {}',
        'match = { url = "https://a.example/" }\nroots = []',
        'match = { field = "a" }\ntext = "x"',
        'match = { mode = "url", field = "a" }\naction = "accept"',
        'match = { tool = "a", method = "prompts/*" }\naction = "accept"',
    ],
)
def test_an_entry_that_answers_what_it_does_not_match_never_matches(lines):
    assert codes(f"[[answer]]\n{lines}") == [("warning", "never-matches")]


@pytest.mark.parametrize(
    "lines",
    [
        "content = { a = [1] }",
        "content = { a = [[]] }",
        'match = { field = "amount:number" }\ncontent = { amount = "3" }',
        "each_round = [{ content = { a = [true] } }]",
    ],
)
def test_content_that_no_form_can_ask_for_never_fits(lines):
    assert codes(f"[[answer]]\n{lines}") == [("warning", "never-fits")]
    assert codes(f"[[answer]]\n{lines}\ncheck = false") == []


def test_a_name_that_is_used_twice_is_told():
    text = '[[answer]]\nname = "a"\nmatch = { key = "x" }\ncontent = {}\n'
    assert codes(text + text.replace('"x"', '"y"')) == [("note", "name-twice")]


def test_a_variable_that_is_missing_now_may_be_there_then():
    text = '[[answer]]\ncontent = { a = { env = "A" }, b = { env = "B" } }'
    (remark,) = remarks(text, {"A": "x"})
    assert (remark.severity, remark.code) == ("note", "env-missing")
    assert "B" in remark.what


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('advertise = ["roots"]\n[[answer]]\nroots = []', []),
        ('advertise = ["elicitation"]\nunmatched = "decline"', []),
        ('advertise = ["sampling"]', [("warning", "advertise-empty")]),
        ('advertise = ["elicitation"]\n[[answer]]\nmatch = { mode = "url" }\naction = "accept"',
         [("warning", "advertise-empty")]),
    ],
)  # fmt: skip
def test_nothing_is_advertised_that_no_answer_is_for(text, found):
    assert codes(text) == found


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("https://a.example/*", []),
        ("https://*.a.example/*", []),
        ("*", []),
        ("https://a.example*", [("note", "url-open")]),
    ],
)
def test_a_pattern_that_other_hosts_fit_is_told(address, found):
    assert codes(f'[[answer]]\nmatch = {{ url = "{address}" }}\naction = "accept"') == found


def test_a_type_that_is_none_may_be_a_slip():
    assert codes('[[answer]]\nmatch = { field = "a:strng" }\ncontent = {}') == [
        ("note", "field-type")
    ]
    assert codes('[[answer]]\nmatch = { field = "ns:a" }\ncontent = {}') == []


def test_one_value_for_all_other_fields_is_hardly_meant():
    assert codes('[[answer]]\ncontent = { "*" = "x" }') == [("note", "same-for-all")]
    assert codes('[[answer]]\ncontent = { "*" = { default = true } }') == []
