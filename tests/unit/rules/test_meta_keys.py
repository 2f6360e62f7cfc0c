from __future__ import annotations

import pytest

from mcp_tap.rules.meta_keys import is_key
from tests.cases import (
    PREFIX,
    RESULT,
    SERVER_META,
    answer,
    ask,
    call,
    exchange,
    fired,
    handshake,
    ids,
    note,
    result,
    stream,
    traffic,
)
from tests.work import calls_of

BAD = "com.example/-bad"


def keys(request, reply=None):
    return fired(traffic(exchange(request, reply)), "META-007")


@pytest.mark.parametrize(
    "key",
    [
        "a",
        "progressToken",
        "a_b.c-d",
        "7",
        "",
        "com.example/",
        "com.example/x",
        "x/y",
        "a-1.b2/3_x",
        "com.mcp.tools/x",
        "io.modelcontextprotocol/anything",
    ],
)
def test_keys_that_follow_the_grammar(key):
    assert is_key(key)


@pytest.mark.parametrize(
    "key",
    [
        "-a",
        "a-",
        "_a",
        "a.",
        "a b",
        "a:b",
        "a/b/c",
        "/x",
        "/",
        ".a/x",
        "a./x",
        "a..b/x",
        "1a/x",
        "-a/x",
        "a-/x",
        "a_b/x",
        "a/-x",
        "é",
        "com.example/bäd",
        "x" * 300 + "!",
    ],
)
def test_keys_that_do_not_follow_the_grammar(key):
    assert not is_key(key)


def test_a_key_is_found_in_whichever_meta_the_message_has():
    (found,) = keys(ask("vendor/x", meta={BAD: 1}))
    assert (found.rule, found.blame) == ("META-007", "client")
    assert found.path == "/params/_meta/com.example~1-bad"
    (found,) = keys(call(), answer(result(1, content=[], _meta={**SERVER_META, BAD: 1})))
    assert (found.path, found.blame) == ("/result/_meta/com.example~1-bad", "server")
    said = note("notifications/message", level="info", data=1, _meta={BAD: 1})
    (found,) = keys(call(), stream(said, RESULT))
    assert (found.path, found.blame) == ("/params/_meta/com.example~1-bad", "server")


def test_a_key_is_found_in_a_nested_meta():
    blocks = [
        {"type": "text", "text": "x"},
        {"type": "text", "text": "x", "_meta": {BAD: 1}},
        {
            "type": "resource",
            "resource": {"uri": "file:///x", "text": "x", "_meta": {BAD: 1}},
        },
    ]
    found = keys(call(), answer(result(1, content=blocks)))
    assert [f.path for f in found] == [
        "/result/content/1/_meta/com.example~1-bad",
        "/result/content/2/resource/_meta/com.example~1-bad",
    ]
    tools = [{"name": "t", "inputSchema": {"type": "object"}, "_meta": {BAD: 1}}]
    (found,) = keys(ask("tools/list"), answer(result(1, tools=tools)))
    assert found.path == "/result/tools/0/_meta/com.example~1-bad"


def test_what_belongs_to_applications_is_not_looked_at():
    mine = {"_meta": {BAD: 1}}
    reply = answer(result(1, content=[], structuredContent=mine))
    assert not keys(call(arguments=mine), reply)
    tools = [{"name": "t", "inputSchema": {"type": "object", "properties": mine}}]
    assert not keys(ask("tools/list"), answer(result(1, tools=tools)))
    assert not keys(call(), answer(result(1, content=[], _meta={"com.example/x": mine})))


@pytest.mark.parametrize(
    ("name", "said"), [("tasks", "lacks its prefix"), ("com.example/-x", "grammar"), ("", "lacks")]
)
def test_the_name_of_an_extension_needs_a_prefix(name, said):
    (found,) = keys(ask("vendor/x", caps={"extensions": {name: {}}}))
    assert said in found.message
    assert found.path.endswith("/extensions/" + name.replace("/", "~1"))
    capabilities = {"extensions": {name: {}, PREFIX + "tasks": {}}}
    (found,) = keys(
        ask("server/discover"), answer(result(1, capabilities=capabilities, supportedVersions=[]))
    )
    assert found.blame == "server"


def test_revisions_are_told_apart():
    def session(version):
        request = call(1, meta={BAD: 1}, version=version)
        reply = answer(result(1, None, content=[]))
        return ids(traffic(*handshake(version), exchange(request, reply)), "META")

    assert session("2025-11-25") == ["META-007"]
    assert session("2025-06-18") == []


def nested(depth):
    block = {"type": "text", "text": "x", "_meta": {BAD: 1}}
    for _ in range(depth):
        block = {"content": [block]}
    return block


@pytest.mark.parametrize(
    ("members", "count", "most"),
    [
        ({"_meta": {f"-{n}": 1 for n in range(80_000)}}, 200, 100_000),
        ({"_meta": {"a." * 250_000 + "/x": 1, "-" * 400_000: 1}}, 2, 2_000_000),
        ({"content": [nested(300)]}, 1, 100_000),
        ({"content": [{"_meta": {}}] * 60_000}, 0, 100_000),
    ],
)
def test_hostile_keys_cost_little(members, count, most):
    case = traffic(exchange(call(), answer(result(1, **{"content": [], **members}))))
    calls, found = calls_of(lambda: fired(case, "META-007", "TAP"))
    assert [f.rule for f in found] == ["META-007"] * count
    assert all(len(f.path) < 20_000 for f in found)
    assert calls < most
