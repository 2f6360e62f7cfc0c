"""Servers that make tasks of calls, which ask; and a client that polls them."""

from __future__ import annotations

import json

from mcp_tap.core import spec
from tests.asking import form
from tests.rig import LAST_CHUNK, SSE_HEAD, chunk, event, ok, post

SCRIPT = """
version = 1

[[answer]]
name = "the day"
match = { tool = "book", key = "day*" }
content = { day = "tue" }
"""
TASK = "task-1"


def request(method, number, capabilities=None, **params):
    extended = {"extensions": {spec.TASKS_EXTENSION: {}}, **(capabilities or {})}
    meta = {
        spec.META_VERSION: "2026-07-28",
        spec.META_CLIENT: {"name": "tester", "version": "1"},
        spec.CLIENT_CAPABILITIES: extended,
        "progressToken": number,
    }
    body = {"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": meta}}
    return json.dumps(body).encode()


def send(method, number, target=TASK, **params):
    if method == "tools/call":
        params["name"] = target
    lines = [
        b"Accept: application/json, text/event-stream",
        b"MCP-Protocol-Version: 2026-07-28",
        b"Authorization: Bearer abc",
        b"Mcp-Method: " + method.encode(),
    ]
    if target is not None:
        lines.append(b"Mcp-Name: " + target.encode())
    return post(request(method, number, **params), *lines)


def call(number=1):
    return send("tools/call", number, "book", arguments={"guests": 2})


def poll(number, **params):
    return send("tasks/get", number, taskId=TASK, **params)


def reply(number, result):
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode()


def state(status, **more):
    return {
        "resultType": "complete",
        "taskId": TASK,
        "status": status,
        "createdAt": "2026-07-28T12:00:00Z",
        "lastUpdatedAt": "2026-07-28T12:00:00Z",
        "ttlMs": None,
        **more,
    }


def waiting(*keys, **more):
    requests = {key: form(key, day={"type": "string"}) for key in keys}
    return state("input_required", inputRequests=requests, **more)


DONE = state("completed", result={"content": [{"type": "text", "text": "booked"}]})


class Server:
    """Makes a task of a call; `states` are what polls are told until an update comes, and then."""

    def __init__(self, *states, streams=False, slow=0, refuse=False):
        self.states = list(states)
        self.streams = streams
        self.slow = slow
        """Polls that are told the old state after an update."""
        self.refuse = refuse
        self.silent_after = None
        """Polls that are told anything."""
        self.got = []

    @property
    def updates(self):
        return [m for m in self.got if m.json["method"] == "tasks/update"]

    @property
    def polls(self):
        return [m for m in self.got if m.json["method"] == "tasks/get"]

    async def __call__(self, wire):
        while True:
            message = await wire.message()
            self.got.append(message)
            value = message.json
            number = value["id"]
            if value["method"] == "tools/call":
                made = {**state("working"), "resultType": "task"}
                await wire.send(ok(reply(number, made)))
            elif value["method"] == "tasks/update":
                if self.refuse:
                    error = {"code": -32602, "message": "no such task"}
                    body = {"jsonrpc": "2.0", "id": number, "error": error}
                    await wire.send(ok(json.dumps(body).encode()))
                    continue
                if not self.slow:
                    self.states.pop(0)
                await wire.send(ok(reply(number, {"resultType": "complete"})))
            elif self.silent_after is None or len(self.polls) <= self.silent_after:
                found = self.states[0]
                if self.updates and self.slow:
                    self.slow -= 1
                    if not self.slow:
                        self.states.pop(0)
                body = reply(number, found)
                if self.streams:
                    await wire.send(SSE_HEAD, chunk(event(body)), LAST_CHUNK)
                else:
                    await wire.send(ok(body))


def the_call(rig):
    (found,) = [c for c in rig.view.calls.values() if c.method == "tools/call"]
    return found


def news(told):
    told = {key: value for key, value in told.items() if key != "resultType"}
    params = {**told, "_meta": {spec.META_SUBSCRIPTION: 2}}
    return json.dumps({"jsonrpc": "2.0", "method": spec.NOTE_TASK, "params": params}).encode()
