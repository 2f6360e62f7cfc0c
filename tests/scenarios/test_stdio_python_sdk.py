"""The Python SDK on both ends of the pipes: nothing changes for it, and every round is seen."""

from __future__ import annotations

import json

import pytest

from mcp_tap.capture.reader import open_path
from mcp_tap.cli.main import run
from mcp_tap.core.records import Footer, Noise
from tests.peers.programs import outcome, python
from tests.shim import PATIENT

CLIENT = python("python_client.py")
SERVER = [*python("python_server.py"), "--stdio"]


@pytest.mark.parametrize(("mode", "version"), [("2026-07-28", None), ("legacy", "2025-11-25")])
async def test_the_sdk_sees_no_difference_and_every_round_is_recorded(
    tmp_path, capsys, mode, version
):
    path = tmp_path / "run.jsonl"
    shim = [*PATIENT, "stdio", "-w", str(path), "--", *SERVER]
    direct, tapped = await outcome(*CLIENT, json.dumps(SERVER), mode, json.dumps(shim), mode)
    assert tapped == direct
    assert direct["version"] == (version or mode)
    assert direct["results"][1] == [False, "2 guests on tue, seat 4A"]
    records = list(open_path(path))
    assert not [r for r in records if isinstance(r, Noise)]
    assert isinstance(records[-1], Footer)
    assert run(["show", str(path), "-f", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    calls = [c for c in document["calls"] if c["method"] == "tools/call"]
    assert [(c["name"], len(c["rounds"]), c["outcome"]) for c in calls] == [
        ("add", 1, "ok"),
        ("book", 3, "ok"),
        ("book", 3, "ok"),
        ("sign_in", 2, "ok"),
        ("sign_in", 2, "ok"),
        ("nothing", 1, "error"),
    ]
    asks = [ask for c in calls for r in c["rounds"] for ask in r["asks"]]
    assert [(a["kind"], a["action"], a["answered_by"]) for a in asks] == [
        ("form", "accept", "client"),
        ("form", "accept", "client"),
        ("form", "accept", "client"),
        ("form", "decline", "client"),
        ("url", "accept", "client"),
        ("url", "decline", "client"),
    ]
    assert run(["check", str(path)]) == 0
