from __future__ import annotations

import tomllib

import pytest

from mcp_tap.wrapping.notation import Unreadable
from mcp_tap.wrapping.toml import Toml

EVERYTHING = b'''\xef\xbb\xbftop = 1 # one
"quoted key".'other' . bare = 'a # b'

  [ s . "x y" ] # heading
  command = """
say "[s.z]" ""\\""""""
  args = [ # first
    "a", 'b', # [
    \'\'\'c'd\'\'\'\'\',
    [1, {k = "}"}],
  ]
  when = 1979-05-27 07:32:00Z
  inline = {a = 1, "b.c" = [2 , 3], d.e = { f = true } }
[[list]]
a = 1
[list.sub]
b = 2
[[list]]
a = 3
[last]
n = -inf'''


def found(data):
    doc = Toml(data)
    return {
        (*path, name): data[member.start : member.end].decode()
        for path, members in doc._tables.items()
        for name, member in members.items()
    }


def test_every_value_is_found_where_it_stands():
    spans = found(EVERYTHING)
    assert spans[("top",)] == "1"
    assert spans[("quoted key", "other", "bare")] == "'a # b'"
    assert spans[("s", "x y", "when")] == "1979-05-27 07:32:00Z"
    assert spans[("s", "x y", "inline", "d", "e", "f")] == "true"
    assert spans[("list", "[1]", "a")] == "1"
    assert spans[("list", "[2]", "a")] == "3"
    assert spans[("last", "n")] == "-inf"
    for path, token in spans.items():
        value = tomllib.loads(EVERYTHING[3:].decode())
        if "list" in path or any(name.startswith("[") for name in path):
            continue
        for name in path:
            value = value[name]
        assert tomllib.loads(f"v = {token}")["v"] == value


def test_items_of_a_list_end_behind_their_comma():
    doc = Toml(EVERYTHING)
    items = doc.items(doc.members(("s", "x y"))["args"]).items
    assert [EVERYTHING[item.start : item.end] for item in items] == [
        b'"a"', b"'b'", b"'''c'd'''''", b'[1, {k = "}"}]',
    ]  # fmt: skip
    assert all(EVERYTHING[item.end : item.behind] == b"," for item in items)


def test_another_member_stands_below_with_the_same_indent_and_prefix():
    doc = Toml(b"[a]\r\n  b.c = 1\r\nd = {e = 1}\r\n")
    assert doc.members(("a", "b"))["c"].glue == b"\r\n  b."
    assert doc.members(("a", "d"))["e"].glue == b", "


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"a = 1\na = 2\n", "line 2"),
        (b"[a]\n[a]\n", "line 2"),
        (b"a = [1, 2\n", "end of document|line"),
        (b"a = 'x\xff'", "line 1: it is not UTF-8"),
        (b"a = " + b"[" * 100_000, "too deep"),
    ],
)
def test_what_is_no_toml_is_refused(data, words):
    with pytest.raises(Unreadable, match=words):
        Toml(data)
