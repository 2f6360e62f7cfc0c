from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mcp_tap.core.filter_keys import KEYS
from mcp_tap.core.filters import Scope, help_text, parse
from mcp_tap.errors import UsageError
from tests import builders as b

START = datetime(2026, 7, 28, 12, 4, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("", [14, 15, 16, 17, 18, 19]),
        ("tool:deploy", [16]),
        ("tool:deploy state:waiting", []),
        ("tool:book_*,dep*", [16, 17]),
        ("!tool:*", [14, 19]),
        ("state:waiting | state:error", [17, 18]),
        ("method:tools/call !(tool:deploy | tool:exprt)", [15, 17]),
        ("(state:ok round:>=3) | kind:stream", [16, 19]),
        ("took:>2s", [16]),
        ("took:<100ms", [14, 18]),
        ("status:-32602", [18]),
        ("key:seat ask:form", [17]),
        ("action:accept", [16, 17]),
        ("id:7,t1", [16]),
        ("call:15..17", [15, 16, 17]),
        ("at:12:04:07", [16]),
        ("at(12:04:15..12:05)", [17, 18, 19]),
        ("at:(..12:04:03)", [14, 15]),
        ("client:demo-client server:BILLING tool:search", [15]),
        ('"Unknown tool"', [18]),
        ("unknown TOOL", [18]),
        ("text:/Deploy b.ll/", [16]),
        ("when когда", []),
        ("когда", [16]),
        ("kind:request !kind:call", [19]),
        ('tool:"dep*"', []),
        ("!!tool:deploy", [16]),
    ],
)
def test_a_filter_lets_these_calls_through(text, numbers):
    filter_ = parse(text)
    scope = Scope(start=START)
    assert [c.number for c in b.run() if filter_.matches(c, scope)] == numbers


def test_exchanges_pass_filters_too():
    refused = b.exchange(status=403, how="refused", kind="http", method=None, verb="GET")
    assert parse("status:4xx state:error !kind:notification").matches(refused)
    assert not parse("!kind:notification").matches(b.exchange())


def test_bodies_are_searched_where_they_are_given():
    scope = Scope(bodies=lambda _: ["4 results"])
    assert parse('"4 results"').matches(b.call(1), scope)
    assert not parse('"4 results"').matches(b.call(1))


@pytest.mark.parametrize(
    ("text", "code", "help"),
    [
        ("too:x", "unknown-key", 'did you mean "tool"?'),
        ("state:wating", "filter-value", 'did you mean "state:waiting"?'),
        ("http://x", "unknown-key", 'to search for text, quote it: "http://x"'),
        ("12:04", "filter-syntax", 'as text: "12:04"'),
        ("tool:", "filter-syntax", "as in tool:NAME"),
        ("took:2s", "filter-value", "compare: took:>2s"),
    ],
)
def test_what_is_wrong_is_said_with_what_was_meant(text, code, help):
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert (caught.value.code, caught.value.help) == (code, help)


@pytest.mark.parametrize(
    ("text", "column", "why"),
    [
        ("(a", 3, "( without its )"),
        ("a b)", 4, ") without its ("),
        ("a |", 4, "missing"),
        ("| a", 1, "missing"),
        ("()", 2, "missing"),
        ("!", 2, "missing"),
        ('a "b', 3, '" without its other'),
        ('tool:"x', 6, "wants a value"),
        ('tool:a"b"', 7, "quotes go around"),
        ("text:/a", 6, "/ without its other"),
        ("at:(12:04", 10, "( without its )"),
        ("(" * 60, 51, "too deep"),
        ("!" * 60, 51, "too deep"),
    ],
)
def test_syntax_errors_name_the_column(text, column, why):
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert caught.value.what == f"cannot read the filter at column {column}"
    assert why in caught.value.why


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("", ""),
        ("  a   b ", "a b"),
        ("a|b c", "a | (b c)"),
        ("((a))", "a"),
        ("(a b) c", "a b c"),
        ("a | (b | c)", "a | b | c"),
        ("!(a | b)", "!(a | b)"),
        ("at(12:04..12:05)", "at:12:04..12:05"),
        ('tool:"a b","c","d*"', 'tool:"a b",c,"d*"'),
        ('"say \\"hi\\""', '"say \\"hi\\""'),
        ("text:/a\\/b/", "text:/a\\/b/"),
        ('text:"/x/"', 'text:"/x/"'),
    ],
)
def test_a_filter_prints_as_it_is_best_written(text, printed):
    assert str(parse(text)) == printed
    assert parse(printed) == parse(text)


def test_filters_know_what_they_use_and_whether_they_are_empty():
    assert parse("tool:x (word | !status:404)").uses("text")
    assert parse("!status:404").uses("kind", "status")
    assert not parse("tool:x").uses("text")
    assert not parse("")
    assert parse("a")
    assert repr(parse("tool:x")) == "parse('tool:x')"
    assert len({parse("a b"), parse("a  b"), parse("b a")}) == 2


def test_the_help_lists_every_key_of_the_parser_and_fits_a_terminal():
    text = help_text()
    for name in KEYS:
        assert f"\n{name}:" in text
    assert all(len(line) <= 78 for line in text.splitlines())
    assert "rule:" in text


def test_the_examples_of_the_help_can_be_parsed():
    head = help_text().split("\n\n")[0]
    for line in head.splitlines():
        for example in line[38:].split("    "):
            if example.strip():
                parse(example)
