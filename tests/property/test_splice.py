"""Splicing is editing: what comes out parses as the edited value; the rest are the same bytes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_tap.core.splice import SpliceError, find, members, put, spliced
from mcp_tap.core.wire import loads

NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | NAMES
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=5)


@st.composite
def texts(draw, objects=OBJECTS):
    """Give an object and one of the many ways to write it."""
    value = draw(objects)
    separators = draw(st.sampled_from([(",", ":"), (" , ", " : "), (",\n", ":\t")]))
    plain = draw(st.booleans())
    text = json.dumps(value, separators=separators, ensure_ascii=plain)
    before, behind = draw(st.sampled_from([("", ""), (" ", "\r\n"), ("\n\t", " ")]))
    return value, (before + text + behind).encode()


@given(texts(), st.dictionaries(NAMES, VALUES | st.just("\0gone"), max_size=4))
def test_members_are_replaced_added_and_taken_out(written, changes):
    value, text = written
    gone = {name for name, new in changes.items() if new == "\0gone"}
    tokens = {n: None if n in gone else json.dumps(v).encode() for n, v in changes.items()}
    edited = spliced(text, put(text, tokens))
    wanted = {n: v for n, v in value.items() if n not in gone}
    wanted |= {n: v for n, v in changes.items() if n not in gone}
    assert json.loads(edited) == wanted


@given(texts(), st.data())
def test_all_but_the_value_stays_as_it_was(written, data):
    value, text = written
    if not value:
        return
    name = data.draw(st.sampled_from(sorted(value)))
    span = find(text, name)
    assert json.loads(text[span.start : span.end]) == value[name]
    edited = spliced(text, put(text, {name: b'"new"'}))
    assert edited == text[: span.start] + b'"new"' + text[span.end :]


@given(texts(st.dictionaries(NAMES, OBJECTS, min_size=1, max_size=3)), st.data())
def test_members_are_found_at_any_depth(written, data):
    value, text = written
    outer = data.draw(st.sampled_from(sorted(value)))
    inner = data.draw(NAMES)
    span = find(text, outer, inner)
    assert (span is None) == (inner not in value[outer])
    edited = spliced(text, put(text, {inner: b"[1]"}, find(text, outer)))
    assert json.loads(edited) == value | {outer: value[outer] | {inner: [1]}}


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_anything_is_an_object_or_refused(data):
    try:
        found = members(data)
    except SpliceError:
        return
    for place in found.values():
        assert 0 < place.key < place.start < place.end < len(data)


@given(texts(), st.sampled_from([b"1", b'"x"', b"{}", b"[ ]"]), st.booleans())
def test_a_member_that_is_named_twice_is_never_edited(written, token, front):
    value, text = written
    if not value:
        return
    name = json.dumps(next(iter(value))).encode()
    at = text.index(b"{") + 1
    again = name + b":" + token
    body = text[:at] + again + b"," + text[at:]
    if not front:
        end = text.rindex(b"}")
        body = text[:end] + b"," + again + text[end:]
    with pytest.raises(SpliceError):
        members(body)


def test_deep_nesting_is_walked_over():
    deep = b"[" * 2000 + b"]" * 2000
    text = b'{"a":' + deep + b',"id":1}'
    assert spliced(text, put(text, {"id": b"2"})) == text.replace(b'"id":1', b'"id":2')
    assert loads(text)["id"] == 1
