"""Traffic that repeats itself, with small changes: what a client sends all day, and how it errs.

Exchanges of example cases and plain ones are played again and again, each time with ids of their
own, and often with one thing changed: a header, a member, a value, a status, an event's id.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from random import Random
from typing import Any

from tests.cases import MODERN, PREFIX, answer, ask, call, exchange, note, result, stream
from tests.garbage import EXAMPLES, KEYS, ODD, spoilt

Exchange = dict[str, Any]

TEXT = {"content": [{"type": "text", "text": "ok"}]}
TOKEN = {"progressToken": "p"}
HEADERS = [
    ("Mcp-Session-Id", "s"), ("Last-Event-ID", "7"), ("Accept", "text/html"), ("Date", "today"),
    ("Origin", "https://evil.example"), ("Mcp-Name", "other"), ("Mcp-Name", "=?base64?!!?="),
    ("Mcp-Method", "tools/list"), ("MCP-Protocol-Version", "2025-11-25"), ("traceparent", "00-1"),
    ("Mcp-Param-Count", "3"), ("Mcp-Param-X", "=?base64?!!?="), ("Content-Type", "text/html"),
    ("User-Agent", "case-client/1.0 "), ("Content-Type", "text/event-stream"), ("X-Any", "1"),
]  # fmt: skip
META = [
    ("progressToken", "p"), ("progressToken", 1.5), ("progressToken", None), ("a/b", 1), ("/a", 1),
    ("requestState", "s"), (PREFIX + "logLevel", "loud"), (PREFIX + "logLevel", "debug"),
    (PREFIX + "protocolVersion", "2025-11-25"), (PREFIX + "protocolVersion", 5),
    (PREFIX + "clientInfo", {"name": "x"}), (PREFIX + "serverInfo", {"version": 1}),
    (PREFIX + "clientCapabilities", {"elicitation": {"frm": {}}}),
    (PREFIX + "clientCapabilities", {"sampling": True}),
    (PREFIX + "clientCapabilities", {"extensions": {"plain": {}}, "roots": {}}),
]  # fmt: skip
PARAMS = [
    ("requestState", "s"), ("inputResponses", {"q": {"action": "accept", "content": {"name": 1}}}),
    ("arguments", {"requestState": "s"}), ("arguments", 7), ("arguments", {"_meta": {"/": 1}}),
    ("arguments", {"x": "=?base64?!!?="}), ("name", "other"), ("name", 5), ("extra", [1]),
]  # fmt: skip
RESULT = [
    ("resultType", "task"), ("resultType", "odd"), ("resultType", "input_required"), ("task", {}),
    ("resultType", 1), ("inputRequests", {}), ("requestState", "s"), ("isError", True),
    ("isError", 1), ("content", [{"type": "text"}]), ("content", []), ("content", None),
    ("content", [{"type": "text", "text": "x", "_meta": {"/a": 1}}]), ("taskId", "t"),
    ("structuredContent", {"count": "x"}), ("isError", False), ("tools", []),
]  # fmt: skip


def usual() -> list[Exchange]:
    """Write what makes up most of all traffic."""
    tool = {"name": "create_tasks", "inputSchema": {"type": "object"}}
    output = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}
    mirrors = {"type": "object", "properties": {"x": {"type": "string", "x-mcp-header": "X"}}}
    steps = [note("notifications/progress", progressToken="p", progress=n) for n in (1, 2, 3)]
    listing = result(kind="complete", ttlMs=0, cacheScope="public", tools=[tool])
    return [
        *(exchange(call(), answer(result(**TEXT))) for _ in range(3)),
        exchange(call(meta=TOKEN), stream(*steps, result(**TEXT))),
        exchange(call(meta=TOKEN), stream(result(**TEXT))),
        exchange(call(name="b"), answer(result(**TEXT, isError=False, structuredContent={}))),
        exchange(ask("tools/list"), answer(listing)),
        exchange(ask("tools/list"), answer(result(tools=[{**tool, "outputSchema": output}]))),
        exchange(ask("tools/list"), answer(result(tools=[{**tool, "inputSchema": mirrors}]))),
        exchange(ask("prompts/get", name="p"), answer(result(messages=[]))),
        exchange(ask("resources/read", uri="a:b"), answer(result(contents=[]))),
    ]


def examples() -> list[list[Exchange]]:
    """Give the exchanges of all example cases over HTTP that are modern."""
    found = []
    for path in sorted(EXAMPLES.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            case = json.loads(line)
            if case.get("exchanges") and case.get("era") == MODERN:
                found.append(case["exchanges"])
    return found


def repeats(random: Random, cases: list[list[Exchange]], count: int) -> list[Exchange]:
    """Play exchanges `count` times, mostly as they are, each with an id of its own."""
    pool = [*random.sample(usual(), 3), *random.choice(cases)[:3]]
    played: list[Exchange] = []
    for number in range(1, count + 1):
        again = renumbered(random.choice(pool), number + 100)
        if random.random() < 0.4:
            for _ in range(random.choice((1, 1, 1, 2))):
                random.choice(CHANGES)(random, again)
            if random.random() < 0.5:
                pool.append(again)  # it errs in the same way again
        again["t"] = [number * 2.0, number * 2.0 + random.choice((0.5, 1.0, 1.0, 3.5))]
        played.append(again)
    return played


def renumbered(one: Exchange, number: int) -> Exchange:
    """Copy an exchange; where the response has the id of the request, both get the same new one."""
    again = deepcopy(one)
    body = again["request"].get("body")
    if type(body) is not dict or "id" not in body:
        return again
    old, new = body["id"], f"id-{number}" if type(body["id"]) is str else number
    for message in (body, *messages(again)):
        if type(message) is dict and "id" in message and message["id"] == old:
            message["id"] = new
    return again


def messages(one: Exchange) -> list[Any]:
    """Give what the server sends in an exchange."""
    response = one.get("response") or {}
    return [m for m in (response.get("body"), *response.get("sse", ())) if m is not None]


def lines(played: list[Exchange]) -> Iterator[dict[str, Any]]:
    """Play the messages of exchanges over stdio instead."""
    for one in played:
        parts = [("client", one["request"].get("body")), *(("server", m) for m in messages(one))]
        for index, (sender, message) in enumerate(parts):
            if message is not None:
                yield {"from": sender, "line": json.dumps(message), "t": one["t"][0] + index * 0.1}


def _request(one: Exchange) -> dict[str, Any]:
    body = one["request"].get("body")
    return body if type(body) is dict else {}


def _inner(message: dict[str, Any], member: str) -> dict[str, Any]:
    found = message.get(member)
    return found if type(found) is dict else {}


def _answers(random: Random, one: Exchange) -> dict[str, Any]:
    found = [m for m in messages(one) if type(m) is dict]
    return random.choice(found) if found else {}


def _set(random: Random, where: dict[str, Any], choices: list[tuple[str, Any]]) -> None:
    key, value = random.choice(choices)
    where[key] = deepcopy(value)


def _drop(random: Random, where: dict[str, Any]) -> None:
    if where:
        del where[random.choice(list(where))]


def _headers(random: Random, one: Exchange) -> None:
    fields = random.choice((one["request"], one["request"], one.get("response") or {}))
    fields.setdefault("headers", {})
    if random.random() < 0.4:
        _drop(random, fields["headers"])
    else:
        _set(random, fields["headers"], HEADERS)


def _meta(random: Random, one: Exchange) -> None:
    side = random.choice((_inner(_request(one), "params"), _inner(_answers(random, one), "result")))
    if random.random() < 0.3:
        _drop(random, _inner(side, "_meta"))
    else:
        _set(random, side.setdefault("_meta", {}) if type(side.get("_meta", {})) is dict else {},
             META)  # fmt: skip


def _params(random: Random, one: Exchange) -> None:
    _set(random, _inner(_request(one), "params"), PARAMS)


def _arguments(random: Random, one: Exchange) -> None:
    where = _inner(_inner(_request(one), "params"), "arguments")
    where[random.choice(("count", "x", "note"))] = random.choice(ODD)


def _result(random: Random, one: Exchange) -> None:
    where = _inner(_answers(random, one), "result")
    if random.random() < 0.2:
        _drop(random, where)
    else:
        _set(random, where, RESULT)


def _envelope(random: Random, one: Exchange) -> None:
    where = random.choice((_request(one), _answers(random, one)))
    key = random.choice(("jsonrpc", "id", "method", "params", "result", "error", "extra"))
    if random.random() < 0.2:
        where.pop(key, None)
    else:
        where[key] = random.choice((1, 1.0, True, None, "2.0", "x", {}, [], {"code": -32602}))


def _status(random: Random, one: Exchange) -> None:
    if one.get("response"):
        one["response"]["status"] = random.choice((200, 202, 204, 400, 404, 500))


def _path(random: Random, one: Exchange) -> None:
    one["request"]["path"] = random.choice(("/mcp?token=x", "/mcp?a=b", "/other", "/mcp"))


def _verb(random: Random, one: Exchange) -> None:
    one["request"]["method"] = random.choice(("GET", "PUT", "POST"))


def _events(random: Random, one: Exchange) -> None:
    """Send the response as events, with an id, an odd one before, or one after."""
    response = one.get("response")
    if not response or "sse_raw" in response:
        return
    sent = messages(one)
    response.pop("body", None), response.pop("sse", None)
    response["headers"] = {"Content-Type": "text/event-stream"}
    step = note("notifications/progress", progressToken="p", progress=random.choice((1, 2, "x")))
    extra = random.choice(
        (
            step,
            {**step, "params": {**step["params"], "message": {"_meta": {"/a": 1}}}},
            {**step, "params": {**step["params"], "_meta": {"/a": 1}}},
            note("notifications/message", level="info", data="x"),
            {"jsonrpc": "2.0", "id": 9, "method": "roots/list"},
            result(**TEXT),
        )
    )  # fmt: skip
    sent.insert(random.randrange(len(sent) + 1), extra)
    if random.random() < 0.6:
        response["sse"] = sent
        return
    mark = random.choice(("id: 1\n", "retry: 5\n", "event: x\n", ": note\n\n", "id: 1\n\n", "\n"))
    at = random.randrange(len(sent))
    response["sse_raw"] = "".join(
        (mark if index == at else "") + f"data: {json.dumps(message)}\n\n"
        for index, message in enumerate(sent)
    )


def _twice(random: Random, one: Exchange) -> None:
    """Use the id of a request before, or lose the response."""
    chance = random.random()
    if chance < 0.4:
        _request(one)["id"] = random.choice((101, 102, "id-101"))
    elif chance < 0.7 and one.get("response"):
        one["response"]["closed_by"] = random.choice(("client", "network"))
    else:
        one["response"] = None


def _any(random: Random, one: Exchange) -> None:
    """Spoil a message somewhere."""
    if random.random() < 0.5:
        one["request"]["body"] = spoilt(random, one["request"].get("body"))
    elif one.get("response") and one["response"].get("body") is not None:
        one["response"]["body"] = spoilt(random, one["response"]["body"])


def _key(random: Random, one: Exchange) -> None:
    where = random.choice(
        (_inner(_request(one), "params"), _inner(_answers(random, one), "result"))
    )
    where[random.choice(KEYS)] = random.choice(ODD)


CHANGES: list[Callable[[Random, Exchange], None]] = [
    _headers, _headers, _headers, _meta, _meta, _meta, _params, _arguments, _arguments, _result,
    _result, _result, _envelope, _envelope, _status, _path, _verb, _events, _events, _twice, _any,
    _key,
]  # fmt: skip
