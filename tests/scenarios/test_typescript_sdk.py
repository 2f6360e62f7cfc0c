"""The TypeScript SDK on both sides of the tap, and each SDK's client at the other's server."""

from __future__ import annotations

import json

import pytest

from mcp_tap.cli.main import run
from tests.peers.programs import HERE, played, python

pytestmark = pytest.mark.node

TS_CLIENT = ["node", str(HERE / "ts" / "client.mjs")]
TS_SERVER = ["node", str(HERE / "ts" / "server.mjs")]
PY_CLIENT = python("python_client.py")
PY_SERVER = python("python_server.py")
BOOKED = [
    [False, "5"],
    [False, "2 guests on tue, seat 4A"],
    [False, "not booked: decline"],
    [False, "ada: accept"],
    [False, "bob: decline"],
]


def booked(capsys, path):
    """Give the two calls that ask twice, each as rounds of link, action and echo, and its end."""
    assert run(["show", str(path), "tool:book", "-f", "json"]) == 0
    found = []
    for call in json.loads(capsys.readouterr().out)["calls"]:
        rounds = [
            (each["link"], [ask["action"] for ask in each["asks"]], each["request_state"]["echo"])
            for each in call["rounds"]
        ]
        found.append((call["era"], rounds, call["outcome"]))
    return found


@pytest.mark.parametrize(
    ("client", "server"),
    [(TS_CLIENT, TS_SERVER), (TS_CLIENT, PY_SERVER), (PY_CLIENT, TS_SERVER)],
    ids=["ts-ts", "ts-py", "py-ts"],
)
async def test_rounds_of_the_stateless_era_are_linked(serving, client, server, tmp_path, capsys):
    direct = await played(client, serving(*server), "2026-07-28", tmp_path)
    assert direct["version"] == "2026-07-28"
    assert direct["results"][:-1] == BOOKED
    first, last = ("none", ["accept"], "same"), ("state", [], "none")
    assert booked(capsys, tmp_path / "run.jsonl") == [
        ("stateless", [first, ("state", ["accept"], "same"), last], "ok"),
        ("stateless", [first, ("state", ["decline"], "same"), last], "ok"),
    ]


async def test_asks_a_server_pushes_in_a_session_are_rounds_too(serving, tmp_path, capsys):
    direct = await played(TS_CLIENT, serving(*TS_SERVER), "legacy", tmp_path)
    assert direct["version"] == "2025-11-25"
    assert direct["results"][:-1] == BOOKED
    first, last = ("none", ["accept"], "none"), ("keys", [], "none")
    assert booked(capsys, tmp_path / "run.jsonl") == [
        ("session", [first, ("keys", ["accept"], "none"), last], "ok"),
        ("session", [first, ("keys", ["decline"], "none"), last], "ok"),
    ]
