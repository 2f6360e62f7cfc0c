"""The TypeScript SDK on one side or both: what asks completes for clients that declare nothing."""

from __future__ import annotations

import json

import pytest

from mcp_tap.cli.main import run
from tests.mute import CLIENT as PY_CLIENT
from tests.mute import scripted
from tests.peers.programs import HERE, outcome, python, tapping
from tests.shim import PATIENT

pytestmark = pytest.mark.node

TS_CLIENT = ["node", str(HERE / "ts" / "mute_client.mjs")]
TS_SERVER = ["node", str(HERE / "ts" / "server.mjs")]
PY_SERVER = python("python_server.py")
RESULTS = [[False, "5"], [False, "2 guests on tue, seat 4A"], [False, "ada: accept"]]
ENTRIES = ["the day", "the seat", "the page"]


PAIRS = pytest.mark.parametrize(
    ("client", "server", "mode"),
    [
        (TS_CLIENT, TS_SERVER, "2026-07-28"),
        (TS_CLIENT, TS_SERVER, "legacy"),
        (TS_CLIENT, PY_SERVER, "legacy"),
        (PY_CLIENT, TS_SERVER, "2026-07-28"),
    ],
    ids=["ts-ts", "ts-ts-session", "ts-py-session", "py-ts"],
)


@PAIRS
async def test_what_asks_completes(serving, client, server, mode, *, tmp_path, capsys):
    async with tapping(serving(*server), tmp_path, "-a", scripted(tmp_path)) as tapped:
        (found,) = await outcome(*client, tapped, mode)
    look_at(found, mode, tmp_path / "run.jsonl", capsys)


@PAIRS
async def test_what_asks_completes_over_stdio(client, server, mode, *, tmp_path, capsys):
    folder = tmp_path / "captures"  # the SDK starts a server twice: once to look at it
    command = [*PATIENT, "stdio", "-a", scripted(tmp_path), "--", *server, "--stdio"]
    tapped = ["env", f"MCP_TAP_HOME={folder}", *command]
    (found,) = await outcome(*client, json.dumps(tapped), mode)
    look_at(found, mode, max(folder.glob("*.jsonl"), key=lambda path: path.stat().st_size), capsys)


def look_at(found, mode, path, capsys):
    """See that everything completed, by the script, and nothing is wrong with it."""
    assert found["version"] == ("2025-11-25" if mode == "legacy" else mode)
    assert found["results"] == RESULTS
    assert run(["show", str(path), "method:tools/call", "-f", "json"]) == 0
    calls = json.loads(capsys.readouterr().out)["calls"]
    asks = [ask for call in calls for r in call["rounds"] for ask in r["asks"]]
    assert [(ask["answered_by"], ask["entry"]) for ask in asks] == [("tap", e) for e in ENTRIES]
    assert run(["check", str(path), "--no-config"]) == 0, capsys.readouterr().out
