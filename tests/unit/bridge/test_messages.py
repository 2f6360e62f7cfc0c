from __future__ import annotations

import json

import pytest

from mcp_tap.bridge.messages import error_with, is_id, own_error, read
from mcp_tap.core.splice import SpliceError


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b'{"id":1,"method":"a"}', "request"),
        (b'{"id":null,"method":"a"}', "request"),
        (b'{"method":"a"}', "notification"),
        (b'{"id":1,"result":null}', "response"),
        (b'{"error":{}}', "response"),
        (b'{"id":1}', None),
        (b'{"method":1}', None),
        (b"[]", None),
        (b"", None),
        (b"{", None),
        (b'{"method":"\xff"}', None),
    ],
)
def test_messages_are_told_by_their_members(data, kind):
    said = read(data)
    assert (None if said is None else said.kind) == kind


def test_line_breaks_between_tokens_become_blanks_and_nothing_else_changes():
    said = read(b'\r\n{"method":\r\n"a\\n",\n"params" : {"n":1.10}}\n')
    assert said is not None
    assert said.data == b'{"method":  "a\\n", "params" : {"n":1.10}}'


def test_tokens_are_put_in_place_of_others_in_the_bytes():
    said = read(b'{"id" : 1.0, "method":"a","params":{"_meta":{"progressToken":"x"},"n":1e3}}')
    assert said is not None
    changed = said.with_tokens(
        {("id",): b"7", ("params", "_meta", "progressToken"): b"8", ("params", "none"): b"9"}
    )
    assert changed == (b'{"id" : 7, "method":"a","params":{"_meta":{"progressToken":8},"n":1e3}}')
    assert said.token("id") == b"1.0"
    assert said.token("result") is None


def test_a_member_that_is_named_twice_is_not_touched():
    said = read(b'{"id":1,"id":2,"method":"a"}')
    assert said is not None
    with pytest.raises(SpliceError):
        said.with_tokens({("id",): b"7"})


def test_what_is_large_is_looked_at_from_outside_only():
    said = read(
        b'{"id":1,"method":"a","params":{"name":"x","arguments":"%b"}}' % (b"y" * (2 << 20))
    )
    assert said is not None
    assert (said.id, said.params["name"], said.params["arguments"]) == (1, "x", None)


def test_members_of_the_wrong_kind_count_as_missing():
    said = read(b'{"id":1,"method":"a","params":[],"error":{"code":"x"}}')
    assert said is not None
    assert (said.params, said.meta, said.result, said.code) == ({}, {}, {}, None)


def test_errors_of_the_bridges_own_say_so():
    error = json.loads(own_error(b'"x"', "name", "why", code=-1))
    assert error == {
        "jsonrpc": "2.0",
        "id": "x",
        "error": {
            "code": -1,
            "message": "mcp-tap bridge: why",
            "data": {"sender": "mcp-tap bridge", "error": "name"},
        },
    }
    assert error_with(None, b"{}") == b'{"jsonrpc":"2.0","error":{}}'


def test_ids_are_strings_and_numbers():
    assert [is_id(each) for each in (0, "", 1.5, None, True, [])] == [True] * 3 + [False] * 3
