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
INFO = {"name": "plain", "version": "1"}
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


def raw(number: object, arguments: dict, _: object, text: str) -> None:
    """Give the bytes of the arguments back."""
    found = re.search(r'"arguments":\s*(\{.*?\})', text)
    shown = found[1] if found else "null"
    line(f'{{"jsonrpc":"2.0","id":{json.dumps(number)},"result":{{"raw":{shown}}}}}')


def progress(number: object, arguments: dict, token: object, _: str) -> None:
    for step in range(arguments["steps"]):
        note("notifications/progress", progressToken=token, progress=step)
    result(number, steps=arguments["steps"])


def log(number: object, arguments: dict, *_: object) -> None:
    note("notifications/message", level="info", data=arguments["text"])
    result(number)


def hold(number: object, arguments: dict, *_: object) -> None:
    """Be answered by `release`."""
    waiting[arguments["key"]] = number


def release(number: object, arguments: dict, *_: object) -> None:
    held = waiting.pop(arguments["key"])
    result(held, released=arguments["key"])
    result(number, found=True)


def die(*_: object) -> None:
    os._exit(3)


def noise(number: object, *_: object) -> None:
    line("hello, I am no message")
    sys.stderr.write("and this is stderr\n")
    sys.stderr.flush()
    result(number)


def change(number: object, *_: object) -> None:
    for listen in listens:
        note("notifications/tools/list_changed", _meta={SUB: listen})
    result(number, told=len(listens))


def tear(number: object, *_: object) -> None:
    for listen in listens:
        note("notifications/cancelled", requestId=listen)
    result(number)


def ask(number: object, *_: object) -> None:
    waiting["ask"] = number
    say({"id": "ask-1", "method": "elicitation/create", "params": {"message": "Well?"}})


CALLS = {
    "raw": raw,
    "progress": progress,
    "log": log,
    "hold": hold,
    "release": release,
    "die": die,
    "noise": noise,
    "change": change,
    "tear": tear,
    "ask": ask,
    "seen": lambda number, *_: result(number, seen=seen),
    "pid": lambda number, *_: result(number, pid=os.getpid()),
    "where": lambda number, arguments, *_: result(number, region=arguments.get("region")),
}


def call(number: object, params: dict, text: str) -> None:
    name = params.get("name")
    if name in CALLS:
        token = params.get("_meta", {}).get("progressToken")
        CALLS[name](number, params.get("arguments", {}), token, text)
    else:
        say({"id": number, "error": {"code": -32602, "message": f"no tool {name}"}})


def discover(number: object, *_: object) -> None:
    if "legacy" in sys.argv:
        say({"id": number, "error": {"code": -32601, "message": "no such method"}})
    elif "brittle" in sys.argv:
        sys.exit(1)
    elif "silent" not in sys.argv:
        result(number, supportedVersions=["2026-07-28"], capabilities={}, serverInfo=INFO)


def initialize(number: object, params: dict, _: str) -> None:
    version = params.get("protocolVersion")
    if version == "no":
        say({"id": number, "error": {"code": -32602, "message": "no"}})
        return
    answer = {"protocolVersion": version, "capabilities": {}, "serverInfo": INFO}
    say({"id": number, "result": answer})


def listen(number: object, *_: object) -> None:
    listens.append(number)
    note("notifications/subscriptions/acknowledged", _meta={SUB: number}, notifications={})


def cancelled(_: object, params: dict, __: str) -> None:
    if params.get("requestId") in listens:
        listens.remove(params["requestId"])


METHODS = {
    "server/discover": discover,
    "initialize": initialize,
    "tools/list": lambda number, *_: result(number, tools=TOOLS),
    "tools/call": call,
    "subscriptions/listen": listen,
    "notifications/cancelled": cancelled,
    "notifications/shout": lambda *_: note("notifications/tools/list_changed"),
}


def take(message: dict, text: str) -> None:
    method, number = message.get("method"), message.get("id")
    if method in METHODS:
        METHODS[method](number, message.get("params") or {}, text)
    elif method is None and number == "ask-1":
        result(waiting.pop("ask"), answer=message.get("result"))
    elif method is not None and number is not None:
        say({"id": number, "error": {"code": -32601, "message": f"no method {method}"}})


for each in sys.stdin:
    seen.append(each.rstrip("\n"))
    take(json.loads(each), each)
