"""What cannot be meant is refused, by the entry's name and number, with what to write instead."""

from __future__ import annotations

import pytest

from mcp_tap.answers.reading import advertised, load_table
from mcp_tap.answers.script import FromDefault, FromEnv, Root
from mcp_tap.errors import ScriptError, UsageError
from tests.asks import mistakes, script


def only(text):
    (problem,) = mistakes(text)
    return problem


def entry(lines):
    (found,) = script(f"[[answer]]\n{lines}").entries
    return found


def test_an_empty_file_is_a_script():
    found = script("")
    assert (found.entries, found.unmatched, found.advertise) == ((), None, None)


def test_the_top_of_a_file_is_read():
    found = script('version = 1\nunmatched = "decline"\nadvertise = ["elicitation", "roots"]')
    assert found.unmatched == "decline"
    assert found.advertise == {"form", "url", "roots"}


@pytest.mark.parametrize(
    ("text", "code", "what", "help"),
    [
        ("a = ", "script-unreadable", "a.toml is no TOML", ""),
        ("[[answer]]\na = 1\na = 2", "script-unreadable", "a.toml is no TOML", ""),
        ("a = " + "[" * 5000, "script-unreadable", "a.toml is nested too deep", ""),
        ("version = 2", "script-version", "a.toml has version 2, this mcp-tap reads 1", "pipx"),
        ("version = true", "script-version", "has version true", "version = 1"),
        ('version = "1"', "script-version", 'has version "1"', "version = 1"),
        ("unmatchd = 1", "unknown-setting", 'a.toml has no setting "unmatchd"', '"unmatched"'),
        ('unmatched = "pas"', "bad-value", 'unmatched cannot be "pas"', 'did you mean "pass"?'),
        ("unmatched = [1]", "bad-value", "unmatched cannot be [1]", "one of fail, ask"),
        ('advertise = "x"', "setting-type", '"advertise" takes a list', "elicitation.form"),
        ('advertise = ["elicitation.from"]', "bad-value", "no capability", '"elicitation.form"'),
        ("answer = 1", "setting-type", "an answer is no table", "[[answer]]"),
        ("answer = [1]", "setting-type", "an answer is no table", "[[answer]]"),
        ("[answer]\nname = 'x'", "setting-type", "an answer is no table", "[[answer]]"),
    ],
)
def test_a_file_that_cannot_be_meant_is_refused(text, code, what, help):
    problem = only(text)
    assert problem.code == code
    assert what in problem.what
    assert help in problem.help


@pytest.mark.parametrize(
    ("lines", "what", "help"),
    [
        ('acton = "decline"', 'has no setting "acton"', 'did you mean "action"?'),
        ('action = "decline"\nhuhu = 1', 'has no setting "huhu"', "it takes name, match"),
        ('action = "declined"', 'action cannot be "declined"', 'did you mean "decline"?'),
        ('action = "decline"\nmatch = "x"', '"match" takes a table', "match = {"),
        ('action = "decline"\nmatch = { keys = "x" }', 'match has no setting "keys"', '"key"'),
        ('action = "decline"\nmatch = { message = "(" }', "is no expression", ""),
        ('name = ""\naction = "decline"', '"name" takes a text', ""),
        ("content = 1", '"content" takes a table', "content = {"),
        ("content = { a = { b = 1 } }", "content.a: a table is no value", "{ env ="),
        ("content = { a = { default = false } }", "content.a: a table is no value", "default = t"),
        ('content = { a = { env = "" } }', "content.a: a table is no value", "{ env ="),
        ("content = { a = [{ b = 1 }] }", "content.a: a table in a list", ""),
        ("content = { a = 2026-12-31 }", "content.a: TOML reads 2026-12-31 as a date",
         'quote it: "2026-12-31"'),
        ("content = { a = 12:30:00 }", "content.a: TOML reads 12:30:00", 'quote it: "12:30:00"'),
        ("content = { a = [1979-05-27T07:32:00Z] }", "content.a[0]: TOML reads", "quote it"),
        ("content = { a = inf }", "content.a: inf is no number in JSON", ""),
        ("content = { a = nan }", "content.a: nan is no number in JSON", ""),
        ('fill = ["defaults"]', '"fill" is a list of default, generate, capture', "fill = ["),
        ("fill = []", '"fill" is a list of', "fill = ["),
        ('fill = ["generate"]\nseed = "7"', '"seed" takes a whole number', "seed = 7"),
        ('fill = ["capture"]', 'no "capture" says from which', "capture = "),
        ('fill = ["default"]\ncapture = "x"', '"capture" is used by no fill', 'fill = ["capture"]'),
        ('fill = ["default"]\ncontent = { "*" = { default = true } }', '"fill" stands beside', ""),
        ("text = 1", '"text" takes a text', ""),
        ('model = "x"', 'no "text"', 'text = "Paris."'),
        ('roots = ["x"]', '"roots" takes a list of tables', "roots = [{"),
        ("roots = [{}]", 'root 1: no "uri"', 'uri = "file:///'),
        ('roots = [{ uri = "x", nam = "y" }]', 'root 1 has no setting "nam"', '"name"'),
        ('text = "a"\ncontent = {}', '"content" answers form asks and "text" sampling asks',
         "two answers"),
        ('text = "a"\naction = "accept"', '"action" is for elicitations, not for sampling', ""),
        ('content = {}\naction = "decline"', '"content" cannot go with a decline', ""),
        ("match = {}", "says nothing", 'action = "decline"'),
        ("each_round = []", '"each_round" takes a list', "each_round = ["),
        ("each_round = [1]", '"each_round" takes a list', "each_round = ["),
        ("each_round = [{}]", "round 1 says nothing", ""),
        ('each_round = [{ action = "x" }]', 'round 1: action cannot be "x"', "one of"),
        ('each_round = [{ action = "accept" }]\nseed = 1', '"seed" stands beside "each_round"',
         "entries of each_round"),
        ('each_round = [{ text = "a" }, { roots = [] }]', "different kinds of asks", ""),
        ('action = "accept"\nafter_last = "fail"', '"after_last" goes with "each_round"', ""),
        ('each_round = [{ action = "accept" }]\nafter_last = "stop"', "cannot be", "fail, repeat"),
        ('action = "accept"\ntimes = 0', '"times" takes a number from 1 on', "times = 1"),
        ('action = "accept"\ntimes = true', '"times" takes a number from 1 on', "times = 1"),
        ('action = "accept"\ncheck = "no"', '"check" takes true or false', ""),
    ],
)  # fmt: skip
def test_an_entry_that_cannot_be_meant_is_refused(lines, what, help):
    problem = only(f"[[answer]]\n{lines}")
    assert problem.what.startswith("a.toml, answer 1")
    assert what in problem.what
    assert help in problem.help


