from __future__ import annotations

import pytest

from mcp_tap.wrapping.jsonc import Jsonc
from mcp_tap.wrapping.notation import Unreadable


def values(doc, path=()):
    return {name: doc.data[member.start : member.end] for name, member in doc.members(path).items()}


def test_values_are_found_where_they_stand_among_comments():
    data = (
        b'\xef\xbb\xbf// top\n{ /* "a": 0 */ "a": [1, /* ] */ 2,], // "b": 3,\n'
        b' "b": {"c": "//x",},}\n'
    )
    doc = Jsonc(data)
    assert doc.value == {"a": [1, 2], "b": {"c": "//x"}}
    assert values(doc) == {"a": b"[1, /* ] */ 2,]", "b": b'{"c": "//x",}'}
    assert values(doc, ("b",)) == {"c": b'"//x"'}


def test_a_comma_behind_the_last_item_belongs_to_it():
    doc = Jsonc(b'{"a": [1 , /* two */ 2 /* end */ , ]}')
    items = doc.items(doc.members(())["a"]).items
    assert [doc.data[item.start : item.end] for item in items] == [b"1", b"2"]
    assert doc.data[items[0].start : items[0].behind] == b"1 ,"
    assert doc.data[items[1].start : items[1].behind] == b"2 /* end */ ,"


def test_what_is_no_list_has_no_items():
    doc = Jsonc(b'{"a": {"b": 1}}')
    assert doc.items(doc.members(())["a"]) is None


def test_an_empty_file_says_nothing():
    assert Jsonc(b" \n// later\n").value == {}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{\n "a": 1,,\n}', "line 3"),
        (b'{"a": /* 1}', "line 1"),
        (b'{"a": "\n', "line 1"),
        (b'\n{"a": \xff}', "line 2: it is not UTF-8"),
        (b'{"a": ' + b"[" * 100_000, "too deep"),
        (b"{} {}", "line 1"),
        (b'{"a" 1}', "line 1"),
        (b'{\n "a": [1,\n\n', "line 2: it ends in the middle"),
    ],
)
def test_what_is_no_json_is_refused_with_its_line(data, words):
    with pytest.raises(Unreadable, match=words):
        Jsonc(data)


@pytest.mark.parametrize(
    ("data", "path"),
    [(b'{"a": {"b": 1, "b": 2}}', ("a",)), (b'{"a": {"b": {}}, "a": {"b": {}}}', ("a", "b"))],
)
def test_a_member_named_twice_is_refused(data, path):
    with pytest.raises(Unreadable, match="two members of one name"):
        Jsonc(data).members(path)
