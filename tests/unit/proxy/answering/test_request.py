"""Requests are read, declared for, and written once more."""

from __future__ import annotations

import json

import pytest

from mcp_tap.core import spec
from mcp_tap.core.splice import SpliceError
from mcp_tap.core.wire import UNPARSED, spliced
from mcp_tap.net.heads import HeadReader, RequestLine
from mcp_tap.proxy.answering.request import Reader
from tests.asking import request

ALL = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}
FORMS = {"elicitation": {"form": {}}}


def head(*fields):
    return HeadReader().read(RequestLine(b"POST", b"/mcp", "1.1"), list(fields))


def read(body, advertise=FORMS, *fields):
    """Read a request for the first time, once more, and as one that is not parsed before."""
    readers = Reader(advertise), Reader(advertise)
    values = (*[spliced(body)] * 2, UNPARSED)
    found = [readers[not v].read(body, head(*fields), v) for v in values]
    assert len({(f.body, f.edited, f.declared, f.id) if f else None for f in found}) == 1
    return found[0]


def declared(body, advertise=FORMS):
    return json.loads(read(body, advertise).body)["params"]["_meta"][spec.CLIENT_CAPABILITIES]


def test_a_request_is_read():
    found = read(request(5, tool="deploy", requestState="s1"), {})
    assert (found.method, found.name, found.id, found.state) == ("tools/call", "deploy", b"5", "s1")
    assert (found.edited, found.declared) == (False, frozenset())
    assert found.arguments() == {"guests": 2}


@pytest.mark.parametrize(
    "body",
    [
        request().replace(b"tools/call", b"tools/list"),
        request().replace(b"2026-07-28", b"2025-11-25"),
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}',
        b'{"jsonrpc":"2.0","method":"tools/call","params":{}}',
        b'{"jsonrpc":"2.0","id":1,"method":5,"params":{}}',
        b"[]",
        b"{",
    ],
)
def test_other_messages_are_left_alone(body):
    assert read(body) is None


def test_the_head_tells_the_revision_where_the_body_does_not():
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}'
    assert read(body) is None
    assert read(body, FORMS, (b"MCP-Protocol-Version", b" 2026-07-28 ")).body == body
    assert read(body, FORMS, (b"MCP-Protocol-Version", b"2025-11-25")) is None


@pytest.mark.parametrize(
    ("mine", "added", "both"),
    [
        ({}, FORMS, FORMS),
        ({"elicitation": {}}, FORMS, {"elicitation": {}}),
        ({"elicitation": {}}, ALL, ALL),
        ({"elicitation": {"url": {}}}, FORMS, {"elicitation": {"url": {}, "form": {}}}),
        ({"sampling": {"tools": {}}}, {"sampling": {}}, {"sampling": {"tools": {}}}),
        ({"experimental": {"x": 1}}, {"roots": {}}, {"experimental": {"x": 1}, "roots": {}}),
        ({"elicitation": 5}, FORMS, {"elicitation": 5}),
    ],
)
def test_capabilities_are_added_and_none_is_taken(mine, added, both):
    assert declared(request(capabilities=mine), added) == both


def test_a_meta_without_capabilities_gets_some():
    body = request().replace(b'"io.modelcontextprotocol/clientCapabilities" : {}', b'"x" : 1')
    meta = json.loads(read(body).body)["params"]["_meta"]
    assert (meta["x"], meta[spec.CLIENT_CAPABILITIES]) == (1, FORMS)


def test_what_is_remembered_of_a_meta_holds_for_the_next_request():
    reader = Reader(FORMS)
    one, two = (reader.read(request(n, arguments={"n": n}), head()) for n in (1, 2))
    assert one.meta is two.meta
    assert json.loads(two.body)["params"]["arguments"] == {"n": 2}


KEY = b'"' + spec.CLIENT_CAPABILITIES.encode() + b'"'
BODY = b'{"id":1,"method":"tools/call","params":{"arguments":[7],"_meta":{"a":7,%b:{},"b":"%b"}}}'
TELLING = BODY % (b'"io.modelcontextprotocol/protocolVersion":"2026-07-28",' + KEY, b"00-4b")


