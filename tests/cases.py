"""Terse builders for cases: `run_case(traffic(exchange(call(), answer(RESULT))))`.

Requests are modern unless `version` says otherwise, with the headers and `_meta` that belong to
them.  Messages are plain dicts, so that a test changes one member and leaves the rest.
"""

from __future__ import annotations

import json
from typing import Any

from mcp_tap.core.finding import Finding
from mcp_tap.core.spec import NAME_PARAM
from mcp_tap.testing import run_case

MODERN = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"
CLIENT_INFO = {"name": "case-client", "version": "1.0.0"}
SERVER_META = {PREFIX + "serverInfo": {"name": "case-server", "version": "1.0.0"}}
CAPABILITIES: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}}
TASKS: dict[str, Any] = {**CAPABILITIES, "extensions": {PREFIX + "tasks": {}}}
RESULT: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "result": {
        "resultType": "complete",
        "content": [{"type": "text", "text": "ok"}],
        "_meta": SERVER_META,
    },
}
"""A complete result of `tools/call`, id 1."""
HINTS: dict[str, Any] = {"ttlMs": 0, "cacheScope": "public"}
"""What a result that may be cached has beside its own members."""


# messages


def message(
    method: str,
    number: Any = 1,
    *,
    meta: dict[str, Any] | None = None,
    caps: Any = CAPABILITIES,
    version: str = MODERN,
    **params: Any,
) -> dict[str, Any]:
    """Write a client's request; `meta` adds to its `_meta`, a value of ... takes a key out."""
    if version >= MODERN:
        own = {
            PREFIX + "protocolVersion": version,
            PREFIX + "clientInfo": CLIENT_INFO,
            PREFIX + "clientCapabilities": caps,
        }
        known = {**own, **(meta or {})}
        params["_meta"] = {key: value for key, value in known.items() if value is not ...}
    elif meta:
        params["_meta"] = meta
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def note(method: str, **params: Any) -> dict[str, Any]:
    """Write a notification; `_meta=...` like any other member."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


def result(number: Any = 1, kind: str | None = "complete", **members: Any) -> dict[str, Any]:
    """Write a result; `kind` None leaves `resultType` out (session era)."""
    own = {} if kind is None else {"resultType": kind, "_meta": SERVER_META}
    return {"jsonrpc": "2.0", "id": number, "result": {**own, **members}}


def error(number: Any = 1, code: int = -32602, text: str = "no", **data: Any) -> dict[str, Any]:
    """Write an error; `data` becomes its data."""
    fault: dict[str, Any] = {"code": code, "message": text}
    if data:
        fault["data"] = data
    return {"jsonrpc": "2.0", "id": number, "error": fault}


def asking(asks: dict[str, Any], state: str | None = "state-1", number: Any = 1) -> dict[str, Any]:
    """Write an `input_required` result."""
    more = {} if state is None else {"requestState": state}
    return result(number, "input_required", inputRequests=asks, **more)


def form(text: str = "Name?", **properties: Any) -> dict[str, Any]:
    """Write a form elicitation; without properties it asks for `name`."""
    schema = {"type": "object", "properties": properties or {"name": {"type": "string"}}}
    params = {"mode": "form", "message": text, "requestedSchema": schema}
    return {"method": "elicitation/create", "params": params}


# requests and responses of HTTP


def post(
    body: Any, headers: dict[str, str] | None = None, *, version: str | None = MODERN
) -> dict[str, Any]:
    """Put a message into a POST with the headers that belong to it; `headers` adds and replaces."""
    method = body.get("method") if isinstance(body, dict) else None
    fields = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "User-Agent": "case-client/1.0",
    }
    if version is not None:
        fields["MCP-Protocol-Version"] = version
    if version == MODERN and method is not None:
        fields["Mcp-Method"] = method
        params = body.get("params")
        key = NAME_PARAM.get(method) or ("taskId" if method.startswith("tasks/") else "")
        name = params.get(key) if isinstance(params, dict) else None
        if isinstance(name, str):
            fields["Mcp-Name"] = name
    merged = {**fields, **(headers or {})}
    known = {name: value for name, value in merged.items() if value is not ...}
    return {"headers": known, "body": body}


def call(
    number: Any = 1,
    name: str = "create_tasks",
    arguments: dict[str, Any] | None = None,
    *,
    headers: dict[str, str] | None = None,
    version: str = MODERN,
    **more: Any,
) -> dict[str, Any]:
    """Ask for a tool: `call(2, "pay", meta={...}, inputResponses={...})`."""
    given = {"count": 3} if arguments is None else arguments
    body = message("tools/call", number, version=version, name=name, arguments=given, **more)
    return post(body, headers, version=version)


def ask(method: str, number: Any = 1, *, version: str = MODERN, **more: Any) -> dict[str, Any]:
    """Ask for anything else."""
    return post(message(method, number, version=version, **more), version=version)


def listen(number: Any = 1, **wanted: Any) -> dict[str, Any]:
    """Ask for a subscription."""
    return ask("subscriptions/listen", number, notifications=wanted)


def answer(body: Any = None, status: int = 200, **headers: str) -> dict[str, Any]:
    """Answer with JSON, or with nothing."""
    if body is None:
        return {"status": status, "headers": headers}
    return {
        "status": status,
        "headers": {"Content-Type": "application/json", **headers},
        "body": body,
    }


def answer_raw(
    text: str, kind: str | None = "application/json", status: int = 200
) -> dict[str, Any]:
    """Answer with a body as it stands; `kind` None leaves the Content-Type out."""
    headers = {} if kind is None else {"Content-Type": kind}
    return {"status": status, "headers": headers, "body_raw": text}


def stream_raw(text: str) -> dict[str, Any]:
    """Answer with an event stream as it stands."""
    return {"status": 200, "headers": {"Content-Type": "text/event-stream"}, "sse_raw": text}


def stream(*messages: Any, open: bool = False, **more: Any) -> dict[str, Any]:  # noqa: A002
    """Answer with an event stream."""
    headers = {"Content-Type": "text/event-stream", "Cache-Control": "no-cache"}
    reply = {"status": 200, "headers": headers, "sse": list(messages), **more}
    return {**reply, "open": True} if open else reply


def exchange(
    request: dict[str, Any],
    response: dict[str, Any] | None,
    t: tuple[float, float] | None = None,
) -> dict[str, Any]:
    """Put the two together; without times they follow the one before."""
    given = {"request": request, "response": response}
    return given if t is None else {**given, "t": list(t)}


def listing(
    *tools: Any,
    number: Any = 90,
    cursor: Any = ...,
    t: tuple[float, float] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """List tools, as one page; `more` are members of the result, such as `nextCursor`."""
    asked = {} if cursor is ... else {"cursor": cursor}
    body = result(number, tools=list(tools), **HINTS, **more)
    return exchange(ask("tools/list", number, **asked), answer(body), t)


def handshake(version: str = "2025-11-25", caps: Any = CAPABILITIES) -> list[dict[str, Any]]:
    """Open a session of the session era, the way clients do; its id is `case-session`."""
    params = {"protocolVersion": version, "capabilities": caps, "clientInfo": CLIENT_INFO}
    begin = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    settled = {
        "protocolVersion": version,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "case-server", "version": "1.0.0"},
    }
    return [
        exchange(
            post(begin, version=None),
            answer(result(0, None, **settled), **{"Mcp-Session-Id": "case-session"}),
        ),
        exchange(
            post(
                {"jsonrpc": "2.0", "method": "notifications/initialized"}, SESSION, version=version
            ),
            answer(status=202),
        ),
    ]


SESSION = {"Mcp-Session-Id": "case-session"}
"""Header of all requests after `handshake()`."""


# cases


def traffic(*exchanges: dict[str, Any], **members: Any) -> dict[str, Any]:
    """Make a case of exchanges."""
    return {"transport": "http", "exchanges": list(exchanges), **members}


def line(sender: str, content: Any, t: float | None = None) -> dict[str, Any]:
    """Write one line of stdio; what is no text is written as JSON."""
    text = content if isinstance(content, str) else json.dumps(content)
    given = {"from": sender, "line": text}
    return given if t is None else {**given, "t": t}


def stdio(*lines: dict[str, Any]) -> dict[str, Any]:
    """Make a case of lines."""
    return {"transport": "stdio", "lines": list(lines)}


def fired(case: dict[str, Any], *rules: str) -> list[Finding]:
    """Judge a case; with `rules` (ids or families) give only what these found."""
    found = run_case(case)
    return [f for f in found if not rules or f.rule in rules or f.rule.partition("-")[0] in rules]


def ids(case: dict[str, Any], *rules: str) -> list[str]:
    """Give the ids of the rules that fired, in order."""
    return [finding.rule for finding in fired(case, *rules)]
