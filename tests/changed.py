"""Two runs of one server, before and after somebody changed it: for `diff` and its page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.traffic import META, SERVER, Traffic, asks, done

STARTED = "2026-07-28T12:04:01.250Z"


def run(*, later: bool) -> Traffic:
    """A listing, a call with an ask, and before the change one call more.

    Later a tool needs an argument more, the ask has another key, and the call fails.
    """
    traffic = Traffic(label="billing", run="after" if later else "before", started=STARTED)
    fields: dict[str, Any] = {"to": {"type": "string"}}
    if later:
        fields["region"] = {"type": "string"}
    schema = {"type": "object", "properties": fields, "required": [*fields]}
    listing = {
        "resultType": "complete",
        "tools": [{"name": "deploy", "description": "Ships it", "inputSchema": schema}],
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": SERVER,
    }
    traffic.post(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": META},
        {"jsonrpc": "2.0", "id": 1, "result": listing},
    )
    key = "confirmed" if later else "confirm"
    traffic.call("deploy", asks(key, "Ship to prod?"), arguments={"to": "prod"})
    traffic.call(
        "deploy",
        {"code": -32603, "message": "no room in prod"} if later else done("shipped"),
        arguments={"to": "prod"},
        requestState=asks(key, "")["requestState"],
        inputResponses={key: {"action": "accept", "content": {"ok": True}}},
    )
    if not later:
        traffic.call("search", done("4 results"), arguments={"q": "prod"})
    return traffic


def write(folder: Path) -> tuple[str, str]:
    """Write both down, as before.jsonl and after.jsonl."""
    before = run(later=False).write(folder / "before.jsonl")
    after = run(later=True).write(folder / "after.jsonl")
    return str(before), str(after)
