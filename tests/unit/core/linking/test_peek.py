from __future__ import annotations

import json

import pytest

from mcp_tap.core.linking.peek import named, peek
from mcp_tap.core.records import Message


def cut(text):
    return Message(seq=1, t=0.0, exchange=1, sender="client", text=text, truncated=True)


WHOLE = {
    "jsonrpc": "2.0",
    "id": 17,
    "method": "tools/call",
    "params": {"name": "bulk", "arguments": {"blob": "zz"}, "n": [1, {"a": 2}]},
}


def test_members_before_the_cut_are_read():
    found = peek(cut(json.dumps(WHOLE)[:90]))
    assert found["id"] == 17
    assert found["method"] == "tools/call"
    assert found["params"]["name"] == "bulk"


@pytest.mark.parametrize("end", range(len(json.dumps(WHOLE))))
def test_any_cut_reads_only_what_is_there(end):
    found = peek(cut(json.dumps(WHOLE)[:end]))
    for key, value in found.items():
        assert key in WHOLE
        assert isinstance(value, dict) or value == WHOLE[key]


def test_a_number_at_the_cut_is_not_trusted():
    assert "id" not in peek(cut('{"id":12'))
    assert peek(cut('{"id":12,'))["id"] == 12


@pytest.mark.parametrize(
    "text", ["", "   ", "[1,2", "nope", '{"a', "{1:2", '{"a" 1', '{"a":{"b":{"c":{"d":{']
)
def test_nonsense_gives_little_and_never_raises(text):
    assert set(peek(cut(text))) <= {"a"}


def test_deep_nesting_is_no_problem():
    assert peek(cut('{"a":' + "[" * 60_000)) == {"a": []}


def test_mirrored_names_are_decoded():
    assert named("=?base64?esO8cmljaA==?=") == "zürich"
    assert named("=?base64?%%%?=") == "=?base64?%%%?="
    assert named("plain") == "plain"
    assert named(None) is None