def test_an_error_quotes_the_entry_as_the_manual_has_it():
    with pytest.raises(ScriptError) as caught:
        script('[[answer]]\nname = "confirm deploys"\nacton = "decline"', "answers.toml")
    assert str(caught.value) == (
        'error[unknown-setting]: answers.toml, answer 1 "confirm deploys" has no setting "acton"\n'
        '  help: did you mean "action"?'
    )


def test_all_mistakes_are_told_not_only_the_first():
    text = """
    unmatched = "x"
    [[answer]]
    action = "y"
    [[answer]]
    action = "accept"
    [[answer]]
    content = { a = inf, b = nan }
    """
    assert [p.what.partition(":")[0] for p in mistakes(text)] == [
        "a.toml", "a.toml, answer 1", "a.toml, answer 3, content.a", "a.toml, answer 3, content.b",
    ]  # fmt: skip


def test_values_are_literals_or_say_where_they_come_from():
    content = entry(
        'content = { a = "NO", b = 1, c = 1.5, d = true, e = ["x"], f = { env = "X" },'
        ' "*" = { default = true } }'
    ).steps[0].content  # fmt: skip
    assert content == {
        "a": "NO", "b": 1, "c": 1.5, "d": True, "e": ["x"], "f": FromEnv("X"), "*": FromDefault(),
    }  # fmt: skip
    assert isinstance(content["d"], bool)


def test_one_way_to_fill_needs_no_list():
    assert entry('fill = "default"').steps[0].fill == ("default",)


def test_roots_may_have_no_name():
    found = entry('roots = [{ uri = "file:///a", name = "A" }, { uri = "file:///b" }]')
    assert found.steps[0].roots == (Root("file:///a", "A"), Root("file:///b"))


@pytest.mark.parametrize(
    ("lines", "kinds"),
    [
        ("content = {}", {"form"}),
        ('fill = ["default"]', {"form"}),
        ('fill = ["capture"]\ncapture = "x"', {"form", "url", "sampling", "roots"}),
        ('action = "accept"', {"form", "url"}),
        ('action = "cancel"', {"form", "url"}),
        ('text = "x"', {"sampling"}),
        ("roots = []", {"roots"}),
        ('each_round = [{ content = {} }, { action = "decline" }]', {"form"}),
    ],
)
def test_what_an_entry_says_tells_which_asks_it_can_answer(lines, kinds):
    assert entry(lines).kinds == kinds


def test_capabilities_have_the_names_of_the_protocol():
    assert advertised(["elicitation.url", "sampling"]) == {"url", "sampling"}
    assert advertised([]) == frozenset()
    with pytest.raises(UsageError, match='"tools" is no capability'):
        advertised(["tools"])


def test_a_table_is_read_as_the_file_that_gives_it():
    table = {"answer": [{"name": "no", "match": {"key": "a"}, "action": "decline"}]}
    (entry,) = load_table(table, "mine").entries
    assert (entry.place, entry.name, entry.match) == ("mine, answer 1", "no", {"key": "a"})
    with pytest.raises(ScriptError, match='has no setting "acton"'):
        load_table({"answer": [{"acton": "decline"}]}, "mine")
