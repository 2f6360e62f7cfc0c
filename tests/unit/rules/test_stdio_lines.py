from __future__ import annotations

import json
import time

import pytest

from tests.cases import fired, ids, line, message, result, stdio

ASKED = line("client", message("vendor/x", 1))
DONE = line("server", result(1))


def pretty(value, sender="server"):
    return [line(sender, text) for text in json.dumps(value, indent=1).split("\n")]


def loud(case):
    return [f for f in fired(case, "STDIO", "RPC") if f.severity != "note"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Server listening on stdio", "no JSON"),
        ("42", "no object"),
        ('"hello"', "no object"),
        ("null", "no object"),
        ('{"jsonrpc":"2.0",}', "no JSON"),
        ('{"a":"\udcff"}', "not UTF-8"),
        ("\ufeff" + json.dumps(result(1)), "byte order mark"),
    ],
)
def test_a_line_that_is_no_message_is_found_at_once(text, said):
    (found,) = loud(stdio(ASKED, line("server", text), DONE))
    assert (found.rule, found.severity, found.blame) == ("STDIO-001", "error", "server")
    assert said in found.message


def test_a_client_writes_such_lines_too():
    (found,) = loud(stdio(line("client", "hello"), ASKED, DONE))
    assert (found.rule, found.blame) == ("STDIO-001", "client")


def test_an_array_is_no_message():
    assert ids(stdio(ASKED, line("server", [result(1)])), "STDIO") == ["STDIO-001"]


@pytest.mark.parametrize("text", ["", "   ", "\r"])
def test_blank_lines_are_fine(text):
    assert not loud(stdio(ASKED, line("server", text), DONE))


def test_a_carriage_return_at_the_end_is_fine():
    assert not loud(stdio(ASKED, line("server", json.dumps(result(1)) + "\r")))


def test_standard_error_is_free():
    assert not loud(stdio(line("server-stderr", "{"), ASKED, DONE))


def test_json_only_some_parsers_refuse_is_fine():
    text = '{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","n":1e400}}'
    assert not ids(stdio(ASKED, line("server", text)), "STDIO")


@pytest.mark.parametrize("content", [{}, {"a": [{}, {"b": []}, [1], "x"]}, {"empty": [{}]}])
def test_a_message_over_several_lines_is_found_once(content):
    (found,) = loud(stdio(ASKED, *pretty(result(1, content=content)), DONE))
    assert (found.rule, found.blame, found.seq) == ("STDIO-002", "server", 2)


def test_a_line_break_in_a_string_tears_a_message():
    text = json.dumps(result(1, text='a\\nb{ \\" ')).replace("\\\\n", "\n")
    lines = [line("server", piece) for piece in text.split("\n")]
    assert len(lines) == 2
    assert ids(stdio(ASKED, *lines), "STDIO") == ["STDIO-002"]


def test_both_sides_may_write_in_between():
    first, *rest = pretty(result(1))
    case = stdio(ASKED, first, line("client", message("vendor/x", 2)), *rest)
    assert ids(case, "STDIO") == ["STDIO-002"]


def test_lines_that_make_no_message_are_found_one_by_one():
    lines = [line("server", text) for text in ("{", '"a": 1', "}")]
    assert ids(stdio(ASKED, *lines), "STDIO") == ["STDIO-001"] * 3


def test_a_message_in_between_ends_what_was_open():
    case = stdio(ASKED, line("server", "{ starting"), DONE, line("server", "}"))
    assert [f.seq for f in loud(case)] == [2, 4]


def test_a_beginning_that_never_goes_on_is_a_note():
    (found,) = fired(stdio(ASKED, line("server", '{"jsonrpc":"2.0","id":1,"resu')), "STDIO")
    assert (found.rule, found.severity, found.seq) == ("STDIO-001", "note", 2)
    (found,) = fired(stdio(ASKED, *pretty(result(1))[:-1]), "STDIO")
    assert found.severity == "note"


def test_waiting_has_an_end():
    lines = [line("server", "{")] * 1002
    found = fired(stdio(ASKED, *lines), "STDIO")
    assert len([f for f in found if f.severity == "error"]) == 200
    wide = ["{" + "x" * (600 << 10)] * 3
    found = fired(stdio(ASKED, *(line("server", text) for text in wide)), "STDIO")
    assert [f.severity for f in found] == ["error", "error", "note"]


@pytest.mark.parametrize(
    "text",
    [
        '{"' + "\\" * 500_000,
        "{" * 900_000,
        '{"a":"' + 'x"' * 400_000,
        "{" + '""' * 400_000,
        '{"' + '\\"' * 500_000,
    ],
)
def test_hostile_lines_are_judged_quickly(text):
    case = stdio(ASKED, line("server", text), line("server", text))
    start = time.thread_time()
    found = ids(case)
    assert time.thread_time() - start < 3
    assert "STDIO-001" in found
    assert not [rule for rule in found if rule.startswith("TAP")], "they are looked at"
