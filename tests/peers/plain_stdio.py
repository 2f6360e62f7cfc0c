"""A stdio server without an SDK, which starts at once and does what its tools are called.

Speaks both eras, keeps the bytes of numbers and strings, and tells what it has read.
"""

from __future__ import annotations

import json
import os
import re
import sys

SUB = "io.modelcontextprotocol/subscriptionId"
TOOLS = [
    {
        "name": "where",
        "inputSchema": {
            "type": "object",
            "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        },
    }
]
seen: list[str] = []
listens: list[object] = []
waiting: dict[object, object] = {}


def say(message: dict[str, object]) -> None:
    line(json.dumps({"jsonrpc": "2.0", **message}))


def line(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def note(method: str, **params: object) -> None:
    say({"method": method, "params": params})


def result(number: object, **members: object) -> None:
    say({"id": number, "result": {"resultType": "complete", **members}})


def call(number: object, params: dict, raw: str) -> None:
    name, token = params.get("name"), params.get("_meta", {}).get("progressToken")
    arguments = params.get("arguments", {})
    if name == "raw":  # gives the bytes of its arguments back
        found = re.search(r'"arguments":\s*(\{.*?\})', raw)
        shown = found[1] if found else "null"
        line('{"jsonrpc":"2.0","id":%s,"result":{"raw":%s}}' % (json.dumps(number), shown))
    elif name == "progress":
        for step in range(arguments.get("steps", 1)):
            note("notifications/progress", progressToken=token, progress=step)
        result(number, steps=arguments.get("steps", 1))
    elif name == "log":
        note("notifications/message", level="info", data=arguments.get("text"))
        result(number)
    elif name == "hold":  # is answered by `release`
        waiting[arguments["key"]] = number
    elif name == "release":
        held = waiting.pop(arguments["key"], None)
        if held is not None:
            result(held, released=arguments["key"])
        result(number, found=held is not None)
    elif name == "die":
        os._exit(3)
    elif name == "seen":
        result(number, seen=seen)
    elif name == "pid":
        result(number, pid=os.getpid())
    elif name == "noise":
        line("hello, I am no message")
        sys.stderr.write("and this is stderr\n")
        sys.stderr.flush()
        result(number)
    elif name == "change":
        for listen in listens:
            note("notifications/tools/list_changed", _meta={SUB: listen})
        result(number, told=len(listens))
    elif name == "tear":
        for listen in listens:
            note("notifications/cancelled", requestId=listen)
        result(number)
    elif name == "ask":
        waiting["ask"] = number
        say({"id": "ask-1", "method": "elicitation/create", "params": {"message": "Well?"}})
    elif name == "where":
        result(number, region=arguments.get("region"))
    else:
        say({"id": number, "error": {"code": -32602, "message": f"no tool {name}"}})


def take(message: dict, raw: str) -> None:
    method, number = message.get("method"), message.get("id")
    params = message.get("params") or {}
    if method is None:
        if number == "ask-1":
            result(waiting.pop("ask"), answer=message.get("result"))
    elif method == "server/discover":
        if "legacy" in sys.argv:
            say({"id": number, "error": {"code": -32601, "message": "no such method"}})
        elif "brittle" in sys.argv:
            sys.exit(1)
        elif "silent" not in sys.argv:
            info = {"name": "plain", "version": "1"}
            result(number, supportedVersions=["2026-07-28"], capabilities={}, serverInfo=info)
    elif method == "initialize":
        if params.get("protocolVersion") == "no":
            say({"id": number, "error": {"code": -32602, "message": "no"}})
            return
        info = {"name": "plain", "version": "1"}
        version = params.get("protocolVersion")
        say(
            {
                "id": number,
                "result": {"protocolVersion": version, "capabilities": {}, "serverInfo": info},
            }
        )
    elif method == "tools/list":
        result(number, tools=TOOLS)
    elif method == "tools/call":
        call(number, params, raw)
    elif method == "subscriptions/listen":
        listens.append(number)
        note("notifications/subscriptions/acknowledged", _meta={SUB: number}, notifications={})
    elif method == "notifications/cancelled":
        if params.get("requestId") in listens:
            listens.remove(params["requestId"])
    elif method == "notifications/shout":
        note("notifications/tools/list_changed")
    elif number is not None:
        say({"id": number, "error": {"code": -32601, "message": f"no method {method}"}})


for text in sys.stdin:
    seen.append(text.rstrip("\n"))
    take(json.loads(text), text)