@pytest.mark.parametrize(
    "change",
    [
        {},
        {KEY + b":": KEY + b" \t: \n"},
        {KEY: KEY.replace(b"/", b"\\/")},
        {KEY: b'"x":1,' + KEY.replace(b"c", b"\\u0063")},
        {b"[7]": b"{%b:[]}" % KEY},
        {KEY + b":{": KEY + b" : {", b"[7]": b"{%b:{ }}" % KEY},
        {b"7,": b"{%b:[]}," % KEY},
        {b'/clientCapabilities":{': b'\\/clientCapabilities":{', b"7,": b"{%b:{ }}," % KEY},
        {b"00-4b": b"\\n"},
    ],
)
def test_nothing_but_the_capabilities_is_changed(change):
    body = TELLING
    for old, new in change.items():
        assert body.count(old) == 1
        body = body.replace(old, new)
    at = body.rindex(b"{}")
    assert read(body).body == body[:at] + b'{"elicitation":{"form":{}}}' + body[at + 2 :]


DECLARED = KEY + b':{"elicitation":{}}'
DECLARING = TELLING.replace(KEY + b":{}", DECLARED)


@pytest.mark.parametrize("advertise", [{"elicitation": {}}, {"roots": {}}])
@pytest.mark.parametrize(
    "change",
    [
        {},
        {b"[7]": b"[7,8]"},
        {b'"id":1': b'"id":"a longer one"'},
        {b'"b":"00-4b"': b'"b":"longer than before"'},
        {b"[7]": b"{%b}" % DECLARED},
        {b",%b" % DECLARED: b"", b"[7]": b"{%b}" % DECLARED},
        {b"[7]": b'["%b"]' % DECLARED.replace(b'"', b'\\"')},
        {DECLARED: KEY + b":{}"},
        {DECLARED: KEY + b':{"elicitation":{"url":{}}}'},
        {DECLARED: KEY + b' : {"elicitation":{}}'},
        {DECLARED: DECLARED[:-1] + b',"roots":{}}'},
        {b"2026-07-28": b"2025-11-25"},
        {b'"_meta":{': b'"x":{'},
        {b'"_meta":{': b'"_meta":{"x":"\\u00e4",'},
    ],
)
def test_what_is_remembered_of_how_clients_declare_changes_nothing(change, advertise):
    body = DECLARING
    for old, new in change.items():
        assert body.count(old) == 1
        body = body.replace(old, new)
    used, fresh = Reader(advertise), Reader(advertise)
    for before in (request(), DECLARING):
        used.read(before, head(), spliced(before))
    found, wanted = (reader.read(body, head(), spliced(body)) for reader in (used, fresh))
    assert (found is None) == (wanted is None)
    if found is not None:
        assert (found.body, found.edited) == (wanted.body, wanted.edited)
        assert (found.declared, found.meta.version) == (wanted.declared, wanted.meta.version)


def test_capabilities_that_stand_elsewhere_are_not_those_of_the_client():
    body = TELLING.replace(KEY, b'"x"').replace(b"[7]", b"{%b:{}}" % KEY)
    more = b',%b:{"elicitation":{"form":{}}}}}}' % KEY
    assert read(body).body == body[:-3] + more


def test_capabilities_named_twice_are_left_as_they_are():
    body = TELLING.replace(KEY, b"%b:{},%b" % (KEY, KEY))
    found = read(body)
    assert (found.body, found.edited) == (body, False)


def test_a_repeat_has_the_answers_and_the_state():
    found = read(request(5), {})
    again = found.again(b'"t1"', b'{"k":{}}', b'"s\\u0031"')
    assert b'"requestState":"s\\u0031"' in again
    value = json.loads(again)
    assert (value["id"], value["params"]["inputResponses"]) == ("t1", {"k": {}})
    assert json.loads(found.again(b'"t2"', None, None))["params"].keys() == {
        "name",
        "arguments",
        "_meta",
    }


def test_older_answers_and_states_are_replaced_or_left_out():
    found = read(request(5, inputResponses={"old": {}}, requestState="old"), {})
    params = json.loads(found.again(b'"t1"', b'{"k":{}}', b'"new"'))["params"]
    assert (params["inputResponses"], params["requestState"]) == ({"k": {}}, "new")
    params = json.loads(found.again(b'"t1"', None, None))["params"]
    assert "inputResponses" not in params
    assert "requestState" not in params


def test_a_request_that_names_a_member_twice_cannot_be_repeated():
    found = read(request().replace(b'"id" : 7', b'"id" : 7, "id" : 7'), {})
    with pytest.raises(SpliceError):
        found.again(b'"t1"', None, None)
